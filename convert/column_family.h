// google.bigtable.admin.v2.ColumnFamily as the engine's Family, and back.
//
// What the message does not have, such as the locality group, has the engine's default in a new
// family, and stays as it is in another one (FamilyUpdate).
//
// Pure functions. Errors are those of gc_rule.h and value_type.h, with the name of the field.
#ifndef BIGTABLE_CONVERT_COLUMN_FAMILY_H_
#define BIGTABLE_CONVERT_COLUMN_FAMILY_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/table.pb.h"

#include "bigtable/schema.h"

namespace bigtable::convert {

// The id of a new family: 1 to 64 of [-_.a-zA-Z0-9], INVALID_ARGUMENT otherwise.
absl::Status CheckFamilyId(std::string_view id);

absl::StatusOr<Family> ToFamily(const google::bigtable::admin::v2::ColumnFamily& family);

// A family of a request. Refuses too: a rule that is too large (CheckGcRuleSize), a type that
// CheckValueType refuses, and a rule that an aggregate cannot have, which is one that combines
// versions with an age in an intersection.
absl::StatusOr<Family> ToRequestedFamily(const google::bigtable::admin::v2::ColumnFamily& family);

// Without a value_type if the family holds bytes. A family of an operator that a program has
// registered is an aggregate of bytes without an aggregator.
google::bigtable::admin::v2::ColumnFamily ToProto(const Family& family);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_COLUMN_FAMILY_H_
