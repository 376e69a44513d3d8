// Files whose index is in parts and whose filter is in pages, in memory as a whole or read when
// they are needed: every lookup has the answer of the entries themselves, over so few and so short
// keys that parts, shortened keys and targets lie beside one another.
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/memory_budget.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/checksum.h"
#include "base/entry_key.h"
#include "base/shortcuts.h"
#include "blocks/index_writer.h"
#include "cache/budget_charge.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_test_util.h"
#include "sstable/sstable_verification.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/scoped_index_sizes.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

std::string RandomRow(Random* random) {
  std::string row;
  for (size_t n = random->Below(6); n > 0; --n)
    row += random->Pick(std::vector<std::string>{"a", "b", std::string(1, '\0'), "\xff"});
  if (random->OneIn(6)) row += std::string(random->Below(40), 'a');
  return row.empty() ? "b" : row;
}

std::string RandomKey(Random* random) {
  const EntryKind kind = random->OneIn(6) ? EntryKind::kDeleteColumn : EntryKind::kCell;
  return CellKey(RandomRow(random), "f", random->OneIn(2) ? "" : "q",
                 static_cast<int64_t>(random->Below(3)), 1 + random->Below(4), kind);
}

// A whole key, or the beginning of one, or a little more than that.
std::string RandomTarget(Random* random) {
  std::string key = RandomKey(random);
  if (random->OneIn(3)) key.resize(RowPrefixSize(key));
  if (random->OneIn(3)) key.resize(random->Below(key.size() + 1));
  if (random->OneIn(4)) key += static_cast<char>(random->Below(256));
  return key;
}

class IndexPartsTest : public testing::Test {
 protected:
  void WriteRandom(Random* random, size_t most) {
    const ScopedIndexSizes sizes(random->OneIn(2) ? kWholeKey : random->Below(40),
                                 1 + random->Below(150), random->OneIn(2));
    LocalityGroup group;
    group.block_size = random->OneIn(4) ? 1 : 1 + random->Below(300);
    group.compression =
        random->Pick(std::vector<Compression>{Compression::kNone, Compression::kZstd});
    group.filter = random->Pick(std::vector<FilterKind>{
        FilterKind::kNone, FilterKind::kRow, FilterKind::kRowAndColumn, FilterKind::kRowIndex});
    entries_.clear();
    for (size_t n = 1 + random->Below(most); n > 0; --n) {
      entries_[RandomKey(random)] = std::string(random->Below(10), 'v');
    }
    ASSERT_OK_AND_ASSIGN(info_, WriteTable(&files_, kTablePath, group, entries_));
  }
  absl::StatusOr<Ref<SSTable>> TryOpen(bool whole, FileSystem::ReadMode mode) {
    const ScopedShortcuts shortcuts(whole ? 0 : ScopedShortcuts::Bit(Shortcut::kWholeIndex));
    return SSTable::Open(&files_, std::string(kTablePath), info_,
                         {.read_mode = mode, .budget = budget_});
  }
  // Either way, and either way of reading the file.
  Ref<SSTable> Open(Random* random) {
    const bool whole = random->OneIn(3);
    auto table =
        TryOpen(whole, random->Pick(std::vector<FileSystem::ReadMode>{
                           FileSystem::ReadMode::kMapped, FileSystem::ReadMode::kPositional}));
    EXPECT_OK(table);
    EXPECT_EQ((*table)->is_whole(), whole);
    return *std::move(table);
  }
  static ReadSettings RandomSettings(Random* random) {
    return {.verify_checksums = random->OneIn(3),
            .fill_cache = random->OneIn(2),
            .read_ahead = random->OneIn(2),
            .first_request = random->OneIn(3) ? 1 + random->Below(200) : 0};
  }
  Entries EntriesOf(std::string_view row_prefix) const {
    Entries entries;
    for (auto i = entries_.lower_bound(std::string(row_prefix));
         i != entries_.end() && i->first.starts_with(row_prefix); ++i) {
      entries.insert(*i);
    }
    return entries;
  }
  // The entries of the row, read as ReadSources does. After an error: those before it.
  static Entries ReadRow(const SSTable& table, std::string_view prefix, SSTableCursor* cursor) {
    RowIndex::Location location;
    const RowIndex::Answer answer = table.LookUpRow(Checksum(prefix), &location);
    Entries found;
    if (answer == RowIndex::Answer::kAbsent) return found;
    if (answer == RowIndex::Answer::kFound) cursor->PlanRow(location);
    for (cursor->SeekRow(prefix); cursor->valid() && cursor->key().starts_with(prefix);
         cursor->Next()) {
      found[std::string(cursor->key())] = cursor->value();
    }
    return found;
  }

  InMemoryFileSystem files_;
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 << 20);
  Entries entries_;
  SSTableInfo info_;
};

