// Figures of several repeats (bench/common/spread.h).
#include "common/spread.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace bench {
namespace {

TEST(SpreadTest, IsThatOfTheValuesThatExist) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const Spread spread = SpreadOf({2, kNone, 4, 6});
  EXPECT_DOUBLE_EQ(spread.mean, 4);
  EXPECT_DOUBLE_EQ(spread.deviation, 2);
  EXPECT_DOUBLE_EQ(SpreadOf({3}).mean, 3);
  EXPECT_TRUE(std::isnan(SpreadOf({3}).deviation));
  EXPECT_TRUE(std::isnan(SpreadOf({kNone}).mean));
}

}  // namespace
}  // namespace bench
