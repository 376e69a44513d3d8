// A row ends where its last entry ends. It is returned as a whole, whatever follows it: an
// unreadable block, deleted rows, the deadline. And a read looks no further than its rows.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "rows/resume_token.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

// A table in which every block has one entry, read by position.
class RowEndFixture : public DatabaseFixture {
 protected:
  static constexpr size_t kBlockSize = 1024;

  void TearDown() override { database_.reset(); }
  void OpenDatabase() {
    DatabaseOptions options = Options();
    options.file_system = &counting_;
    options.read_mode = FileSystem::ReadMode::kPositional;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
  }
  void Create(FilterKind filter = FilterKind::kRow) {
    OpenDatabase();
    TableSchema schema;
    schema.locality_groups["default"] = {.block_size = kBlockSize, .filter = filter};
    schema.families["f"] = {.locality_group = "default"};
    schema.families["g"] = {.locality_group = "default"};
    table_ = CreateTable("t", schema);
  }
  // A value that fills a block.
  static std::string ValueOf(std::string_view name) {
    std::string value(kBlockSize, '.');
    value.replace(0, name.size(), name);
    return value;
  }
  void SetLarge(std::string_view row, std::string_view column, int64_t timestamp = 1) {
    Set(table_, row, column, timestamp, ValueOf(Cat(row, "/", column)));
  }
  // Gives the block with this cell a wrong checksum.
  void Damage(std::string_view row, std::string_view column) {
    ASSERT_OK(database_->Flush("t"));
    ASSERT_OK(database_->Close());
    database_.reset();
    const std::string name = Cat(row, "/", column, ".");
    bool found = false;
    for (const std::string& path : file_system_->AllFiles()) {
      std::string bytes = file_system_->Contents(path);
      const size_t at = bytes.find(name);
      if (!path.ends_with(".sst") || at == std::string::npos) continue;
      found = true;
      bytes[at] ^= 1;
      file_system_->SetContents(path, bytes);
    }
    ASSERT_TRUE(found) << name;
    OpenDatabase();
    table_ = OpenTable("t");
  }
  // "a/f:q b/f:q,g:q DATA_LOSS": the columns of a stream's rows, and its status.
  std::string Stream(const RowSet& rows, const ReadOptions& options = {}) {
    return Stream(rows, Filter(), options);
  }
  std::string Stream(const RowSet& rows, const Filter& filter, const ReadOptions& options = {}) {
    std::string text;
    RowReader reader = table_->ReadRows(rows, filter, options);
    while (reader.Next()) {
      absl::StrAppend(&text, ToAbsl(reader.row().key()), "/", Columns(reader.row()), " ");
    }
    return text + std::string(absl::StatusCodeToString(reader.status().code()));
  }
  std::string Read(std::string_view row) {
    const absl::StatusOr<Row> read = table_->ReadRow(row);
    return read.ok() ? Columns(*read) : std::string(absl::StatusCodeToString(read.status().code()));
  }
  std::string Scan(const ReadOptions& options = {}) {
    std::string text;
    Scanner scanner(table_, options);
    for (ScanStream* stream = scanner.FetchColumnFamily("f"); !stream->Done(); stream->Next()) {
      absl::StrAppend(&text, ToAbsl(stream->RowName()), "/", ToAbsl(stream->ColumnName()), " ");
    }
    return text + std::string(absl::StatusCodeToString(scanner.status().code()));
  }
  uint64_t Reads() const { return counting_.calls(); }
  void CountReads() { counting_.CountCalls({.kinds = {FileCall::kRead}, .path_contains = ".sst"}); }

  const ScopedShortcutsOn shortcuts_;
  FaultyFileSystem counting_{file_system_.get()};
  Table* table_ = nullptr;

 private:
  static std::string Columns(const Row& row) {
    std::string text;
    for (const Cell& cell : row.cells()) {
      absl::StrAppend(&text, text.empty() ? "" : ",", ToAbsl(cell.family), ":",
                      ToAbsl(cell.qualifier));
    }
    return text;
  }
};

// In place, and by messages.
class RowEndTest : public RowEndFixture, public testing::WithParamInterface<bool> {
 protected:
  // Data that was not flushed is in the log.
  void ReachTablets() {
    if (!GetParam()) return;
    ASSERT_OK(database_->Close());
    OpenDatabase();
    network_ = std::make_unique<FaultyNetwork>(1, FaultyNetwork::Faults{});
    peer_.emplace(database_.get());
    peer_->UseServices([this](ServerHost* host) { return network_->To(host); });
    table_ = OpenTable("t");
  }
  std::unique_ptr<FaultyNetwork> network_;
  std::optional<DatabasePeer> peer_;
};

