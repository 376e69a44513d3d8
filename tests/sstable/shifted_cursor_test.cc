// Cursors of an ingested file, whose sequence numbers are shifted: they are held to the keys as
// they would be in a file of the database, over so few rows, columns, timestamps and numbers that
// targets lie beside keys.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/memory_budget.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/entry_key.h"
#include "base/sequence.h"
#include "compaction/sorted_run.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_test_util.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

std::string Shifted(std::string key, int64_t shift) {
  const EntryVersion version = VersionOf(key);
  const int64_t timestamp = HasTimestamp(KindOf(key)) ? TimestampOf(key) : 0;
  StoreTrailer(key.data() + key.size() - kTrailerSize, timestamp,
               {version.sequence + static_cast<uint64_t>(shift), version.ordinal}, KindOf(key));
  return key;
}

class ShiftedCursorTest : public testing::Test {
 protected:
  static constexpr SequenceNumber kFirst = 1000;  // of the file

  std::string RandomKey(Random* random, SequenceNumber first) {
    const char* const rows[] = {"a", "ab", "b"};
    EntryKind kind = EntryKind::kCell;
    if (random->OneIn(5)) kind = EntryKind::kDeleteColumn;
    if (random->OneIn(8)) kind = EntryKind::kDeleteFamily;
    return CellKey(rows[random->Below(3)], "f", random->OneIn(2) ? "" : "q",
                   static_cast<int64_t>(random->Below(3)), first + random->Below(6), kind);
  }
  // A whole key, near those of the file or with any number; or the beginning of one.
  std::string RandomTarget(Random* random, int64_t shift) {
    SequenceNumber first = kFirst + static_cast<uint64_t>(shift) - 3;
    if (random->OneIn(6)) first = 1;
    if (random->OneIn(6)) first = kMaxSequence - 10;
    std::string key = RandomKey(random, first);
    switch (random->Below(4)) {
      case 0:
        return key.substr(0, RowPrefixSize(key));
      case 1:
        return std::string(ColumnPrefix(key));
      case 2:
        key.resize(key.size() - 11);  // up to its timestamp
        return key;
      default:
        return key;
    }
  }
  Ref<SSTable> Open(const SSTableInfo& info) {
    absl::StatusOr<Ref<SSTable>> opened =
        SSTable::Open(&files_, std::string(kTablePath), info, {.budget = budget_});
    EXPECT_OK(opened);
    return *std::move(opened);
  }
  // As Ingestion describes the file.
  static SSTableInfo Described(SSTableInfo info, int64_t shift) {
    info.ingested = {.file_number = info.file_number, .sequence_shift = shift};
    info.file_number = 99;
    info.min_sequence += static_cast<uint64_t>(shift);
    info.max_sequence += static_cast<uint64_t>(shift);
    info.smallest_key = Shifted(info.smallest_key, shift);
    info.largest_key = Shifted(info.largest_key, shift);
    return info;
  }

  InMemoryFileSystem files_;
  const std::shared_ptr<MemoryBudget> budget_ =
      std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
};

TEST_F(ShiftedCursorTest, MovesAsIfTheFileHadTheShiftedKeysRandom) {
  ForEachSeed(60, [&](uint64_t seed) {
    Random random(seed);
    const std::vector<int64_t> shifts = {1, 5, 1 << 20, int64_t{1} << 50, -1, -5, -999};
    const int64_t shift = random.Pick(shifts);
    Entries entries;
    for (int i = 0; i < 40; ++i) entries[RandomKey(&random, kFirst)] = std::to_string(i);
    LocalityGroup group;
    group.block_size = 1024;
    ASSERT_OK_AND_ASSIGN(const SSTableInfo info, WriteTable(&files_, kTablePath, group, entries));
    const Ref<SSTable> table = Open(Described(info, shift));
    Entries expected;
    for (const auto& [key, value] : entries) expected[Shifted(key, shift)] = value;
    ASSERT_EQ(expected.size(), entries.size());
    SSTableCursor of_file(table.get());
    const SortedRun run(std::vector<Ref<SSTable>>{table});
    RunCursor of_run(&run, {});
    for (EntryCursor* const cursor :
         {static_cast<EntryCursor*>(&of_file), static_cast<EntryCursor*>(&of_run)}) {
      auto at = expected.begin();
      for (cursor->SeekToFirst(); cursor->valid(); cursor->Next(), ++at) {
        ASSERT_TRUE(at != expected.end());
        ASSERT_EQ(cursor->key(), at->first);
        ASSERT_EQ(cursor->value(), at->second);
      }
      EXPECT_TRUE(at == expected.end());
      cursor->SeekToLast();
      ASSERT_TRUE(cursor->valid());
      EXPECT_EQ(cursor->key(), expected.rbegin()->first);
      for (int i = 0; i < 300; ++i) {
        const std::string target = RandomTarget(&random, shift);
        const auto from = expected.lower_bound(target);
        cursor->Seek(target);
        ASSERT_EQ(cursor->valid(), from != expected.end()) << DebugString(target);
        if (cursor->valid()) {
          ASSERT_EQ(cursor->key(), from->first) << DebugString(target);
        }
        cursor->SeekBefore(target);
        ASSERT_EQ(cursor->valid(), from != expected.begin()) << DebugString(target);
        if (cursor->valid()) {
          ASSERT_EQ(cursor->key(), std::prev(from)->first) << DebugString(target);
        }
      }
    }
  });
}

TEST_F(ShiftedCursorTest, AFileOfAnotherNumberIsNotTheExpectedOne) {
  ASSERT_OK_AND_ASSIGN(SSTableInfo info, WriteTable(&files_, kTablePath, LocalityGroup(),
                                                    {{CellKey("a", "f", "q", 1, kFirst), "v"}}));
  EXPECT_OK(Open(Described(info, 1))->EnsureOpen());
  info = Described(info, 1);
  info.ingested->file_number += 1;
  EXPECT_STATUS(kDataLoss, "another SSTable",
                SSTable::Open(&files_, std::string(kTablePath), info, {.budget = budget_}));
}

}  // namespace
}  // namespace bigtable
