// Reads that skip rows that earlier reads have found empty: when they do, and that they miss
// nothing that was written, or is visible to them, since.
#include "tablet/empty_rows.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/remote_fixture.h"
#include "support/scoped_empty_rows.h"
#include "support/scoped_shortcuts.h"
#include "tablet/tablet.h"

namespace bigtable {
namespace {

constexpr const char* kDropAllCells = "test-empty-rows-drop";

class DropAllCells final : public CompactionFilter {
 public:
  Decision Filter(const CompactedCell&, std::string*) const override { return Decision::kRemove; }
};

const absl::Status registered_drop_all_cells =
    RegisterCompactionFilter(kDropAllCells, std::make_unique<DropAllCells>());

// A queue of rows, of which the first are deleted.
class EmptyRowsClientTest : public RemoteFixture {
 protected:
  static constexpr int kDeleted = 20;
  static constexpr int kRows = 30;

  void Create(const Family& family = {}, int servers = 1) {
    Open(WithServers(servers));
    TableSchema schema = StillSchema();
    schema.families["f"] = family;
    schema.families["g"] = family;
    table_ = CreateTable("t", schema);
    Push(0, kRows);
    for (int i = 0; i < kDeleted; ++i) Delete(i);
  }
  void Push(int begin, int end) {
    for (int i = begin; i < end; ++i) Set(table_, RowOf(i), "f:q", 1, "v");
  }
  void Delete(int i) { EXPECT_OK(table_->Apply(RowMutation(RowOf(i)).DeleteRow())); }

  // The first row; -1 if there is none.
  int Head(const ReadOptions& options = {}, const Filter& filter = {},
           const RowRange& range = RowRange::All()) {
    ReadOptions one = options;
    one.row_limit = 1;
    RowReader rows = table_->ReadRows(range, filter, one);
    const bool found = rows.Next();
    EXPECT_OK(rows.status());
    return found ? std::stoi(std::string(rows.row().key()).substr(3)) : -1;
  }
  // How often reads of rows have skipped some.
  uint64_t Skips() {
    uint64_t skips = 0;
    for (TabletServer* server : DatabasePeer(database_.get()).Servers()) {
      for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
        skips += tablet->Version()->empty_rows()->skips();
      }
    }
    return skips;
  }
  uint64_t Skips(const std::function<void()>& read) {
    const uint64_t before = Skips();
    read();
    return Skips() - before;
  }
  // Reads the head without skipping, and expects that the next read skips.
  void Learn(int head = kDeleted) {
    EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), head); }), 0u);
    EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), head); }), 1u);
  }

  const ScopedShortcutsOn shortcuts_;
  const ScopedEmptyRows thresholds_{4};
  Table* table_ = nullptr;
};

TEST_F(EmptyRowsClientTest, TheSecondReadSkipsDeletedRows) {
  Create();
  Learn();
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kDeleted); }), 1u);
}

TEST_F(EmptyRowsClientTest, RowsInFilesAreSkipped) {
  Create();
  ASSERT_OK(database_->Flush("t"));
  Learn();
}

TEST_F(EmptyRowsClientTest, FewDeletedRowsAreNotRemembered) {
  const ScopedEmptyRows more(kDeleted + 2);
  Create();
  Head();
  EXPECT_EQ(Skips([&] { Head(); }), 0u);
}

TEST_F(EmptyRowsClientTest, ASwitchTurnsItOff) {
  Create();
  {
    const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kEmptyRows));
    Head();
    Head();
  }
  Learn();  // nothing was reported
  const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kEmptyRows));
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kDeleted); }), 0u);
}

TEST_F(EmptyRowsClientTest, AWriteIntoTheRowsIsRead) {
  Create();
  Learn();
  Push(7, 8);
  EXPECT_EQ(Head(), 7);
  Push(3, 4);
  EXPECT_EQ(Head(), 3);
  Push(0, 1);
  EXPECT_EQ(Head(), 0);
  Delete(0);
  EXPECT_EQ(Head(), 3);
  Delete(3);
  EXPECT_EQ(Head(), 7);
  Delete(7);
  EXPECT_EQ(Head(), kDeleted);
  EXPECT_EQ(Head({}, {}, RowRange::StartingAt(RowOf(5))), kDeleted);
}