INSTANTIATE_TEST_SUITE_P(InPlaceAndByMessage, RowEndTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Messages" : "InPlace"; });

TEST_P(RowEndTest, RowsBeforeADamagedBlockAreReturned) {
  Create();
  for (const char* row : {"a", "b", "c", "d"}) SetLarge(row, "f:q");
  Damage("c", "f:q");
  ReachTablets();
  EXPECT_EQ(Stream(RowRange::All()), "a/f:q b/f:q DATA_LOSS");
  EXPECT_EQ(Stream(RowRange::All(), {.row_limit = 2}), "a/f:q b/f:q OK");
  EXPECT_EQ(Stream(RowRange::RightOpen("a", "b")), "a/f:q OK");
  EXPECT_EQ(Stream(RowRange::All(), {.reverse = true}), "d/f:q DATA_LOSS");
  EXPECT_EQ(Stream(RowRange::All(), {.reverse = true, .row_limit = 1}), "d/f:q OK");
  EXPECT_EQ(Scan(), "a/f:q b/f:q DATA_LOSS");
  EXPECT_EQ(Scan({.row_limit = 2}), "a/f:q b/f:q OK");
  EXPECT_EQ(Scan({.row_limit = 1}), "a/f:q OK");
}

TEST_P(RowEndTest, ARowOfADamagedBlockIsNotReturnedInPart) {
  Create();
  SetLarge("a", "f:q");
  for (const char* column : {"f:1", "f:2", "f:3", "f:4"}) SetLarge("b", column);
  SetLarge("c", "f:q");
  Damage("b", "f:3");
  ReachTablets();
  EXPECT_EQ(Stream(RowRange::All()), "a/f:q DATA_LOSS");
  EXPECT_EQ(Stream(RowRange::All(), {.row_limit = 1}), "a/f:q OK");
  EXPECT_EQ(Read("a"), "f:q");
  EXPECT_EQ(Read("b"), "DATA_LOSS");
  EXPECT_EQ(Read("c"), "f:q");
  EXPECT_EQ(Stream(RowRange::All(), {.reverse = true}), "c/f:q DATA_LOSS");
}

// The row that could not be read as a whole is read again, and no row before it.
TEST_P(RowEndTest, ATokenOfAStreamThatFailedWithinARow) {
  Create();
  for (const std::string_view row : {"a", "b", "c"}) {
    for (const std::string_view column : {"f:p", "f:q", "f:r"}) SetLarge(row, column);
  }
  Damage("b", "f:q");
  const Filter whole_row = Filter::Interleave({Filter::PassAll(), Filter::BlockAll()});
  for (const Filter& filter : {Filter(), whole_row}) {
    for (const bool reverse : {false, true}) {
      const ReadOptions options{.reverse = reverse};
      RowReader reader = table_->ReadRows(RowRange::All(), filter, options);
      std::string rows;
      while (reader.Next()) absl::StrAppend(&rows, ToAbsl(reader.row().key()));
      EXPECT_STATUS(kDataLoss, "", reader.status());
      EXPECT_EQ(rows, reverse ? "c" : "a");
      const std::string token = reader.ResumeToken();
      RowReader again = table_->ResumeRows(token, filter, options);
      EXPECT_FALSE(again.Next());
      EXPECT_STATUS(kDataLoss, "", again.status());
      EXPECT_EQ(again.ResumeToken(), token);
      const absl::StatusOr<ResumeToken> left = ResumeToken::Decode(token);
      ASSERT_OK(left);
      ASSERT_EQ(left->ranges.size(), 1);
      for (const char* row : {"a", "b", "c"}) {
        EXPECT_EQ(left->ranges[0].Contains(row), std::string_view(row) != (reverse ? "c" : "a"));
      }
    }
  }
}

// The damaged block is found while another source still has entries of the row.
TEST_P(RowEndTest, ARowOfSeveralSourcesIsWholeBeforeADamagedBlock) {
  Create();
  for (const char* row : {"a", "b", "d"}) SetLarge(row, "f:q");
  Damage("d", "f:q");
  ReachTablets();
  SetLarge("b", "f:z");
  SetLarge("b", "g:z");
  SetLarge("c", "f:z");  // the damaged block may have more of the row
  EXPECT_EQ(Stream(RowRange::All()), "a/f:q b/f:q,f:z,g:z DATA_LOSS");
  EXPECT_EQ(Read("b"), "f:q,f:z,g:z");
  ASSERT_OK(table_->Apply(RowMutation("b").Delete("f:z")));
  EXPECT_EQ(Stream(RowRange::All()), "a/f:q b/f:q,g:z DATA_LOSS");
}

// The same for a cell that the read is about to skip.
TEST_P(RowEndTest, SkippedCellsStayOutOfARowBeforeADamagedBlock) {
  Create();
  SetLarge("a", "f:p");
  SetLarge("a", "f:q", 3);
  SetLarge("b", "f:q");
  Damage("b", "f:q");
  ReachTablets();
  SetLarge("a", "f:q", 2);
  SetLarge("a", "g:z");
  const auto row_with = [&](const Filter& filter) { return Stream(RowRange::All(), filter); };
  EXPECT_EQ(row_with(Filter::ColumnRegex("[pz]")), "a/f:p,g:z DATA_LOSS");
  EXPECT_EQ(row_with(Filter::FamilyRegex("g")), "a/g:z DATA_LOSS");
  EXPECT_EQ(row_with(Filter::Latest(1)), "a/f:p,f:q,g:z DATA_LOSS");
  EXPECT_EQ(row_with(Filter::CellsRowLimit(2)), "a/f:p,f:q DATA_LOSS");
  EXPECT_EQ(row_with(Filter()), "a/f:p,f:q,f:q,g:z DATA_LOSS");
  ASSERT_OK(database_->DropFamily("t", "f"));
  EXPECT_EQ(row_with(Filter()), "a/g:z DATA_LOSS");
  const ScopedShortcuts entry_by_entry(ScopedShortcuts::Bit(Shortcut::kSeekForward));
  EXPECT_EQ(row_with(Filter()), "a/g:z DATA_LOSS");
}

// The damage is found before the row's first cell.
TEST_P(RowEndTest, ARowWhoseFirstCellIsDeletedIsWholeBeforeADamagedBlock) {
  Create();
  for (const char* row : {"a", "b"}) SetLarge(row, "f:p");
  Damage("b", "f:p");
  ReachTablets();
  ASSERT_OK(table_->Apply(RowMutation("a").Delete("f:p")));
  SetLarge("a", "f:z");
  EXPECT_EQ(Stream(RowRange::All()), "a/f:z DATA_LOSS");
  EXPECT_EQ(Stream(RowRange::All(), {.row_limit = 1}), "a/f:z OK");
}

// The damage is found before any entry of the row was read.
TEST_P(RowEndTest, ARowBeforeADamagedFileIsWhole) {
  Create();
  for (const char* row : {"b", "c"}) SetLarge(row, "f:q");
  Damage("b", "f:q");
  ReachTablets();
  EXPECT_EQ(Stream(RowRange::All()), "DATA_LOSS");
  for (const char* row : {"a", "c"}) SetLarge(row, "f:z");
  EXPECT_EQ(Stream(RowRange::All()), "a/f:z DATA_LOSS");
  EXPECT_EQ(Stream(RowRange::All(), {.row_limit = 1}), "a/f:z OK");
  EXPECT_EQ(Stream(RowRange::StartingAt("a5")), "DATA_LOSS");
}

// The same for a row of which the snapshot sees only a part of the file's cells.
TEST_P(RowEndTest, ARowOfASnapshotIsWholeBeforeADamagedBlock) {
  Create();
  for (const char* row : {"a", "c"}) SetLarge(row, "f:q");
  SetLarge("b", "f:z");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK_AND_ASSIGN(std::shared_ptr<const Snapshot> snapshot, database_->TakeSnapshot());
  SetLarge("b", "f:q");
  for (const char* row : {"a", "c"}) SetLarge(row, "f:r");
  ASSERT_OK(database_->Compact("t"));  // into one file: the snapshot sees nothing of a later file
  const std::string name = "c/f:r.";
  for (const std::string& path : file_system_->AllFiles()) {
    std::string bytes = file_system_->Contents(path);
    const size_t at = bytes.find(name);
    if (!path.ends_with(".sst") || at == std::string::npos) continue;
    bytes[at] ^= 1;
    file_system_->SetContents(path, bytes);
  }
  const ReadOptions options{.snapshot = snapshot, .verify_checksums = true};
  EXPECT_EQ(Stream(RowRange::All(), options), "a/f:q b/f:z DATA_LOSS");
}

// The entries of the column decide what MaxVersions keeps, not the entries after it.
TEST_P(RowEndTest, AColumnWithCountedVersionsIsWholeBeforeADamagedBlock) {
  Create();
  ASSERT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(2)}));
  SetLarge("a", "f:p", 1);
  SetLarge("a", "f:q", 2);
  SetLarge("b", "f:q");
  Damage("b", "f:q");
  ReachTablets();
  for (const char* column : {"f:p", "f:q"}) {
    SetLarge("a", column, 1);
    SetLarge("a", column, 3);
    ASSERT_OK(table_->Apply(RowMutation("a").DeleteCell(column, Timestamp(3))));
  }
  SetLarge("a", "g:z");
  EXPECT_EQ(Read("a"), "f:p,f:q,g:z");
  EXPECT_EQ(Stream(RowRange::All()), "a/f:p,f:q,g:z DATA_LOSS");
}

