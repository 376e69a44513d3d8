// What users may put into a schema: each checks one part of it. InvalidArgument names the value and
// the rule. Any thread.
#ifndef BIGTABLE_TABLET_SCHEMA_CHECKS_H_
#define BIGTABLE_TABLET_SCHEMA_CHECKS_H_

#include <string_view>

#include "absl/status/status.h"

#include "bigtable/schema.h"

namespace bigtable {

absl::Status CheckTableName(std::string_view name);
absl::Status CheckAccessListName(std::string_view name);
absl::Status CheckFamily(std::string_view name, const Family& family);
absl::Status CheckLocalityGroup(std::string_view name, const LocalityGroup& group);
absl::Status CheckSplitRule(const SplitRule& rule);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_SCHEMA_CHECKS_H_
