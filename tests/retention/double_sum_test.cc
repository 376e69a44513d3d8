// DoubleSum: that sums are exact, whatever the order and grouping of their contributions, that they
// have one form, and that they are rounded once.
#include "retention/double_sum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/read_modify_write.h"

#include "support/exact_sum.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

constexpr double kLargestDouble = std::numeric_limits<double>::max();
constexpr double kSmallestNormal = std::numeric_limits<double>::min();
constexpr double kSmallestDouble = std::numeric_limits<double>::denorm_min();
constexpr double kInfiniteDouble = std::numeric_limits<double>::infinity();
constexpr double kNanDouble = std::numeric_limits<double>::quiet_NaN();

std::string SumOf(double number) { return DoubleSum().StateOf(EncodeDouble(number)); }

// Merged from the newest to the oldest, as a read does.
std::string SumOf(const std::vector<double>& numbers) {
  std::string state = SumOf(numbers.back());
  for (size_t i = numbers.size() - 1; i > 0; --i) {
    EXPECT_OK(DoubleSum().Merge(SumOf(numbers[i - 1]), &state));
  }
  return state;
}

double ValueOf(std::string_view state) {
  const absl::StatusOr<double> value = DoubleSumValue(state);
  EXPECT_OK(value);
  return value.value_or(-12345);
}

double Total(const std::vector<double>& numbers) { return ValueOf(SumOf(numbers)); }

// Any double, or one that is close in size to others, or cancels them.
double AnyDouble(Random& random) {
  static constexpr std::array kSpecial = {0.0,
                                          -0.0,
                                          1.0,
                                          0.1,
                                          kLargestDouble,
                                          -kLargestDouble,
                                          kSmallestNormal,
                                          -kSmallestNormal,
                                          kSmallestDouble,
                                          -kSmallestDouble,
                                          1e308,
                                          -1e308,
                                          4503599627370496.5};
  switch (random.Below(6)) {
    case 0:
      return random.Pick(kSpecial);
    case 1:  // below the normal doubles
      return std::bit_cast<double>(random.Next() >> (12 + random.Below(52)) | random.Below(2)
                                                                                  << 63);
    case 2:
      return static_cast<double>(random.Between(-3, 3)) / 10;
    case 3:
      return std::ldexp(random.OneIn(2) ? 1 : -1, static_cast<int>(random.Between(-1074, 1023)));
    default: {
      const double number = std::bit_cast<double>(random.Next());
      return std::isfinite(number) ? number : 1.5;
    }
  }
}

std::vector<double> AnyDoubles(Random& random, size_t count) {
  std::vector<double> numbers;
  for (size_t i = 0; i < count; ++i) {
    const bool cancels = i > 0 && random.OneIn(4);
    numbers.push_back(cancels ? -random.Pick(numbers) : AnyDouble(random));
  }
  return numbers;
}

// --- The form ---

TEST(DoubleSumTest, AnInputHasTheSpecifiedBytes) {
  const auto expect = [](double number, const std::string& bytes) {
    EXPECT_EQ(SumOf(number), bytes) << number;
    EXPECT_OK(DoubleSum().CheckState(bytes));
  };
  expect(0.0, std::string(1, '\0'));
  expect(-0.0, std::string(1, '\0'));
  expect(kSmallestDouble, std::string("\x00\x00\x00\x01", 4));
  expect(1.0, std::string("\x00\x00\x86\x04", 4));
  expect(-1.5, std::string("\x80\x00\x86\x06", 4));
  expect(0.1, std::string("\x00\x00\x7f\x66\x66\x66\x66\x66\x66\x68", 10));
  expect(kInfiniteDouble, "\x01");
  expect(-kInfiniteDouble, "\x02");
  expect(kNanDouble, "\x04");
  EXPECT_EQ(DoubleSum().StateOf(std::string("\xff\xf0\x00\x00\x00\x00\x00\x01", 8)), "\x04");
}

TEST(DoubleSumTest, ASumHasTheSpecifiedBytes) {
  EXPECT_EQ(SumOf({1.0, kSmallestDouble}),
            std::string("\x00\x00\x00\x04", 4) + std::string(133, '\0') + "\x01");
  EXPECT_EQ(SumOf({-kInfiniteDouble, 1.0}), std::string("\x02\x00\x86\x04", 4));
  EXPECT_EQ(SumOf({1.0, -1.0}), std::string(1, '\0'));
  EXPECT_EQ(SumOf({kNanDouble, kInfiniteDouble, -kInfiniteDouble}), "\x07");
}