TEST_P(RowEndTest, ALimitedReadIgnoresDeletedRowsAfterItsLastRow) {
  Create();
  SetLarge("a", "f:q");
  for (int i = 0; i < 500; ++i) {
    ASSERT_OK(table_->Apply(RowMutation(absl::StrFormat("b%04d", i)).DeleteRow()));
  }
  SetLarge("c", "f:q");
  ASSERT_OK(database_->Flush("t"));
  ReachTablets();
  EXPECT_EQ(Read("a"), "f:q");  // opens the file
  CountReads();
  EXPECT_EQ(Stream(RowRange::All(), {.fill_cache = false, .row_limit = 1}), "a/f:q OK");
  EXPECT_LE(Reads(), 2u);
  CountReads();
  EXPECT_EQ(Scan({.fill_cache = false, .row_limit = 1}), "a/f:q OK");
  EXPECT_LE(Reads(), 2u);
}

TEST_P(RowEndTest, AReadOfAbsentRowsObservesItsLimits) {
  Create();
  SetLarge("m", "f:q");
  ReachTablets();
  RowSet absent;
  for (int i = 0; i < 1000; ++i) absent.Append(Cat("x", i));
  Cancellation cancellation;
  ReadOptions options;
  options.cancellation = &cancellation;
  RowReader reader = table_->ReadRows(absent, options);
  cancellation.Cancel();  // with no cells, only the step from row to row can notice
  EXPECT_FALSE(reader.Next());
  EXPECT_STATUS(kCancelled, "", reader.status());
}

