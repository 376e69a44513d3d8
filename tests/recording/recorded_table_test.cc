// What is recorded of each kind of call, and that the call itself is as without a recorder.
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"

#include "recorded_calls.h"

namespace bigtable {
namespace {

using testing::ElementsAre;

using RecordedTableTest = RecordingFixture;

TEST_F(RecordedTableTest, Writes) {
  EXPECT_OK(table_->Apply(RowMutation("r").Set("f:q", Timestamp(5), "abc").Set("f:p", "v"),
                          {.durability = Durability::kSync}));
  EXPECT_OK(table_->Apply(RowMutation("r")
                              .Delete("f:q")
                              .DeleteCell("f:p", Timestamp(0))
                              .DeleteTimeRange("f:q", Timestamp(1), Timestamp(9))
                              .DeleteFamily("g")
                              .DeleteRow()));
  EXPECT_EQ(table_->Apply(RowMutation("r").Set("x:q", "v")).code(), absl::StatusCode::kNotFound);
  const std::vector<RowMutation> batch = {RowMutation("a").Set("f:", "1"),
                                          RowMutation("b").Set("y:q", "2")};
  EXPECT_OK(table_->ApplyBatch(batch)[0]);
  EXPECT_THAT(Lines(),
              ElementsAre("Apply t synced {t r: 1 f:q@5=3 1 f:p@now=1}",
                          "Apply t {t r: 5 f:q@now=0 2 f:p@0=0 11 f:q@1-9=0 6 g:@now=0 7 :@now=0}",
                          "Apply t {t r: 1 x:q@now=1} NOT_FOUND",
                          "ApplyBatch t {t a: 1 f:@now=1} {t b: 1 y:q@now=1} NOT_FOUND"));
}

TEST_F(RecordedTableTest, Contributions) {
  TableSchema schema;
  schema.families["n"] = {.value_type = ValueType::kInt64Sum};
  Table* const counters = CreateTable("c", schema);
  EXPECT_OK(counters->Apply(RowMutation("r").AddToCell("n:q", Timestamp(3), int64_t{1})));
  EXPECT_EQ(Lines().back().substr(0, 26), "Apply c {c r: 8 n:q@3=8}");
}

TEST_F(RecordedTableTest, AtomicOperations) {
  Set(table_, "r", "f:q", 1, "old");
  EXPECT_EQ(table_->CheckAndMutateRow("r", Filter::Family("f"), RowMutation("r").Set("f:a", "x"),
                                      RowMutation("r").DeleteRow()),
            absl::StatusOr<bool>(true));
  EXPECT_OK(table_->ReadModifyWriteRow(
      ReadModifyWrite("r").Append("f:log", "12345").Increment("g:n", 7)));
  EXPECT_OK(table_->MutateRowAtomically("r", {}, [](const Row& row) {
    return absl::StatusOr<RowMutation>(RowMutation(row.key()).Set("f:z", "zz"));
  }));
  EXPECT_EQ(table_
                ->MutateRowAtomically(
                    "r", {},
                    [](const Row&) { return absl::StatusOr<RowMutation>(absl::AbortedError("")); })
                .code(),
            absl::StatusCode::kAborted);
  EXPECT_THAT(Lines(), ElementsAre("Apply t {t r: 1 f:q@1=3}",
                                   "Check t r {t r: 1 f:a@now=1} {t r: 7 :@now=0} -> 1 rows 0 "
                                   "cells 0 bytes",
                                   "ReadModifyWrite t {t r: 64 f:log@now=5 65 g:n@now=8} -> 1 rows "
                                   "2 cells 18 bytes",
                                   "MutateAtomically t r {t r: 1 f:z@now=2}",
                                   "MutateAtomically t r ABORTED"));
}

TEST_F(RecordedTableTest, Reads) {
  for (const char* row : {"a", "b", "c"}) Set(table_, row, "f:q", 1, "value");
  EXPECT_EQ(Show(table_->ReadRow("a")), "f:q@1=value");
  EXPECT_EQ(Show(table_->ReadRow("x")), "");
  EXPECT_EQ(table_->Get("a", "f:q"), absl::StatusOr<std::string>("value"));
  RowSet rows(RowRange::Single("a"));
  rows.Append(RowRange::RightOpen("b", "c"));
  EXPECT_EQ(ShowKeys(table_->ReadRows(rows)), "a b");
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All(), {.reverse = true, .row_limit = 2})), "c b");
  {
    RowReader left_early = table_->ReadRows(RowRange::StartingAt("a"));
    ASSERT_TRUE(left_early.Next());
    RowReader resumed = table_->ResumeRows(left_early.ResumeToken());
    ASSERT_TRUE(resumed.Next());
    EXPECT_EQ(resumed.row().key(), "b");
  }
  std::vector<std::string> lines = Lines();
  lines.erase(lines.begin(), lines.begin() + 3);
  EXPECT_THAT(lines, ElementsAre("ReadRow t a -> 1 rows 1 cells 7 bytes", "ReadRow t x",
                                 "ReadRow t a -> 1 rows 1 cells 7 bytes",
                                 "ReadRows t a [b,c) -> 2 rows 2 cells 14 bytes",
                                 "ReadRows t [,-) reverse row_limit=2 -> 2 rows 2 cells 14 bytes",
                                 "ReadRows t [b,-) -> 1 rows 1 cells 7 bytes",
                                 "ReadRows t [a,-) -> 1 rows 1 cells 7 bytes"));
}

