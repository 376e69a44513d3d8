// What users may put into a schema: each checks one part of it. InvalidArgument names the value and
// the rule. Any thread.
#ifndef BIGTABLE_SCHEMA_SCHEMA_CHECKS_H_
#define BIGTABLE_SCHEMA_SCHEMA_CHECKS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/schema.h"

#include "retention/aggregates.h"

namespace bigtable {

absl::Status CheckTableName(std::string_view name);
absl::Status CheckAccessListName(std::string_view name);
// A rule in its simplest form has at most so many steps (GcRule::steps()).
inline constexpr size_t kMostRuleSteps = 16;
absl::Status CheckCallerName(std::string_view caller);
absl::Status CheckFamilyName(std::string_view name);
absl::Status CheckFamily(std::string_view name, const Family& family);
absl::Status CheckValueType(std::string_view family, ValueType type,
                            std::string_view value_operator);
// Only a family that holds bytes has a compaction filter. `aggregate`: what it holds, or null.
absl::Status CheckFilter(std::string_view family, std::string_view filter,
                         const Aggregate* aggregate);
// CheckFamily, and whether this process has registered the operator and the filter that the family
// names. Not part of CheckFamily, because another process may have written the schema.
absl::Status CheckNewFamily(std::string_view name, const Family& family);
// Whether the filter is registered in this process, if there is one.
absl::Status CheckFilterIsKnown(std::string_view family, std::string_view filter);
// The options of a group that the files themselves have: compression, blocks and filters. `of`
// follows the name of an option in messages, as in " of locality group X".
absl::Status CheckFileOptions(std::string_view of, const LocalityGroup& group);
absl::Status CheckLocalityGroup(std::string_view name, const LocalityGroup& group);
// Whether the group's compaction policy is registered in this process. Not part of
// CheckLocalityGroup, because another process may have written the schema.
absl::Status CheckPolicyIsKnown(std::string_view name, const LocalityGroup& group);
// Whether these can be the names of a table's observers.
absl::Status CheckObservers(const std::vector<std::string>& observers);
absl::Status CheckSplitRule(const SplitRule& rule);
absl::Status CheckChangeStreamRule(const ChangeStreamRule& rule);
absl::Status CheckChangeReaderName(std::string_view name);

}  // namespace bigtable

#endif  // BIGTABLE_SCHEMA_SCHEMA_CHECKS_H_
