// The check of an encoded mutation against a table's schema. Any thread.
#ifndef BIGTABLE_SCHEMA_MUTATION_CHECK_H_
#define BIGTABLE_SCHEMA_MUTATION_CHECK_H_

#include <string_view>

#include "absl/status/status.h"

#include "base/entry_kind.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"

namespace bigtable {

// NotFound: the mutation names a family that the table does not have; the message lists those that
// it has. InvalidArgument: the mutation is not well formed, or empty; a family that holds bytes
// gets a contribution, or an aggregate family a Set or something that its operator does not take.
// FailedPrecondition: the operator of a family is not registered. Aborted: the family is closed
// (FamilyLayout::closed). NotObservedError: the table has
// other observers than those that were called for the mutation.
absl::Status CheckMutation(const TableLayout& layout, const EncodedMutation& mutation);

// What CheckMutation says of a cell or a contribution that is written to a family.
absl::Status CheckCellOf(const FamilyLayout& family, EntryKind kind, std::string_view value);

// Nothing was applied: the client calls the table's observers, and applies the mutation with their
// number (transaction/observed_write.h). Unimplemented, for callers that cannot, by messages.
bool HasNotObservedMark(const absl::Status& status);
inline bool IsNotObserved(const absl::Status& status) {
  return !status.ok() && HasNotObservedMark(status);
}

}  // namespace bigtable

#endif  // BIGTABLE_SCHEMA_MUTATION_CHECK_H_
