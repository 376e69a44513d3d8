// Consistency tokens. There is one copy of the data, so what was written before a token was made is
// seen by every read after that. Tokens are checked all the same: they must be of the table.
#ifndef BIGTABLE_SERVER_ADMIN_CONSISTENCY_H_
#define BIGTABLE_SERVER_ADMIN_CONSISTENCY_H_

#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.pb.h"

#include "server/admin/admin_parts.h"

namespace bigtable::server {

// Thread-safe.
class Consistency {
 public:
  // The parts outlive this.
  explicit Consistency(const AdminParts* parts) : parts_(*parts) {}

  absl::StatusOr<admin::GenerateConsistencyTokenResponse> Generate(
      const admin::GenerateConsistencyTokenRequest& request) const;
  // INVALID_ARGUMENT: the token is none of this table.
  absl::StatusOr<admin::CheckConsistencyResponse> Check(
      const admin::CheckConsistencyRequest& request) const;

 private:
  const AdminParts& parts_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_CONSISTENCY_H_