TEST_F(EmptyRowsClientTest, AnInsertedRowDoesNotMakeAReadWalkOverTheOthersAgain) {
  Create();
  Learn();
  Push(0, 1);
  EXPECT_EQ(Head(), 0);
  Delete(0);
  // Once to the row, and once from the fourth row of the walk, which is in the range behind it.
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kDeleted); }), 2u);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kDeleted); }), 1u);
}

TEST_F(EmptyRowsClientTest, AConsumerTakesEachRowOnce) {
  Create();
  for (int i = kDeleted; i < kRows; ++i) {
    EXPECT_EQ(Head(), i);
    Delete(i);
    Push(kRows + i, kRows + i + 1);
  }
  EXPECT_EQ(Head(), kRows + kDeleted);
  EXPECT_EQ(Skips([&] { Head(); }), 1u);
}

TEST_F(EmptyRowsClientTest, AnEmptyRangeIsSkippedToItsEnd) {
  Create();
  for (int i = kDeleted; i < kRows; ++i) Delete(i);
  Learn(-1);
  Push(kRows, kRows + 1);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kRows); }), 1u);
}

TEST_F(EmptyRowsClientTest, ARangeEndsWhereTheReadDoes) {
  Create();
  const RowRange part = RowRange::RightOpen(RowOf(2), RowOf(15));
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head({}, {}, part), -1); }), 0u);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head({}, {}, part), -1); }), 1u);
  // A longer read skips the part and walks on; a shorter one reads nothing.
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head({}, {}, RowRange::StartingAt(RowOf(3))), kDeleted); }), 1u);
  EXPECT_EQ(Head({}, {}, RowRange::RightOpen(RowOf(3), RowOf(4))), -1);
  EXPECT_EQ(Head({}, {}, RowRange::RightOpen(RowOf(3), RowOf(kDeleted + 1))), kDeleted);
}

TEST_F(EmptyRowsClientTest, ASnapshotFromBeforeTheDeletionsSeesTheRows) {
  Open(WithServers(1));
  table_ = CreateStillTable();
  Push(0, kRows);
  ReadOptions old;
  old.snapshot = *database_->TakeSnapshot();
  for (int i = 0; i < kDeleted; ++i) Delete(i);
  Learn();
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(old), 0); }), 0u);
  ReadOptions current;
  current.snapshot = *database_->TakeSnapshot();
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(current), kDeleted); }), 1u);
  Push(5, 6);
  EXPECT_EQ(Head(current), kDeleted);
  EXPECT_EQ(Head(old), 0);
  EXPECT_EQ(Head(), 5);
}

// The walk of a read at an old snapshot does not see newer writes.
TEST_F(EmptyRowsClientTest, AnOldSnapshotMakesNothingKnownToNewerReads) {
  Create();
  ReadOptions old;
  old.snapshot = *database_->TakeSnapshot();
  Push(5, 6);
  EXPECT_EQ(Head(old), kDeleted);
  EXPECT_EQ(Head(old), kDeleted);
  EXPECT_EQ(Head(), 5);
}

// The same for a tablet that has the newer writes from its predecessor.
TEST_F(EmptyRowsClientTest, AnOldSnapshotMakesNothingKnownInANewTablet) {
  Create({}, 2);
  ReadOptions old;
  old.snapshot = *database_->TakeSnapshot();
  Push(5, 6);
  const auto expect_heads = [&] {
    EXPECT_EQ(Head(old), kDeleted);
    EXPECT_EQ(Head(old), kDeleted);
    EXPECT_EQ(Head(), 5);
  };
  ASSERT_OK(database_->SplitTablet("t", RowOf(25)));
  expect_heads();
  ASSERT_OK(database_->MergeTablets("t", RowOf(25)));
  expect_heads();
  ASSERT_OK(database_->MoveTablet("t", RowOf(0), Tablets("t")[0].server == 0 ? 1 : 0));
  expect_heads();
}

