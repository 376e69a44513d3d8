// HyperLogLog: how close its estimates are, and that the state depends only on the set of inputs.
#include "retention/hyper_log_log.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

std::string Empty() { return std::string(1, '\1'); }

void Add(std::string_view input, std::string* state) {
  ASSERT_OK(HyperLogLog().Merge(HyperLogLog().StateOf(input), state));
}

std::string StateOfRange(size_t begin, size_t end) {
  std::string state = Empty();
  for (size_t i = begin; i < end; ++i) Add(absl::StrCat("user", i), &state);
  return state;
}

uint64_t Estimate(std::string_view state) {
  const absl::StatusOr<uint64_t> estimate = HyperLogLogEstimate(state);
  EXPECT_OK(estimate);
  return estimate.value_or(0);
}

TEST(HyperLogLogTest, AnInputHasTheSpecifiedBytes) {
  EXPECT_EQ(HyperLogLog::StateOfHash(0x0004000000000001), std::string("\x01\x00\x00\x72", 4));
  // No bit of the rest is set: one more than there are.
  EXPECT_EQ(HyperLogLog::StateOfHash(0), std::string("\x01\x00\x00\x33", 4));
  EXPECT_EQ(HyperLogLog::StateOfHash(~uint64_t{0}), std::string("\x01\x0f\xff\xc1", 4));
  // The hash is on disk: it must stay the same.
  EXPECT_EQ(HyperLogLog().StateOf("bigtable").size(), 4u);
}

TEST(HyperLogLogTest, CountsNothingAndOneExactly) {
  EXPECT_EQ(Estimate(Empty()), 0u);
  EXPECT_EQ(Estimate(HyperLogLog().StateOf("a")), 1u);
  EXPECT_EQ(Estimate(HyperLogLog().StateOf("")), 1u);
}

TEST(HyperLogLogTest, RepeatedInputsChangeNothing) {
  std::string state = StateOfRange(0, 100);
  const std::string before = state;
  for (size_t i = 0; i < 100; ++i) Add(absl::StrCat("user", i), &state);
  EXPECT_EQ(state, before);
}

// The standard error is 1.04 / sqrt(2^14), which is 0.81%; nearly all sets are within three.
TEST(HyperLogLogTest, EstimatesAreWithinThreeStandardErrors) {
  std::string state = Empty();
  size_t count = 0;
  for (const size_t size : {10u, 100u, 1000u, 4000u, 5000u, 10000u, 40000u, 100000u, 500000u}) {
    if (kSlow && size > 40000) break;
    for (; count < size; ++count) Add(absl::StrCat("user", count), &state);
    const double estimate = static_cast<double>(Estimate(state));
    const double tolerance = std::max(1.0, 0.0244 * static_cast<double>(size));
    EXPECT_NEAR(estimate, static_cast<double>(size), tolerance);
  }
}

// Over many sets: neither biased, nor wider than promised.
TEST(HyperLogLogTest, ErrorsOfManySetsAreAsPromised) {
  for (const size_t size : {500u, 5000u, 30000u}) {
    if (kSlow && size > 500) break;
    constexpr int kSets = 60;
    double sum = 0, squares = 0;
    Random random(size);
    for (int set = 0; set < kSets; ++set) {
      std::string state = Empty();
      for (size_t i = 0; i < size; ++i) {
        ASSERT_OK(HyperLogLog().Merge(HyperLogLog::StateOfHash(random.Next()), &state));
      }
      const double error = static_cast<double>(Estimate(state)) / static_cast<double>(size) - 1;
      sum += error;
      squares += error * error;
    }
    EXPECT_LT(std::abs(sum / kSets), 0.004) << size;
    EXPECT_LT(std::sqrt(squares / kSets), 0.0105) << size;
  }
}

TEST(HyperLogLogTest, AMergeIsTheStateOfTheUnion) {
  // Sparse and sparse, sparse and dense, dense and dense; and sparse that become dense together.
  constexpr size_t kDense = kSlow ? 7000 : 30000;
  const std::vector<std::pair<size_t, size_t>> kSizes = {
      {0, 0}, {0, 50}, {40, 60}, {3000, 3000}, {10, kDense}, {kDense, 10}, {kDense - 1000, kDense}};
  for (const auto& [a, b] : kSizes) {
    const size_t begin = a / 2;  // they overlap
    std::string merged = StateOfRange(begin, begin + b);
    ASSERT_OK(HyperLogLog().Merge(StateOfRange(0, a), &merged));
    EXPECT_EQ(merged, StateOfRange(0, std::max(a, begin + b))) << a << " and " << b;
    EXPECT_OK(HyperLogLog().CheckState(merged));
  }
}

TEST(HyperLogLogTest, AStateDoesNotDependOnHowItsInputsWereGroupedRandom) {
  Random random(1);
  for (int round = 0; round < (kSlow ? 3 : 20); ++round) {
    const size_t size = 1 + random.Below(random.OneIn(2) ? 50 : kSlow ? 1000 : 8000);
    std::vector<std::string> states;
    std::string together = Empty();
    for (size_t i = 0; i < size; ++i) {
      states.push_back(HyperLogLog::StateOfHash(random.Next()));
      ASSERT_OK(HyperLogLog().Merge(states.back(), &together));
    }
    while (states.size() > 1) {
      const size_t i = random.Below(states.size() - 1);
      ASSERT_OK(HyperLogLog().Merge(states[i], &states[i + 1]));
      states.erase(states.begin() + static_cast<ptrdiff_t>(i));
    }
    ASSERT_EQ(states[0], together);
  }
}

