// Tables of many tablets on many servers. For readers and writers each is one table.
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/steady_time.h"
#include "support/database_fixture.h"
#include "support/random.h"

namespace bigtable {
namespace {

using testing::HasSubstr;

class TabletsTest : public DatabaseFixture {
 protected:
  static DatabaseOptions WithServers(DatabaseOptions options, int servers) {
    options.tablet_servers = servers;
    return options;
  }
  // Creates a table with tablets that begin at "", "d", "h" and "p".
  Table* CreateSplitTable() {
    TableSchema schema;
    schema.families["f"] = {};
    EXPECT_OK(database_->CreateTable("t", schema, {.split_rows = {"p", "d", "h"}}));
    return OpenTable("t");
  }
  static void SetRows(Table* table, std::string_view rows) {
    for (const char row : rows) Set(table, std::string(1, row), "f:q", 1, std::string(1, row));
  }
};

TEST_F(TabletsTest, RowsAreReadFromTheTabletThatHasThem) {
  Open(WithServers(Options(), 3));
  Table* const table = CreateSplitTable();
  SetRows(table, "acdeghijpqz");
  for (const char row : std::string("acdeghijpqz")) {
    EXPECT_EQ(Show(table->ReadRow(std::string(1, row))),
              absl::StrCat("f:q@1=", std::string(1, row)));
  }
  for (const char row : std::string("bfkxy")) {
    EXPECT_EQ(Show(table->ReadRow(std::string(1, row))), "");
  }
}

TEST_F(TabletsTest, StreamsGoThroughTabletsInOrder) {
  Open(WithServers(Options(), 2));
  Table* const table = CreateSplitTable();
  SetRows(table, "zacdeghijpq");
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "a c d e g h i j p q z");
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All(), {.reverse = true})), "z q p j i h g e d c a");
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::RightOpen("c", "p"))), "c d e g h i j");
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::RightOpen("c", "p"), {.reverse = true})),
            "j i h g e d c");
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::Closed("d", "d"))), "d");
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::Open("e", "h"))), "g");
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All(), {.row_limit = 4})), "a c d e");
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All(), {.reverse = true, .row_limit = 4})),
            "z q p j");
  RowSet rows;
  for (const char* row : {"z", "b", "d", "h"}) rows.Append(row);
  rows.Append(RowRange::RightOpen("g", "i"));
  EXPECT_EQ(ShowKeys(table->ReadRows(rows)), "d g h z");
  EXPECT_EQ(ShowKeys(table->ReadRows(rows, {.reverse = true})), "z h g d");
}

TEST_F(TabletsTest, ScannersGoThroughTabletsInOrder) {
  Open(WithServers(Options(), 2));
  Table* const table = CreateSplitTable();
  SetRows(table, "zacdp");
  Scanner scanner(table);
  scanner.SetRange(RowRange::StartingAt("b"));
  ScanStream* const stream = scanner.FetchColumnFamily("f");
  EXPECT_EQ(ShowStream(stream), "c/f:q@1=c d/f:q@1=d p/f:q@1=p z/f:q@1=z");
  EXPECT_OK(scanner.status());
  scanner.Lookup("d");
  EXPECT_EQ(ShowStream(stream), "d/f:q@1=d");
}

TEST_F(TabletsTest, EachMutationOfABatchHasItsOwnOutcome) {
  Open(WithServers(Options(), 2));
  Table* const table = CreateSplitTable();
  std::vector<RowMutation> mutations;
  for (const char* row : {"z", "a", "h", "b", "e", "z"}) {
    mutations.emplace_back(row).Set("f:q", Timestamp(1), absl::StrCat(row, mutations.size()));
  }
  mutations[2] = RowMutation("h");
  mutations[2].Set("none:q", "x");
  const std::vector<absl::Status> statuses = table->ApplyBatch(mutations);
  ASSERT_EQ(statuses.size(), 6u);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(statuses[i].ok(), i != 2) << statuses[i];
  EXPECT_STATUS(kNotFound, "none", statuses[2]);
  EXPECT_EQ(Show(table->ReadRow("z")), "f:q@1=z6");  // the last mutation of a row wins
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "a b e z");
}

TEST_F(TabletsTest, TabletsAreFoundAgainWithAnyNumberOfServers) {
  Open(WithServers(Options(), 3));
  SetRows(CreateSplitTable(), "acd");
  Reopen(WithServers(Options(), 1));
  SetRows(OpenTable("t"), "hz");
  Kill();
  Open(WithServers(Options(), 4));
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "a c d h z");
  SetRows(OpenTable("t"), "bp");
  Kill();
  Open(WithServers(Options(), 2));
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "a b c d h p z");
  SetRows(OpenTable("t"), "x");
  Reopen(WithServers(Options(), 3));
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "a b c d h p x z");
}