TEST_F(EmptyRowsClientTest, ExpiredRowsComeBackWhenTheClockIsSetBack) {
  Open(WithServers(1));
  TableSchema schema = StillSchema();
  schema.families["f"] = {.gc = GcRule::MaxAge(absl::Microseconds(1000))};
  table_ = CreateTable("t", schema);
  for (int i = 0; i < kRows; ++i) Set(table_, RowOf(i), "f:q", 5000 + i, "v");
  clock_.Set(6000 + kDeleted);
  Learn();
  clock_.Set(6005);
  EXPECT_EQ(Head(), 5);
  clock_.Set(6000 + kDeleted + 1);
  EXPECT_EQ(Head(), kDeleted + 1);
}

TEST_F(EmptyRowsClientTest, ANewRuleForgetsRows) {
  Create({.gc = GcRule::MaxAge(absl::Microseconds(100000))});
  Learn();
  ASSERT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule()}));
  Learn();
}

TEST_F(EmptyRowsClientTest, ADroppedFamilyForgetsRows) {
  Create();
  Learn();
  ASSERT_OK(database_->DropFamily("t", "f"));
  Learn(-1);
  ASSERT_OK(database_->AddFamily("t", "f", {}));
  Learn(-1);
  Push(3, 4);
  EXPECT_EQ(Head(), 3);
}

TEST_F(EmptyRowsClientTest, AStreamWithAnOlderSchemaSkipsNothing) {
  Create();
  RowSet rows;
  rows.Append(RowRange::RightOpen(RowOf(22), RowOf(23)));
  rows.Append(RowRange::StartingAt(RowOf(27)));
  RowReader stream = table_->ReadRows(rows);
  ASSERT_TRUE(stream.Next());
  EXPECT_EQ(stream.row().key(), RowOf(22));
  ASSERT_OK(database_->DropFamily("t", "f"));
  Learn(-1);
  ASSERT_TRUE(stream.Next());
  EXPECT_EQ(stream.row().key(), RowOf(27));
}

TEST_F(EmptyRowsClientTest, ACompactionFilterForgetsRows) {
  ASSERT_OK(registered_drop_all_cells);
  Create({.compaction_filter = kDropAllCells});
  Learn();
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), -1); }), 0u);
  Push(3, 4);
  EXPECT_EQ(Head(), 3);
}

TEST_F(EmptyRowsClientTest, ACompactionForgetsNothing) {
  Create();
  Learn();
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kDeleted); }), 1u);
  Push(3, 4);
  EXPECT_EQ(Head(), 3);
}

TEST_F(EmptyRowsClientTest, SplitsAndMergesForgetRows) {
  Create();
  Learn();
  ASSERT_OK(database_->SplitTablet("t", RowOf(10)));
  // Now both tablets are skipped, the first to its end.
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kDeleted); }), 0u);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kDeleted); }), 2u);
  Push(12, 13);
  EXPECT_EQ(Head(), 12);
  Push(9, 10);
  EXPECT_EQ(Head(), 9);
  Delete(9);
  Delete(12);
  ASSERT_OK(database_->MergeTablets("t", RowOf(10)));
  Learn();
  Push(9, 10);
  EXPECT_EQ(Head(), 9);
}

TEST_F(EmptyRowsClientTest, AMoveForgetsRows) {
  Create({}, 2);
  Learn();
  const int other = Tablets("t")[0].server == 0 ? 1 : 0;
  ASSERT_OK(database_->MoveTablet("t", RowOf(0), other));
  Learn();
  Push(9, 10);
  EXPECT_EQ(Head(), 9);
}

