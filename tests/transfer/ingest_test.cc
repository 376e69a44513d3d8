// Table::Ingest: files that other programs could have written become part of a table.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class IngestTest : public TabletsFixture {
 protected:
  void SetUp() override {
    Open();
    ASSERT_OK(file_system_->CreateDirectory("/in"));
  }
  // A file with these entries, which are in order.
  std::string Write(std::string_view name, const std::vector<SSTableEntry>& entries) {
    const std::string path = absl::StrCat("/in/", ToAbsl(name));
    auto writer = SSTableWriter::Create(path, {.file_system = file_system_.get()});
    EXPECT_OK(writer);
    for (const SSTableEntry& entry : entries) EXPECT_OK((*writer)->Add(entry));
    EXPECT_OK((*writer)->Finish());
    return path;
  }
  // "r0005/f:q@1" and so on, with values of this text and the number.
  std::string WriteRows(std::string_view name, int begin, int end, std::string_view value,
                        uint64_t sequence = 1) {
    std::vector<std::string> rows, values;
    for (int i = begin; i < end; ++i) {
      rows.push_back(RowOf(i));
      values.push_back(Cat(value, i));
    }
    std::vector<SSTableEntry> entries;
    for (size_t i = 0; i < rows.size(); ++i) {
      entries.push_back({.row = rows[i],
                         .family = "f",
                         .qualifier = "q",
                         .timestamp = Timestamp(1),
                         .sequence = sequence,
                         .value = values[i]});
    }
    return Write(name, entries);
  }
  std::vector<std::string> SSTablesOf() {
    return file_system_->ListDirectory(absl::StrCat(kPath, "/sst")).value();
  }
};

constexpr IngestOptions kOldest = {.wins = IngestOptions::Wins::kOldest};

TEST_F(IngestTest, AFileBecomesPartOfATable) {
  Table* const table = CreateStillTable();
  const std::string file = WriteRows("a", 0, 100, "v");
  const absl::StatusOr<IngestSummary> summary = table->Ingest({file});
  ASSERT_OK(summary);
  EXPECT_EQ(summary->files, 1u);
  EXPECT_EQ(summary->entries, 100u);
  EXPECT_EQ(summary->copied, 1u);
  EXPECT_EQ(summary->linked, 0u);
  EXPECT_EQ(summary->rewritten, 0u);
  EXPECT_EQ(summary->bytes, file_system_->FileSize(file).value());
  ExpectFilled(table, 0, 100);
  Reopen();
  ExpectFilled(OpenTable("t"), 0, 100);
  EXPECT_OK(database_->Compact("t"));
  ExpectFilled(OpenTable("t"), 0, 100);
  EXPECT_TRUE(file_system_->FileExists(file));
}

TEST_F(IngestTest, NoFilesAndEmptyFilesAddNothing) {
  Table* const table = CreateStillTable();
  EXPECT_EQ(table->Ingest({}).value(), IngestSummary());
  const absl::StatusOr<IngestSummary> summary = table->Ingest({Write("a", {})});
  ASSERT_OK(summary);
  EXPECT_EQ(summary->files, 0u);
  EXPECT_TRUE(SSTablesOf().empty());
}

TEST_F(IngestTest, AFileThatIsMovedIsLinkedAndLosesItsName) {
  Table* const table = CreateStillTable();
  const std::string file = WriteRows("a", 0, 10, "v");
  const absl::StatusOr<IngestSummary> summary = table->Ingest({file}, {.moves_files = true});
  ASSERT_OK(summary);
  EXPECT_EQ(summary->linked, 1u);
  EXPECT_EQ(summary->copied, 0u);
  EXPECT_FALSE(file_system_->FileExists(file));
  ExpectFilled(table, 0, 10);
}

TEST_F(IngestTest, TheNewestWinsOverMemtablesAndFilesAndLaterWritesWinOverIt) {
  Table* const table = CreateStillTable();
  Fill(table, 0, 20, "file");
  ASSERT_OK(database_->Flush("t"));
  Fill(table, 20, 40, "memory");
  ASSERT_OK(table->Ingest({WriteRows("a", 10, 30, "new")}));
  const auto expect = [&](Table* of) {
    EXPECT_EQ(of->Get(RowOf(9), "f:q").value(), "file9");
    EXPECT_EQ(of->Get(RowOf(10), "f:q").value(), "new10");
    EXPECT_EQ(of->Get(RowOf(29), "f:q").value(), "new29");
    EXPECT_EQ(of->Get(RowOf(30), "f:q").value(), "memory30");
  };
  expect(table);
  Set(table, RowOf(15), "f:q", 1, "later");
  EXPECT_EQ(table->Get(RowOf(15), "f:q").value(), "later");
  ASSERT_OK(database_->Compact("t"));
  expect(table);
  EXPECT_EQ(table->Get(RowOf(15), "f:q").value(), "later");
  Kill();
  Open();
  expect(OpenTable("t"));
  EXPECT_EQ(OpenTable("t")->Get(RowOf(15), "f:q").value(), "later");
}

