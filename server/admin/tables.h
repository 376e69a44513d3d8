// The methods of tables. Each takes its request, and returns its response or an error.
#ifndef BIGTABLE_SERVER_ADMIN_TABLES_H_
#define BIGTABLE_SERVER_ADMIN_TABLES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.pb.h"
#include "google/longrunning/operations.pb.h"

#include "bigtable/call_options.h"

#include "server/admin/admin_parts.h"

namespace bigtable::server {

// Thread-safe.
class Tables {
 public:
  // The parts outlive this.
  explicit Tables(const AdminParts* parts) : parts_(*parts) {}

  // The instance need not exist: its first table creates it.
  absl::StatusOr<admin::Table> Create(const admin::CreateTableRequest& request,
                                      const CallOptions& options) const;
  // Empty if there is no such instance.
  absl::StatusOr<admin::ListTablesResponse> List(const admin::ListTablesRequest& request) const;
  absl::StatusOr<admin::Table> Get(const admin::GetTableRequest& request) const;
  // Changes the protection from deletion.
  absl::StatusOr<google::longrunning::Operation> Update(const admin::UpdateTableRequest& request,
                                                        const CallOptions& options) const;
  // FAILED_PRECONDITION: the table is protected.
  absl::Status Delete(const admin::DeleteTableRequest& request, const CallOptions& options) const;
  // A table that is protected from deletion is not protected from this, as it is not from mutations
  // that delete rows.
  absl::Status DropRows(const admin::DropRowRangeRequest& request,
                        const CallOptions& options) const;

 private:
  const AdminParts& parts_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_TABLES_H_