TEST_F(EmptyRowsClientTest, RowsAreWrittenAgainAfterTheyWereDropped) {
  Create();
  Learn();
  ASSERT_OK(table_->DropRowRange(RowRange::RightOpen("", RowOf(25))));
  EXPECT_EQ(Head(), 25);
  EXPECT_EQ(Head(), 25);
  Push(9, 10);
  EXPECT_EQ(Head(), 9);
  ASSERT_OK(table_->DropRowRange(RowRange::All()));
  EXPECT_EQ(Head(), -1);
  Push(11, 12);
  EXPECT_EQ(Head(), 11);
}

TEST_F(EmptyRowsClientTest, ReopeningForgetsRows) {
  Create();
  Learn();
  Reopen();
  table_ = OpenTable("t");
  Learn();
  Push(9, 10);
  Kill();
  Open(WithServers(1));
  table_ = OpenTable("t");
  EXPECT_EQ(Head(), 9);
}

TEST_F(EmptyRowsClientTest, ATransactionSeesItsOwnWritesInTheRows) {
  Create();
  Learn();
  absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
  ASSERT_OK(transaction);
  const auto head = [&] {
    RowReader rows = transaction->ReadRows(table_, RowRange::All());
    return rows.Next() ? std::string(rows.row().key()) : "";
  };
  EXPECT_EQ(Skips([&] { EXPECT_EQ(head(), RowOf(kDeleted)); }), 1u);
  ASSERT_OK(transaction->Apply(table_, RowMutation(RowOf(5)).Set("f:q", "own")));
  EXPECT_EQ(head(), RowOf(5));
  EXPECT_EQ(head(), RowOf(5));
  ASSERT_OK(transaction->Apply(table_, RowMutation(RowOf(5)).DeleteRow()));
  ASSERT_OK(transaction->Apply(table_, RowMutation(RowOf(kDeleted)).DeleteRow()));
  EXPECT_EQ(head(), RowOf(kDeleted + 1));
  EXPECT_EQ(head(), RowOf(kDeleted + 1));
  EXPECT_EQ(Head(), kDeleted);  // nobody else sees the deletion
}

TEST_F(EmptyRowsClientTest, AReadInReverseSkipsDeletedRows) {
  Create();
  for (int i = 22; i < kRows; ++i) Delete(i);
  ReadOptions reverse;
  reverse.reverse = true;
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(reverse), 21); }), 0u);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(reverse), 21); }), 1u);
  const RowRange below = RowRange::Closed(RowOf(0), RowOf(kDeleted - 1));
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(reverse, {}, below), -1); }), 0u);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(reverse, {}, below), -1); }), 1u);
  // What it has found is skipped forward too, and it skips what others have found.
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head({}, {}, below), -1); }), 1u);
  const RowRange behind = RowRange::StartingAt(RowOf(22));
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head({}, {}, behind), -1); }), 1u);
}

// Blocks of deleted rows between live ones: what a scan has walked over, the next one skips.
class EmptyRowsBetweenTest : public EmptyRowsClientTest, public testing::WithParamInterface<bool> {
 protected:
  std::vector<int> Scan(bool reverse) {
    ReadOptions options;
    options.reverse = reverse;
    std::vector<int> found;
    RowReader rows = table_->ReadRows(RowRange::All(), Filter::PassAll(), options);
    while (rows.Next()) found.push_back(std::stoi(std::string(rows.row().key()).substr(3)));
    EXPECT_OK(rows.status());
    if (reverse) std::reverse(found.begin(), found.end());
    return found;
  }
};

INSTANTIATE_TEST_SUITE_P(InReverse, EmptyRowsBetweenTest, testing::Bool());

TEST_P(EmptyRowsBetweenTest, ScansSkipThem) {
  Create();
  Push(0, kRows);
  for (int i = 0; i < kRows; ++i) {
    if (i % 10 != 0) Delete(i);
  }
  const std::vector<int> live = {0, 10, 20};
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Scan(GetParam()), live); }), 0u);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Scan(false), live); }), 3u);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Scan(true), live); }), 3u);
  // A row that comes back in the middle of them is seen in both directions.
  Push(14, 15);
  const std::vector<int> more = {0, 10, 14, 20};
  EXPECT_EQ(Scan(false), more);
  EXPECT_EQ(Scan(true), more);
  EXPECT_EQ(Scan(false), more);
}