TEST_F(RecordedTableTest, RowsThatAreReadTogetherAreReadsOfOneRow) {
  for (const char* row : {"a", "b"}) Set(table_, row, "f:q", 1, "value");
  const std::vector<std::string_view> rows = {"b", "x", "", "a", "b"};
  const std::vector<absl::StatusOr<Row>> found = table_->GetRows(rows, {}, {.cell_limit = 3});
  ASSERT_EQ(found.size(), rows.size());
  for (const int present : {0, 3, 4}) EXPECT_EQ(Show(found[present]), "f:q@1=value");
  EXPECT_EQ(Show(found[1]), "");
  EXPECT_STATUS(kInvalidArgument, "row key", found[2]);
  std::vector<std::string> lines = Lines();
  lines.erase(lines.begin(), lines.begin() + 2);
  ASSERT_EQ(lines.size(), rows.size());
  EXPECT_EQ(lines[0], "ReadRow t b cell_limit=3 -> 1 rows 1 cells 7 bytes");
  EXPECT_EQ(lines[1], "ReadRow t x cell_limit=3");
  EXPECT_EQ(lines[2].substr(0, 9), "ReadRow t");
  EXPECT_EQ(lines[3], "ReadRow t a cell_limit=3 -> 1 rows 1 cells 7 bytes");
  EXPECT_EQ(lines[4], lines[0]);
}

TEST_F(RecordedTableTest, AFilterIsTheSame) {
  Set(table_, "a", "f:q", 1, "value");
  const Filter filter = Filter::Chain(Filter::Family("g"), Filter::Latest(1));
  EXPECT_EQ(Show(table_->ReadRow("a", filter)), "");
  const RecordedCall call = Calls().back();
  EXPECT_EQ(Show(table_->ReadRow("a", call.filter)), "");
  EXPECT_EQ(Show(table_->ReadRow("a")), "f:q@1=value");
}

TEST_F(RecordedTableTest, AScannerIsACallForEachRange) {
  for (const char* row : {"a", "b", "c"}) Set(table_, row, "f:q", 1, "value");
  {
    Scanner scanner(table_);
    ScanStream* const stream = scanner.FetchColumnFamily("f");
    scanner.Lookup("b");
    EXPECT_FALSE(stream->Done() || stream->Done());  // a cell counts once
    EXPECT_EQ(ShowStream(stream), "b/f:q@1=value");
    scanner.SetRange(RowRange::StartingAt("b"));
    EXPECT_EQ(ShowStream(stream), "b/f:q@1=value c/f:q@1=value");
    EXPECT_OK(scanner.status());
    scanner.Lookup("never read");
  }
  {
    Scanner scanner(table_);
    scanner.SetRange(RowRange::All());
    ScanStream* const none = scanner.FetchColumnFamily("none");
    EXPECT_TRUE(none->Done());
    EXPECT_EQ(scanner.status().code(), absl::StatusCode::kNotFound);
  }
  std::vector<std::string> lines = Lines();
  lines.erase(lines.begin(), lines.begin() + 3);
  EXPECT_THAT(lines,
              ElementsAre("Scan t b -> 1 rows 1 cells 6 bytes",
                          "Scan t [b,-) -> 2 rows 2 cells 12 bytes", "Scan t [,-) NOT_FOUND"));
}

