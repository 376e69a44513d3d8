// Ranks of hot rows (bench/memory/zipf.h).
#include "memory/zipf.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "common/workload.h"

namespace bench {
namespace {

TEST(ZipfRanksTest, ARankIsDrawnInProportionToItsWeight) {
  constexpr uint64_t kRanks = 1000;
  constexpr double kSkew = 0.99;
  constexpr int kDraws = 1'000'000;
  const ZipfRanks ranks(kRanks, kSkew);
  Random random(7);
  std::vector<double> counts(kRanks);
  for (int i = 0; i < kDraws; ++i) ++counts.at(ranks.Draw(random));

  double weights = 0;
  for (uint64_t rank = 1; rank <= kRanks; ++rank) {
    weights += std::pow(static_cast<double>(rank), -kSkew);
  }
  for (const uint64_t rank : {1, 2, 3, 10, 100, 1000}) {
    const double expected = kDraws * std::pow(static_cast<double>(rank), -kSkew) / weights;
    EXPECT_NEAR(counts[rank - 1], expected, 5 * std::sqrt(expected)) << rank;
  }
}

TEST(ZipfRanksTest, FewRanksAreAllDrawn) {
  const ZipfRanks ranks(2, 0.99);
  Random random(7);
  std::vector<int> counts(2);
  for (int i = 0; i < 1000; ++i) ++counts.at(ranks.Draw(random));
  EXPECT_GT(counts[0], counts[1]);
  EXPECT_GT(counts[1], 0);
}

}  // namespace
}  // namespace bench
