// Change streams as the messages of ReadChangeStream, and back. Pure functions.
//
// INVALID_ARGUMENT, with the field that is wrong: a range of rows as in row_set.h; continuation
// tokens that are none, or whose partitions are not together exactly the one that is read; a time
// or a duration that is none; a heartbeat_duration that is not from 1 second to 5 minutes.
#ifndef BIGTABLE_CONVERT_CHANGES_H_
#define BIGTABLE_CONVERT_CHANGES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "google/bigtable/v2/data.pb.h"
#include "google/protobuf/timestamp.pb.h"

#include "bigtable/change_stream.h"
#include "bigtable/mutation_observer.h"
#include "bigtable/row_range.h"

namespace bigtable::convert {

// What a request for a change stream asks for. Plain value.
struct ChangeStreamSelection {
  RowRange rows = RowRange::All();
  std::vector<std::string> positions;
  std::optional<absl::Time> since;  // only without positions
  std::optional<absl::Time> end;    // the last time whose changes are returned
  absl::Duration heartbeat = absl::Seconds(5);
};

// The selection of a request. A request without a partition is for all rows.
absl::StatusOr<ChangeStreamSelection> ToChangeStreamSelection(
    const google::bigtable::v2::ReadChangeStreamRequest& request);

// The rows as a partition: from start_key_closed to end_key_open. An end that is open is empty.
google::bigtable::v2::StreamPartition ToPartition(const RowRange& rows);

// The token with which the rows are read on from a position, which is bytes and becomes text.
google::bigtable::v2::StreamContinuationToken ToToken(const RowRange& rows,
                                                      std::string_view position);
// The text of such a token alone.
std::string ToTokenText(std::string_view position);

// A time as a message has it. A time before 1970 is 1970: it stands for none.
google::protobuf::Timestamp ToTimestampProto(absl::Time time);

// What a DataChange says beside the mutation. Plain value.
struct DataChangeInfo {
  std::string_view cluster;   // not empty
  std::string_view position;  // after the change
  absl::Time watermark;
};

// A mutation as DataChange messages, which are made one after another: each has about a megabyte,
// and a value that is larger is divided into chunks, each the last of its message. The deletion of
// a row is that of its families: Google's clients know no other in a change. One thread.
class DataChangeMessages {
 public:
  // Of kMutation. `families` are the table's. They and `change` outlive this.
  DataChangeMessages(const TableChange& change, const std::vector<std::string>& families,
                     const DataChangeInfo& info);

  // Sets `*message` to the next one. False: there are no more. A mutation of which nothing is left,
  // because the table has no family, has none.
  bool Next(google::bigtable::v2::ReadChangeStreamResponse::DataChange* message);

 private:
  using DataChange = google::bigtable::v2::ReadChangeStreamResponse::DataChange;

  // Adds the present operation, or the next part of its value. Returns the bytes.
  size_t AddChunk(DataChange* message);

  const TableChange& change_;
  const std::string cluster_;
  const std::string token_;
  const google::protobuf::Timestamp watermark_;
  const std::vector<ObservedOperation> operations_;
  size_t next_ = 0;    // of the operations
  size_t offset_ = 0;  // in the value of that one
  bool has_begun_ = false;
  bool is_done_ = false;
};

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_CHANGES_H_
