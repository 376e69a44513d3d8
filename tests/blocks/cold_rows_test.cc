// Slices of blocks, and those that are kept.
#include "blocks/cold_rows.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/memory_budget.h"

#include "base/checksum.h"
#include "base/entry_key.h"
#include "base/ref_counted.h"
#include "base/shortcuts.h"
#include "base/strings.h"
#include "blocks/block_cursor.h"
#include "blocks/block_file_fixture.h"
#include "cache/block.h"
#include "cache/block_cache.h"
#include "cache/budget_access.h"
#include "support/cached_bytes.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

class ColdRowsTest : public BlockFileFixture {
 protected:
  using Entries = std::map<std::string, std::string>;

  static const std::vector<std::string>& Rows() {
    static const std::vector<std::string> rows = {
        "", "a", "aa", std::string("a\0", 2), std::string("a\0\1", 3), "ab", "b", "ba", "c"};
    return rows;
  }
  // Up to four rows with up to 20 cells each: more than the interval of restarts.
  static Entries RandomEntries(Random* random) {
    Entries entries;
    for (uint64_t row = 1 + random->Below(4); row > 0; --row) {
      const std::string name = random->Pick(Rows());
      for (uint64_t cell = 1 + random->Below(20); cell > 0; --cell) {
        entries[KeyOf(name, Cat(random->Below(5)), 1 + random->Below(9))] =
            random->Bytes(random->Below(30));
      }
    }
    return entries;
  }
  static Entries OfRow(const Entries& entries, std::string_view prefix) {
    Entries of_row;
    for (const auto& [key, value] : entries) {
      if (key.starts_with(prefix)) of_row[key] = value;
    }
    return of_row;
  }
  static Entries Decoded(std::string_view block) {
    Entries entries;
    BlockCursor cursor;
    EXPECT_TRUE(cursor.Open(block));
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
      entries[std::string(cursor.key())] = cursor.value();
    }
    EXPECT_FALSE(cursor.damaged());
    return entries;
  }
  Ref<Block> Slice(std::string_view block, std::string_view prefix) {
    return SliceOfRow(block, prefix, &BudgetAccess::Memory(*budget_));
  }
  uint64_t cached() const { return CachedBytes(*budget_); }

  const std::string block_ =
      BlockOf({{KeyOf("a", "p", 1), "1"}, {KeyOf("a", "q", 1), "2"}, {KeyOf("b", "p", 1), "3"}});
  const std::string a_ = RowPrefix("a");
  const std::string b_ = RowPrefix("b");
};

TEST_F(ColdRowsTest, ASliceHasTheEntriesOfTheRowAloneRandom) {
  ForEachSeed(300, [&](uint64_t seed) {
    Random random(seed);
    const Entries entries = RandomEntries(&random);
    const std::string block = BlockOf(entries);
    for (const std::string& row : Rows()) {
      const std::string prefix = RowPrefix(row);
      const Entries expected = OfRow(entries, prefix);
      const Ref<Block> slice = Slice(block, prefix);
      ASSERT_EQ(static_cast<bool>(slice), !expected.empty());
      if (!slice) continue;
      ASSERT_EQ(Decoded(slice->data()), expected);
      BlockCursor cursor;
      ASSERT_TRUE(cursor.Open(slice->data()));
      cursor.SeekToLast();
      EXPECT_EQ(cursor.key(), expected.rbegin()->first);
      for (int k = 0; k < 30; ++k) {
        const std::string target =
            KeyOf(random.Pick(Rows()), Cat(random.Below(5)), random.Below(10));
        const auto from = expected.lower_bound(target);
        cursor.Seek(target);
        ASSERT_EQ(cursor.valid(), from != expected.end());
        if (cursor.valid()) {
          ASSERT_EQ(cursor.key(), from->first);
          ASSERT_EQ(cursor.value(), from->second);
        }
      }
    }
  });
}

// Whatever the bytes are, nothing outside of them is read.
TEST_F(ColdRowsTest, ADamagedBlockHasNoSliceOrAnotherRandom) {
  EXPECT_FALSE(Slice("", a_));
  EXPECT_FALSE(Slice("too short", a_));
  std::string cut = block_;
  cut.resize(cut.size() - 5);  // a part of the keys, which have to be there
  EXPECT_FALSE(Slice(std::string_view(cut).substr(0, 20), a_));
  ForEachSeed(50, [&](uint64_t seed) {
    Random random(seed);
    const std::string block = BlockOf(RandomEntries(&random));
    for (int k = 0; k < 100; ++k) {
      const auto damaged = std::make_unique<char[]>(block.size());
      block.copy(damaged.get(), block.size());
      damaged[random.Below(block.size())] ^= static_cast<char>(1 << random.Below(8));
      const Ref<Block> slice = Slice({damaged.get(), block.size()}, RowPrefix(random.Pick(Rows())));
      if (slice) (void)Decoded(slice->data());
    }
  });
}