// In place only: a chunk of a message has as many rows as the deadline allows.
TEST_F(RowEndFixture, ADeadlineThatPassesAfterARowLeavesTheRowWhole) {
  Create();
  SetLarge("a", "f:q");
  for (int i = 0; i < 2000; ++i) {
    ASSERT_OK(table_->Apply(RowMutation(absl::StrFormat("b%04d", i)).DeleteRow()));
  }
  SetLarge("c", "f:q");
  ASSERT_OK(database_->Flush("t"));
  counting_.DelayCalls({.kinds = {FileCall::kRead}, .path_contains = ".sst"},
                       absl::Milliseconds(20));
  ReadOptions options{.fill_cache = false};
  options.deadline = absl::Now() + absl::Milliseconds(500);
  EXPECT_EQ(Stream(RowRange::All(), options), "a/f:q DEADLINE_EXCEEDED");
}

// --- The blocks that a read of one row reads ---

class RowBlocksTest : public RowEndFixture, public testing::WithParamInterface<FilterKind> {};

INSTANTIATE_TEST_SUITE_P(Filters, RowBlocksTest,
                         testing::Values(FilterKind::kNone, FilterKind::kRow,
                                         FilterKind::kRowAndColumn, FilterKind::kRowIndex));

TEST_P(RowBlocksTest, AreOnlyTheBlocksOfTheRow) {
  Create(GetParam());
  // Rows of one to four blocks, and small rows that share a block.
  std::vector<std::string> rows;
  for (int i = 0; i < 40; ++i) {
    rows.push_back(absl::StrFormat("row%02d", i));
    for (int j = 0; j <= i % 4; ++j) SetLarge(rows.back(), absl::StrCat("f:", j));
  }
  ASSERT_OK(database_->Flush("t"));
  const ReadOptions uncached{.fill_cache = false};
  for (size_t i = 0; i < rows.size(); ++i) {
    CountReads();
    const absl::StatusOr<Row> row = table_->ReadRow(rows[i], Filter(), uncached);
    ASSERT_OK(row);
    ASSERT_EQ(row->cells().size(), i % 4 + 1);
    ASSERT_EQ(Reads(), i % 4 + 1) << rows[i];
    // A read that seeks within the row stays within the row.
    const absl::StatusOr<Row> last =
        table_->ReadRow(rows[i], Filter::Column("f", absl::StrCat(i % 4)), uncached);
    ASSERT_OK(last);
    ASSERT_EQ(last->cells().size(), 1u);
    ASSERT_LE(Reads(), 2 * (i % 4 + 1) + 1) << rows[i];
  }
}