TEST_F(IngestTest, TheOldestWinsOverTheFiles) {
  Table* const table = CreateStillTable();
  Fill(table, 0, 20, "file");
  ASSERT_OK(database_->Flush("t"));
  Fill(table, 20, 40, "memory");
  // Twice: the second time is older than the first.
  ASSERT_OK(table->Ingest({WriteRows("a", 10, 60, "first")}, kOldest));
  ASSERT_OK(table->Ingest({WriteRows("b", 50, 80, "second")}, kOldest));
  const auto expect = [&](Table* of) {
    EXPECT_EQ(of->Get(RowOf(10), "f:q").value(), "file10");
    EXPECT_EQ(of->Get(RowOf(39), "f:q").value(), "memory39");
    EXPECT_EQ(of->Get(RowOf(40), "f:q").value(), "first40");
    EXPECT_EQ(of->Get(RowOf(59), "f:q").value(), "first59");
    EXPECT_EQ(of->Get(RowOf(60), "f:q").value(), "second60");
    EXPECT_EQ(ShowKeys(of->ReadRows(RowRange::StartingAt(RowOf(79)))), RowOf(79));
  };
  expect(table);
  Reopen();
  expect(OpenTable("t"));
  ASSERT_OK(database_->Compact("t"));
  expect(OpenTable("t"));
}

TEST_F(IngestTest, ADeletionThatIsLaterHidesWhatIsIngestedAsOldest) {
  Table* const table = CreateStillTable();
  ASSERT_OK(table->Apply(RowMutation(RowOf(1)).DeleteRow()));
  ASSERT_OK(table->Ingest({WriteRows("a", 0, 3, "v")}, kOldest));
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), Cat(RowOf(0), " ", RowOf(2)));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), Cat(RowOf(0), " ", RowOf(2)));
}

// A row in which mutations follow each other, in one file.
TEST_F(IngestTest, AFileOfManySequenceNumbersKeepsTheirOrder) {
  const std::vector<SSTableEntry> entries = {
      {.kind = SSTableEntry::Kind::kDeleteFamily, .row = "a", .family = "f", .sequence = 5},
      {.row = "a",
       .family = "f",
       .qualifier = "new",
       .timestamp = Timestamp(1),
       .sequence = 6,
       .value = "6"},
      {.row = "a",
       .family = "f",
       .qualifier = "old",
       .timestamp = Timestamp(1),
       .sequence = 4,
       .value = "4"},
      {.row = "a",
       .family = "f",
       .qualifier = "q",
       .timestamp = Timestamp(1),
       .sequence = 1000000,
       .value = "newer"},
      {.row = "a",
       .family = "f",
       .qualifier = "q",
       .timestamp = Timestamp(1),
       .sequence = 7,
       .value = "older"},
      {.row = "b",
       .family = "f",
       .qualifier = "q",
       .timestamp = Timestamp(1),
       .sequence = 7,
       .ordinal = 1,
       .value = "second"},
      {.row = "b",
       .family = "f",
       .qualifier = "q",
       .timestamp = Timestamp(1),
       .sequence = 7,
       .value = "first"},
  };
  const std::string file = Write("a", entries);
  for (const auto wins : {IngestOptions::Wins::kNewest, IngestOptions::Wins::kOldest}) {
    const bool is_oldest = wins == IngestOptions::Wins::kOldest;
    Table* const table = CreateTable(is_oldest ? "oldest" : "newest", StillSchema());
    Set(table, "a", "f:old", 1, "was there");
    ASSERT_OK(database_->Flush(table->name()));
    const absl::StatusOr<IngestSummary> summary = table->Ingest({file}, {.wins = wins});
    ASSERT_OK(summary);
    EXPECT_EQ(summary->rewritten, is_oldest ? 1u : 0u);
    for (const bool is_compacted : {false, true}) {
      if (is_compacted) {
        ASSERT_OK(database_->Compact(table->name()));
      }
      EXPECT_EQ(Show(table->ReadRow("a")),
                is_oldest ? "f:new@1=6 f:old@1=was there f:q@1=newer" : "f:new@1=6 f:q@1=newer");
      EXPECT_EQ(Show(table->ReadRow("b")), "f:q@1=second");
    }
  }
}