TEST_P(EmptyRowsBetweenTest, OfMoreThanFitMostAreSkipped) {
  constexpr int kBlocks = 2 * static_cast<int>(EmptyRows::kMostRanges);
  Create();
  Push(0, 10 * kBlocks);
  for (int i = 0; i < 10 * kBlocks; ++i) {
    if (i % 10 != 0) Delete(i);
  }
  for (int scan = 0; scan < 4; ++scan) {
    const uint64_t skips = Skips([&] { EXPECT_EQ(Scan(GetParam()).size(), 1u * kBlocks); });
    EXPECT_EQ(skips, scan == 0 ? 0 : EmptyRows::kMostRanges);
  }
}

TEST_F(EmptyRowsClientTest, AFilterOfVersionsReports) {
  Create();
  const auto head = [&] { EXPECT_EQ(Head({}, Filter::Latest(1)), kDeleted); };
  EXPECT_EQ(Skips(head), 0u);
  EXPECT_EQ(Skips(head), 1u);
}

// Whatever the filter excludes is there for other reads.
TEST_F(EmptyRowsClientTest, RowsThatAFilterExcludesAreNotEmpty) {
  const std::map<std::string, Filter> filters = {
      {"family", Filter::Family("g")},
      {"column", Filter::Column("g", "q")},
      {"column of the family", Filter::Column("f", "r")},
      {"column range", Filter::ColumnRange("f", "a", "b")},
      {"row", Filter::RowKeysRegex(".*[1-9]5")},
      {"value", Filter::ValueRegex("w")},
      {"newer", Filter::TimestampRange(Timestamp(2), Timestamp(3))},
      {"older", Filter::TimestampRange(Timestamp(0), Timestamp(1))},
      {"offset", Filter::CellsRowOffset(1)},
      {"none", Filter::BlockAll()},
      {"interleave", Filter::Interleave(Filter::Family("g"), Filter::ValueRegex("w"))},
      {"condition", Filter::Condition(Filter::ValueRegex("w"), Filter::PassAll())},
  };
  for (const bool in_files : {false, true}) {
    for (const bool second_group : {false, true}) {
      for (const auto& [name, filter] : filters) {
        SCOPED_TRACE(Cat(name, in_files, second_group));
        Open(WithServers(1));
        TableSchema schema = StillSchema();
        if (second_group) schema.locality_groups["second"] = {};
        schema.families["g"] = {.locality_group = second_group ? "second" : ""};
        table_ = CreateTable("t", schema);
        Push(10, 20);
        Set(table_, RowOf(20), "g:q", 1, "v");
        if (in_files) {
          ASSERT_OK(database_->Flush("t"));
        }
        for (int i = 0; i < 10; ++i) Delete(i);
        Head({}, filter);
        Head({}, filter);
        EXPECT_EQ(Head(), 10);
        EXPECT_EQ(Head({}, {}, RowRange::StartingAt(RowOf(12))), 12);
        database_.reset();
        file_system_ = std::make_unique<InMemoryFileSystem>();
      }
    }
  }
}

TEST_F(EmptyRowsClientTest, AFilteredReadSkipsWhatOthersHaveReported) {
  Create();
  Learn();
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head({}, Filter::Family("g")), -1); }), 1u);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head({}, Filter::RowKeysRegex(".*5")), 25); }), 1u);
}

TEST_F(EmptyRowsClientTest, AggregatesThatAFilterExcludesAreNotEmpty) {
  Open(WithServers(1));
  TableSchema schema = StillSchema();
  schema.families["f"] = {.value_type = ValueType::kInt64Sum};
  table_ = CreateTable("t", schema);
  for (int i = 0; i < kRows; ++i) {
    ASSERT_OK(table_->Apply(RowMutation(RowOf(i)).AddToCell("f:q", Timestamp(1), 1)));
  }
  for (int i = 0; i < kDeleted; ++i) Delete(i);
  EXPECT_EQ(Head({}, Filter::ValueRegex("none")), -1);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kDeleted); }), 1u);
  ASSERT_OK(table_->Apply(RowMutation(RowOf(3)).AddToCell("f:q", Timestamp(1), 1)));
  EXPECT_EQ(Head(), 3);
}