TEST_F(RecordedTableTest, BatchesAndTransactions) {
  Table* const other = CreateTable("u", SchemaOfT());
  WriteBatch batch;
  batch.Apply(table_, RowMutation("r").Set("f:q", "1"));
  batch.Apply(other, RowMutation("s").Set("g:q", "22"));
  EXPECT_OK(database_->Apply(batch));
  EXPECT_OK(database_->RunTransaction([&](Transaction* transaction) {
    EXPECT_EQ(transaction->ReadRow(other, "s")->cells().size(), 1u);
    RowReader rows = transaction->ReadRows(table_, RowRange::All());
    EXPECT_TRUE(rows.Next());
    return transaction->Apply(other, RowMutation("s").DeleteRow());
  }));
  EXPECT_OK(database_->RunTransaction([](Transaction*) { return absl::OkStatus(); }));
  EXPECT_OK(table_->DropRowRange(RowRange::Prefix("r")));
  EXPECT_THAT(Lines(), ElementsAre("WriteBatch t {t r: 1 f:q@now=1} {u s: 1 g:q@now=2}",
                                   "ReadRow u s -> 1 rows 1 cells 4 bytes",
                                   "ReadRows t [,-) -> 1 rows 1 cells 3 bytes",
                                   "Commit u {u s: 7 :@now=0}", "DropRowRange t [r,s)"));
}

// Only the program's own calls: the observer's write is a part of them.
TEST_F(RecordedTableTest, ABatchOfAnotherDatabaseIsNotRecorded) {
  InMemoryFileSystem others;
  DatabaseOptions options = Options();
  options.file_system = &others;
  auto other = Database::Open("/other", options);
  ASSERT_OK(other);
  ASSERT_OK((*other)->CreateTable("t", SchemaOfT()));
  WriteBatch batch;
  batch.Apply(table_, RowMutation("r").Set("f:q", "1"));
  batch.Apply(*(*other)->OpenTable("t"), RowMutation("r").Set("f:q", "1"));
  EXPECT_EQ(database_->Apply(batch).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Lines(), ElementsAre());
}

TEST_F(RecordedTableTest, TablesOfCallersAndChangedSchemas) {
  ASSERT_OK(database_->AddFamily("t", "h", {}));
  absl::StatusOr<Table*> of_caller = database_->OpenTable("t", {.caller = "somebody"});
  ASSERT_OK(of_caller);
  EXPECT_EQ(Show((*of_caller)->ReadRow("r")), "");
  ASSERT_OK(database_->DeleteTable("t"));
  ASSERT_OK(database_->CreateTable("t", SchemaOfT()));
  Set(OpenTable("t"), "r", "f:q", 1, "v");
  EXPECT_OK(database_->Close());  // which ends the recording
  const std::unique_ptr<RecordingReader> reader = Reader();
  RecordedCall call;
  ASSERT_TRUE(reader->Next(&call));
  EXPECT_EQ(Show(call), "ReadRow t r");
  EXPECT_EQ(reader->tables().at("t").families.size(), 3u);
  ASSERT_TRUE(reader->Next(&call));
  EXPECT_EQ(Show(call), "Apply t {t r: 1 f:q@1=1}");
  EXPECT_EQ(reader->tables().at("t").families.size(), 2u);
  EXPECT_FALSE(reader->Next(&call));
  EXPECT_FALSE(reader->is_truncated());
}

