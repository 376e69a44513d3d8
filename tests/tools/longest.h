// An operator of a program's own, for the example of a plugin and its test: keeps the longest
// value.
#ifndef BIGTABLE_TESTS_TOOLS_LONGEST_H_
#define BIGTABLE_TESTS_TOOLS_LONGEST_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/aggregate.h"

namespace bigtable {

class Longest final : public AggregateOperator {
 public:
  absl::Status Merge(std::string_view older, std::string* state) const override {
    if (older.size() >= state->size()) state->assign(older);
    return absl::OkStatus();
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_TOOLS_LONGEST_H_
