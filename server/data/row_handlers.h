// What the methods of google.bigtable.v2.Bigtable do, but for ReadRows. Each writes or reads with
// one call of the engine. After an error nothing was changed.
//
// Thread-safe. A handler blocks as the engine's call does, until the client's deadline at most.
#ifndef BIGTABLE_SERVER_DATA_ROW_HANDLERS_H_
#define BIGTABLE_SERVER_DATA_ROW_HANDLERS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "grpcpp/server_context.h"

#include "convert/mutate_rows.h"
#include "convert/object_budget.h"
#include "server/calls/authentication.h"
#include "server/calls/client_errors.h"
#include "server/data/served_tables.h"
#include "server/monitor/row_sampler.h"

namespace bigtable::server {

namespace data = google::bigtable::v2;

class RowHandlers {
 public:
  // All outlive this.
  RowHandlers(ServedTables* tables, const Authentication* authentication, ClientErrors* errors,
              RowSampler* rows)
      : tables_(tables), authentication_(authentication), errors_(errors), rows_(rows) {}
  RowHandlers(const RowHandlers&) = delete;
  RowHandlers& operator=(const RowHandlers&) = delete;

  absl::Status MutateRow(const grpc::ServerContext& context, const data::MutateRowRequest& request,
                         data::MutateRowResponse* response) const;
  // `request` and `response` are the bytes of the messages (convert/mutate_rows.h), and `budget` is
  // what may be made of the request. `table_name` is set to that of the request, if it can be read.
  // All entries that are well formed are applied together, with one commit to the log. One that is
  // not, or that the engine refuses, has its own status, and changes nothing.
  absl::Status MutateRows(const grpc::ServerContext& context,
                          convert::MutateRowsMessage::Pieces request, convert::ObjectBudget* budget,
                          std::string* table_name, std::string* response) const;
  absl::Status CheckAndMutateRow(const grpc::ServerContext& context,
                                 const data::CheckAndMutateRowRequest& request,
                                 data::CheckAndMutateRowResponse* response) const;
  absl::Status ReadModifyWriteRow(const grpc::ServerContext& context,
                                  const data::ReadModifyWriteRowRequest& request,
                                  data::ReadModifyWriteRowResponse* response) const;
  absl::Status SampleRowKeys(const grpc::ServerContext& context,
                             const data::SampleRowKeysRequest& request,
                             std::vector<data::SampleRowKeysResponse>* responses) const;
  // A partition for each tablet. FAILED_PRECONDITION: the table has no change stream.
  absl::Status ChangeStreamPartitions(
      const grpc::ServerContext& context,
      const data::GenerateInitialChangeStreamPartitionsRequest& request,
      std::vector<data::GenerateInitialChangeStreamPartitionsResponse>* responses) const;
  absl::Status PingAndWarm(const grpc::ServerContext& context,
                           const data::PingAndWarmRequest& request,
                           data::PingAndWarmResponse* response) const;

 private:
  // Calls `use` with the table of the request, in the name of the caller.
  template <typename Request, typename Use>
  absl::Status WithTable(const grpc::ServerContext& context, const Request& request,
                         const Use& use) const;

  ServedTables* const tables_;
  const Authentication* const authentication_;
  ClientErrors* const errors_;  // of entries; a call's own are the caller's to shorten
  RowSampler* const rows_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_ROW_HANDLERS_H_