TEST_F(IndexPartsTest, EveryLookupHasTheAnswerOfTheEntriesRandom) {
  uint64_t parts = 0;
  ForEachSeed(150, [&](uint64_t seed) {
    Random random(seed);
    WriteRandom(&random, 120);
    const Ref<SSTable> table = Open(&random);
    parts += table->properties().index_parts;
    SSTableCursor cursor(table.get(), RandomSettings(&random));
    for (int i = 0; i < 200; ++i) {
      const std::string target = RandomTarget(&random);
      auto at = entries_.lower_bound(target);
      switch (random.Below(5)) {
        case 0:
          cursor.EndRowLimit();
          cursor.SeekToFirst();
          at = entries_.begin();
          break;
        case 1:
          cursor.EndRowLimit();
          cursor.SeekToLast();
          at = std::prev(entries_.end());
          break;
        case 2: {
          cursor.EndRowLimit();
          cursor.SeekBefore(target);
          ASSERT_EQ(cursor.valid(), at != entries_.begin()) << DebugString(target);
          if (!cursor.valid()) continue;
          --at;
          break;
        }
        case 3: {
          const std::string key = RandomKey(&random);
          const std::string row = key.substr(0, RowPrefixSize(key));
          ASSERT_EQ(ReadRow(*table, row, &cursor), EntriesOf(row));
          ASSERT_OK(cursor.status());
          continue;
        }
        default:
          cursor.EndRowLimit();
          if (random.OneIn(3)) cursor.Request(target);
          cursor.Seek(target);
      }
      for (size_t n = random.Below(12); at != entries_.end(); ++at) {
        ASSERT_TRUE(cursor.valid()) << cursor.status() << " " << DebugString(at->first);
        ASSERT_EQ(cursor.key(), at->first);
        ASSERT_EQ(cursor.value(), at->second);
        if (n-- == 0) break;
        cursor.Next();
      }
      if (at == entries_.end()) {
        ASSERT_FALSE(cursor.valid());
      }
      ASSERT_OK(cursor.status());
    }
  });
  EXPECT_GT(parts, 150);
}

TEST_F(IndexPartsTest, FiltersAnswerTheSameInPagesAndAsAWholeRandom) {
  ForEachSeed(40, [&](uint64_t seed) {
    Random random(seed);
    LocalityGroup group;
    group.filter = random.Pick(std::vector<FilterKind>{
        FilterKind::kNone, FilterKind::kRow, FilterKind::kRowAndColumn, FilterKind::kRowIndex});
    group.filter_bits = 1 + static_cast<int>(random.Below(12));
    entries_.clear();
    for (size_t n = 1 + random.Below(4000); n > 0; --n) {
      entries_[CellKey(std::to_string(random.Below(100'000)), "f", "q", 1, 1)] = "v";
    }
    ASSERT_OK_AND_ASSIGN(info_, WriteTable(&files_, kTablePath, group, entries_));
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> whole, TryOpen(true, FileSystem::ReadMode::kMapped));
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> in_parts,
                         TryOpen(false, FileSystem::ReadMode::kMapped));
    for (int i = 0; i < 2000; ++i) {
      const uint64_t row = random.Next();
      const uint64_t column = random.Next();
      RowIndex::Location expected, location;
      ASSERT_EQ(in_parts->LookUpRow(row, &location), whole->LookUpRow(row, &expected));
      ASSERT_EQ(location.block, expected.block);
      ASSERT_EQ(in_parts->MayContainColumn(row, column), whole->MayContainColumn(row, column));
    }
    for (const auto& [key, value] : entries_) {
      const uint64_t row = Checksum(std::string_view(key).substr(0, RowPrefixSize(key)));
      RowIndex::Location expected, location;
      const RowIndex::Answer answer = whole->LookUpRow(row, &expected);
      ASSERT_NE(answer, RowIndex::Answer::kAbsent);
      ASSERT_EQ(in_parts->LookUpRow(row, &location), answer);
      ASSERT_EQ(location.block, expected.block);
      ASSERT_TRUE(in_parts->MayContainColumn(row, Checksum(ColumnPrefix(key))));
    }
  });
}

// An answer that is not whole has an error, unless the error is behind the row.
TEST_F(IndexPartsTest, ADamagedFileNeverGivesAWrongAnswerRandom) {
  ForEachSeed(kSlow ? 4 : 12, [&](uint64_t seed) {
    Random random(seed);
    WriteRandom(&random, 30);
    const std::string bytes = files_.Contents(kTablePath);
    std::vector<std::string> rows;
    for (int i = 0; i < 8; ++i) {
      const std::string key = RandomKey(&random);
      rows.push_back(key.substr(0, RowPrefixSize(key)));
    }
    for (const auto& [key, value] : entries_) rows.push_back(key.substr(0, RowPrefixSize(key)));
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << random.Below(8)));
      files_.SetContents(kTablePath, damaged);
      EXPECT_STATUS(kDataLoss, kTablePath, VerifySSTable(&files_, std::string(kTablePath), info_));
      const auto table = TryOpen(false, FileSystem::ReadMode::kMapped);
      if (!table.ok()) {
        EXPECT_STATUS(kDataLoss, kTablePath, table.status());
        continue;
      }
      SSTableCursor cursor(table->get());
      for (const std::string& row : rows) {
        const Entries found = ReadRow(**table, row, &cursor);
        if (!cursor.status().ok()) {
          EXPECT_STATUS(kDataLoss, kTablePath, cursor.status());
          if (!cursor.FailedBehind(row)) continue;
        }
        ASSERT_EQ(found, EntriesOf(row)) << "byte " << i << " of " << bytes.size();
      }
    }
  });
}

