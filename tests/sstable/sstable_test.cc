// Writing and reading SSTables: the cursor compared to a map, filters, properties.
#include "sstable/sstable.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "base/checksum.h"
#include "cache/block_cache.h"
#include "cache/budget_access.h"
#include "sstable/sstable_cursor.h"
#include "sstable_test_util.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

void ExpectAt(const SSTableCursor& cursor, const Entries& entries, Entries::const_iterator at) {
  ASSERT_OK(cursor.status());
  ASSERT_EQ(cursor.valid(), at != entries.end());
  if (!cursor.valid()) return;
  ASSERT_EQ(cursor.key(), at->first);
  ASSERT_EQ(cursor.value(), at->second);
}

void ExpectWholeTable(const SSTable* table, const Entries& entries, ReadSettings settings = {}) {
  SSTableCursor cursor(table, settings);
  cursor.SeekToFirst();
  for (auto at = entries.begin(); at != entries.end(); ++at, cursor.Next()) {
    ExpectAt(cursor, entries, at);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_FALSE(cursor.valid());
  EXPECT_OK(cursor.status());
}

class SSTableSetupTest : public testing::TestWithParam<TableSetup> {};

INSTANTIATE_TEST_SUITE_P(All, SSTableSetupTest, testing::ValuesIn(AllSetups(1024)),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(SSTableSetupTest, CursorAgreesWithAMapRandom) {
  ForEachSeed(3, [](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    InMemoryFileSystem files;
    const Entries entries = RandomEntries(&random, 1 + random.Below(2000));
    ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                         WriteTable(&files, kTablePath, GetParam().group, entries));
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files, info, GetParam()));
    ExpectWholeTable(table.get(), entries);
    SSTableCursor cursor(table.get(), {.verify_checksums = random.OneIn(2)});
    std::vector<std::string> keys;
    for (const auto& [key, value] : entries) keys.push_back(key);
    for (int i = 0; i < 3000; ++i) {
      std::string target = random.Pick(keys);
      if (random.OneIn(2)) target.resize(random.Below(target.size() + 1));
      if (random.OneIn(4)) target += static_cast<char>(random.Below(256));
      auto at = entries.lower_bound(target);
      if (random.OneIn(2)) {
        cursor.Seek(target);
      } else {
        cursor.SeekBefore(target);
        at = at == entries.begin() ? entries.end() : std::prev(at);
      }
      ExpectAt(cursor, entries, at);
      for (uint64_t steps = random.Below(20); steps > 0 && cursor.valid(); --steps) {
        cursor.Next();
        ExpectAt(cursor, entries, ++at);
      }
      if (testing::Test::HasFailure()) return;
    }
    cursor.SeekToLast();
    ExpectAt(cursor, entries, std::prev(entries.end()));
    cursor.Next();
    EXPECT_FALSE(cursor.valid());
  });
}

TEST_P(SSTableSetupTest, ValuesStayInPlaceWhileTheirOwnerLives) {
  const ScopedShortcutsOn shortcuts;
  InMemoryFileSystem files;
  Random random(1);
  const Entries entries = RandomEntries(&random, 3000);
  ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                       WriteTable(&files, kTablePath, GetParam().group, entries));
  auto budget = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files, info, GetParam(), budget));
  std::vector<std::pair<std::string_view, Ref<const RefCounted>>> seen;
  SSTableCursor cursor(table.get());
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    seen.emplace_back(cursor.value(), Ref<const RefCounted>(cursor.value_owner()));
  }
  BudgetAccess::Cache(*budget).EraseFile(1);
  size_t i = 0;
  for (const auto& [key, value] : entries) EXPECT_EQ(seen[i++].first, value);
  const bool in_place = GetParam().in_memory ||
                        (!GetParam().in_parts && GetParam().mode == FileSystem::ReadMode::kMapped &&
                         GetParam().group.compression == Compression::kNone);
  if (in_place) {
    EXPECT_FALSE(seen[0].second) << "no owner is needed";
  } else if (GetParam().mode == FileSystem::ReadMode::kPositional) {
    EXPECT_TRUE(seen[0].second);
  }
}

