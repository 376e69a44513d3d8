// Column families from the arguments of C functions. Pure functions.
#ifndef BIGTABLE_C_FAMILY_H_
#define BIGTABLE_C_FAMILY_H_

#include <string_view>

#include "absl/status/statusor.h"

#include "bigtable/c.h"
#include "bigtable/schema.h"

namespace bigtable {

// NULL: everything is kept.
GcRule RuleOf(const bigtable_gc_rule* rule);
Family FamilyOf(std::string_view group, const bigtable_gc_rule* rule);
// NotFound: the schema has no family of this name.
absl::StatusOr<const Family*> FindFamily(const bigtable_schema* schema, std::string_view name);
absl::StatusOr<Family*> FindFamily(bigtable_schema* schema, std::string_view name);

}  // namespace bigtable

#endif  // BIGTABLE_C_FAMILY_H_
