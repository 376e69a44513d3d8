#include "convert/mutation.h"

#include <optional>
#include <string>

#include "bigtable/read_modify_write.h"

#include "base/status.h"
#include "base/strings.h"
#include "convert/invalid.h"
#include "convert/keys.h"
#include "convert/limits.h"
#include "convert/time_range.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::Mutation;
using google::bigtable::v2::Value;

constexpr int64_t kServerTime = -1;

absl::Status CheckValueSize(std::string_view value) {
  if (value.size() <= kMaxValueSize) return absl::OkStatus();
  return Invalid("a value must have at most ", kMaxValueSize, " bytes, and this one has ",
                 value.size());
}

// The cell of AddToCell or MergeToCell.
struct AggregateCell {
  std::string column;
  Timestamp timestamp;
};

template <typename Change>
absl::StatusOr<AggregateCell> ToAggregateCell(const Change& change) {
  AggregateCell cell;
  for (const Value* value : {&change.column_qualifier(), &change.timestamp(), &change.input()}) {
    if (value->has_type()) {
      return Invalid("the values of a mutation must have no type: the family has it");
    }
  }
  if (change.column_qualifier().kind_case() != Value::kRawValue) {
    return Invalid("column_qualifier must be a raw_value");
  }
  if (change.timestamp().kind_case() != Value::kRawTimestampMicros) {
    return Invalid("timestamp must be a raw_timestamp_micros");
  }
  BT_ASSIGN_OR_RETURN(cell.column,
                      ToColumn(change.family_name(), change.column_qualifier().raw_value()));
  BT_ASSIGN_OR_RETURN(cell.timestamp, ToTimestamp(change.timestamp().raw_timestamp_micros()));
  return cell;
}

// The bytes of an input or a state, as the engine takes them. Null for NULL.
absl::StatusOr<std::optional<std::string>> ToInput(const Value& input) {
  std::optional<std::string> bytes;
  switch (input.kind_case()) {
    case Value::KIND_NOT_SET:
      return bytes;
    case Value::kIntValue:
      bytes = EncodeBigEndian(input.int_value());
      return bytes;
    case Value::kFloatValue:
      bytes = EncodeDouble(input.float_value());
      return bytes;
    case Value::kRawValue:
      bytes = input.raw_value();
      break;
    case Value::kBytesValue:
      bytes = input.bytes_value();
      break;
    case Value::kStringValue:
      bytes = input.string_value();
      break;
    default:
      return Invalid(
          "input must be an int_value, a float_value, a raw_value, a bytes_value or a "
          "string_value");
  }
  BT_RETURN_IF_ERROR(CheckValueSize(*bytes));
  return bytes;
}

absl::Status AddAddToCell(const Mutation::AddToCell& add, RowMutation* mutation) {
  BT_ASSIGN_OR_RETURN(const AggregateCell cell, ToAggregateCell(add));
  BT_ASSIGN_OR_RETURN(const std::optional<std::string> input, ToInput(add.input()));
  if (!input.has_value()) return Invalid("input must be set");
  mutation->AddToCell(cell.column, cell.timestamp, std::string_view(*input));
  return absl::OkStatus();
}

absl::Status AddMergeToCell(const Mutation::MergeToCell& merge, RowMutation* mutation) {
  BT_ASSIGN_OR_RETURN(const AggregateCell cell, ToAggregateCell(merge));
  BT_ASSIGN_OR_RETURN(const std::optional<std::string> state, ToInput(merge.input()));
  if (state.has_value()) mutation->MergeToCell(cell.column, cell.timestamp, *state);
  return absl::OkStatus();
}

absl::Status AddDeleteFromColumn(const Mutation::DeleteFromColumn& deletion,
                                 RowMutation* mutation) {
  BT_ASSIGN_OR_RETURN(const std::string column,
                      ToColumn(deletion.family_name(), deletion.column_qualifier()));
  BT_ASSIGN_OR_RETURN(const TimeRange times, ToTimeRange(deletion.time_range()));
  if (times.begin == 0 && times.end == TimeRange::kNoEnd) {
    mutation->Delete(column);
  } else {
    mutation->DeleteTimeRange(column, Timestamp(times.begin), Timestamp(times.end));
  }
  return absl::OkStatus();
}