TEST_P(SSTableSetupTest, AnEmptyTableHasNothing) {
  InMemoryFileSystem files;
  ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                       WriteTable(&files, kTablePath, GetParam().group, {}));
  EXPECT_EQ(info.entries, 0u);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files, info, GetParam()));
  SSTableCursor cursor(table.get());
  cursor.SeekToFirst();
  EXPECT_FALSE(cursor.valid());
  cursor.SeekToLast();
  EXPECT_FALSE(cursor.valid());
  cursor.Seek("a");
  EXPECT_FALSE(cursor.valid());
  cursor.SeekBefore("a");
  EXPECT_FALSE(cursor.valid());
  EXPECT_OK(cursor.status());
}

TEST_P(SSTableSetupTest, ManyThreadsReadOneTable) {
  InMemoryFileSystem files;
  Random random(5);
  const Entries entries = RandomEntries(&random, 2000);
  ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                       WriteTable(&files, kTablePath, GetParam().group, entries));
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files, info, GetParam()));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&table, &entries, t] {
      ExpectWholeTable(table.get(), entries, {.verify_checksums = t == 1, .fill_cache = t != 2});
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_P(SSTableSetupTest, ItsChargesAreReleased) {
  InMemoryFileSystem files;
  Random random(6);
  const Entries entries = RandomEntries(&random, 2000);
  ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                       WriteTable(&files, kTablePath, GetParam().group, entries));
  auto budget = std::make_shared<MemoryBudget>(64 << 20);
  {
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files, info, GetParam(), budget));
    EXPECT_GT(budget->used(MemoryBudget::Use::kIndexes), 1000u);
    ExpectWholeTable(table.get(), entries);
    const uint64_t in_memory = budget->used(MemoryBudget::Use::kInMemoryGroups);
    EXPECT_EQ(in_memory > table->info().raw_bytes / 4, GetParam().in_memory);
  }
  EXPECT_EQ(budget->used(), 0u);
}

TEST(SSTableTest, ReadsFilesOnDisk) {
  const TempDirectory directory;
  const std::string path = directory.path() + "/table";
  Random random(2);
  const Entries entries = RandomEntries(&random, 20000);
  for (const TableSetup& setup : AllSetups(4096)) {
    SCOPED_TRACE(setup.name);
    ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                         WriteTable(FileSystem::Posix(), path, setup.group, entries));
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table,
                         SSTable::Open(FileSystem::Posix(), path, info,
                                       {.read_mode = setup.mode,
                                        .budget = std::make_shared<MemoryBudget>(16 << 20),
                                        .in_memory = setup.in_memory}));
    ExpectWholeTable(table.get(), entries);
  }
}

TEST(SSTableTest, ALargeValueHasABlockOfItsOwn) {
  Random random(3);
  Entries entries;
  entries[CellKey("a", "f", "", 1, 1)] = "small";
  entries[CellKey("b", "f", "", 1, 2)] = random.Bytes(20 << 20);
  entries[CellKey("c", "f", "", 1, 3)] = "small too";
  for (const TableSetup& setup : AllSetups(4096)) {
    SCOPED_TRACE(setup.name);
    InMemoryFileSystem files;
    ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                         WriteTable(&files, kTablePath, setup.group, entries));
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files, info, setup));
    EXPECT_EQ(table->properties().blocks, 3u);
    ExpectWholeTable(table.get(), entries);
  }
}

TEST(SSTableTest, FindsKeysThatDifferFarAfterTheirCommonPrefix) {
  Entries entries;
  for (int i = 0; i < 3000; ++i) {
    const std::string number = std::to_string(100000 + i);
    const std::string host = i % 2 == 0 ? "com.example.www/" : "com.example.wwx/";
    entries[CellKey(host + "a long path that many share/" + number, "f", "", 1, 1)] = number;
  }
  const TableSetup setup = AllSetups(256)[0];
  InMemoryFileSystem files;
  ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                       WriteTable(&files, kTablePath, setup.group, entries));
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files, info, setup));
  SSTableCursor cursor(table.get());
  for (const auto& [key, value] : entries) {
    cursor.Seek(ColumnPrefix(key));
    ASSERT_TRUE(cursor.valid());
    ASSERT_EQ(cursor.key(), key);
    cursor.SeekBefore(key);
    ASSERT_EQ(cursor.valid(), key != entries.begin()->first);
  }
}

