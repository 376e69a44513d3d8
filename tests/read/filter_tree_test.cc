// Filters that are refused because of what is nested in them.
#include <string>
#include <utility>
#include <vector>

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

TEST(FilterTreeTest, ALabelIsShortAndOfSmallLetters) {
  EXPECT_OK(Filter::ApplyLabel("a-label-9").status());
  EXPECT_OK(Filter::ApplyLabel(std::string(15, 'l')).status());
  for (const std::string& label : {std::string(), std::string(16, 'l'), std::string("Label")}) {
    EXPECT_STATUS(kInvalidArgument, "a label is 1 to 15 characters",
                  Filter::ApplyLabel(label).status());
  }
}

// Interleaves of ten filters in a chain: each makes ten copies of a cell.
TEST(FilterTreeTest, ACellIsPassedAThousandTimesAtMost) {
  const Filter ten = Filter::Interleave(std::vector<Filter>(10));
  EXPECT_OK(Filter::Chain(ten, ten, ten).status());
  EXPECT_STATUS(kInvalidArgument, "at most 1000 times",
                Filter::Interleave(Filter::Chain(ten, ten, ten), Filter()).status());
}

}  // namespace
}  // namespace bigtable