TEST_F(TabletsTest, SchemasChangeInAllTablets) {
  Open(WithServers(Options(), 2));
  Table* const table = CreateSplitTable();
  SetRows(table, "ahz");
  ASSERT_OK(database_->AddFamily("t", "g", {}));
  for (const char* row : {"a", "h", "z"}) Set(table, row, "g:", 1, "v");
  EXPECT_EQ(Show(table->ReadRow("h")), "f:q@1=h g:@1=v");
  ASSERT_OK(database_->DropFamily("t", "f"));
  for (const char* row : {"a", "h", "z"}) EXPECT_EQ(Show(table->ReadRow(row)), "g:@1=v");
  Reopen(WithServers(Options(), 2));
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "a h z");
}

TEST_F(TabletsTest, ADeletedTableIsRemovedFromAllServers) {
  Open(WithServers(Options(), 2));
  Table* const table = CreateSplitTable();
  SetRows(table, "ahz");
  ASSERT_OK(database_->Flush("t"));
  RowReader reader = table->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());
  ASSERT_OK(database_->DeleteTable("t"));
  while (reader.Next()) {
  }
  EXPECT_STATUS(kNotFound, "deleted", reader.status());
  for (const char* row : {"a", "h", "z"}) {
    EXPECT_STATUS(kNotFound, "deleted", table->ReadRow(row).status());
    RowMutation mutation(row);
    mutation.Set("f:q", "v");
    EXPECT_STATUS(kNotFound, "deleted", table->Apply(mutation));
  }
  CreateSplitTable();
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "");
  Reopen(WithServers(Options(), 1));
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "");
}

TEST_F(TabletsTest, SplitRowsAreChecked) {
  Open();
  TableSchema schema;
  schema.families["f"] = {};
  EXPECT_STATUS(kInvalidArgument, "empty",
                database_->CreateTable("t", schema, {.split_rows = {"a", ""}}));
  EXPECT_STATUS(kInvalidArgument, "twice",
                database_->CreateTable("t", schema, {.split_rows = {"b", "a", "b"}}));
  EXPECT_STATUS(kInvalidArgument, "65536",
                database_->CreateTable("t", schema, {.split_rows = {std::string(65537, 'x')}}));
  EXPECT_OK(database_->CreateTable("t", schema, {.split_rows = {std::string(65536, 'x')}}));
}

TEST_F(TabletsTest, TheNumberOfServersIsChecked) {
  for (const int servers : {-1, 257}) {
    EXPECT_STATUS(kInvalidArgument, "tablet_servers",
                  Database::Open(kPath, WithServers(Options(), servers)).status());
  }
}

class TabletsConcurrencyTest : public TabletsTest {};

// All tablets are on one server and are written all the time. Soon the other server has some of
// them.
TEST_F(TabletsConcurrencyTest, TabletsOfABusyServerAreMovedToOthers) {
  DatabaseOptions options = WithServers(Options(), 2);
  options.balance_interval = absl::Milliseconds(20);
  Open(options);
  TableSchema schema;
  schema.families["f"] = {};
  ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"b", "c", "d", "e", "f"}}));
  ASSERT_OK_AND_ASSIGN(Table* const table, database_->OpenTable("t"));
  for (const char* row : {"a", "b", "c", "d", "e", "f"}) {
    ASSERT_OK(database_->MoveTablet("t", row, 0));
  }
  const auto servers = [&] {
    const absl::StatusOr<std::vector<TabletInfo>> tablets = database_->ListTablets("t");
    EXPECT_OK(tablets);
    std::set<int> found;
    for (const TabletInfo& info : *tablets) found.insert(info.server);
    return found.size();
  };
  const absl::Time end = absl::Now() + absl::Seconds(60);
  int n = 0;
  while (servers() < 2 && absl::Now() < end) {
    for (int i = 0; i < 1000; ++i, ++n) {
      for (const char* row : {"a", "b", "c", "d", "e", "f"}) {
        Set(table, row, "f:q", 1, std::to_string(n));
      }
    }
  }
  EXPECT_EQ(servers(), 2u);
  for (const Row& row : table->ReadRows(RowRange::All())) {
    EXPECT_EQ(row.cells()[0].value, std::to_string(n - 1)) << row.key();
  }
}

