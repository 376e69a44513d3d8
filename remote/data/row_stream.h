// The rows of ReadRows calls: one call, and after an error that may pass another one for the rows
// that are left.
#ifndef BIGTABLE_REMOTE_DATA_ROW_STREAM_H_
#define BIGTABLE_REMOTE_DATA_ROW_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/v2/bigtable.pb.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_range.h"

#include "base/call_limits.h"
#include "connected/table_service.h"
#include "convert/chunk_merger.h"
#include "remote/calls/attempt.h"
#include "remote/calls/connection.h"
#include "remote/calls/retries.h"

namespace bigtable::remote {

// One thread at a time.
class RemoteRows final : public RowStream {
 public:
  // The first call begins here. `table`: the name of the resource. `ranges`: as for
  // TableService::ReadRows.
  RemoteRows(std::shared_ptr<Connection> connection, const std::string& table,
             std::vector<RowRange> ranges, const Filter& filter, const ReadOptions& options);
  ~RemoteRows() override;

  absl::StatusOr<bool> Next(Row* row) override;

 private:
  using Response = google::bigtable::v2::ReadRowsResponse;

  // A call under way.
  struct Stream {
    Stream(Connection* connection, const CallLimits* limits, const std::vector<RowRange>* ranges,
           bool reverse)
        : attempt(connection, limits), merger(ranges, reverse) {}

    Attempt attempt;
    convert::ChunkMerger merger;
    std::unique_ptr<grpc::ClientAsyncReader<Response>> reader;
    Response response;
    int next_chunk = 0;
    bool is_reading = false;  // a read was begun, and its event has not been waited for
  };

  absl::Status Begin();
  // Ends the call, whose status is not of interest.
  void Abandon();
  // The next row of this call. False: the call is over.
  absl::StatusOr<bool> NextOfStream(Row* row);
  // The next response. False: there is none.
  bool ReadResponse();
  absl::Status Finish();
  // Notes that the server's answer is wrong, so that it is not asked again.
  absl::Status Broken(const absl::Status& error);
  // Removes the rows that were returned or scanned from `ranges_`.
  void Forget();

  const std::shared_ptr<Connection> connection_;
  const CallLimits limits_;
  const bool reverse_;
  const int64_t row_limit_;
  Retries retries_;
  google::bigtable::v2::ReadRowsRequest request_;  // without rows
  std::vector<RowRange> ranges_;                   // that are left
  int64_t rows_ = 0;
  int64_t rows_at_error_ = -1;  // rows_ at the last error
  absl::Status begun_;          // why the first call could not begin
  bool is_broken_ = false;
  std::unique_ptr<Stream> stream_;
};

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_DATA_ROW_STREAM_H_