TEST_F(RecordedTableTest, TimesAndThreads) {
  Set(table_, "r", "f:q", 1, "v");
  std::thread([&] { Set(table_, "r", "f:q", 2, "v"); }).join();
  Set(table_, "r", "f:q", 3, "v");
  const std::vector<RecordedCall> calls = Calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].thread, calls[2].thread);
  EXPECT_NE(calls[0].thread, calls[1].thread);
  for (size_t i = 1; i < calls.size(); ++i) {
    EXPECT_GE(calls[i].begin, calls[i - 1].begin + calls[i - 1].duration);
  }
}

TEST_F(RecordedTableTest, HashedKeysAreEqualIfTheyWereAndTellNothingElse) {
  Record({.keys = RecordedKeys::kHashed});
  const std::string row = "customer-4711@example.com";
  for (int i = 0; i < 2; ++i) Set(table_, row, "f:secret-column", 1, "secret-value");
  Set(table_, "r", "f:secret-column", 1, "v");
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::RightOpen("r", "secret-end"),
                                      Filter::RowKeysRegex("secret-regex"))),
            "");
  EXPECT_EQ(Show(table_->ReadRow(row, Filter::Family("g"))), "");
  const std::vector<RecordedCall> calls = Calls();
  ASSERT_EQ(calls.size(), 5u);
  EXPECT_EQ(calls[0].mutations, calls[1].mutations);
  EXPECT_EQ(calls[0].mutations[0].row.size(), row.size());
  EXPECT_EQ(calls[0].mutations[0].operations[0].family, "f");
  EXPECT_EQ(calls[2].mutations[0].row.size(), 8u);
  EXPECT_NE(calls[2].mutations[0].row, calls[0].mutations[0].row.substr(0, 8));
  EXPECT_EQ(calls[2].mutations[0].operations, [&] {
    std::vector<RecordedOperation> same = calls[0].mutations[0].operations;
    same[0].value_size = 1;
    return same;
  }());
  EXPECT_TRUE(calls[3].filter_left_out);
  EXPECT_EQ(calls[3].ranges[0].begin(), calls[2].mutations[0].row);
  EXPECT_FALSE(calls[3].ranges[0].end().has_value());
  EXPECT_EQ(calls[4].ranges[0], RowRange::Single(calls[0].mutations[0].row));
  const std::string file = file_system_->Contents(kRecording);
  EXPECT_THAT(file, testing::Not(testing::HasSubstr("secret")));
  EXPECT_THAT(file, testing::Not(testing::HasSubstr("customer")));
}

TEST_F(RecordedTableTest, LongKeysAreHashedWhole) {
  Record({.keys = RecordedKeys::kHashed});
  const std::string row(60'001, 'r');
  Set(table_, row, "f:q", 1, "v");
  std::string other = row;
  other.back() = 's';
  Set(table_, other, "f:q", 1, "v");
  const std::vector<RecordedCall> calls = Calls();
  const std::string& hashed = calls[0].mutations[0].row;
  EXPECT_EQ(hashed.size(), row.size());
  EXPECT_NE(hashed.substr(0, 8), calls[1].mutations[0].row.substr(0, 8));
  EXPECT_NE(hashed.substr(0, 8), hashed.substr(8, 8));
}

TEST_F(RecordedTableTest, ANewRecordingHashesInAnotherWay) {
  std::vector<std::string> rows;
  for (int i = 0; i < 2; ++i) {
    Record({.keys = RecordedKeys::kHashed});
    Set(table_, "row", "f:q", 1, "v");
    rows.push_back(Calls()[0].mutations[0].row);
  }
  EXPECT_NE(rows[0], rows[1]);
}

// A stream whose error nobody has looked at stays one: recording it does not count as a look.
TEST_F(RecordedTableTest, AnErrorIsTheOneOfTheStream) {
  RowReader reader = table_->ReadRows(RowRange::All(), Filter::Latest(-1));
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kInvalidArgument);
  reader = table_->ReadRows(RowSet());
  EXPECT_FALSE(reader.Next());
  EXPECT_OK(reader.status());
  EXPECT_EQ(Lines()[0], "ReadRows t [,-) filtered INVALID_ARGUMENT");
}

}  // namespace
}  // namespace bigtable