TEST_F(ColdRowsTest, AnEntryThatDoesNotDecodeLeavesNoSlice) {
  std::string block = BlockOf({{KeyOf("a", "p", 1), "1"}, {KeyOf("a", "q", 1), "2"}});
  // The second entry has more bytes in common than the first one has.
  const size_t second = block.find(KeyOf("a", "p", 1)) + KeyOf("a", "p", 1).size();
  block[second] = 127;
  EXPECT_FALSE(Slice(block, a_));
}

TEST_F(ColdRowsTest, FindsWhatWasAddedUntilItIsDestroyed) {
  std::optional<ColdRows> rows(budget_.get());
  EXPECT_FALSE(rows->Find(a_));
  EXPECT_FALSE(rows->Has(a_));
  const Ref<Block> added = rows->Add(a_, {}, block_);
  ASSERT_TRUE(added);
  EXPECT_TRUE(rows->Has(a_));
  EXPECT_FALSE(rows->Has(b_));
  EXPECT_FALSE(rows->Find(b_));
  const Ref<Block> found = rows->Find(a_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found.get(), added.get());
  EXPECT_EQ(found->data(), BlockOf({{KeyOf("a", "p", 1), "1"}, {KeyOf("a", "q", 1), "2"}}));
  EXPECT_GT(cached(), found->data().size());
  EXPECT_LT(cached(), found->data().size() + 300);

  ColdRows other_file(budget_.get());
  EXPECT_FALSE(other_file.Find(a_));
  ASSERT_TRUE(other_file.Add(b_, {}, block_));
  rows.reset();
  EXPECT_TRUE(other_file.Find(b_));
  EXPECT_EQ(Decoded(found->data()).size(), 2) << "it lives as long as its reader";
}

TEST_F(ColdRowsTest, ASliceOfAnotherRowWithTheSameHashIsNotReturned) {
  BlockCache& cache = BudgetAccess::Cache(*budget_);
  const uint64_t last_id = cache.NewFileId();
  ColdRows rows(budget_.get());
  ASSERT_TRUE(rows.Add(b_, {}, block_));
  // As if their hashes were the same.
  cache.Insert({last_id + 1, Checksum(a_)}, SliceOfRow(block_, b_, &cache.memory()));
  EXPECT_TRUE(rows.Has(a_)) << "it is where this test assumes";
  EXPECT_FALSE(rows.Find(a_));
  EXPECT_TRUE(rows.Find(b_));
}

TEST_F(ColdRowsTest, NothingIsLeftInTheCache) {
  {
    ColdRows rows(budget_.get());
    ASSERT_TRUE(rows.Add(a_, {}, block_));
    ASSERT_TRUE(rows.Add(b_, {}, block_));
  }
  EXPECT_EQ(cached(), 0);
}

TEST_F(ColdRowsTest, AnAbsentRowIsNotKept) {
  ColdRows rows(budget_.get());
  EXPECT_FALSE(rows.Add(RowPrefix("ab"), {}, block_));
  EXPECT_FALSE(rows.Find(RowPrefix("ab")));
  EXPECT_EQ(cached(), 0);
}

TEST_F(ColdRowsTest, WithoutFillingTheCacheNothingIsKeptButEverythingIsFound) {
  ColdRows rows(budget_.get());
  EXPECT_FALSE(rows.Add(a_, {.fill_cache = false}, block_));
  EXPECT_EQ(cached(), 0);
  EXPECT_FALSE(rows.Find(a_));
  ASSERT_TRUE(rows.Add(b_, {}, block_));
  EXPECT_TRUE(rows.Find(b_));
}

TEST_F(ColdRowsTest, WithoutTheShortcutNothingIsKeptOrFound) {
  ColdRows rows(budget_.get());
  ASSERT_TRUE(rows.Add(a_, {}, block_));
  {
    const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kBlockCache));
    EXPECT_FALSE(rows.Find(a_));
    EXPECT_FALSE(rows.Has(a_));
    EXPECT_FALSE(rows.Add(b_, {}, block_));
  }
  EXPECT_TRUE(rows.Find(a_));
  EXPECT_FALSE(rows.Find(b_));
}

}  // namespace
}  // namespace bigtable
