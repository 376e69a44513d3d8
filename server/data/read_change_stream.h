// ReadChangeStream: a stream of the changes of a table's rows, until they are those of other
// tablets, until a time, or for ever.
//
// One message is on its way at a time, and no change is read before the client has taken it. While
// there are no changes, the call has no thread: it looks for some every few milliseconds, less
// often the longer there are none, and sends a heartbeat now and then. It ends within a tenth of a
// second when it is cancelled, at its deadline, and with the server; then UNAVAILABLE, upon which
// the client goes on elsewhere.
//
// The API has no message for rows that were dropped (Table::DropRowRange) and for changes of
// families, so these are left out.
#ifndef BIGTABLE_SERVER_DATA_READ_CHANGE_STREAM_H_
#define BIGTABLE_SERVER_DATA_READ_CHANGE_STREAM_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "grpcpp/support/byte_buffer.h"

#include "bigtable/change_stream.h"
#include "bigtable/table.h"

#include "convert/changes.h"
#include "server/calls/authentication.h"
#include "server/data/change_streams.h"
#include "server/data/served_call.h"
#include "server/data/served_tables.h"

namespace bigtable::server {

namespace data = google::bigtable::v2;

// What all calls use. All outlive them.
struct ReadChangeStreamParts {
  ServedTables* tables = nullptr;
  const Authentication* authentication = nullptr;
  ChangeStreams* streams = nullptr;
};

class ReadChangeStreamCall final : public ServedCall {
 public:
  ReadChangeStreamCall(ServedMethod* method, const ReadChangeStreamParts& parts)
      : ServedCall(method), parts_(parts) {}

 private:
  Step Begin(grpc::ByteBuffer* request) override;
  Step Continue(bool is_there) override;

  absl::Status Take(grpc::ByteBuffer* bytes);
  absl::Status OpenStream();
  absl::StatusOr<bool> OpenAgain();
  Step Advance();
  // The next message of the change that is being sent, or of the next change that is to be sent.
  bool NextMessage(data::ReadChangeStreamResponse* response);
  bool TakeChange();
  Step AdvanceWithoutChange();
  bool IsComplete() const;
  Step SendResponse(const data::ReadChangeStreamResponse& response);
  data::ReadChangeStreamResponse Heartbeat();
  data::ReadChangeStreamResponse EndOfPartition();
  Step Finish(const absl::Status& status, std::optional<grpc::ByteBuffer> last = std::nullopt);

  const ReadChangeStreamParts& parts_;
  std::optional<ChangeStreams::Open> open_;

  std::string table_name_;
  std::optional<std::string> caller_;
  std::string cluster_;
  convert::ChangeStreamSelection selection_;

  Table* table_ = nullptr;
  std::optional<ChangeStream> stream_;
  std::vector<std::string> families_;                    // of the table, where the stream is
  std::optional<convert::DataChangeMessages> messages_;  // of the stream's present change
  absl::Time watermark_ = absl::InfinitePast();
  bool is_past_end_ = false;  // a change was much later than the end
  bool has_sent_ = false;
  std::chrono::steady_clock::time_point last_sent_;
  std::chrono::milliseconds pause_{};  // before the next look
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_READ_CHANGE_STREAM_H_
