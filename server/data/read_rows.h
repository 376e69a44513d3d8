// ReadRows: a stream of rows, in messages of chunks.
//
// One message of a stream is on its way at a time. So a client that does not read holds one
// message, and no thread; what the stream holds of the database, except for a row of which a part
// was sent, and its filter are released after a second (streams.h). Messages grow from 16 KiB to
// 512 KiB while the client keeps up; with many streams they stay smaller. A call that is cancelled,
// or whose deadline has passed, stops reading. A read of a single row holds no thread while it
// waits for the disk (Table::ReadRowAsync).
#ifndef BIGTABLE_SERVER_DATA_READ_ROWS_H_
#define BIGTABLE_SERVER_DATA_READ_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "grpcpp/support/byte_buffer.h"

#include "bigtable/call_options.h"
#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_range.h"
#include "bigtable/table.h"

#include "convert/row_chunks.h"
#include "server/calls/authentication.h"
#include "server/data/served_call.h"
#include "server/data/served_tables.h"
#include "server/data/streams.h"
#include "server/monitor/row_sampler.h"

namespace bigtable::server {

namespace data = google::bigtable::v2;

// What all calls use. All outlive them.
struct ReadRowsParts {
  ServedTables* tables = nullptr;
  const Authentication* authentication = nullptr;
  Streams* streams = nullptr;
  RowSampler* sampler = nullptr;
  size_t most_streams = 0;  // Streams::weight(); RESOURCE_EXHAUSTED beyond
};

class ReadRowsCall final : public ServedCall {
 public:
  ReadRowsCall(ServedMethod* method, const ReadRowsParts& parts);

 private:
  Step Begin(grpc::ByteBuffer* request) override;
  Step Continue(bool is_there) override;
  absl::Status CheckRoom(size_t weight) const;
  absl::StatusOr<Filter> Take(grpc::ByteBuffer* bytes);
  absl::StatusOr<Filter> Take(const data::ReadRowsRequest& request);
  Step BeginRow(const std::string& row, const Filter& filter);
  Step TakeRow();
  Step Advance();
  Step EndWith(const absl::Status& status);
  absl::StatusOr<bool> Fill();
  bool Has(const Row& row);
  void CountRead(std::string_view row);
  void LeaveReader();
  void TakeReaderBack();
  absl::StatusOr<bool> OpenAgain();
  Filter MakeFilter() const;
  bool has_all_rows() const { return options_.row_limit > 0 && rows_sent_ == options_.row_limit; }
  size_t NextMessageSize();
  grpc::ByteBuffer TakeMessage(bool with_stats = false);
  data::ReadRowsResponse Stats() const;

  const ReadRowsParts& parts_;
  std::optional<Streams::Running> running_;

  std::string table_name_;
  std::optional<std::string> caller_;
  // As in the request. Only the reader has the filter, because regular expressions may hold
  // megabytes: they are released with it.
  std::string filter_;
  RowSet rows_;
  ReadOptions options_;
  bool may_wait_ = false;  // in the engine, with its filter
  bool wants_stats_ = false;
  absl::Time began_;  // only if it wants them

  Table* table_ = nullptr;
  std::optional<absl::StatusOr<Row>> found_;  // of a read of a single row
  bool begins_reader_ = false;                // instead of that, in the next step
  std::optional<RowReader> reader_;        // not while the client takes a message; null at the end
  std::optional<Streams::Ticket> ticket_;  // of the reader meanwhile
  std::optional<Row> row_;                 // its rest is for the next message
  convert::RowChunks chunks_;
  size_t message_size_;
  int64_t rows_sent_ = 0;
  int64_t cells_sent_ = 0;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_READ_ROWS_H_