// Larger than any number of this database.
TEST_F(IngestTest, FilesOfOtherDatabasesHaveTheirNumbersShifted) {
  Table* const table = CreateStillTable();
  Fill(table, 0, 5, "old");
  ASSERT_OK(table->Ingest({WriteRows("a", 3, 8, "v", uint64_t{1} << 55)}));
  EXPECT_EQ(table->Get(RowOf(3), "f:q").value(), "v3");
  Set(table, RowOf(4), "f:q", 1, "later");
  EXPECT_EQ(table->Get(RowOf(4), "f:q").value(), "later");
  Reopen();
  EXPECT_EQ(OpenTable("t")->Get(RowOf(4), "f:q").value(), "later");
  EXPECT_EQ(OpenTable("t")->Get(RowOf(7), "f:q").value(), "v7");
}

TEST_F(IngestTest, OfFilesThatOverlapTheLaterOneWins) {
  Table* const table = CreateStillTable();
  const std::vector<std::string> files = {WriteRows("a", 0, 30, "a"), WriteRows("b", 40, 50, "b"),
                                          WriteRows("c", 20, 45, "c"), WriteRows("d", 22, 24, "d")};
  ASSERT_OK(table->Ingest(files));
  const auto expect = [&](Table* of) {
    for (int i = 0; i < 50; ++i) {
      const char* const wins = i >= 22 && i < 24   ? "d"
                               : i >= 20 && i < 45 ? "c"
                               : i < 30            ? "a"
                                                   : "b";
      EXPECT_EQ(of->Get(RowOf(i), "f:q").value(), Cat(wins, i));
    }
  };
  expect(table);
  Reopen();
  expect(OpenTable("t"));
}

TEST_F(IngestTest, FilesAreCutAtTheBordersOfTabletsOfSeveralServers) {
  Reopen(WithServers(3));
  Table* const table = CreateSplitTable("t", 7, 10);
  EXPECT_EQ(table->Ingest({WriteRows("a", 0, 70, "v")}).value().files, 1u);
  ExpectFilled(table, 0, 70);
  ASSERT_OK(database_->SplitTablet("t", RowOf(35)));
  ASSERT_OK(database_->MoveTablet("t", RowOf(12), 0));
  ASSERT_OK(database_->MoveTablet("t", RowOf(12), 1));
  ExpectFilled(table, 0, 70);
  ASSERT_OK(database_->MergeTablets("t", RowOf(30)));
  ExpectFilled(table, 0, 70);
  Reopen(WithServers(2));
  ExpectFilled(OpenTable("t"), 0, 70);
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  ExpectFilled(OpenTable("t"), 0, 70);
  Reopen();
  ExpectFilled(OpenTable("t"), 0, 70);
}

TEST_F(IngestTest, AFileOfSeveralLocalityGroupsIsRewritten) {
  TableSchema schema = StillSchema();
  schema.locality_groups["other"] = {.compression = Compression::kZstd};
  schema.families["g"] = {.locality_group = "other"};
  Table* const table = CreateTable("t", schema);
  Set(table, "a", "g:q", 1, "old");
  const std::string file = Write(
      "a",
      {{.row = "a", .family = "f", .qualifier = "q", .timestamp = Timestamp(1), .value = "1"},
       {.row = "a", .family = "g", .qualifier = "q", .timestamp = Timestamp(1), .value = "2"},
       {.row = "b", .family = "g", .qualifier = "q", .timestamp = Timestamp(1), .value = "3"}});
  const absl::StatusOr<IngestSummary> summary = table->Ingest({file});
  ASSERT_OK(summary);
  EXPECT_EQ(summary->rewritten, 1u);
  EXPECT_EQ(summary->files, 2u);
  EXPECT_EQ(Show(table->ReadRow("a")), "f:q@1=1 g:q@1=2");
  EXPECT_EQ(Show(table->ReadRow("b")), "g:q@1=3");
  Reopen();
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("a")), "f:q@1=1 g:q@1=2");
}