TEST_P(RowBlocksTest, AfterAnIntactRowMayBeDamaged) {
  Create(GetParam());
  for (const char* row : {"a", "b", "c"}) SetLarge(row, "f:q");
  Damage("b", "f:q");
  EXPECT_EQ(Read("a"), "f:q");
  EXPECT_EQ(Read("b"), "DATA_LOSS");
  EXPECT_EQ(Read("c"), "f:q");
}

// Whether or not the file was opened by an earlier read, and whatever its filter says.
TEST_P(RowBlocksTest, OfAnotherFileAfterTheRowMayBeDamaged) {
  Create(GetParam());
  for (const char* row : {"b", "c"}) SetLarge(row, "f:q");
  Damage("b", "f:q");
  SetLarge("a", "f:q");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Read("a"), "f:q");
    EXPECT_EQ(Stream(RowRange::Single("a")), "a/f:q OK");
    EXPECT_EQ(Read("c"), "f:q");  // opens the file
    EXPECT_EQ(Read("b"), "DATA_LOSS");
  }
}

TEST_P(RowBlocksTest, AfterARowWithoutPassingCellsMayBeDamaged) {
  Create(GetParam());
  for (const char* row : {"a", "b"}) SetLarge(row, "f:q");
  Damage("b", "f:q");
  for (const uint64_t off : {uint64_t{0}, ScopedShortcuts::Bit(Shortcut::kRowBlocks)}) {
    const ScopedShortcuts shortcuts(off);
    const absl::StatusOr<Row> row = table_->ReadRow("a", Filter::ColumnRegex("none"));
    ASSERT_OK(row);
    EXPECT_TRUE(row->empty());
    RowSet rows;
    for (const char* one : {"a", "c"}) rows.Append(one);
    EXPECT_EQ(Stream(rows), "a/f:q OK");
  }
}

TEST_P(RowBlocksTest, OfOldTimestampsAreReadWithoutThoseOfNewerOnes) {
  Create(GetParam());
  constexpr int kVersions = 500;
  for (int i = 1; i <= kVersions; ++i) SetLarge("a", "f:q", i);
  SetLarge("a", "f:z", 7);
  ASSERT_OK(database_->Flush("t"));
  for (const int64_t first : {1, 2, 250, 499, 500}) {
    CountReads();
    const absl::StatusOr<Row> row = table_->ReadRow(
        "a", Filter::TimestampRange(Timestamp(first), Timestamp(first + 1)), {.fill_cache = false});
    ASSERT_OK(row);
    ASSERT_EQ(row->cells().size(), 1u);
    EXPECT_EQ(row->cells()[0].timestamp, Timestamp(first));
    EXPECT_LE(Reads(), 12u) << first;
  }
}

// A few steps, as for as many bytes of small values, and then a seek.
TEST_P(RowBlocksTest, OfOlderVersionsAreSkipped) {
  Create(GetParam());
  for (int i = 1; i <= 50; ++i) SetLarge("a", "f:q", i);
  SetLarge("a", "f:z", 7);
  ASSERT_OK(database_->Flush("t"));
  CountReads();
  const absl::StatusOr<Row> row = table_->ReadRow("a", Filter::Latest(1), {.fill_cache = false});
  ASSERT_OK(row);
  ASSERT_EQ(row->cells().size(), 2u);
  EXPECT_EQ(row->cells()[0].timestamp, Timestamp(50));
  EXPECT_LE(Reads(), 7u);
}

}  // namespace
}  // namespace bigtable