TEST(DoubleSumTest, InputsOfLikeSizeTakeFewBytes) {
  std::vector<double> prices;
  for (int i = 0; i < 10000; ++i) prices.push_back(i * 0.01);
  EXPECT_LE(SumOf(prices).size(), 15u);
  EXPECT_LE(SumOf({kLargestDouble, kSmallestDouble}).size(), 266u);
}

TEST(DoubleSumTest, WhatIsNotInTheOneFormIsNoState) {
  const std::pair<std::string, const char*> kBad[] = {
      {"", "it is empty"},
      {"\x08", "its flags are 8"},
      {"\x40", "its flags are 64"},
      {"\x80", "its zero is negative"},
      {std::string("\x00\x00", 2), "it has 2 bytes"},
      {std::string("\x00\x00\x86", 3), "it has 3 bytes"},
      {std::string("\x00\x00\x86\x00", 4), "its magnitude begins or ends with a zero byte"},
      {std::string("\x00\x00\x86\x00\x04", 5), "its magnitude begins or ends with a zero byte"},
      {std::string("\x00\x00\x85\x04\x00", 5), "its magnitude begins or ends with a zero byte"},
      {std::string("\x00\x02\x00\x01", 4), "its number has 513 bytes, and at most "},
      {std::string("\x00\xff\xff\x01", 4), "its number has 65536 bytes"}};
  for (const auto& [bad, why] : kBad) {
    const std::string error = absl::StrCat("not the state of a sum of doubles: ", why);
    EXPECT_STATUS(kInvalidArgument, error, DoubleSum().CheckState(bad));
    EXPECT_STATUS(kInvalidArgument, error, DoubleSumValue(bad));
    std::string state = SumOf(1.0);
    EXPECT_STATUS(kInvalidArgument, error, DoubleSum().Merge(bad, &state));
    EXPECT_EQ(state, SumOf(1.0));
    state = bad;
    EXPECT_STATUS(kInvalidArgument, error, DoubleSum().Merge(SumOf(1.0), &state));
  }
  EXPECT_STATUS(kInvalidArgument, "a number has 8 bytes, big-endian, and \"1\" has 1",
                DoubleSum().CheckInput("1"));
  EXPECT_OK(DoubleSum().CheckInput("12345678"));
}

// --- Exactness ---

TEST(DoubleSumTest, NothingIsRoundedBetweenContributions) {
  EXPECT_EQ(Total(std::vector<double>(10, 0.1)), 1.0);  // 0.9999999999999999 if it were
  EXPECT_EQ(Total({1e16, 1.0, -1e16}), 1.0);
  EXPECT_EQ(Total({1e308, 1.0, 1e-308, -1.0, -1e308}), 1e-308);
  EXPECT_EQ(Total({kSmallestDouble, kLargestDouble, -kLargestDouble}), kSmallestDouble);
}

TEST(DoubleSumTest, ASumBeyondTheLargestDoubleComesBack) {
  EXPECT_EQ(Total({1e308, 1e308}), kInfiniteDouble);
  EXPECT_EQ(Total({1e308, 1e308, -1e308}), 1e308);
  EXPECT_EQ(Total({-1e308, -1e308}), -kInfiniteDouble);
  EXPECT_EQ(Total({-1e308, -1e308, 1e308}), -1e308);
}

TEST(DoubleSumTest, AZeroSumIsPositive) {
  for (const std::vector<double>& numbers :
       {std::vector{-0.0}, std::vector{-0.0, -0.0}, std::vector{-1.0, 1.0}}) {
    EXPECT_EQ(Total(numbers), 0.0);
    EXPECT_FALSE(std::signbit(Total(numbers)));
  }
}

TEST(DoubleSumTest, InfinitiesAndNansStay) {
  EXPECT_EQ(Total({kInfiniteDouble, -1e308, -1e308}), kInfiniteDouble);
  EXPECT_EQ(Total({1.0, -kInfiniteDouble, 1.0}), -kInfiniteDouble);
  EXPECT_TRUE(std::isnan(Total({kInfiniteDouble, 1.0, -kInfiniteDouble})));
  EXPECT_TRUE(std::isnan(Total({1.0, kNanDouble})));
  EXPECT_TRUE(std::isnan(Total({kNanDouble, kInfiniteDouble})));
}