TEST(HyperLogLogTest, AStateHasAtMostSixteenKibibytes) {
  EXPECT_EQ(StateOfRange(0, 200000).size(), 1 + HyperLogLog::kRegisters);
  EXPECT_EQ(StateOfRange(0, 10).size(), 1u + 3 * 10);
}

TEST(HyperLogLogTest, WhatIsNotAStateIsInvalid) {
  const std::string dense = StateOfRange(0, 30000);
  std::string large_rank = dense;
  large_rank[77] = 52;
  std::string in_disorder("\x01\x00\x01\x01\x00\x00\x41", 7);
  std::string twice("\x01\x00\x00\x41\x00\x00\x42", 7);
  for (const std::string& bad :
       {std::string(), std::string("\x03"), std::string("\x01\x00", 2), in_disorder, twice,
        std::string("\x01\x00\x00\x40", 4), std::string("\x01\x00\x00\x74", 4),
        std::string("\x01\x10\x00\x01", 4), dense.substr(0, 100), dense + "x", large_rank}) {
    EXPECT_STATUS(kInvalidArgument, "not the state of a HyperLogLog", HyperLogLogEstimate(bad));
    std::string state = Empty();
    EXPECT_STATUS(kInvalidArgument, "HyperLogLog", HyperLogLog().Merge(bad, &state));
    if (bad.size() == 1 + HyperLogLog::kRegisters) continue;  // not checked with each merge
    state = bad;
    EXPECT_STATUS(kInvalidArgument, "HyperLogLog", HyperLogLog().Merge(Empty(), &state));
  }
}

std::string EntryOf(uint32_t index, uint32_t rank) {
  const uint32_t value = index << 6 | rank;
  return std::string(
      {static_cast<char>(value >> 16), static_cast<char>(value >> 8), static_cast<char>(value)});
}

TEST(HyperLogLogLimitsTest, AStateIsOneAtItsLimits) {
  const auto check = [](const std::string& state) { return HyperLogLog().CheckState(state); };
  constexpr uint32_t kMostRank = HyperLogLog::kRestBits + 1;
  constexpr uint32_t kLastRegister = HyperLogLog::kRegisters - 1;
  EXPECT_OK(check(Empty() + EntryOf(0, 1)));
  EXPECT_OK(check(Empty() + EntryOf(kLastRegister, kMostRank)));
  EXPECT_OK(check(Empty() + EntryOf(4, 1) + EntryOf(5, 1)));
  EXPECT_STATUS(kInvalidArgument, "not one of a register", check(Empty() + EntryOf(0, 0)));
  EXPECT_STATUS(kInvalidArgument, "not one of a register",
                check(Empty() + EntryOf(0, kMostRank + 1)));
  EXPECT_STATUS(kInvalidArgument, "not one of a register",
                check(Empty() + EntryOf(kLastRegister + 1, 1)));
  EXPECT_STATUS(kInvalidArgument, "not in order", check(Empty() + EntryOf(5, 1) + EntryOf(5, 2)));
  EXPECT_STATUS(kInvalidArgument, "not in order", check(Empty() + EntryOf(5, 1) + EntryOf(4, 1)));
  EXPECT_STATUS(kInvalidArgument, "it has 3 bytes", check(Empty() + "ab"));

  std::string dense(1 + HyperLogLog::kRegisters, '\0');
  dense[0] = 2;
  dense[1] = dense.back() = static_cast<char>(kMostRank);
  EXPECT_OK(check(dense));
  for (const size_t at : {size_t{1}, dense.size() - 1}) {
    std::string bad = dense;
    bad[at] = static_cast<char>(kMostRank + 1);
    EXPECT_STATUS(kInvalidArgument, "rank is too large", check(bad));
  }
}

TEST(HyperLogLogLimitsTest, AStateBecomesDenseWhenItHasMoreEntriesThanASparseOneMay) {
  std::string state = Empty();
  for (uint32_t i = 0; i < HyperLogLog::kMostSparse; ++i) state += EntryOf(i, 3);
  EXPECT_EQ(state.size(), 1 + 3 * HyperLogLog::kMostSparse);
  EXPECT_OK(HyperLogLog().CheckState(state));
  std::string larger = state;
  const std::string one =
      HyperLogLog::StateOfHash(uint64_t{HyperLogLog::kMostSparse} << HyperLogLog::kRestBits);
  EXPECT_STATUS(kInvalidArgument, "bytes", HyperLogLog().CheckState(larger + one.substr(1)));
  ASSERT_OK(HyperLogLog().Merge(one, &larger));
  EXPECT_EQ(larger.size(), 1 + HyperLogLog::kRegisters);
  EXPECT_OK(HyperLogLog().CheckState(larger));
  // Whichever of the two is dense.
  std::string other = one;
  ASSERT_OK(HyperLogLog().Merge(larger, &other));
  EXPECT_EQ(other, larger);
}

}  // namespace
}  // namespace bigtable
