// Cursors over slices: rows of a file that is never in memory. They are held to the keys of the
// file, over so few rows and columns that neighbours collide, and several rows share a block while
// others continue in the next one.
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/memory_budget.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/checksum.h"
#include "base/entry_key.h"
#include "base/sequence.h"
#include "base/shortcuts.h"
#include "blocks/overlapped_reads.h"
#include "blocks/page_residency.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_test_util.h"
#include "support/cold_file_system.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/scoped_index_sizes.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

constexpr SequenceNumber kFirstOfSlices = 1000;  // of the file

const std::vector<std::string>& SliceRows() {
  static const std::vector<std::string> rows = {
      "", "a", "aa", std::string("a\0", 2), "ab", "b", "ba", "bb", "c", "ca"};
  return rows;
}
std::string RandomCellOf(Random* random, std::string_view row) {
  return CellKey(row, random->OneIn(2) ? "f" : "g", random->OneIn(2) ? "" : "q",
                 static_cast<int64_t>(random->Below(4)), kFirstOfSlices + random->Below(8));
}
std::string ShiftedCell(std::string key, int64_t shift) {
  const EntryVersion version = VersionOf(key);
  StoreTrailer(key.data() + key.size() - kTrailerSize, TimestampOf(key),
               {version.sequence + static_cast<uint64_t>(shift), version.ordinal}, KindOf(key));
  return key;
}

class RowSlicesTest : public testing::Test {
 protected:
  static constexpr std::string_view kPath = "1.sst";

  // Some rows have a cell, others more than a block of them, and a few have none.
  static Entries EntriesOfSomeRows(Random* random) {
    Entries entries;
    for (const std::string& row : SliceRows()) {
      if (random->OneIn(5)) continue;
      const uint64_t cells = random->OneIn(3) ? 40 : 1 + random->Below(6);
      for (uint64_t i = 0; i < cells; ++i) {
        entries[RandomCellOf(random, row)] =
            random->OneIn(20) ? random->Bytes(1500) : random->Bytes(random->Below(60));
      }
    }
    return entries;
  }
  // With its sequence numbers shifted, as of a file that was ingested.
  Ref<SSTable> Write(const LocalityGroup& group, const Entries& entries, int64_t shift = 0) {
    // In two of three files, keys of the index are shortened by the next.
    const ScopedIndexSizes sizes(entries.size() % 3 == 0 ? kWholeKey : entries.size() % 30,
                                 kIndexPartSize, entries.size() % 2 == 0);
    absl::StatusOr<SSTableInfo> info = WriteTable(&memory_, kPath, group, entries);
    EXPECT_OK(info);
    if (shift != 0) {
      info->ingested = {.file_number = info->file_number, .sequence_shift = shift};
      info->file_number = 99;
      info->min_sequence += static_cast<uint64_t>(shift);
      info->max_sequence += static_cast<uint64_t>(shift);
      info->smallest_key = ShiftedCell(info->smallest_key, shift);
      info->largest_key = ShiftedCell(info->largest_key, shift);
    }
    absl::StatusOr<Ref<SSTable>> opened = SSTable::Open(
        &files_, std::string(kPath), *info, {.budget = budget_, .residency = &residency_});
    EXPECT_OK(opened);
    EXPECT_OK((*opened)->EnsureOpen());
    return *std::move(opened);
  }

  const ScopedShortcutsOn shortcuts_;
  PageResidency residency_{[] { return int64_t{0}; }};
  InMemoryFileSystem memory_;
  ColdFileSystem files_{&memory_, /*is_cold=*/true, &residency_};
  const std::shared_ptr<MemoryBudget> budget_ =
      std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
};

// What one cursor returns, beside the entries that it should.
class Walk {
 public:
  Walk(const SSTable* table, const ReadSettings& settings, const Entries* entries)
      : table_(table),
        cursor_(table, settings),
        overlapped_(settings.overlapped),
        entries_(entries) {}

