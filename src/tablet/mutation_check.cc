#include "tablet/mutation_check.h"

#include <cstdint>

namespace bigtable {

absl::Status CheckMutation(const TableLayout& layout, const EncodedMutation& mutation) {
  OperationReader reader(mutation.operations);
  MutationOperation operation;
  uint32_t count = 0;
  for (; reader.Next(&operation); ++count) {
    if (operation.is_of_row()) continue;
    if (layout.FindFamily(operation.family) == nullptr) {
      return layout.NoFamilyError(operation.family);
    }
  }
  if (!reader.ok()) return absl::InvalidArgumentError("the mutation is not well formed");
  if (count == 0) return absl::InvalidArgumentError("the mutation has no operations");
  return absl::OkStatus();
}

}  // namespace bigtable
