// GcRule as google.bigtable.admin.v2.GcRule, and back. Pure functions.
#ifndef BIGTABLE_REMOTE_CONVERT_GC_RULE_H_
#define BIGTABLE_REMOTE_CONVERT_GC_RULE_H_

#include "absl/status/statusor.h"

#include "bigtable/schema.h"

#include "google/bigtable/admin/v2/table.pb.h"

namespace bigtable::remote {

// Numbers and ages that are too large for the message become the largest that it takes.
google::bigtable::admin::v2::GcRule ToProto(const GcRule& rule);
// Internal: a number or an age out of range, or rules nested deeper than a message should have.
absl::StatusOr<GcRule> ToGcRule(const google::bigtable::admin::v2::GcRule& rule, int depth = 0);

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_CONVERT_GC_RULE_H_
