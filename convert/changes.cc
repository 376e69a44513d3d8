#include "convert/changes.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"

#include "base/status.h"
#include "base/strings.h"
#include "convert/duration.h"
#include "convert/invalid.h"
#include "convert/limits.h"
#include "convert/mutation.h"
#include "convert/row_set.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::Mutation;
using google::bigtable::v2::ReadChangeStreamRequest;
using google::bigtable::v2::StreamContinuationToken;
using google::bigtable::v2::StreamPartition;

// Those of Cloud Bigtable.
constexpr absl::Duration kLeastHeartbeat = absl::Seconds(1);
constexpr absl::Duration kMostHeartbeat = absl::Minutes(5);

// google.protobuf.Timestamp: the years 1 to 9999.
constexpr int64_t kLeastSeconds = -62'135'596'800;
constexpr int64_t kMostSeconds = 253'402'300'799;
constexpr int32_t kMostNanos = 999'999'999;

// What an operation without its value may have: names, and the fields around them.
constexpr size_t kOperationBytes = 64;

absl::StatusOr<absl::Time> ToTime(const google::protobuf::Timestamp& proto, std::string_view what) {
  if (proto.seconds() < kLeastSeconds || proto.seconds() > kMostSeconds || proto.nanos() < 0 ||
      proto.nanos() > kMostNanos) {
    return Invalid(what, " must be a time of the years 1 to 9999, and is ", proto.seconds(),
                   " seconds and ", proto.nanos(), " nanoseconds");
  }
  // In whole microseconds, as the interface says.
  return absl::FromUnixMicros(proto.seconds() * 1'000'000 + proto.nanos() / 1000);
}

absl::StatusOr<RowRange> RowsOf(const StreamPartition& partition) {
  return ToRowRange(partition.row_range());
}

// Whether the ranges are together exactly `rows`.
bool Cover(std::vector<RowRange> ranges, const RowRange& rows) {
  std::sort(ranges.begin(), ranges.end(),
            [](const RowRange& a, const RowRange& b) { return a.begin() < b.begin(); });
  if (ranges.front().begin() != rows.begin()) return false;
  std::optional<std::string> end(ranges.front().end());  // none: they go on to the last row
  for (const RowRange& range : ranges) {
    if (!end.has_value()) break;
    if (range.begin() > *end) return false;
    if (!range.end().has_value()) {
      end.reset();
    } else {
      end = std::max(*end, *range.end());
    }
  }
  return end == rows.end();
}

absl::StatusOr<std::string> ToPosition(const std::string& token) {
  std::string position;
  if (token.empty() || !absl::WebSafeBase64Unescape(token, &position)) {
    return Invalid("a token must be one that this server has sent");
  }
  return position;
}

absl::Status SetPositions(const google::bigtable::v2::StreamContinuationTokens& tokens,
                          ChangeStreamSelection* selection) {
  if (tokens.tokens().empty()) return Invalid("continuation_tokens must have a token");
  std::vector<RowRange> ranges;
  for (int i = 0; i < tokens.tokens_size(); ++i) {
    const StreamContinuationToken& token = tokens.tokens(i);
    absl::StatusOr<RowRange> rows = RowsOf(token.partition());
    if (!rows.ok()) return Annotate(rows.status(), Cat("continuation_tokens[", i, "].partition"));
    absl::StatusOr<std::string> position = ToPosition(token.token());
    if (!position.ok()) return Annotate(position.status(), Cat("continuation_tokens[", i, "]"));
    ranges.push_back(*std::move(rows));
    selection->positions.push_back(*std::move(position));
  }
  if (Cover(std::move(ranges), selection->rows)) return absl::OkStatus();
  return Invalid(
      "the partitions of the continuation_tokens must together be exactly the partition of the "
      "request");
}

absl::Status SetHeartbeat(const google::protobuf::Duration& proto,
                          ChangeStreamSelection* selection) {
  if (IsDuration(proto)) {
    selection->heartbeat = ToDuration(proto);
    if (selection->heartbeat >= kLeastHeartbeat && selection->heartbeat <= kMostHeartbeat) {
      return absl::OkStatus();
    }
  }
  return Invalid("heartbeat_duration must be from ", absl::FormatDuration(kLeastHeartbeat), " to ",
                 absl::FormatDuration(kMostHeartbeat), ", and is ", proto.seconds(),
                 " seconds and ", proto.nanos(), " nanoseconds");
}

