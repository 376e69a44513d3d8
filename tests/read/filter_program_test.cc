// What a filter says about the cells that can pass before any is read.
#include "read/filter_program.h"

#include <cstdint>

#include "gtest/gtest.h"

#include "bigtable/filter.h"
#include "bigtable/timestamp.h"

#include "read/filter_node.h"

namespace bigtable {
namespace {

Filter Times(int64_t from, int64_t to) {
  return Filter::TimestampRange(Timestamp(from), Timestamp(to));
}

TEST(FilterProgramTest, AnInterleaveBoundsTimestampsByAllItsParts) {
  const Filter filter = Filter::Interleave(Times(10, 20), Times(30, 40));
  const FilterProgram program(FilterNode::Of(filter));
  int64_t first = 0, last = 0;
  ASSERT_TRUE(program.BoundsTimestamps(&first, &last));
  EXPECT_EQ(first, 10);
  EXPECT_EQ(last, 39);
}

TEST(FilterProgramTest, AnInterleaveWithAnUnboundedPartBoundsNoTimestamps) {
  const Filter filter = Filter::Interleave(Times(10, 20), Filter::Family("f"));
  const FilterProgram program(FilterNode::Of(filter));
  int64_t first = 0, last = 0;
  EXPECT_FALSE(program.BoundsTimestamps(&first, &last));
}

}  // namespace
}  // namespace bigtable
