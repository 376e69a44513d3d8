// The error for the name of a table that does not exist. It names other tables, which helps who has
// mistyped the name, but not thousands of them. Any thread.
#ifndef BIGTABLE_MASTER_NO_TABLE_H_
#define BIGTABLE_MASTER_NO_TABLE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "base/strings.h"

namespace bigtable {

// `tables`: all tables that exist, in the order of their names; `name_of` is as in Listed().
template <typename Tables, typename NameOf = std::identity>
absl::Status NoTableError(std::string_view table, const Tables& tables, NameOf name_of = {}) {
  constexpr size_t kMostNamed = 20;
  std::vector<std::string> named;
  for (const auto& other : tables) {
    if (named.size() == kMostNamed) break;
    named.emplace_back(std::invoke(name_of, other));
  }
  std::string others = Listed(named);
  if (named.size() < tables.size()) {
    others = Cat(tables.size(), " tables, the first of which are ", others);
  }
  return absl::NotFoundError(Cat("there is no table ", Quoted(table), "; there are: ", others));
}

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_NO_TABLE_H_
