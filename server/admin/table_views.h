// Tables as responses show them.
#ifndef BIGTABLE_SERVER_ADMIN_TABLE_VIEWS_H_
#define BIGTABLE_SERVER_ADMIN_TABLE_VIEWS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/table.pb.h"

#include "server/admin/admin_parts.h"
#include "server/admin/inventory.h"

namespace bigtable::server {

// The table with the fields of the view, which is not VIEW_UNSPECIFIED. INVALID_ARGUMENT: there is
// no such view. NOT_FOUND: the table was deleted just now.
absl::StatusOr<admin::Table> ShowTable(const AdminParts& parts, const KnownTable& known,
                                       admin::Table::View view);

// The same for tables of one instance, without those that were deleted just now.
absl::StatusOr<std::vector<admin::Table>> ShowTables(const AdminParts& parts,
                                                     const std::vector<KnownTable>& known,
                                                     admin::Table::View view);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_TABLE_VIEWS_H_