TEST_F(IngestTest, SnapshotsAndStreamsFromBeforeDoNotSeeIt) {
  Table* const table = CreateStillTable();
  Fill(table, 0, 10, "old");
  const std::shared_ptr<const Snapshot> snapshot = database_->TakeSnapshot().value();
  RowReader stream = table->ReadRows(RowRange::All());
  ASSERT_TRUE(stream.Next());
  ASSERT_OK(table->Ingest({WriteRows("a", 0, 20, "new")}));
  EXPECT_EQ(table->Get(RowOf(5), "f:q", {.snapshot = snapshot}).value(), "old5");
  EXPECT_EQ(Show(table->ReadRow(RowOf(15), {}, {.snapshot = snapshot})), "");
  int rows = 1;
  for (; stream.Next(); ++rows) EXPECT_EQ(Show(stream.row()), Cat("f:q@1=old", rows));
  EXPECT_OK(stream.status());
  EXPECT_EQ(rows, 10);
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(table->Get(RowOf(5), "f:q", {.snapshot = snapshot}).value(), "old5");
  EXPECT_EQ(table->Get(RowOf(5), "f:q").value(), "new5");
  const std::shared_ptr<const Snapshot> after = database_->TakeSnapshot().value();
  EXPECT_EQ(table->Get(RowOf(5), "f:q", {.snapshot = after}).value(), "new5");
}

TEST_F(IngestTest, ATransactionThatHasReadTheRowsIsAborted) {
  Table* const table = CreateStillTable();
  Fill(table, 0, 10, "old");
  absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
  ASSERT_OK(transaction);
  EXPECT_EQ(Show(transaction->ReadRow(table, RowOf(5))), "f:q@1=old5");
  ASSERT_OK(table->Ingest({WriteRows("a", 5, 6, "new")}));
  EXPECT_OK(transaction->Apply(table, RowMutation(RowOf(6)).Set("f:q", Timestamp(1), "x")));
  EXPECT_EQ(transaction->Commit().code(), absl::StatusCode::kAborted);
  // An atomic operation reads again.
  int calls = 0;
  ASSERT_OK(table->MutateRowAtomically(
      RowOf(7), Filter(), [&](const Row& row) -> absl::StatusOr<RowMutation> {
        if (++calls == 1) {
          EXPECT_OK(table->Ingest({WriteRows("b", 7, 8, "new")}));
        }
        return RowMutation(RowOf(7)).Set("f:copy", Timestamp(1), row.cells()[0].value);
      }));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(table->Get(RowOf(7), "f:copy").value(), "new7");
}

TEST_F(IngestTest, ContributionsToAggregatesAreMerged) {
  TableSchema schema = StillSchema();
  schema.families["n"] = {.value_type = ValueType::kInt64Sum};
  Table* const table = CreateTable("t", schema);
  ASSERT_OK(table->Apply(RowMutation("a").AddToCell("n:q", Timestamp(1), 5)));
  const std::string seven("\0\0\0\0\0\0\0\x07", 8);
  const auto file = [&](std::string_view name, SSTableEntry::Kind kind, std::string_view value) {
    return Write(name, {{.kind = kind,
                         .row = "a",
                         .family = "n",
                         .qualifier = "q",
                         .timestamp = Timestamp(1),
                         .value = value}});
  };
  ASSERT_OK(table->Ingest({file("a", SSTableEntry::Kind::kAddToCell, seven)}));
  ASSERT_OK(table->Ingest({file("b", SSTableEntry::Kind::kMergeToCell, seven)}, kOldest));
  EXPECT_EQ(table->ReadRow("a")->cells()[0].value, std::string("\0\0\0\0\0\0\0\x13", 8));
  EXPECT_STATUS(kInvalidArgument, "only AddToCell",
                table->Ingest({file("c", SSTableEntry::Kind::kCell, seven)}));
  EXPECT_STATUS(kInvalidArgument, "/in/d",
                table->Ingest({file("d", SSTableEntry::Kind::kAddToCell, "x")}));
}

TEST_F(IngestTest, WhatIsWrongIsNamedAndChangesNothing) {
  Table* const table = CreateStillTable();
  const std::string good = WriteRows("good", 0, 10, "v");
  EXPECT_STATUS(kNotFound, "/in/none", table->Ingest({good, "/in/none"}));
  const std::string family =
      Write("family", {{.row = "a", .family = "x", .qualifier = "q", .value = "1"}});
  for (const bool verifies : {true, false}) {
    EXPECT_STATUS(kNotFound, "family \"x\"", table->Ingest({good, family}, {.verifies = verifies}));
  }
  const std::string row =
      Write("row", {{.kind = SSTableEntry::Kind::kDeleteRow, .row = "a", .locality_group = 77}});
  for (const bool verifies : {true, false}) {
    EXPECT_STATUS(kNotFound, "group 77", table->Ingest({good, row}, {.verifies = verifies}));
  }
  ASSERT_OK(file_system_->NewWritableFile("/in/text").value()->Append(std::string(500, 'x')));
  EXPECT_STATUS(kDataLoss, "/in/text", table->Ingest({good, "/in/text"}));
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "");
  EXPECT_TRUE(SSTablesOf().empty());
  EXPECT_TRUE(file_system_->FileExists(good));
  ASSERT_OK(database_->DeleteTable("t"));
  EXPECT_STATUS(kNotFound, "t", table->Ingest({good}));
  EXPECT_TRUE(SSTablesOf().empty());
}

