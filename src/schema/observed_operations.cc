#include "schema/observed_operations.h"

#include "base/time_range.h"
#include "schema/mutation_format.h"

namespace bigtable {
namespace {

OperationKind KindOfOperation(EntryKind kind) {
  switch (kind) {
    case EntryKind::kAddToCell:
      return OperationKind::kAddToCell;
    case EntryKind::kMergeToCell:
      return OperationKind::kMergeToCell;
    case EntryKind::kDeleteColumn:
      return OperationKind::kDelete;
    case EntryKind::kDeleteCell:
      return OperationKind::kDeleteCell;
    case EntryKind::kDeleteTimeRange:
      return OperationKind::kDeleteTimeRange;
    case EntryKind::kDeleteFamily:
      return OperationKind::kDeleteFamily;
    case EntryKind::kDeleteRow:
      return OperationKind::kDeleteRow;
    case EntryKind::kCell:
    case EntryKind::kGhost:       // not an operation
    case EntryKind::kShadow:      // not an operation
    case EntryKind::kCountedOut:  // not an operation
      break;
  }
  return OperationKind::kSet;
}

}  // namespace

std::vector<ObservedOperation> ObservedOperationsOf(const RowMutation& mutation) {
  std::vector<ObservedOperation> operations;
  OperationReader reader(EncodedMutation::Of(mutation).operations);
  for (MutationOperation operation; reader.Next(&operation);) {
    ObservedOperation& observed = operations.emplace_back();
    observed.kind = KindOfOperation(operation.kind);
    observed.family = operation.family;
    observed.qualifier = operation.qualifier;
    if (operation.has_timestamp) observed.timestamp = Timestamp(operation.timestamp);
    TimeRange range;
    if (operation.kind != EntryKind::kDeleteTimeRange) {
      observed.value = operation.value;
    } else if (ParseTimeRange(operation.value, &range)) {
      observed.timestamp = Timestamp(range.begin);
      observed.end = Timestamp(range.end);
    }
  }
  return operations;
}

}  // namespace bigtable
