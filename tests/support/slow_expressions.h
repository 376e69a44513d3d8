// Regular expressions that are slow and, if they may, take megabytes each.
#ifndef BIGTABLE_TESTS_SUPPORT_SLOW_EXPRESSIONS_H_
#define BIGTABLE_TESTS_SUPPORT_SLOW_EXPRESSIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "bigtable/filter.h"

#include "support/random.h"

namespace bigtable {

// A value that all of them match, and in which they meet a new state at almost every byte.
inline std::string SlowValue(size_t size) {
  Random random(7);
  std::string value;
  while (value.size() + 40 < size) value.push_back(random.OneIn(2) ? 'a' : 'b');
  return value.append(40, 'a');
}

// The last of some bytes is an 'a': an automaton for that has to know all of these bytes.
inline std::vector<Filter> SlowExpressions(int count) {
  std::vector<Filter> filters;
  for (int i = 0; i < count; ++i) {
    filters.push_back(Filter::ValueRegex(absl::StrCat("[ab]*a[ab]{", 16 + i % 20, "}")));
  }
  return filters;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SLOW_EXPRESSIONS_H_