  void SeekRow(Random* random, std::string_view row) {
    prefix_ = RowPrefix(row);
    if (random->OneIn(2)) {
      RowIndex::Location location;
      const RowIndex::Answer answer = table_->LookUpRow(Checksum(prefix_), &location);
      if (answer == RowIndex::Answer::kFound) cursor_.PlanRow(location);
    }
    if (random->OneIn(3)) cursor_.RequestRow(prefix_);
    for (uint64_t k = random->Below(3); k > 0 && overlapped_ != nullptr; --k) {
      const std::string& later = random->Pick(SliceRows());
      table_->RequestRow(RowPrefix(later), nullptr, overlapped_);
    }
    cursor_.SeekRow(prefix_);
    at_ = entries_->lower_bound(prefix_);
    CheckInRow();
  }
  // Within the row.
  void SeekInRow(Random* random, const std::string& target) {
    if (random->OneIn(4)) cursor_.Request(target);
    cursor_.Seek(target);
    at_ = entries_->lower_bound(target);
    CheckInRow();
  }
  // Up to `most` entries of the row.
  void WalkInRow(uint64_t most) {
    for (; most > 0 && IsInRow(); --most) {
      cursor_.Next();
      ++at_;
      CheckInRow();
    }
  }
  // To any place.
  void SeekElsewhere(Random* random, const std::string& target) {
    cursor_.EndRowLimit();
    switch (random->Below(4)) {
      case 0:
        cursor_.SeekToFirst();
        at_ = entries_->begin();
        break;
      case 1:
        cursor_.SeekToLast();
        at_ = std::prev(entries_->end());
        break;
      case 2:
        cursor_.SeekBefore(target);
        at_ = entries_->lower_bound(target);
        at_ = at_ == entries_->begin() ? entries_->end() : std::prev(at_);
        break;
      default:
        cursor_.Seek(target);
        at_ = entries_->lower_bound(target);
    }
    Check();
    for (uint64_t most = random->Below(20); most > 0 && at_ != entries_->end(); --most) {
      cursor_.Next();
      ++at_;
      Check();
    }
  }
  // They do not need the end of the limit.
  void SeekBeforeOrToAnEnd(Random* random, const std::string& target) {
    at_ = entries_->lower_bound(target);
    switch (random->Below(3)) {
      case 0:
        cursor_.SeekBefore(target);
        at_ = at_ == entries_->begin() ? entries_->end() : std::prev(at_);
        break;
      case 1:
        cursor_.SeekToFirst();
        at_ = entries_->begin();
        break;
      default:
        cursor_.SeekToLast();
        at_ = std::prev(entries_->end());
    }
    Check();
  }

 private:
  bool IsInRow() const { return at_ != entries_->end() && at_->first.starts_with(prefix_); }
  // Behind the row the cursor may be valid or not.
  void CheckInRow() {
    if (IsInRow()) return Check();
    ASSERT_OK(cursor_.status());
    if (cursor_.valid()) {
      EXPECT_GT(cursor_.key(), prefix_);
      EXPECT_FALSE(cursor_.key().starts_with(prefix_)) << DebugString(cursor_.key());
    }
  }
  void Check() {
    ASSERT_OK(cursor_.status());
    ASSERT_EQ(cursor_.valid(), at_ != entries_->end());
    if (!cursor_.valid()) return;
    ASSERT_EQ(DebugString(cursor_.key()), DebugString(at_->first));
    ASSERT_TRUE(cursor_.value() == at_->second);
  }

  const SSTable* const table_;
  SSTableCursor cursor_;
  OverlappedReads* const overlapped_;
  const Entries* const entries_;
  Entries::const_iterator at_;
  std::string prefix_;
};

// Several cursors, in turns.
void WalkAround(Random* random, const SSTable* table, int64_t shift, const Entries& expected,
                OverlappedReads* overlapped) {
  const std::vector<ReadSettings> kinds = {{.read_ahead = false},
                                           {},
                                           {.fill_cache = false},
                                           {.verify_checksums = true},
                                           {.read_ahead = false, .overlapped = overlapped},
                                           {.fill_cache = false, .overlapped = overlapped}};
  std::vector<std::unique_ptr<Walk>> walks;
  for (const ReadSettings& settings : kinds) {
    walks.push_back(std::make_unique<Walk>(table, settings, &expected));
  }
  for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
    Walk& walk = *random->Pick(walks);
    const std::string row = random->Pick(SliceRows());
    walk.SeekRow(random, row);
    for (uint64_t k = random->Below(4); k > 0; --k) {
      walk.WalkInRow(random->OneIn(2) ? 100 : random->Below(5));
      if (!random->OneIn(2)) continue;
      walk.SeekInRow(random, ShiftedCell(RandomCellOf(random, row), shift));
    }
    const std::string target = ShiftedCell(RandomCellOf(random, random->Pick(SliceRows())), shift);
    if (random->OneIn(4)) walk.SeekElsewhere(random, target);
    if (random->OneIn(8)) walk.SeekBeforeOrToAnEnd(random, target);
  }
}

