#include "sstable/bloom_filter.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "support/random.h"

namespace bigtable {
namespace {

BloomFilter Build(const std::vector<uint64_t>& hashes, int bits) {
  BloomFilterBuilder builder(bits);
  for (const uint64_t hash : hashes) builder.Add(hash);
  std::string lines;
  builder.AppendTo(&lines);
  EXPECT_EQ(lines.size(), builder.size());
  EXPECT_TRUE(BloomFilter::IsWellFormed(static_cast<uint64_t>(builder.probes())));
  return BloomFilter(HashedLines(lines), {builder.probes()});
}

double FalsePositives(int bits) {
  Random random(1);
  std::vector<uint64_t> hashes;
  for (int i = 0; i < 100000; ++i) hashes.push_back(random.Next());
  const BloomFilter filter = Build(hashes, bits);
  for (const uint64_t hash : hashes) EXPECT_TRUE(filter.MayContain(hash));
  int found = 0;
  constexpr int kProbes = 200000;
  for (int i = 0; i < kProbes; ++i) found += filter.MayContain(random.Next()) ? 1 : 0;
  return static_cast<double>(found) / kProbes;
}

TEST(BloomFilterTest, HasNoFalseNegativesAndFewFalsePositives) {
  EXPECT_LT(FalsePositives(1), 0.75);
  EXPECT_LT(FalsePositives(5), 0.12);
  EXPECT_LT(FalsePositives(10), 0.013);
  EXPECT_LT(FalsePositives(16), 0.002);
  EXPECT_LT(FalsePositives(32), 0.0003);
}

TEST(BloomFilterTest, WithoutLinesMayContainEverything) {
  EXPECT_TRUE(BloomFilter().MayContain(1));
}

TEST(BloomFilterTest, HasTheLayoutOfItsWorkedExample) {
  BloomFilterBuilder builder(1);
  builder.Add(1);
  std::string lines;
  builder.AppendTo(&lines);
  ASSERT_EQ(lines.size(), 64u);
  ASSERT_EQ(builder.probes(), 1);
  std::string expected(64, '\0');
  expected[39] = 1 << 4;
  EXPECT_EQ(lines, expected);
}

TEST(BloomFilterTest, RefusesImpossibleSizesAndNumbersOfProbes) {
  EXPECT_FALSE(BloomFilter::IsWellFormed(0));
  EXPECT_TRUE(BloomFilter::IsWellFormed(1));
  EXPECT_TRUE(BloomFilter::IsWellFormed(32));
  EXPECT_FALSE(BloomFilter::IsWellFormed(33));
}

}  // namespace
}  // namespace bigtable