TEST(SSTableTest, FiltersContainEveryRowAndColumnRandom) {
  ForEachSeed(3, [](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    InMemoryFileSystem files;
    const bool with_row_deletions = seed % 2 == 0;
    const Entries entries = RandomEntries(&random, 2000, with_row_deletions);
    for (const FilterKind kind :
         {FilterKind::kNone, FilterKind::kRow, FilterKind::kRowAndColumn, FilterKind::kRowIndex}) {
      TableSetup setup = AllSetups(1024)[0];
      setup.group.filter = kind;
      ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                           WriteTable(&files, kTablePath, setup.group, entries));
      ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files, info, setup));
      for (const auto& [key, value] : entries) {
        const uint64_t row = Checksum(std::string_view(key).substr(0, RowPrefixSize(key)));
        ASSERT_TRUE(table->MayContainRow(row));
        ASSERT_TRUE(table->MayContainColumn(row, Checksum(ColumnPrefix(key))));
        // A file with deletions of rows cannot exclude a column that it does not have.
        if (with_row_deletions) {
          ASSERT_TRUE(table->MayContainColumn(row, random.Next()));
        }
      }
      int rows = 0;
      int columns = 0;
      const auto known = Checksum(std::string_view(entries.begin()->first)
                                      .substr(0, RowPrefixSize(entries.begin()->first)));
      for (int i = 0; i < 10000; ++i) {
        rows += table->MayContainRow(random.Next()) ? 1 : 0;
        columns += table->MayContainColumn(known, random.Next()) ? 1 : 0;
      }
      if (kind == FilterKind::kNone) {
        EXPECT_EQ(rows, 10000);
      } else {
        EXPECT_LT(rows, 300);
      }
      if (kind == FilterKind::kRowAndColumn && !with_row_deletions) {
        EXPECT_LT(columns, 300);
      } else {
        EXPECT_EQ(columns, 10000);
      }
    }
  });
}

TEST(SSTableTest, RowIndexFindsTheBlockInWhichARowBeginsRandom) {
  ForEachSeed(3, [](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    InMemoryFileSystem files;
    const Entries entries = RandomEntries(&random, 2000, true);
    TableSetup setup = AllSetups(1024)[seed % 3];
    setup.group.filter = FilterKind::kRowIndex;
    ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                         WriteTable(&files, kTablePath, setup.group, entries));
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files, info, setup));
    ASSERT_GT(table->properties().blocks, 10u);
    std::string last_row;
    int found = 0;
    for (const auto& [key, value] : entries) {
      const std::string row = key.substr(0, RowPrefixSize(key));
      if (row == last_row) continue;
      last_row = row;
      RowIndex::Location location;
      const auto answer = table->LookUpRow(Checksum(row), &location);
      ASSERT_NE(answer, RowIndex::Answer::kAbsent);
      if (answer == RowIndex::Answer::kUnknown) continue;
      ++found;
      SSTableCursor cursor(table.get());
      cursor.PlanRow(location);
      cursor.SeekRow(row);
      ASSERT_TRUE(cursor.valid()) << cursor.status();
      ASSERT_EQ(cursor.key(), key);
      ASSERT_EQ(cursor.value(), value);
      // The cursor then returns all of the row.
      for (auto entry = entries.find(key); entry != entries.end() && entry->first.starts_with(row);
           ++entry) {
        ASSERT_TRUE(cursor.valid()) << cursor.status();
        ASSERT_EQ(cursor.key(), entry->first);
        cursor.Next();
      }
      ASSERT_FALSE(cursor.valid() && cursor.key().starts_with(row));
      // An absent row with the same hash is not found, without an error.
      const std::string other = RowPrefix(last_row.substr(0, last_row.size() - 2) + "~");
      if (entries.lower_bound(other) == entries.end() ||
          !entries.lower_bound(other)->first.starts_with(other)) {
        cursor.PlanRow(location);
        cursor.SeekRow(other);
        ASSERT_TRUE(cursor.status().ok()) << cursor.status();
        ASSERT_FALSE(cursor.valid() && cursor.key().starts_with(other));
      }
    }
    EXPECT_GT(found, 10);
  });
}

