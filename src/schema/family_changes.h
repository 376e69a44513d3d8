// Changes of column families, as changes of a table's layout. Pure functions.
#ifndef BIGTABLE_SCHEMA_FAMILY_CHANGES_H_
#define BIGTABLE_SCHEMA_FAMILY_CHANGES_H_

#include <vector>

#include "absl/status/status.h"

#include "bigtable/schema.h"

#include "base/sequence.h"
#include "schema/table_layout.h"

namespace bigtable {

// Makes the changes in order. `created`: the number of families that are added
// (FamilyLayout::created). After an error, which is that of Database::ModifyFamilies, the layout
// may have some of the changes.
absl::Status ChangeFamilies(const std::vector<FamilyChange>& changes, SequenceNumber created,
                            TableLayout* layout);

}  // namespace bigtable

#endif  // BIGTABLE_SCHEMA_FAMILY_CHANGES_H_
