#include <algorithm>
#include <string>
#include <string_view>

#include "base/entry_kind.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/time_range.h"
#include "convert/limits.h"
#include "convert/mutation.h"
#include "convert/time_range.h"
#include "rows/row_rules.h"
#include "schema/mutation_format.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::Mutation;
using google::bigtable::v2::Value;

// AddToCell or MergeToCell.
template <typename Change>
absl::Status SetAggregate(const MutationOperation& operation, Change* change) {
  BT_RETURN_IF_ERROR(CheckTimestamp("a timestamp", operation.timestamp));
  change->set_family_name(std::string(operation.family));
  change->mutable_column_qualifier()->set_raw_value(std::string(operation.qualifier));
  change->mutable_timestamp()->set_raw_timestamp_micros(operation.timestamp);
  return absl::OkStatus();
}

absl::Status SetCell(const MutationOperation& operation, Timestamp now, Mutation::SetCell* set) {
  const int64_t micros = operation.has_timestamp ? operation.timestamp : now.micros();
  BT_RETURN_IF_ERROR(CheckTimestamp("a timestamp", micros));
  set->set_family_name(std::string(operation.family));
  set->set_column_qualifier(std::string(operation.qualifier));
  set->set_timestamp_micros(micros);
  set->set_value(std::string(operation.value));
  return absl::OkStatus();
}

Mutation::DeleteFromColumn* SetColumn(const MutationOperation& operation, Mutation* mutation) {
  Mutation::DeleteFromColumn* const deletion = mutation->mutable_delete_from_column();
  deletion->set_family_name(std::string(operation.family));
  deletion->set_column_qualifier(std::string(operation.qualifier));
  return deletion;
}

absl::Status SetDeleteTimes(const MutationOperation& operation, const TimeRange& times,
                            Mutation* mutation) {
  BT_ASSIGN_OR_RETURN(*SetColumn(operation, mutation)->mutable_time_range(), ToProto(times));
  return absl::OkStatus();
}

absl::Status SetMutation(const MutationOperation& operation, Timestamp now, Mutation* mutation) {
  switch (operation.kind) {
    case EntryKind::kCell:
      return SetCell(operation, now, mutation->mutable_set_cell());
    case EntryKind::kAddToCell:
      *mutation->mutable_add_to_cell()->mutable_input() = ToAggregateInput(operation.value);
      return SetAggregate(operation, mutation->mutable_add_to_cell());
    case EntryKind::kMergeToCell:
      mutation->mutable_merge_to_cell()->mutable_input()->set_raw_value(
          std::string(operation.value));
      return SetAggregate(operation, mutation->mutable_merge_to_cell());
    case EntryKind::kDeleteCell: {
      BT_RETURN_IF_ERROR(CheckTimestamp("a timestamp", operation.timestamp));
      // The next timestamp that there can be, if there is one.
      const bool is_last = operation.timestamp > TimeRange::kNoEnd - kTimestampGranularityMicros;
      return SetDeleteTimes(
          operation,
          {operation.timestamp,
           is_last ? TimeRange::kNoEnd : operation.timestamp + kTimestampGranularityMicros},
          mutation);
    }
    case EntryKind::kDeleteColumn:
      SetColumn(operation, mutation);
      return absl::OkStatus();
    case EntryKind::kDeleteTimeRange: {
      TimeRange times;
      if (!ParseTimeRange(operation.value, &times)) break;
      return SetDeleteTimes(operation, times, mutation);
    }
    case EntryKind::kDeleteFamily:
      mutation->mutable_delete_from_family()->set_family_name(std::string(operation.family));
      return absl::OkStatus();
    case EntryKind::kDeleteRow:
      mutation->mutable_delete_from_row();
      return absl::OkStatus();
    case EntryKind::kGhost:
    case EntryKind::kShadow:
    case EntryKind::kCountedOut:
      break;
  }
  return absl::InternalError("a mutation has an operation that no mutation can have");
}

}  // namespace

absl::Status AppendMutations(const RowMutation& mutation, Timestamp now, MutationList* list) {
  OperationReader reader(EncodedMutation::Of(mutation).operations);
  for (MutationOperation operation; reader.Next(&operation);) {
    BT_RETURN_IF_ERROR(SetMutation(operation, now, list->Add()));
  }
  return absl::OkStatus();
}

Value ToAggregateInput(std::string_view bytes) {
  Value value;
  // The number of an aggregate. A sketch and a double take the same bytes from either.
  if (bytes.size() == 8) {
    value.set_int_value(DecodeBigEndian(bytes).value());
  } else {
    value.set_raw_value(std::string(bytes));
  }
  return value;
}

bool IsIdempotent(const MutationList& list) {
  return std::none_of(list.begin(), list.end(), [](const Mutation& mutation) {
    return mutation.has_add_to_cell() || mutation.has_merge_to_cell();
  });
}

}  // namespace bigtable::convert
