#include "server/data/read_change_stream.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"

#include "bigtable/row_range.h"
#include "bigtable/schema.h"

#include "convert/status.h"
#include "server/calls/call_info.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long until the next look for changes: at first, and after there were none for long. The
// bound on how long it takes until the end of the call is noticed.
constexpr milliseconds kFirstPause(5);
constexpr milliseconds kLastPause(40);
// By how much times of commits may differ from the order of the commits, which is that of the
// stream: within a tablet not at all.
constexpr absl::Duration kTimesDiffer = absl::Seconds(1);

std::vector<std::string> FamiliesOf(const TableSchema& schema) {
  std::vector<std::string> families;
  for (const auto& [name, family] : schema.families) families.push_back(name);
  return families;
}

// The rows that both have.
RowRange Common(const RowRange& a, const RowRange& b) {
  const std::string& begin = std::max(a.begin(), b.begin());
  if (!a.end().has_value() && !b.end().has_value()) return RowRange::StartingAt(begin);
  if (!a.end().has_value()) return RowRange::RightOpen(begin, *b.end());
  if (!b.end().has_value()) return RowRange::RightOpen(begin, *a.end());
  return RowRange::RightOpen(begin, std::min(*a.end(), *b.end()));
}

}  // namespace

ServedCall::Step ReadChangeStreamCall::Begin(grpc::ByteBuffer* request) {
  if (!parts_.streams->Enter()) {
    return End(absl::ResourceExhaustedError(Cat("there are ", parts_.streams->most(),
                                                " open change streams, as many as there may be")));
  }
  open_.emplace(parts_.streams, events());
  const absl::Status status = Take(request);
  if (!table_name_.empty()) SetResource(table_name_, status.ok());
  if (!status.ok()) return Finish(status);
  last_sent_ = steady_clock::now();
  pause_ = kFirstPause;
  return Advance();
}

ServedCall::Step ReadChangeStreamCall::Continue(bool is_there) {
  if (!is_there) return Finish(absl::CancelledError("the client has gone"));
  return Advance();
}

absl::Status ReadChangeStreamCall::Take(grpc::ByteBuffer* bytes) {
  data::ReadChangeStreamRequest request;
  SERVER_RETURN_IF_ERROR(Parse(bytes, &request));
  SERVER_ASSIGN_OR_RETURN(selection_, convert::ToChangeStreamSelection(request));
  table_name_ = request.table_name();
  SERVER_ASSIGN_OR_RETURN(caller_, parts_.authentication->CallerOf(context()));
  SERVER_ASSIGN_OR_RETURN(table_, parts_.tables->Open(table_name_, caller_));
  const absl::Status opened = OpenStream();
  if (!absl::IsNotFound(opened)) return opened;
  SERVER_ASSIGN_OR_RETURN(const bool begins_anew, OpenAgain());
  return begins_anew ? absl::OkStatus() : opened;
}

// What was committed before the stream's beginning is not in it.
absl::Status ReadChangeStreamCall::OpenStream() {
  SERVER_ASSIGN_OR_RETURN(const TableSchema schema,
                          parts_.tables->database()->GetSchema(table_->name()));
  families_ = FamiliesOf(schema);
  cluster_ = ClusterOf(table_name_);
  if (selection_.since.has_value()) watermark_ = *selection_.since;
  ReadChangesOptions options;
  options.rows = selection_.rows;
  options.positions = selection_.positions;
  options.since = selection_.since;
  options.ends_with_tablets = true;
  options.deadline = DeadlineOf(context());
  options.cancellation = cancellation();
  stream_.emplace(table_->ReadChanges(options));
  return stream_->status();
}

// If the table was deleted and there is a new one of its name, opens the stream of that one.
absl::StatusOr<bool> ReadChangeStreamCall::OpenAgain() {
  if (has_sent_) return false;
  SERVER_ASSIGN_OR_RETURN(Table* const table, parts_.tables->OpenAgain(table_name_, caller_));
  if (table == table_) return false;
  table_ = table;
  SERVER_RETURN_IF_ERROR(OpenStream());
  return true;
}

ServedCall::Step ReadChangeStreamCall::Advance() {
  if (cancellation()->cancelled()) return Finish(absl::CancelledError("the call was cancelled"));
  if (parts_.streams->is_closed()) return Finish(absl::UnavailableError("the server ends"));
  data::ReadChangeStreamResponse response;
  if (NextMessage(&response)) {
    pause_ = kFirstPause;
    return SendResponse(response);
  }
  return AdvanceWithoutChange();
}

