// Filters that are refused because of what is nested in them.
#include <utility>

#include "gtest/gtest.h"

#include "bigtable/filter.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

// A refused filter must not be nested deeper than the limit: its destructor would need the stack.
TEST(FilterTreeTest, IsRefusedAndDestroyedHoweverDeepItIs) {
  for (const bool is_condition : {false, true}) {
    Filter filter = Filter::Latest(1);
    for (int i = 0; i < 300'000; ++i) {
      filter = is_condition ? Filter::Condition(filter, Filter(), filter)
                            : Filter::Chain({std::move(filter)});
    }
    EXPECT_STATUS(kInvalidArgument, "nested at most 50 deep", filter.status());
  }
}

}  // namespace
}  // namespace bigtable