TEST_F(IndexPartsTest, SampledKeysHaveWholeRows) {
  ForEachSeed(60, [&](uint64_t seed) {
    Random random(seed);
    WriteRandom(&random, 100);
    const Ref<SSTable> table = Open(&random);
    const std::vector<std::string> keys = table->SampleKeys(1 + random.Below(100));
    ASSERT_FALSE(keys.empty());
    for (const std::string& key : keys) {
      const std::string row = key.substr(0, RowPrefixSize(key));
      EXPECT_TRUE(row.ends_with(std::string_view("\0\1", 2)));
      EXPECT_LE(table->BytesBefore(key), info_.size);
    }
  });
}

TEST(ShortestFromTest, IsBetweenTheKeysAndAtMostOneByteLongerThanTheirCommonPart) {
  ForEachSeed(20, [&](uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 2000; ++i) {
      const std::string last = RandomTarget(&random);
      const std::string next = random.OneIn(5) ? "" : RandomTarget(&random);
      if (!next.empty() && last >= next) continue;
      const std::string shortest = ShortestFrom(last, next);
      EXPECT_LE(last, shortest);
      EXPECT_LE(shortest.size(), last.size() + 1);
      if (!next.empty()) {
        EXPECT_LT(shortest, next);
      }
    }
  });
  EXPECT_EQ(ShortestFrom("abcdef", "abxyz"), "abx");
  EXPECT_EQ(ShortestFrom("abcdef", "abx"), "abd");
  EXPECT_EQ(ShortestFrom("abcdef", "abd"), "abce") << "raised behind the common part";
  EXPECT_EQ(ShortestFrom("abcdef", ""), "b");
  EXPECT_EQ(ShortestFrom("\xff\xff", ""), "\xff\xff");
  EXPECT_EQ(ShortestFrom("ab", "abc"), "ab");
}

TEST_F(IndexPartsTest, TheBudgetDecidesWhetherIndexAndFilterAreInMemory) {
  const ScopedShortcutsOn shortcuts;
  const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
  Random random(1);
  LocalityGroup group;
  for (int i = 0; i < 1000; ++i) {
    entries_[CellKey(std::to_string(i), "f", "q", 1, 1)] = random.Bytes(1000);
  }
  ASSERT_OK_AND_ASSIGN(info_, WriteTable(&files_, kTablePath, group, entries_));
  const auto is_whole = [&](SSTable::Options options) {
    options.budget = budget;
    const auto table = SSTable::Open(&files_, std::string(kTablePath), info_, options);
    EXPECT_OK(table);
    return (*table)->is_whole();
  };
  EXPECT_TRUE(is_whole({}));
  BudgetCharge others(budget.get(), MemoryBudget::Use::kIndexes);
  others.Set(budget->limit() / 2);
  const uint64_t used = budget->used(MemoryBudget::Use::kIndexes);
  EXPECT_FALSE(is_whole({}));
  EXPECT_TRUE(is_whole({.whole = true}));
  EXPECT_TRUE(is_whole({.in_memory = true}));
  EXPECT_EQ(budget->used(MemoryBudget::Use::kIndexes), used) << "all is released";
  others.Set(0);
  EXPECT_TRUE(is_whole({}));
}

TEST_F(IndexPartsTest, KeysLargerThanABlockAreNotInTheIndex) {
  Random random(1);
  LocalityGroup group;
  uint64_t key_bytes = 0;
  for (int i = 0; i < 200; ++i) {
    entries_[CellKey(random.Bytes(60'000), "f", "q", 1, 1)] = "v";
  }
  for (const auto& [key, value] : entries_) key_bytes += key.size();
  ASSERT_OK_AND_ASSIGN(info_, WriteTable(&files_, kTablePath, group, entries_));
  EXPECT_LT(info_.size, key_bytes + key_bytes / 20);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, TryOpen(true, FileSystem::ReadMode::kMapped));
  EXPECT_LT(table->properties().index_size, 200 * 20);
  SSTableCursor cursor(table.get());
  for (const auto& [key, value] : entries_) {
    cursor.Seek(key);
    ASSERT_TRUE(cursor.valid());
    EXPECT_TRUE(cursor.key() == key);
  }
}

}  // namespace
}  // namespace bigtable