template <typename Change>
void SetAggregate(const ObservedOperation& operation, Change* change) {
  change->set_family_name(std::string(operation.family));
  change->mutable_column_qualifier()->set_raw_value(std::string(operation.qualifier));
  change->mutable_timestamp()->set_raw_timestamp_micros(
      operation.timestamp.value_or(Timestamp(0)).micros());
}

// Deletes the column from `begin` on, before `end`. Timestamp::Max() is no end.
void SetDeleteColumn(const ObservedOperation& operation, Timestamp begin, Timestamp end,
                     Mutation* mutation) {
  auto* const deletion = mutation->mutable_delete_from_column();
  deletion->set_family_name(std::string(operation.family));
  deletion->set_column_qualifier(std::string(operation.qualifier));
  if (begin == Timestamp(0) && end == Timestamp::Max()) return;
  auto* const times = deletion->mutable_time_range();
  times->set_start_timestamp_micros(begin.micros());
  if (end != Timestamp::Max()) times->set_end_timestamp_micros(end.micros());
}

// All but the value of a SetCell. Timestamps are as they are, also if a program that embeds the
// engine has set some that are no whole milliseconds.
void SetMutation(const ObservedOperation& operation, Mutation* mutation) {
  const Timestamp time = operation.timestamp.value_or(Timestamp(0));
  switch (operation.kind) {
    case OperationKind::kSet: {
      auto* const set = mutation->mutable_set_cell();
      set->set_family_name(std::string(operation.family));
      set->set_column_qualifier(std::string(operation.qualifier));
      set->set_timestamp_micros(time.micros());
      return;
    }
    case OperationKind::kAddToCell:
      SetAggregate(operation, mutation->mutable_add_to_cell());
      *mutation->mutable_add_to_cell()->mutable_input() = ToAggregateInput(operation.value);
      return;
    case OperationKind::kMergeToCell:
      SetAggregate(operation, mutation->mutable_merge_to_cell());
      mutation->mutable_merge_to_cell()->mutable_input()->set_raw_value(
          std::string(operation.value));
      return;
    case OperationKind::kDelete:
      return SetDeleteColumn(operation, Timestamp(0), Timestamp::Max(), mutation);
    case OperationKind::kDeleteCell:
      return SetDeleteColumn(
          operation, time,
          time == Timestamp::Max() ? Timestamp::Max() : Timestamp(time.micros() + 1), mutation);
    case OperationKind::kDeleteTimeRange:
      return SetDeleteColumn(operation, time, operation.end, mutation);
    case OperationKind::kDeleteFamily:
      mutation->mutable_delete_from_family()->set_family_name(std::string(operation.family));
      return;
    case OperationKind::kDeleteRow:
      return;  // OperationsOf has none
  }
}

// Those of a change, with the deletion of each family in place of that of the row.
std::vector<ObservedOperation> OperationsOf(const TableChange& change,
                                            const std::vector<std::string>& families) {
  std::vector<ObservedOperation> operations;
  for (const ObservedOperation& operation : change.Operations()) {
    if (operation.kind != OperationKind::kDeleteRow) {
      operations.push_back(operation);
      continue;
    }
    for (const std::string& family : families) {
      operations.push_back({.kind = OperationKind::kDeleteFamily, .family = family});
    }
  }
  return operations;
}

}  // namespace

absl::StatusOr<ChangeStreamSelection> ToChangeStreamSelection(
    const ReadChangeStreamRequest& request) {
  ChangeStreamSelection selection;
  absl::StatusOr<RowRange> rows = RowsOf(request.partition());
  if (!rows.ok()) return Annotate(rows.status(), "partition");
  selection.rows = *std::move(rows);
  if (request.has_start_time()) {
    BT_ASSIGN_OR_RETURN(selection.since, ToTime(request.start_time(), "start_time"));
  } else if (request.has_continuation_tokens()) {
    BT_RETURN_IF_ERROR(SetPositions(request.continuation_tokens(), &selection));
  }
  if (request.has_end_time()) {
    BT_ASSIGN_OR_RETURN(selection.end, ToTime(request.end_time(), "end_time"));
  }
  if (request.has_heartbeat_duration()) {
    BT_RETURN_IF_ERROR(SetHeartbeat(request.heartbeat_duration(), &selection));
  }
  return selection;
}