TEST_F(IngestTest, UsersNeedPermissionAndQuotasOfStorageRefuseIt) {
  TableSchema schema = StillSchema();
  schema.families["f"].access_list = "list";
  ASSERT_OK(database_->SetAccessList("list", {.readers = {"reader"}, .writers = {"writer"}}));
  Table* const table = CreateTable("t", schema);
  const std::string file = WriteRows("a", 0, 10, "v");
  for (const char* const user : {"reader", "writer"}) {
    OpenTableOptions options;
    options.caller = user;
    Table* const of_user = database_->OpenTable("t", options).value();
    if (user == std::string("writer")) {
      EXPECT_OK(of_user->Ingest({file}));
    } else {
      EXPECT_STATUS(kPermissionDenied, "reader", of_user->Ingest({file}));
      EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "");
    }
  }
  ExpectFilled(table, 0, 10);
  ASSERT_OK(database_->SetTableQuota("t", {.storage_bytes = 10}));
  EXPECT_STATUS(kResourceExhausted, "storage quota of 10 bytes",
                table->Ingest({WriteRows("b", 20, 30, "v")}));
  ExpectFilled(table, 0, 10);
  ASSERT_OK(database_->SetTableQuota("t", {}));
  EXPECT_OK(table->Ingest({"/in/b"}));
  DatabaseOptions options = Options();
  options.read_only = true;
  Reopen(options);
  EXPECT_STATUS(kFailedPrecondition, "read-only", OpenTable("t")->Ingest({file}));
}

// What is written while the call runs, before its tablets stop, is newer than files that lose.
TEST_F(IngestTest, WritesUnderWayWinOverFilesThatLoseConcurrency) {
  for (int i = 0; i < 20; ++i) {
    Table* const table = CreateTable(Cat("t", i), StillSchema());
    const std::string file = WriteRows(Cat("f", i), 0, 20, "file");
    std::thread writer([&] { Fill(table, 0, 10, "written"); });
    const absl::Status ingested = table->Ingest({file}, kOldest).status();
    writer.join();
    ASSERT_OK(ingested);
    for (int row = 0; row < 20; ++row) {
      ASSERT_EQ(table->Get(RowOf(row), "f:q").value(), Cat(row < 10 ? "written" : "file", row));
    }
    ASSERT_OK(database_->Compact(table->name()));
    ASSERT_EQ(table->Get(RowOf(9), "f:q").value(), "written9");
  }
}

TEST_F(IngestTest, EachDamagedByteIsFoundBeforeAnythingIsAdded) {
  Table* const table = CreateStillTable();
  const std::string file = WriteRows("a", 0, 20, "v");
  const std::string bytes = file_system_->ReadFile(file).value();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    auto to = file_system_->NewWritableFile("/in/damaged").value();
    ASSERT_OK(to->Append(damaged));
    to.reset();
    const absl::StatusOr<IngestSummary> ingested = table->Ingest({"/in/damaged"});
    ASSERT_FALSE(ingested.ok()) << i;
    ASSERT_TRUE(absl::IsDataLoss(ingested.status()) ||
                absl::IsFailedPrecondition(ingested.status()))
        << i << " " << ingested.status();
  }
  EXPECT_TRUE(SSTablesOf().empty());
}

TEST_F(IngestTest, TooManyFilesThatLoseAreRefusedUntilACompactionHasMadeRoom) {
  Table* const table = CreateStillTable();
  Fill(table, 0, 1);
  database_->PauseCompactions();
  // Each overlaps the others, and so takes a number.
  const std::string file = WriteRows("a", 0, 2, "a");
  const std::vector<std::string> many(1000, file);
  for (int i = 0; i < 4; ++i) ASSERT_OK(table->Ingest(many, kOldest));
  EXPECT_STATUS(kFailedPrecondition, "too few unused sequence numbers",
                table->Ingest(many, kOldest));
  EXPECT_EQ(table->Get(RowOf(0), "f:q").value(), "v0");
  EXPECT_EQ(table->Get(RowOf(1), "f:q").value(), "a1");
  database_->ContinueCompactions();
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(table->Ingest(many, kOldest));
  EXPECT_EQ(table->Get(RowOf(0), "f:q").value(), "v0");
}

}  // namespace
}  // namespace bigtable
