// The smallest and the largest of doubles: one order of all doubles, of which NaNs are no part.
#include "retention/double_extremes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/read_modify_write.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// From the least to the greatest.
const std::vector<double>& Ascending() {
  static const auto* const numbers = new std::vector<double>{
      -kInfinite, -1e308, -1.5, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1.5, 1e308, kInfinite};
  return *numbers;
}

std::string MergedDoubles(const AggregateOperator& op, double older, double newer) {
  std::string state = op.StateOf(EncodeDouble(newer));
  EXPECT_OK(op.Merge(op.StateOf(EncodeDouble(older)), &state));
  EXPECT_OK(op.CheckState(state));
  return state;
}

TEST(DoubleExtremesTest, TheLesserAndTheGreaterOfAnyTwo) {
  for (size_t i = 0; i < Ascending().size(); ++i) {
    for (size_t j = 0; j < Ascending().size(); ++j) {
      const double a = Ascending()[i], b = Ascending()[j];
      const std::string lesser = EncodeDouble(Ascending()[std::min(i, j)]);
      const std::string greater = EncodeDouble(Ascending()[std::max(i, j)]);
      EXPECT_EQ(MergedDoubles(DoubleMin(), a, b), lesser) << a << " " << b;
      EXPECT_EQ(MergedDoubles(DoubleMax(), a, b), greater) << a << " " << b;
    }
  }
}

TEST(DoubleExtremesTest, ANanIsIgnoredBesideAnyNumber) {
  for (const double number : Ascending()) {
    EXPECT_EQ(MergedDoubles(DoubleMin(), number, kNotANumber), EncodeDouble(number));
    EXPECT_EQ(MergedDoubles(DoubleMin(), kNotANumber, number), EncodeDouble(number));
    EXPECT_EQ(MergedDoubles(DoubleMax(), number, -kNotANumber), EncodeDouble(number));
    EXPECT_EQ(MergedDoubles(DoubleMax(), -kNotANumber, number), EncodeDouble(number));
  }
}

TEST(DoubleExtremesTest, NansAloneGiveTheOneNan) {
  const std::string nan("\x7f\xf8\0\0\0\0\0\0", 8);
  const std::vector<std::string> nans = {nan, std::string("\xff\xf8\0\0\0\0\0\0", 8),
                                         std::string("\x7f\xf0\0\0\0\0\0\1", 8),
                                         std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8)};
  EXPECT_EQ(EncodeDouble(kNotANumber), nan);
  EXPECT_EQ(EncodeDouble(-kNotANumber), nan);
  for (const std::string& a : nans) {
    EXPECT_TRUE(std::isnan(DecodeDouble(a).value_or(0)));
    EXPECT_OK(DoubleMin().CheckInput(a));
    EXPECT_EQ(DoubleMin().StateOf(a), nan);
    for (std::string b : nans) {
      EXPECT_OK(DoubleMin().Merge(a, &b));
      EXPECT_EQ(b, nan);
    }
    if (a == nan) {
      EXPECT_OK(DoubleMax().CheckState(a));
    } else {
      EXPECT_STATUS(kInvalidArgument, "a NaN is 7ff8000000000000 (EncodeDouble), and not ",
                    DoubleMax().CheckState(a));
    }
  }
}

TEST(DoubleExtremesTest, ADoubleHasEightBytes) {
  EXPECT_EQ(EncodeDouble(-1.5), std::string("\xbf\xf8\0\0\0\0\0\0", 8));
  EXPECT_EQ(DecodeDouble(EncodeDouble(0.1)).value_or(0), 0.1);
  EXPECT_STATUS(kInvalidArgument, "a number has 8 bytes, and \"1\" has 1", DecodeDouble("1"));
  std::string state = EncodeDouble(1);
  EXPECT_STATUS(kInvalidArgument, "8 bytes, big-endian, and \"1\" has 1",
                DoubleMin().CheckInput("1"));
  EXPECT_STATUS(kInvalidArgument, "8 bytes", DoubleMin().CheckState(""));
  EXPECT_STATUS(kInvalidArgument, "8 bytes", DoubleMin().Merge("too long a number", &state));
  state = "short";
  EXPECT_STATUS(kInvalidArgument, "8 bytes", DoubleMin().Merge(EncodeDouble(1), &state));
}

}  // namespace
}  // namespace bigtable