absl::Status AddDeleteFromFamily(const Mutation::DeleteFromFamily& deletion,
                                 RowMutation* mutation) {
  BT_RETURN_IF_ERROR(CheckFamilyName(deletion.family_name()));
  mutation->DeleteFamily(deletion.family_name());
  return absl::OkStatus();
}

}  // namespace

absl::Status AddSetCell(const SetCellFields& set, Timestamp server_time, RowMutation* mutation) {
  BT_ASSIGN_OR_RETURN(const std::string column, ToColumn(set.family, set.qualifier));
  BT_RETURN_IF_ERROR(CheckValueSize(set.value));
  Timestamp timestamp = server_time;
  if (set.timestamp_micros < kServerTime) {
    return Invalid("a timestamp must not be negative, except -1 for the server's time, and is ",
                   set.timestamp_micros);
  }
  if (set.timestamp_micros != kServerTime) {
    BT_ASSIGN_OR_RETURN(timestamp, ToTimestamp(set.timestamp_micros));
  }
  mutation->Set(column, timestamp, set.value);
  return absl::OkStatus();
}

absl::Status AddMutation(const Mutation& source, Timestamp server_time, RowMutation* mutation) {
  switch (source.mutation_case()) {
    case Mutation::kSetCell: {
      const Mutation::SetCell& set = source.set_cell();
      return AddSetCell(
          {set.family_name(), set.column_qualifier(), set.timestamp_micros(), set.value()},
          server_time, mutation);
    }
    case Mutation::kAddToCell:
      return AddAddToCell(source.add_to_cell(), mutation);
    case Mutation::kMergeToCell:
      return AddMergeToCell(source.merge_to_cell(), mutation);
    case Mutation::kDeleteFromColumn:
      return AddDeleteFromColumn(source.delete_from_column(), mutation);
    case Mutation::kDeleteFromFamily:
      return AddDeleteFromFamily(source.delete_from_family(), mutation);
    case Mutation::kDeleteFromRow:
      mutation->DeleteRow();
      return absl::OkStatus();
    case Mutation::MUTATION_NOT_SET:
      break;
  }
  return Invalid("nothing is set, or nothing that this server knows");
}

absl::Status CheckMutationCount(int64_t count) {
  if (count >= 1 && count <= kMaxMutations) return absl::OkStatus();
  return Invalid("there must be from 1 to ", kMaxMutations, " mutations, and there are ", count);
}

absl::Status BuildRowMutation(
    std::string_view row_key, size_t count, Timestamp now,
    absl::FunctionRef<absl::Status(size_t i, Timestamp server_time, RowMutation*)> add,
    RowMutation* mutation) {
  BT_RETURN_IF_ERROR(CheckRowKey(row_key));
  BT_RETURN_IF_ERROR(CheckMutationCount(static_cast<int64_t>(count)));
  const Timestamp server_time(now.micros() - now.micros() % kTimestampGranularityMicros);
  mutation->Reset(row_key);
  for (size_t i = 0; i < count; ++i) {
    absl::Status status = add(i, server_time, mutation);
    if (status.ok()) status = mutation->status();
    if (!status.ok()) return Annotate(status, Cat("mutations[", i, "]"));
  }
  return absl::OkStatus();
}

absl::StatusOr<RowMutation> ToRowMutation(std::string_view row_key, const MutationList& mutations,
                                          Timestamp now) {
  RowMutation built(row_key);
  BT_RETURN_IF_ERROR(BuildRowMutation(
      row_key, static_cast<size_t>(mutations.size()), now,
      [&](size_t i, Timestamp server_time, RowMutation* mutation) {
        return AddMutation(mutations[static_cast<int>(i)], server_time, mutation);
      },
      &built));
  return built;
}

}  // namespace bigtable::convert
