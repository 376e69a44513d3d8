// google.bigtable.admin.v2.GcRule as the engine's GcRule, and back.
//
// The engine keeps a rule in its simplest form, so what comes back drops the same versions, but may
// be another expression than what was given.
//
// Pure functions.
#ifndef BIGTABLE_CONVERT_GC_RULE_H_
#define BIGTABLE_CONVERT_GC_RULE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/table.pb.h"

#include "bigtable/schema.h"

namespace bigtable::convert {

// A rule with nothing set keeps everything, also as a part of another one. An age is rounded down
// to a microsecond.
//
// INVALID_ARGUMENT, with the path of the part that is wrong: a max_num_versions below 1; a max_age
// that is no duration, or less than a millisecond; a union or an intersection without rules.
absl::StatusOr<GcRule> ToGcRule(const google::bigtable::admin::v2::GcRule& rule);

// What a request is held to, and a response is not: INVALID_ARGUMENT if the rule has more than 500
// bytes.
absl::Status CheckGcRuleSize(const google::bigtable::admin::v2::GcRule& rule);

// The rule as responses show it: as it was given, but for what an age has below a microsecond.
google::bigtable::admin::v2::GcRule WithWholeMicroseconds(google::bigtable::admin::v2::GcRule rule);

// Numbers and ages that are too large for the message become the largest that it takes.
google::bigtable::admin::v2::GcRule ToProto(const GcRule& rule);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_GC_RULE_H_
