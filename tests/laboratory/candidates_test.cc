// Each filter and block index of bench/candidates/, the engine's own and others: what is certain of
// them, and what theory says.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bench/candidates/bloom_rates.h"
#include "bench/candidates/key_set.h"
#include "bench/candidates/registry.h"

namespace candidates {
namespace {

// Of the first `keys` rows of the set that exist.
std::unique_ptr<Filter> FilterOf(const NamedFilter& kind, int bits, const KeySet& set,
                                 uint64_t keys) {
  std::unique_ptr<Filter> filter = kind.make(bits);
  for (uint64_t i = 0; i < keys; ++i) filter->Add(set.RowPrefix(2 * i));
  filter->Finish();
  return filter;
}

TEST(FilterCandidatesTest, NoKeyThatWasAddedIsExcluded) {
  for (const NamedFilter& kind : Filters()) {
    for (const KeySet& set : kKeySets) {
      for (const int bits : {2, 10, 32}) {
        for (const uint64_t keys : {1, 2, 3, 100, 10'000}) {
          const std::unique_ptr<Filter> filter = FilterOf(kind, bits, set, keys);
          for (uint64_t i = 0; i < keys; ++i) {
            ASSERT_TRUE(filter->MayContain(set.RowPrefix(2 * i)))
                << kind.name << ", " << bits << " bits, row " << i << " of " << keys;
          }
        }
      }
    }
  }
}

TEST(FilterCandidatesTest, OtherKeysPassAsOftenAsTheorySays) {
  constexpr uint64_t kKeys = 100'000;
  for (const NamedFilter& kind : Filters()) {
    for (const KeySet& set : kKeySets) {
      for (const int bits : {4, 8, 10, 12}) {
        const std::unique_ptr<Filter> filter = FilterOf(kind, bits, set, kKeys);
        double passed = 0;
        for (uint64_t i = 0; i < kKeys; ++i) {
          passed += filter->MayContain(set.RowPrefix(2 * i + 1)) ? 1 : 0;
        }
        const double expected = filter->ExpectedRate() * kKeys;
        EXPECT_NEAR(passed, expected, 0.02 * expected + 4 * std::sqrt(expected))
            << kind.name << " of " << set.name << ", " << bits << " bits";
      }
    }
  }
}

TEST(FilterCandidatesTest, TakesTheBitsThatItIsGiven) {
  constexpr uint64_t kKeys = 100'000;
  for (const NamedFilter& kind : Filters()) {
    if (!kind.takes_bits) continue;
    for (const int bits : {4, 10, 20}) {
      const std::unique_ptr<Filter> filter = FilterOf(kind, bits, kKeySets[0], kKeys);
      const double taken = 8 * static_cast<double>(filter->memory()) / kKeys;
      EXPECT_LE(taken, 1.01 * bits) << kind.name;
      EXPECT_GT(taken, bits - 1.3) << kind.name << ": they buy a lower rate";
    }
  }
}

TEST(BloomRatesTest, LinesCostMoreTheSmallerTheyAre) {
  EXPECT_NEAR(BloomRate(8, 6), 0.0216, 0.0001);
  EXPECT_NEAR(BloomRate(10, 7), 0.0082, 0.0001);
  EXPECT_NEAR(LinesBloomRate(10, 7, 1 << 12), BloomRate(10, 7), 0.0005);
  EXPECT_GT(LinesBloomRate(10, 7, 1 << 12), BloomRate(10, 7));
  EXPECT_GT(LinesBloomRate(10, 7, 512), LinesBloomRate(10, 7, 1 << 12));
  EXPECT_GT(LinesBloomRate(10, 7, 64), 2 * LinesBloomRate(10, 7, 512));
}

// Of blocks of `rows` rows each.
std::vector<std::string> LastKeys(const KeySet& set, uint64_t blocks, uint64_t rows) {
  std::vector<std::string> keys;
  for (uint64_t i = 1; i <= blocks; ++i) keys.push_back(set.EntryKey(2 * (i * rows - 1)));
  return keys;
}

TEST(IndexCandidatesTest, FindTheFirstBlockWhoseLastKeyIsNotBefore) {
  constexpr uint64_t kRows = 3;
  for (const NamedIndex& kind : Indexes()) {
    for (const KeySet& set : kKeySets) {
      for (const uint64_t blocks : {0, 1, 7, 8, 9, 64, 65, 1000}) {
        const std::vector<std::string> last_keys = LastKeys(set, blocks, kRows);
        const std::unique_ptr<Index> index = kind.make();
        for (const std::string& key : last_keys) index->Add(key, 100);
        index->Finish();
        for (uint64_t row = 0; row <= 2 * kRows * blocks; ++row) {
          for (const std::string& key : {set.RowPrefix(row), set.EntryKey(row)}) {
            const auto expected = std::lower_bound(last_keys.begin(), last_keys.end(), key);
            ASSERT_EQ(index->Find(key), static_cast<size_t>(expected - last_keys.begin()))
                << kind.name << " of " << set.name << ", row " << row << ", " << blocks
                << " blocks";
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace candidates
