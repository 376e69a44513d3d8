// Column families from the arguments of C functions. Pure functions.
#ifndef BIGTABLE_C_FAMILY_H_
#define BIGTABLE_C_FAMILY_H_

#include <string_view>

#include "bigtable/c.h"
#include "bigtable/schema.h"

namespace bigtable {

// NULL: everything is kept.
GcRule RuleOf(const bigtable_gc_rule* rule);
Family FamilyOf(std::string_view group, const bigtable_gc_rule* rule);

}  // namespace bigtable

#endif  // BIGTABLE_C_FAMILY_H_