TEST(SSTableTest, ItsInfoAndPropertiesDescribeItsEntries) {
  Entries entries;
  entries[CellKey("a", "f", "q", 50, 9)] = "four";
  entries[CellKey("a", "f", "q", 40, 3, EntryKind::kDeleteCell)] = "";
  entries[CellKey("b", "g", "", 60, 5, EntryKind::kGhost)] = "";
  entries[CellKey("b", "g", "", 55, 4, EntryKind::kShadow)] = "";
  entries[CellKey("b", "g", "", 0, 6, EntryKind::kDeleteColumn)] = "";
  entries[CellKey("c", "g", "", 0, 7, EntryKind::kDeleteFamily)] = "";
  entries[CellKey("d", "", "", 0, 8, EntryKind::kDeleteRow)] = "";
  const TableSetup setup = AllSetups(1024)[0];
  InMemoryFileSystem files;
  ASSERT_OK_AND_ASSIGN(const SSTableInfo info,
                       WriteTable(&files, kTablePath, setup.group, entries, 12, 34));
  EXPECT_EQ(info.file_number, 12u);
  EXPECT_EQ(info.identity, 34u);
  EXPECT_EQ(info.size, files.Contents(kTablePath).size());
  EXPECT_EQ(info.smallest_key, entries.begin()->first);
  EXPECT_EQ(info.largest_key, entries.rbegin()->first);
  EXPECT_EQ(info.min_sequence, 3u);
  EXPECT_EQ(info.max_sequence, 9u);
  EXPECT_EQ(info.min_timestamp, 40);
  EXPECT_EQ(info.max_timestamp, 60);
  EXPECT_EQ(info.entries, 7u);
  EXPECT_EQ(info.cell_deletions, 2u);
  EXPECT_EQ(info.column_deletions, 1u);
  EXPECT_EQ(info.row_deletions, 2u);
  EXPECT_EQ(info.deletions(), 5u);
  EXPECT_TRUE(info.ConcernsTimestamps(1000, 2000)) << "it deletes whole rows";

  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files, info, setup));
  EXPECT_EQ(table->info(), info);
  EXPECT_EQ(table->path(), kTablePath);
  const SSTableProperties& properties = table->properties();
  EXPECT_EQ(properties.kinds, (std::array<uint64_t, 12>{0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(properties.value_bytes, 4u);
  ASSERT_EQ(properties.families.size(), 2u);
  EXPECT_EQ(properties.families.at("f").entries, 2u);
  EXPECT_EQ(properties.families.at("g").entries, 4u);
  EXPECT_EQ(table->info().families, properties.FamilyBytes());
  EXPECT_EQ(properties.FamilyBytes().size(), 2u);
}

TEST(SSTableTest, ConcernsTimestampsOfItsCells) {
  SSTableInfo info;
  EXPECT_FALSE(info.ConcernsTimestamps(0, 100)) << "no cells";
  info.min_timestamp = 10;
  info.max_timestamp = 20;
  EXPECT_TRUE(info.ConcernsTimestamps(20, 30));
  EXPECT_TRUE(info.ConcernsTimestamps(0, 10));
  EXPECT_FALSE(info.ConcernsTimestamps(21, 30));
  EXPECT_FALSE(info.ConcernsTimestamps(0, 9));
}

TEST(SSTableTest, InfoIsDecodedAsItWasEncoded) {
  InMemoryFileSystem files;
  Random random(1);
  ASSERT_OK_AND_ASSIGN(SSTableInfo info, WriteTable(&files, kTablePath, LocalityGroup{},
                                                    RandomEntries(&random, 100)));
  info.oldest_deletion = 77;
  std::string bytes;
  for (const bool is_full : {true, false}) {
    info.is_full = is_full;
    bytes.clear();
    info.EncodeTo(&bytes);
    EXPECT_EQ(SSTableInfo::Decode(bytes).value(), info);
  }
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_STATUS(kDataLoss, "", SSTableInfo::Decode(std::string_view(bytes).substr(0, n)));
  }
  EXPECT_STATUS(kDataLoss, "", SSTableInfo::Decode(bytes + "x"));
  bytes[0] = 6;
  EXPECT_STATUS(kFailedPrecondition, "version 6", SSTableInfo::Decode(bytes));
  // A flag that is not known.
  bytes[0] = 5;
  bytes.back() = 4;
  EXPECT_STATUS(kDataLoss, "", SSTableInfo::Decode(bytes));
  // Version 3 ends before the flags.
  bytes[0] = 3;
  bytes.pop_back();
  EXPECT_EQ(SSTableInfo::Decode(bytes).value(), info);
  // Version 2 ends before the time of the oldest deletion, which takes two bytes here.
  bytes[0] = 2;
  bytes.resize(bytes.size() - 2);
  info.oldest_deletion = 0;
  EXPECT_EQ(SSTableInfo::Decode(bytes).value(), info);
  info.ingested = {.file_number = 300, .sequence_shift = -5};
  for (const bool is_full : {true, false}) {
    info.is_full = is_full;
    bytes.clear();
    info.EncodeTo(&bytes);
    EXPECT_EQ(SSTableInfo::Decode(bytes).value(), info);
    EXPECT_STATUS(kDataLoss, "", SSTableInfo::Decode(bytes.substr(0, bytes.size() - 1)));
  }
  // Version 4, of an ingested file, has no flags before these two numbers, which take two bytes and
  // one.
  bytes[0] = 4;
  bytes.erase(bytes.size() - 4, 1);
  EXPECT_EQ(SSTableInfo::Decode(bytes).value(), info);
}

TEST(SSTableTest, WriterRefusesEntriesThatCannotBeRead) {
  InMemoryFileSystem files;
  const auto fail = [&files](std::string_view first, std::string_view second) {
    SSTableBuilder writer(*files.NewWritableFile("t"), "t", 1, LocalityGroup{});
    absl::Status status = writer.Add(first, "");
    if (status.ok()) status = writer.Add(second, "");
    EXPECT_EQ(writer.Finish().status(), status) << "an error stays";
    return status;
  };
  const std::string a = CellKey("a", "f", "", 1, 1);
  EXPECT_STATUS(kInternal, "after", fail(CellKey("b", "f", "", 1, 1), a));
  EXPECT_STATUS(kInternal, "after", fail(a, a));
  EXPECT_STATUS(kInternal, "well-formed", fail("no key", a));
  EXPECT_STATUS(kInternal, "well-formed", fail(a, "zzz"));
}

TEST(SSTableTest, EstimatesItsSize) {
  for (const TableSetup& setup : AllSetups(16 << 10)) {
    InMemoryFileSystem files;
    SSTableBuilder writer(*files.NewWritableFile(kTablePath), std::string(kTablePath), 1,
                          setup.group);
    Random random(1);
    for (int i = 0; i < 20000; ++i) {
      const std::string value = random.Bytes(20) + std::string(80, 'x');
      ASSERT_OK(writer.Add(CellKey(std::to_string(1000000 + i), "f", "", i, 1), value));
    }
    const auto estimate = static_cast<double>(writer.EstimatedSize());
    ASSERT_OK_AND_ASSIGN(const SSTableInfo info, writer.Finish());
    const double off = setup.group.compression == Compression::kZstdLongWindow ? 2 : 1.05;
    EXPECT_LT(estimate, static_cast<double>(info.size) * off) << setup.name;
    EXPECT_GT(estimate * off, static_cast<double>(info.size)) << setup.name;
  }
}

// Content that rows share is stored once, although each block is compressed on its own.
TEST(SSTableTest, LongWindowFindsContentThatDistantBlocksShare) {
  Random random(1);
  std::vector<std::string> phrases;
  for (int i = 0; i < 2000; ++i) phrases.push_back(random.Bytes(100));
  Entries entries;
  for (int i = 0; i < 4000; ++i) {
    std::string value;
    for (int j = 0; j < 10; ++j) value += random.Pick(phrases);
    entries[CellKey(std::to_string(100000 + i), "f", "", 1, 1)] = value;
  }
  const auto size = [&entries](Compression compression) {
    InMemoryFileSystem files;
    LocalityGroup group;
    group.compression = compression;
    auto info = WriteTable(&files, kTablePath, group, entries);
    EXPECT_OK(info);
    return info->size;
  };
  EXPECT_LT(size(Compression::kZstdLongWindow), size(Compression::kZstd) / 3);
}

}  // namespace
}  // namespace bigtable
