#include "backend/write_checks.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::Status DurabilityError(Durability durability) {
  return absl::InvalidArgumentError(
      Cat("WriteOptions::durability must be kNone, kBuffered or kSync, and is ",
          static_cast<int>(durability)));
}

absl::Status CheckMutationOf(std::string_view row, const RowMutation& mutation) {
  if (mutation.row() == row) return mutation.status();
  return absl::InvalidArgumentError(Cat("the operation is on row ", Quoted(row),
                                        ", and its mutation is of row ", Quoted(mutation.row())));
}

absl::Status CheckEitherMutates(const RowMutation& if_matched, const RowMutation& if_not) {
  if (if_matched.operation_count() > 0 || if_not.operation_count() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("both mutations of row ", Quoted(if_matched.row()),
                                        " are empty; one must have an operation"));
}

absl::Status CheckRules(const ReadModifyWrite& rules) {
  BT_RETURN_IF_ERROR(rules.status());
  if (rules.rule_count() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("a ReadModifyWrite must have a rule, and that of row ",
                                        Quoted(rules.row()), " has none"));
}

}  // namespace bigtable