TEST_F(EmptyRowsClientTest, ABatchOverServersIsSeen) {
  Open(WithServers(2));
  table_ = CreateSplitTable("t", 2, 10);
  ASSERT_OK(database_->MoveTablet("t", RowOf(0), 0));
  ASSERT_OK(database_->MoveTablet("t", RowOf(10), 1));
  Push(0, kRows);
  for (int i = 0; i < kDeleted; ++i) Delete(i);
  EXPECT_EQ(Head(), kDeleted);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kDeleted); }), 2u);
  WriteBatch batch;
  batch.Apply(table_, RowMutation(RowOf(4)).Set("f:q", "v"));
  batch.Apply(table_, RowMutation(RowOf(14)).Set("f:q", "v"));
  ASSERT_OK(database_->Apply(batch));
  EXPECT_EQ(Head(), 4);
  EXPECT_EQ(Head({}, {}, RowRange::StartingAt(RowOf(5))), 14);
}

TEST_F(EmptyRowsClientTest, WithAScanCache) {
  DatabaseOptions options = WithServers(1);
  options.scan_cache = true;
  Open(options);
  table_ = CreateStillTable();
  Push(0, kRows);
  for (int i = 0; i < kDeleted; ++i) Delete(i);
  Learn();
  EXPECT_EQ(Show(table_->ReadRow(RowOf(5))), "");
  Push(5, 6);
  EXPECT_EQ(Head(), 5);
  EXPECT_EQ(Show(table_->ReadRow(RowOf(5))), "f:q@1=v");
}

TEST_F(EmptyRowsClientTest, ReadsByMessageSkipRows) {
  OpenRemotely(1, {});
  table_ = CreateStillTable();
  Push(0, kRows);
  for (int i = 0; i < kDeleted; ++i) Delete(i);
  EXPECT_EQ(Head(), kDeleted);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head(), kDeleted); }), 1u);
  Push(5, 6);
  EXPECT_EQ(Head(), 5);
}

TEST_F(EmptyRowsClientTest, AReadPastItsDeadlineReportsNothing) {
  Create();
  ReadOptions late;
  late.deadline = absl::InfinitePast();
  RowReader rows = table_->ReadRows(RowRange::All(), late);
  EXPECT_FALSE(rows.Next());
  EXPECT_FALSE(rows.status().ok());
  Learn();
}

TEST_F(EmptyRowsClientTest, ARowThatCannotBeReadIsNotEmpty) {
  DatabaseOptions options = WithServers(1);
  options.read_mode = FileSystem::ReadMode::kPositional;
  Open(options);
  TableSchema schema = StillSchema();
  schema.locality_groups["default"] = {.block_size = 1024};
  table_ = CreateTable("t", schema);
  for (int i = 0; i < kRows; ++i) {
    Set(table_, RowOf(i), "f:q", 1, Cat("value", i, ".", std::string(1024, 'v')));
  }
  ASSERT_OK(database_->Flush("t"));
  for (int i = 0; i < kDeleted; ++i) Delete(i);
  ASSERT_OK(database_->Close());
  database_.reset();
  int damaged = 0;
  for (const std::string& path : file_system_->AllFiles()) {
    std::string bytes = file_system_->Contents(path);
    const size_t at = bytes.find("value10.");
    if (!path.ends_with(".sst") || at == std::string::npos) continue;
    bytes[at] ^= 1;
    file_system_->SetContents(path, bytes);
    ++damaged;
  }
  ASSERT_EQ(damaged, 1);
  Open(options);
  table_ = OpenTable("t");
  for (int i = 0; i < 3; ++i) {
    RowReader rows = table_->ReadRows(RowRange::All());
    EXPECT_FALSE(rows.Next());
    EXPECT_TRUE(absl::IsDataLoss(rows.status())) << rows.status();
  }
  const RowRange behind = RowRange::StartingAt(RowOf(12));
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head({}, {}, behind), kDeleted); }), 0u);
  EXPECT_EQ(Skips([&] { EXPECT_EQ(Head({}, {}, behind), kDeleted); }), 1u);
}