bool ReadChangeStreamCall::NextMessage(data::ReadChangeStreamResponse* response) {
  while (!is_past_end_) {
    if (messages_.has_value()) {
      if (messages_->Next(response->mutable_data_change())) return true;
      messages_.reset();
    }
    if (!stream_->Next() || !TakeChange()) return false;
  }
  return false;
}

// Makes the messages of the stream's present change, if it is to be sent. False: the stream is past
// the end.
bool ReadChangeStreamCall::TakeChange() {
  const TableChange& change = stream_->change();
  // Google's API names the cells that are collected, which no change of a table here does. Its time
  // is not in the order of those of mutations.
  if (change.kind == TableChange::Kind::kGarbageCollection) return true;
  watermark_ = std::max(watermark_, change.time);
  if (change.kind == TableChange::Kind::kFamilies) families_ = FamiliesOf(*change.schema);
  if (selection_.end.has_value() && change.time > *selection_.end) {
    is_past_end_ = change.time > *selection_.end + kTimesDiffer;
    return !is_past_end_;
  }
  if (change.kind != TableChange::Kind::kMutation) return true;
  messages_.emplace(
      change, families_,
      convert::DataChangeInfo{
          .cluster = cluster_, .position = stream_->Position(), .watermark = watermark_});
  return true;
}

ServedCall::Step ReadChangeStreamCall::AdvanceWithoutChange() {
  if (const absl::Status status = stream_->status(); !status.ok()) {
    if (!absl::IsNotFound(status)) return Finish(status);
    const absl::StatusOr<bool> begins_anew = OpenAgain();
    if (!begins_anew.ok()) return Finish(begins_anew.status());
    return *begins_anew ? Wait(kFirstPause) : Finish(status);
  }
  if (IsComplete()) {
    data::ReadChangeStreamResponse response;
    response.mutable_close_stream()->mutable_status();
    return Finish(absl::OkStatus(), Serialize(response));
  }
  if (stream_->ended()) return Finish(absl::OkStatus(), Serialize(EndOfPartition()));
  watermark_ = std::max(watermark_, stream_->CompleteThrough());
  const auto now = steady_clock::now();
  const auto due = last_sent_ + absl::ToChronoMilliseconds(selection_.heartbeat);
  if (now >= due) return SendResponse(Heartbeat());
  const milliseconds left = std::chrono::ceil<milliseconds>(due - now);
  const milliseconds pause = std::min(pause_, left);
  pause_ = std::min(2 * pause_, kLastPause);
  return Wait(pause);
}

// Whether everything up to the end was sent.
bool ReadChangeStreamCall::IsComplete() const {
  return selection_.end.has_value() &&
         (is_past_end_ || stream_->CompleteThrough() > *selection_.end);
}

ServedCall::Step ReadChangeStreamCall::SendResponse(
    const data::ReadChangeStreamResponse& response) {
  has_sent_ = true;
  last_sent_ = steady_clock::now();
  return Send(Serialize(response));
}

data::ReadChangeStreamResponse ReadChangeStreamCall::Heartbeat() {
  data::ReadChangeStreamResponse response;
  auto* const heartbeat = response.mutable_heartbeat();
  *heartbeat->mutable_continuation_token() = convert::ToToken(selection_.rows, stream_->Position());
  *heartbeat->mutable_estimated_low_watermark() = convert::ToTimestampProto(watermark_);
  return response;
}

// The rows are those of other tablets now: where to read on, in each.
data::ReadChangeStreamResponse ReadChangeStreamCall::EndOfPartition() {
  data::ReadChangeStreamResponse response;
  auto* const close = response.mutable_close_stream();
  *close->mutable_status() =
      convert::ToRpcStatus(absl::OutOfRangeError("the partition was split or merged"));
  for (const ChangePartition& successor : stream_->successors()) {
    *close->add_continuation_tokens() =
        convert::ToToken(Common(successor.rows, selection_.rows), successor.position);
    *close->add_new_partitions() = convert::ToPartition(successor.rows);
  }
  return response;
}

// Another may be opened from now on.
ServedCall::Step ReadChangeStreamCall::Finish(const absl::Status& status,
                                              std::optional<grpc::ByteBuffer> last) {
  messages_.reset();
  stream_.reset();
  open_.reset();
  return End(status, std::move(last));
}

}  // namespace bigtable::server
