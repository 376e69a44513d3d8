// ModifyColumnFamilies: it takes its request, and returns its response or an error.
#ifndef BIGTABLE_SERVER_ADMIN_COLUMN_FAMILIES_H_
#define BIGTABLE_SERVER_ADMIN_COLUMN_FAMILIES_H_

#include <string>

#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.pb.h"

#include "bigtable/call_options.h"
#include "bigtable/schema.h"

#include "server/admin/admin_parts.h"

namespace bigtable::server {

// Thread-safe.
class ColumnFamilies {
 public:
  // The parts outlive this.
  explicit ColumnFamilies(const AdminParts* parts) : parts_(*parts) {}

  // Makes all modifications in order, or none. FAILED_PRECONDITION: one of them drops a family of a
  // table that is protected from deletion.
  absl::StatusOr<admin::Table> Modify(const admin::ModifyColumnFamiliesRequest& request,
                                      const CallOptions& options) const;

 private:
  const AdminParts& parts_;
};

// The family that is created with this id. INVALID_ARGUMENT: the id, or what the message has.
absl::StatusOr<Family> NewFamily(const std::string& id, const admin::ColumnFamily& family);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_COLUMN_FAMILIES_H_