TEST(DoubleSumTest, SumsAreExactInAnyOrderAndGroupsRandom) {
  ForEachSeed(300, [](uint64_t seed) {
    Random random(seed);
    std::vector<double> numbers = AnyDoubles(random, 1 + random.Below(30));
    if (random.OneIn(5)) numbers.push_back(kInfiniteDouble);
    if (random.OneIn(5)) numbers.push_back(-kInfiniteDouble);
    if (random.OneIn(5)) numbers.push_back(kNanDouble);
    ExactSum expected;
    std::vector<std::string> states;
    for (const double number : numbers) {
      expected.Add(number);
      states.push_back(SumOf(number));
      ASSERT_EQ(states.back(), ExactSum().Add(number).State()) << number;
    }
    // Any two, in either order, until there is one.
    while (states.size() > 1) {
      std::swap(states[random.Below(states.size())], states.back());
      std::string merged = std::move(states.back());
      states.pop_back();
      std::string& other = states[random.Below(states.size())];
      if (random.OneIn(2)) std::swap(merged, other);
      ASSERT_OK(DoubleSum().Merge(merged, &other));
      ASSERT_OK(DoubleSum().CheckState(other));
    }
    ASSERT_EQ(states[0], expected.State());
  });
}

// All orders, and in each all groups of neighbors.
TEST(DoubleSumTest, AllOrdersAndGroupsOfFourGiveTheSame) {
  const double kSets[][4] = {{1e308, 1e308, -1e308, kSmallestDouble},
                             {0.1, 0.2, -0.3, 0.0},
                             {1e16, 1.0, -1e16, -1.0},
                             {kInfiniteDouble, 1.0, -0.0, kNanDouble}};
  for (const auto& set : kSets) {
    std::vector<size_t> order = {0, 1, 2, 3};
    const std::string expected = ExactSum().Add(set[0]).Add(set[1]).Add(set[2]).Add(set[3]).State();
    do {
      const auto at = [&](size_t i) { return SumOf(set[order[i]]); };
      const auto sum = [](const std::string& older, std::string newer) {
        EXPECT_OK(DoubleSum().Merge(older, &newer));
        return newer;
      };
      EXPECT_EQ(sum(sum(sum(at(0), at(1)), at(2)), at(3)), expected);
      EXPECT_EQ(sum(sum(at(0), sum(at(1), at(2))), at(3)), expected);
      EXPECT_EQ(sum(sum(at(0), at(1)), sum(at(2), at(3))), expected);
      EXPECT_EQ(sum(at(0), sum(sum(at(1), at(2)), at(3))), expected);
      EXPECT_EQ(sum(at(0), sum(at(1), sum(at(2), at(3)))), expected);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// --- Rounding ---

// Whether no double is nearer to the sum, nor as near and even.
void ExpectNearest(const ExactSum& sum, double value) {
  // The neighbors of the largest double are infinities, and would be 2^1024.
  const auto add_twice = [](double number, int64_t times, ExactSum* to) {
    if (std::isinf(number)) {
      to->Add(std::copysign(0x1p1023, number), 2 * times);
    } else {
      to->Add(number, times);
    }
  };
  const bool is_even = (std::bit_cast<uint64_t>(value) & 1) == 0;
  for (const double direction : {-kInfiniteDouble, kInfiniteDouble}) {
    if (value == direction) continue;  // there is nothing beyond
    const double neighbor =
        std::isinf(value) ? std::copysign(kLargestDouble, value) : std::nextafter(value, direction);
    // Twice the distance of the sum to the middle of both.
    ExactSum beyond;
    beyond.AddState(sum.State()).AddState(sum.State());
    add_twice(value, -1, &beyond);
    add_twice(neighbor, -1, &beyond);
    const int sign = direction > 0 ? beyond.Sign() : -beyond.Sign();
    EXPECT_TRUE(sign < 0 || (sign == 0 && is_even)) << value << " or " << neighbor;
  }
}

TEST(DoubleSumTest, TheValueIsTheNearestDouble) {
  EXPECT_EQ(Total({1.0, 0x1p-53}), 1.0);  // in the middle: to the even one
  EXPECT_EQ(Total({1.0, 0x1p-53, kSmallestDouble}), 1.0 + 0x1p-52);
  EXPECT_EQ(Total({1.0, 0x1p-53, -kSmallestDouble}), 1.0);
  EXPECT_EQ(Total({1.0 + 0x1p-52, 0x1p-53}), 1.0 + 0x1p-51);
  EXPECT_EQ(Total({-1.0, -0x1p-53, -kSmallestDouble}), -1.0 - 0x1p-52);
  // The middle of the largest double and 2^1024 is the first that is infinite.
  EXPECT_EQ(Total({kLargestDouble, 0x1p970}), kInfiniteDouble);
  EXPECT_EQ(Total({kLargestDouble, 0x1p970, -kSmallestDouble}), kLargestDouble);
  EXPECT_EQ(Total({-kLargestDouble, -0x1p970}), -kInfiniteDouble);
  // Below and at the smallest normal double.
  EXPECT_EQ(Total({kSmallestNormal, -kSmallestDouble}), kSmallestNormal - kSmallestDouble);
  EXPECT_EQ(Total({kSmallestDouble, kSmallestDouble, kSmallestDouble}), 3 * kSmallestDouble);
}

TEST(DoubleSumTest, TheValueOfAnInputIsTheInputRandom) {
  ForEachSeed(2000, [](uint64_t seed) {
    Random random(seed);
    const double number = AnyDouble(random);
    ASSERT_EQ(ValueOf(SumOf(number)), number);
  });
}

TEST(DoubleSumTest, ValuesAreTheNearestDoublesRandom) {
  ForEachSeed(500, [](uint64_t seed) {
    Random random(seed);
    std::vector<double> numbers = AnyDoubles(random, 1 + random.Below(6));
    if (random.OneIn(2)) {  // close to the middle of two doubles
      const int exponent = static_cast<int>(random.Between(-900, 1000));
      numbers = {std::ldexp(1 + static_cast<double>(random.Below(4)) * 0x1p-52, exponent),
                 std::ldexp(1, exponent - 53),
                 static_cast<double>(random.Between(-1, 1)) * kSmallestDouble};
    }
    ExactSum exact;
    for (const double number : numbers) exact.Add(number);
    ExpectNearest(exact, Total(numbers));
  });
}

// --- Limits ---

TEST(DoubleSumLimitsTest, WhatIsWrittenHasAtMost272Bytes) {
  // 2^64 times the largest double has 271.
  EXPECT_OK(
      DoubleSum().CheckState(ExactSum().Add(kLargestDouble, int64_t{1} << 40).Add(-1, 3).State()));
  const std::string largest = std::string("\x00\x00\x00", 3) + std::string(272, '\xff');
  EXPECT_OK(DoubleSum().CheckState(largest));
  EXPECT_OK(DoubleSum().CheckState(std::string("\x00\x01\x0f\x01", 4)));
  EXPECT_STATUS(kInvalidArgument, "its number has 273 bytes, and at most 272 are allowed",
                DoubleSum().CheckState(largest + "\x01"));
  EXPECT_STATUS(kInvalidArgument, "its number has 273 bytes",
                DoubleSum().CheckState(std::string("\x00\x01\x10\x01", 4)));
}

TEST(DoubleSumLimitsTest, WhatIsMergedMayHaveMore) {
  const std::string largest = std::string("\x00\x00\x00", 3) + std::string(272, '\xff');
  std::string state = largest;
  ExactSum expected;
  expected.AddState(largest);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK(DoubleSum().Merge(largest, &state));
    expected.AddState(largest);
  }
  EXPECT_EQ(state, expected.State());
  EXPECT_EQ(state.size(), 3u + 274);
  EXPECT_EQ(ValueOf(state), kInfiniteDouble);
  // And back.
  std::string negative = largest;
  negative[0] = '\x80';
  for (int i = 0; i < 1000; ++i) ASSERT_OK(DoubleSum().Merge(negative, &state));
  EXPECT_EQ(state, largest);
}

TEST(DoubleSumLimitsTest, TheCarryOfTheLargestFits) {
  std::string state = std::string("\x00\x00\x00", 3) + std::string(512, '\xff');
  ASSERT_OK(DoubleSum().Merge(std::string("\x00\x00\x00\x01", 4), &state));
  EXPECT_EQ(state, std::string("\x00\x02\x00\x01", 4));
  EXPECT_STATUS(kInvalidArgument, "has 513 bytes", DoubleSumValue(state));
}

}  // namespace
}  // namespace bigtable
