// google.bigtable.v2.Bigtable: the methods of row_handlers.h and read_rows.h, on the threads of one
// queue.
#ifndef BIGTABLE_SERVER_DATA_DATA_SERVICE_H_
#define BIGTABLE_SERVER_DATA_DATA_SERVICE_H_

#include "server/calls/authentication.h"
#include "server/calls/call_threads.h"
#include "server/calls/list_call.h"
#include "server/calls/unary_call.h"
#include "server/data/async_service.h"
#include "server/data/read_rows.h"
#include "server/data/row_handlers.h"
#include "server/data/served_tables.h"

namespace bigtable::server {

class DataService {
 public:
  // All outlive this. `service` is registered with the server, and this outlives all calls: until
  // the queue of the threads has been shut down.
  DataService(AsyncDataService* service, CallThreads* threads, ServedTables* tables,
              const Authentication* authentication);
  DataService(const DataService&) = delete;
  DataService& operator=(const DataService&) = delete;

  // Begins to take calls. The server has started.
  void Start();

  const ReadRowsMethod& read_rows() const { return read_rows_; }

 private:
  const RowHandlers handlers_;
  ReadRowsMethod read_rows_;
  UnaryMethod<data::MutateRowRequest, data::MutateRowResponse> mutate_row_;
  ListMethod<data::MutateRowsRequest, data::MutateRowsResponse> mutate_rows_;
  UnaryMethod<data::CheckAndMutateRowRequest, data::CheckAndMutateRowResponse>
      check_and_mutate_row_;
  UnaryMethod<data::ReadModifyWriteRowRequest, data::ReadModifyWriteRowResponse>
      read_modify_write_row_;
  ListMethod<data::SampleRowKeysRequest, data::SampleRowKeysResponse> sample_row_keys_;
  UnaryMethod<data::PingAndWarmRequest, data::PingAndWarmResponse> ping_and_warm_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_DATA_SERVICE_H_