StreamPartition ToPartition(const RowRange& rows) {
  StreamPartition partition;
  partition.mutable_row_range()->set_start_key_closed(rows.begin());
  partition.mutable_row_range()->set_end_key_open(std::string(rows.end().value_or("")));
  return partition;
}

StreamContinuationToken ToToken(const RowRange& rows, std::string_view position) {
  StreamContinuationToken token;
  *token.mutable_partition() = ToPartition(rows);
  token.set_token(ToTokenText(position));
  return token;
}

std::string ToTokenText(std::string_view position) {
  return absl::WebSafeBase64Escape(ToAbsl(position));
}

google::protobuf::Timestamp ToTimestampProto(absl::Time time) {
  const absl::Time shown = std::clamp(time, absl::UnixEpoch(), absl::FromUnixSeconds(kMostSeconds));
  google::protobuf::Timestamp proto;
  proto.set_seconds(absl::ToUnixSeconds(shown));
  proto.set_nanos(static_cast<int32_t>(
      absl::ToInt64Nanoseconds(shown - absl::FromUnixSeconds(proto.seconds()))));
  return proto;
}

DataChangeMessages::DataChangeMessages(const TableChange& change,
                                       const std::vector<std::string>& families,
                                       const DataChangeInfo& info)
    : change_(change),
      cluster_(info.cluster),
      token_(ToTokenText(info.position)),
      watermark_(ToTimestampProto(info.watermark)),
      operations_(OperationsOf(change, families)),
      is_done_(operations_.empty()) {}

bool DataChangeMessages::Next(DataChange* message) {
  if (is_done_) return false;
  message->Clear();
  if (std::exchange(has_begun_, true)) {
    message->set_type(DataChange::CONTINUATION);
  } else {
    message->set_type(DataChange::USER);
    message->set_source_cluster_id(cluster_);
    message->set_row_key(std::string(change_.mutation.row()));
    *message->mutable_commit_timestamp() = ToTimestampProto(change_.time);
    // A later change at the same time has the larger one, until the number is full.
    message->set_tiebreaker(static_cast<int32_t>(change_.sequence & 0x7fff'ffff));
  }
  size_t bytes = 0;
  while (next_ < operations_.size() && bytes < kMaxChunkValueSize) bytes += AddChunk(message);
  is_done_ = next_ == operations_.size();
  if (is_done_) {
    message->set_done(true);
    message->set_token(token_);
    *message->mutable_estimated_low_watermark() = watermark_;
  }
  return true;
}

size_t DataChangeMessages::AddChunk(DataChange* message) {
  const ObservedOperation& operation = operations_[next_];
  auto* const chunk = message->add_chunks();
  if (offset_ == 0) SetMutation(operation, chunk->mutable_mutation());
  if (operation.kind != OperationKind::kSet) {
    ++next_;
    return kOperationBytes + operation.family.size() + operation.qualifier.size() +
           operation.value.size();
  }
  const std::string_view part = operation.value.substr(offset_, kMaxChunkValueSize);
  const bool is_last = offset_ + part.size() == operation.value.size();
  chunk->mutable_mutation()->mutable_set_cell()->set_value(std::string(part));
  if (offset_ > 0 || !is_last) {
    auto* const info = chunk->mutable_chunk_info();
    info->set_chunked_value_size(static_cast<int32_t>(operation.value.size()));
    info->set_chunked_value_offset(static_cast<int32_t>(offset_));
    info->set_last_chunk(is_last);
  }
  offset_ = is_last ? 0 : offset_ + part.size();
  if (is_last) ++next_;
  return kOperationBytes + operation.family.size() + operation.qualifier.size() + part.size();
}

}  // namespace bigtable::convert