// Writers give rows a cell or take it; each row belongs to one of them. Readers of the head expect
// a row that had a cell at some time during the read, and before it none that had one all the time.
class EmptyRowsThreadsTest : public EmptyRowsClientTest {
 protected:
  static constexpr int kWriters = 2;
  static constexpr int kAlphabet = 10;

  // A write has begun when `begun` has its number, and was acknowledged when `done` has it. The
  // row has a cell after even numbers.
  struct RowState {
    std::atomic<uint64_t> begun{1};
    std::atomic<uint64_t> done{1};
  };
  void Write(int i) {
    RowState& row = rows_[i];
    const uint64_t n = row.begun + 1;
    row.begun = n;
    if (n % 2 == 0) {
      Push(i, i + 1);
    } else {
      Delete(i);
    }
    row.done = n;
  }
  // Reads `most` rows from this one on, in either direction.
  void ReadSome(int from, bool reverse, int most, const Filter& filter) {
    uint64_t done[kAlphabet];
    for (int i = 0; i < kAlphabet; ++i) done[i] = rows_[i].done;
    ReadOptions options;
    options.reverse = reverse;
    options.row_limit = most;
    RowReader rows = table_->ReadRows(
        reverse ? RowRange::EndingAt(RowOf(from)) : RowRange::StartingAt(RowOf(from)), filter,
        options);
    const int end = reverse ? -1 : kAlphabet;
    const int step = reverse ? -1 : 1;
    int next = from;  // the first row of which nothing was said
    const auto expect = [&](int until, bool has_cell) {
      for (; next != until; next += step) {
        const bool unchanged = rows_[next].begun == done[next];
        if (unchanged && (done[next] % 2 == 0) != has_cell) wrong_.fetch_add(1);
      }
    };
    int read = 0;
    for (; read < most && rows.Next(); ++read) {
      const int row = std::stoi(std::string(rows.row().key()).substr(3));
      expect(row, false);
      expect(row + step, true);
    }
    EXPECT_OK(rows.status());
    if (read < most) expect(end, false);
  }

  RowState rows_[kAlphabet];
  std::atomic<int> wrong_ = 0;
  std::atomic<int> reads_ = 0;
};

TEST_F(EmptyRowsThreadsTest, ConcurrentReadersMissNothing) {
  const ScopedEmptyRows one;
  Open(WithServers(1));
  table_ = CreateStillTable();
  std::atomic<int> writing = kWriters;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      Random random(writer + 1);
      for (int n = 0; n < 4000; ++n) {
        const int i = static_cast<int>(random.Below(kAlphabet / kWriters)) * kWriters + writer;
        // Mostly empty.
        if (rows_[i].done % 2 == 0 || random.OneIn(3)) Write(i);
        while (reads_ < n / 2) std::this_thread::yield();
        if (writer == 0 && n % 1000 == 999) {
          EXPECT_OK(database_->Flush("t"));
        }
      }
      --writing;
    });
  }
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&, reader] {
      Random random(reader + 10);
      for (; writing > 0; ++reads_) {
        const bool reverse = random.OneIn(3);
        const int from = static_cast<int>(random.Below(3));
        ReadSome(reverse ? kAlphabet - 1 - from : from, reverse,
                 random.OneIn(2) ? 1 : static_cast<int>(random.Between(2, kAlphabet)),
                 random.OneIn(3) ? Filter::Latest(1) : Filter::PassAll());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong_, 0);
  EXPECT_GT(Skips(), 0u);
}

}  // namespace
}  // namespace bigtable