// One thread writes n to "a", and then to "z", which is on another server. In every snapshot, if
// "a" has n, "z" has n or n - 1.
TEST_F(TabletsConcurrencyTest, ASnapshotIsTheSameOnAllServers) {
  Open(WithServers(Options(), 2));
  Table* const table = CreateSplitTable();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int n = 1; !done; ++n) {
      for (const char* row : {"a", "z"}) Set(table, row, "f:q", 1, std::to_string(n));
    }
  });
  const auto number = [](const Row& row) { return std::stoi(std::string(row.cells()[0].value)); };
  // Without shortcuts a read looks at all writes.
  const SteadyTime end = SteadyTime::Now() + absl::Seconds(20);
  for (int i = 0; i < 300 && SteadyTime::Now() < end; ++i) {
    ReadOptions options;
    if (i % 2 == 0) {
      const auto snapshot = database_->TakeSnapshot();
      EXPECT_OK(snapshot);
      options.snapshot = *snapshot;
    }
    options.reverse = i % 3 == 0;
    std::vector<int> numbers;
    for (const Row& row : table->ReadRows(RowRange::All(), options)) {
      numbers.push_back(number(row));
      if (i % 5 == 0) std::this_thread::yield();
    }
    if (numbers.size() < 2) continue;
    if (options.reverse) std::swap(numbers[0], numbers[1]);
    EXPECT_GE(numbers[0], numbers[1]);
    EXPECT_LE(numbers[0], numbers[1] + 1);
  }
  done = true;
  writer.join();
}

// Two threads write n to both columns of their row at once. Two streams of a scanner, one for each
// column, read the same snapshot, the second a little later. A write that had its sequence number
// when the snapshot was fixed, but was not visible yet, must not enter the snapshot between the two
// reads.
TEST_F(TabletsConcurrencyTest, ASnapshotDoesNotChange) {
  Open(WithServers(Options(), 2));
  TableSchema schema;
  schema.families["f"] = schema.families["g"] = {.gc = GcRule::MaxVersions(1)};
  ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"m"}}));
  Table* const table = OpenTable("t");
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (const char* row : {"a", "z"}) {
    writers.emplace_back([&, row] {
      for (int n = 1; !done; ++n) {
        RowMutation mutation(row);
        mutation.Set("f:", Timestamp(1), std::to_string(n));
        mutation.Set("g:", Timestamp(1), std::to_string(n));
        EXPECT_OK(table->Apply(mutation));
      }
    });
  }
  const auto values = [](ScanStream* stream) {
    std::string text;
    for (; !stream->Done(); stream->Next()) {
      absl::StrAppend(&text, std::string(stream->RowName()), "=", std::string(stream->Value()),
                      " ");
    }
    return text;
  };
  // Without shortcuts a read looks at all writes.
  const SteadyTime end = SteadyTime::Now() + absl::Seconds(20);
  for (int i = 0; i < 3000 && SteadyTime::Now() < end && !HasFailure(); ++i) {
    Scanner scanner(table);
    ScanStream* const first = scanner.FetchColumnFamily("f");
    ScanStream* const second = scanner.FetchColumnFamily("g");
    const std::string seen = values(first);
    EXPECT_EQ(values(second), seen);
    EXPECT_OK(scanner.status());
  }
  done = true;
  for (std::thread& writer : writers) writer.join();
}

// A scan sees its snapshot in tablets that it reaches later, although they were written and
// compacted meanwhile.
TEST_F(TabletsTest, AStreamSeesItsSnapshotInTabletsThatItReachesLater) {
  Open(WithServers(Options(), 2));
  TableSchema schema;
  schema.families["f"] = {.gc = GcRule::MaxVersions(1)};
  ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"d", "h", "p"}}));
  Table* const table = OpenTable("t");
  for (const char* row : {"a", "d", "h", "p"}) Set(table, row, "f:q", 1, "old");
  RowReader reader = table->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());
  for (const char* row : {"a", "d", "h", "p"}) Set(table, row, "f:q", 2, "new");
  ASSERT_OK(database_->Compact("t"));
  std::string seen;
  do {
    absl::StrAppend(&seen, std::string(reader.row().key()), "/", Show(reader.row()), " ");
  } while (reader.Next());
  EXPECT_OK(reader.status());
  EXPECT_EQ(seen, "a/f:q@1=old d/f:q@1=old h/f:q@1=old p/f:q@1=old ");
  EXPECT_EQ(Show(table->ReadRow("p")), "f:q@2=new");
}

}  // namespace
}  // namespace bigtable
