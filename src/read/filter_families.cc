#include "read/filter_families.h"

#include "base/status.h"

namespace bigtable {

absl::Status CheckFamilies(const FilterNode& filter, const TableLayout& layout) {
  if (TraitsOf(filter.kind).names_family && layout.FindFamily(filter.text) == nullptr) {
    return layout.NoFamilyError(filter.text);
  }
  for (const Filter& part : filter.parts) BT_RETURN_IF_ERROR(CheckFamilies(part, layout));
  return absl::OkStatus();
}

}  // namespace bigtable
