#include "schema/mutation_check.h"

#include <cstdint>

#include "absl/strings/cord.h"

#include "base/status.h"
#include "base/strings.h"
#include "base/time_range.h"

namespace bigtable {
namespace {

[[gnu::noinline]] absl::Status ClosedError(const FamilyLayout& family) {
  return absl::AbortedError(
      Cat("family ", Quoted(family.name),
          " is being dropped, and may be added again; nothing was written, and the "
          "write can be made again"));
}

// A contribution, or a cell or contribution of an aggregate family.
[[gnu::noinline]] absl::Status CheckValue(const FamilyLayout& family, EntryKind kind,
                                          std::string_view value) {
  const bool is_input = kind == EntryKind::kAddToCell;
  if (family.aggregate == nullptr) {
    return absl::InvalidArgumentError(
        Cat("family ", Quoted(family.name),
            " is no aggregate, so its cells are written by Set, not by ",
            is_input ? "AddToCell" : "MergeToCell"));
  }
  if (kind == EntryKind::kCell) {
    return absl::InvalidArgumentError(
        Cat("family ", Quoted(family.name), " holds ", family.aggregate->what(),
            ", which only AddToCell and MergeToCell write, not Set or ReadModifyWriteRow"));
  }
  const AggregateOperator* const op = family.aggregate->operator_or_null();
  if (op == nullptr) return family.aggregate->MissingError(family.name);
  const absl::Status checked = CheckContribution(*op, kind, value);
  if (checked.ok()) return checked;
  return Annotate(checked, Cat("family ", Quoted(family.name), " holds ", family.aggregate->what(),
                               ", and does not take what ",
                               is_input ? "AddToCell adds" : "MergeToCell merges"));
}

// The mark by which the error differs from an Unimplemented of other origin.
constexpr const char* kNotObservedMark = "bigtable.not_observed";

[[gnu::noinline]] absl::Status NotObservedError(const TableLayout& layout) {
  absl::Status status = absl::UnimplementedError(
      Cat("table ", layout.name, " has observers (", Listed(layout.observers),
          "), which were not called for the mutation; they cannot be by messages"));
  status.SetPayload(kNotObservedMark, absl::Cord());
  return status;
}

}  // namespace

bool HasNotObservedMark(const absl::Status& status) {
  return absl::IsUnimplemented(status) && status.GetPayload(kNotObservedMark).has_value();
}

absl::Status CheckCellOf(const FamilyLayout& family, EntryKind kind, std::string_view value) {
  if (family.aggregate == nullptr && kind == EntryKind::kCell) [[likely]]
    return absl::OkStatus();
  return CheckValue(family, kind, value);
}

absl::Status CheckMutation(const TableLayout& layout, const EncodedMutation& mutation) {
  if (mutation.observers != layout.observers_id) [[unlikely]]
    return NotObservedError(layout);
  OperationReader reader(mutation.operations);
  MutationOperation operation;
  uint32_t count = 0;
  TimeRange range;
  for (; reader.Next(&operation); ++count) {
    if (operation.is_of_row()) continue;
    const FamilyLayout* const family = layout.FindFamily(operation.family);
    if (family == nullptr) return layout.NoFamilyError(operation.family);
    if (operation.kind == EntryKind::kDeleteTimeRange && !ParseTimeRange(operation.value, &range)) {
      return absl::InvalidArgumentError(
          "the mutation deletes a time range that is not well formed");
    }
    if (family->closed) [[unlikely]]
      return ClosedError(*family);
    if (IsCell(operation.kind)) {
      BT_RETURN_IF_ERROR(CheckCellOf(*family, operation.kind, operation.value));
    }
  }
  if (!reader.ok()) return absl::InvalidArgumentError("the mutation is not well formed");
  if (count == 0) return absl::InvalidArgumentError("the mutation has no operations");
  return absl::OkStatus();
}

}  // namespace bigtable