TEST_F(RowSlicesTest, ACursorReturnsWhatItWouldOfAFileInMemoryRandom) {
  ForEachSeed(80, [&](uint64_t seed) {
    Random random(seed);
    const std::vector<int64_t> shifts = {0, 0, 0, 5, int64_t{1} << 50, -999};
    const int64_t shift = random.Pick(shifts);
    LocalityGroup group;
    group.block_size = 1024;
    if (random.OneIn(2)) group.filter = FilterKind::kRowIndex;
    if (random.OneIn(3)) group.compression = Compression::kZstd;
    const Entries entries = EntriesOfSomeRows(&random);
    if (entries.empty()) return;
    Entries expected;
    for (const auto& [key, value] : entries) expected[ShiftedCell(key, shift)] = value;
    OverlappedReads overlapped(&files_, budget_);
    for (int opening = 0; opening < 8 && !HasFailure(); ++opening) {
      WalkAround(&random, Write(group, entries, shift).get(), shift, expected, &overlapped);
    }
  });
  std::cout << files_.uncached_reads() << " uncached reads, " << files_.positional_reads()
            << " by position, " << files_.overlapped_reads() << " overlapped\n";
  EXPECT_GT(files_.overlapped_reads(), 500);
  EXPECT_GT(files_.uncached_reads(), 500);
  EXPECT_GT(files_.positional_reads(), 500);
}

// Rows of three cells, about three in a block: most blocks end within a row.
class RowsOfBlocksTest : public RowSlicesTest {
 protected:
  static constexpr int kRows = 300;
  static std::string RowOf(int i) { return std::to_string(1000 + i); }

  void SetUp() override {
    LocalityGroup group;
    group.block_size = 1024;
    Random random(1);
    Entries entries;
    for (int i = 0; i < kRows; ++i) {
      for (const char* const qualifier : {"a", "b", "c"}) {
        entries[CellKey(RowOf(i), "f", qualifier, 1, kFirstOfSlices)] = random.Bytes(100);
      }
    }
    table_ = Write(group, entries);
  }
  // Cells of the row that a new cursor returns.
  size_t CellsOf(int row) {
    SSTableCursor cursor(table_.get(), {.read_ahead = false});
    const std::string prefix = RowPrefix(RowOf(row));
    size_t cells = 0;
    for (cursor.SeekRow(prefix); cursor.valid() && cursor.key().starts_with(prefix);
         cursor.Next()) {
      ++cells;
    }
    EXPECT_OK(cursor.status());
    return cells;
  }

  Ref<SSTable> table_;
};

TEST_F(RowsOfBlocksTest, ARowIsReadWithoutTheBlocksThatFollow) {
  uint64_t two = 0;
  for (int step = 0; step < 7; ++step) {
    for (int i = 5 + step; i < kRows; i += 7) {
      const uint64_t before = files_.queries();
      ASSERT_EQ(CellsOf(i), 3);
      const uint64_t blocks = files_.queries() - before;
      ASSERT_LE(blocks, 2);
      two += blocks == 2 ? 1 : 0;
    }
  }
  EXPECT_GT(two, 10) << "some rows continue in the next block";
  EXPECT_LT(two, kRows / 2);
  EXPECT_GT(files_.uncached_reads(), kRows / 2);
}

// Nor is its block, which is not needed.
TEST_F(RowsOfBlocksTest, ARowThatWasReadIsNotRequested) {
  uint64_t others = 0;
  SSTableCursor cursor(table_.get(), {.read_ahead = false});
  for (const int row : {20, 150, 250, 90}) {
    ASSERT_EQ(CellsOf(row), 3);
    const uint64_t before = files_.queries();
    const std::string prefix = RowPrefix(RowOf(row));
    cursor.RequestRow(prefix);
    cursor.SeekRow(prefix);
    ASSERT_TRUE(cursor.valid());
    EXPECT_TRUE(cursor.key().starts_with(prefix));
    EXPECT_EQ(files_.queries(), before);
    cursor.RequestRow(RowPrefix(RowOf(row + 3)));
    others += files_.queries() - before;
  }
  EXPECT_GE(others, 2) << "rows that were not";
}

TEST_F(RowsOfBlocksTest, ARowThatWasReadIsReadAgainWithoutACall) {
  for (const int row : {20, 150, 250, 90}) {
    ASSERT_EQ(CellsOf(row), 3);
    const uint64_t before = files_.queries() + files_.uncached_reads() + files_.positional_reads();
    uint64_t others = 0;
    for (int k = 0; k < 10; ++k) ASSERT_EQ(CellsOf(row), 3);
    others = files_.queries() + files_.uncached_reads() + files_.positional_reads() - before;
    // The next block, if the row continues there.
    EXPECT_LE(others, 10) << row;
  }
}

}  // namespace
}  // namespace bigtable
