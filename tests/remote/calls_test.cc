// Every call of a connected database, against a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "bigtable/bigtable.h"

#include "remote/row_text.h"
#include "remote/served_fixture.h"

namespace bigtable::remote {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CallsTest : public RemoteTest {};

std::string ReadText(Table* table, std::string_view row, const Filter& filter = {}) {
  const absl::StatusOr<Row> found = table->ReadRow(row, filter);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? TextOf(*found) : "";
}

std::vector<std::string> KeysOf(RowReader reader) {
  std::vector<std::string> keys;
  while (reader.Next()) keys.emplace_back(reader.row().key());
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  return keys;
}

TEST_F(CallsTest, WritesAndReadsARow) {
  Table* const table = NewTable();
  ASSERT_TRUE(table
                  ->Apply(RowMutation("r")
                              .Set("f:q", Timestamp(2000), "new")
                              .Set("f:q", Timestamp(1000), "old")
                              .Set("g:", Timestamp(0), ""))
                  .ok());
  EXPECT_EQ(ReadText(table, "r"), "f:q@2000=new f:q@1000=old g:@0=");
  EXPECT_EQ(ReadText(table, "r", Filter::Latest(1)), "f:q@2000=new g:@0=");
  EXPECT_EQ(table->Get("r", "f:q").value(), "new");
  const absl::StatusOr<Row> none = table->ReadRow("none");
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(none->key(), "none");
}

TEST_F(CallsTest, EveryOperationOfAMutation) {
  Table* const table = NewTable();
  RowMutation cells("r");
  for (int i = 0; i < 6; ++i) cells.Set("f:q", Timestamp(i * 1000), std::to_string(i));
  cells.Set("f:x", Timestamp(0), "x").Set("g:y", Timestamp(0), "y");
  cells.AddToCell("s:n", Timestamp(0), 40).AddToCell("s:n", Timestamp(0), 2);
  cells.MergeToCell("s:m", Timestamp(0), EncodeBigEndian(-1));
  ASSERT_TRUE(table->Apply(cells).ok());
  EXPECT_EQ(DecodeBigEndian(table->Get("r", "s:n").value()).value(), 42);
  EXPECT_EQ(DecodeBigEndian(table->Get("r", "s:m").value()).value(), -1);
  ASSERT_TRUE(table
                  ->Apply(RowMutation("r")
                              .DeleteCell("f:q", Timestamp(5000))
                              .DeleteTimeRange("f:q", Timestamp(1000), Timestamp(3000))
                              .Delete("f:x")
                              .DeleteFamily("s"))
                  .ok());
  EXPECT_EQ(ReadText(table, "r"), "f:q@4000=4 f:q@3000=3 f:q@0=0 g:y@0=y");
  ASSERT_TRUE(table->Apply(RowMutation("r").DeleteRow()).ok());
  EXPECT_EQ(ReadText(table, "r"), "");
}

TEST_F(CallsTest, CellsWithoutATimestampGetTheClients) {
  class FixedClock : public Clock {
   public:
    absl::Time Now() override { return absl::FromUnixMicros(7'654'321); }
  } clock;
  const auto other = Connect(server_->address(), {.clock = &clock});
  ASSERT_TRUE(other.ok());
  NewTable();
  Table* const table = (*other)->OpenTable("t").value();
  ASSERT_TRUE(table->Apply(RowMutation("r").Set("f:q", "v")).ok());
  EXPECT_EQ(ReadText(table, "r"), "f:q@7654000=v");
}

TEST_F(CallsTest, TimestampsAreMilliseconds) {
  Table* const table = NewTable();
  const absl::Status status = table->Apply(RowMutation("r").Set("f:q", Timestamp(1001), "v"));
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("multiple of 1000 microseconds"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("1001"));
}

TEST_F(CallsTest, BadArgumentsAreRefusedAsInAnEmbeddedDatabase) {
  Table* const table = NewTable();
  EXPECT_TRUE(absl::IsInvalidArgument(table->ReadRow("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(table->ReadRow("r", Filter::Latest(0)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(table->Apply(RowMutation("r"))));
  EXPECT_TRUE(absl::IsInvalidArgument(table->Apply(RowMutation("r").Set("q", "v"))));
  RowReader reader = table->ReadRows(RowRange::All(), {.row_limit = -1});
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(absl::IsInvalidArgument(reader.status()));
  EXPECT_TRUE(absl::IsNotFound(table->Apply(RowMutation("r").Set("none:q", "v"))));
  EXPECT_TRUE(absl::IsNotFound(table->ReadRow("r", Filter::Family("none")).status()));
  EXPECT_TRUE(absl::IsNotFound(database_->OpenTable("none").status()));
}

TEST_F(CallsTest, StreamsOfRows) {
  Table* const table = NewTable();
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    ASSERT_TRUE(table->Apply(RowMutation(key).Set("f:q", Timestamp(0), key).Set("f:r", "")).ok());
  }
  EXPECT_THAT(KeysOf(table->ReadRows(RowRange::All())), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(KeysOf(table->ReadRows(RowRange::LeftOpen("a", "c"))), ElementsAre("b", "c"));
  RowSet set;
  set.Append("e");
  set.Append("a");
  set.Append(RowRange::RightOpen("c", "d"));
  EXPECT_THAT(KeysOf(table->ReadRows(set)), ElementsAre("a", "c", "e"));
  EXPECT_THAT(KeysOf(table->ReadRows(RowSet())), ElementsAre());
  EXPECT_THAT(KeysOf(table->ReadRows(RowRange::All(), {.reverse = true, .row_limit = 2})),
              ElementsAre("e", "d"));
  RowReader cells = table->ReadRows(RowRange::All(), {.cell_limit = 3});
  ASSERT_TRUE(cells.Next());
  EXPECT_EQ(cells.row().cells().size(), 2u);
  ASSERT_TRUE(cells.Next());
  EXPECT_EQ(cells.row().cells().size(), 1u);
  EXPECT_FALSE(cells.Next());
}

TEST_F(CallsTest, StreamsAreResumed) {
  Table* const table = NewTable();
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_TRUE(table->Apply(RowMutation(key).Set("f:q", "")).ok());
  }
  RowReader reader = table->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());
  const std::string token = reader.ResumeToken();
  EXPECT_THAT(KeysOf(table->ResumeRows(token)), ElementsAre("b", "c"));
  RowReader other = NewTable("other")->ResumeRows(token);
  EXPECT_FALSE(other.Next());
  EXPECT_TRUE(absl::IsInvalidArgument(other.status()));
}

TEST_F(CallsTest, ARowOutlivesEverything) {
  Table* const table = NewTable();
  ASSERT_TRUE(table->Apply(RowMutation("r").Set("f:q", Timestamp(0), "value")).ok());
  absl::StatusOr<Row> row = table->ReadRow("r");
  ASSERT_TRUE(row.ok());
  database_ = nullptr;
  EXPECT_EQ(TextOf(*row), "f:q@0=value");
}

TEST_F(CallsTest, ValuesLargerThanAChunk) {
  Table* const table = NewTable();
  const std::string value(5 << 20, 'v');
  ASSERT_TRUE(table->Apply(RowMutation("r").Set("f:q", value).Set("f:r", "after")).ok());
  EXPECT_EQ(table->Get("r", "f:q").value(), value);
  EXPECT_EQ(table->Get("r", "f:r").value(), "after");
}

TEST_F(CallsTest, Scanner) {
  Table* const table = NewTable();
  for (const char* key : {"a", "b"}) {
    ASSERT_TRUE(table
                    ->Apply(RowMutation(key)
                                .Set("f:p", Timestamp(2000), "2")
                                .Set("f:p", Timestamp(1000), "1")
                                .Set("f:q", Timestamp(0), "q")
                                .Set("g:x", Timestamp(0), "x"))
                    .ok());
  }
  Scanner scanner(table);
  ScanStream* const f = scanner.FetchColumnFamily("f");
  ScanStream* const g = scanner.FetchColumnFamily("g");
  f->SetReturnAllVersions();
  std::string text;
  for (; !f->Done(); f->Next()) {
    text += std::string(f->RowName()) + "/" + std::string(f->ColumnName()) + "@" +
            std::to_string(f->MicroTimestamp()) + "=" + std::string(f->Value()) + " ";
    EXPECT_EQ(scanner.RowName(), f->RowName());
  }
  EXPECT_EQ(text, "a/f:p@2000=2 a/f:p@1000=1 a/f:q@0=q b/f:p@2000=2 b/f:p@1000=1 b/f:q@0=q ");
  EXPECT_FALSE(g->Done());
  EXPECT_EQ(g->Qualifier(), "x");
  scanner.Lookup("b");
  ASSERT_FALSE(f->Done());
  EXPECT_EQ(f->RowName(), "b");
  f->NextRow();
  EXPECT_TRUE(f->Done());
  EXPECT_TRUE(scanner.status().ok()) << scanner.status();
  scanner.FetchColumnFamily("none")->Done();
  EXPECT_TRUE(absl::IsNotFound(scanner.status()));
}

TEST_F(CallsTest, AtomicOperationsOnARow) {
  Table* const table = NewTable();
  const auto claim = [&](std::string_view who) {
    return table->CheckAndMutateRow("r", Filter::Column("f", "owner"), RowMutation("r"),
                                    RowMutation("r").Set("f:owner", who));
  };
  EXPECT_FALSE(claim("me").value());
  EXPECT_TRUE(claim("you").value());
  EXPECT_EQ(table->Get("r", "f:owner").value(), "me");

  const absl::StatusOr<Row> row = table->ReadModifyWriteRow(
      ReadModifyWrite("r").Append("g:log", "a").Increment("f:n", 5).Append("g:log", "b"));
  ASSERT_TRUE(row.ok()) << row.status();
  ASSERT_EQ(row->cells().size(), 2u);
  EXPECT_EQ(row->key(), "r");
  EXPECT_EQ(row->cells()[0].family, "f");
  EXPECT_EQ(DecodeBigEndian(row->cells()[0].value).value(), 5);
  EXPECT_EQ(row->cells()[1].value, "ab");
  EXPECT_TRUE(absl::IsFailedPrecondition(
      table->ReadModifyWriteRow(ReadModifyWrite("r").Increment("g:log", 1)).status()));
}

TEST_F(CallsTest, Batches) {
  Table* const table = NewTable();
  std::vector<RowMutation> mutations;
  for (int i = 0; i < 1000; ++i) {
    mutations.emplace_back("r" + std::to_string(i % 400))
        .Set("f:q", Timestamp(0), std::to_string(i));
  }
  mutations[3] = RowMutation("").Set("f:q", "");
  mutations[5] = RowMutation("x").Set("none:q", "");
  mutations[7] = RowMutation("x").Set("f:q", Timestamp(1), "");
  const std::vector<absl::Status> statuses = table->ApplyBatch(mutations);
  ASSERT_EQ(statuses.size(), mutations.size());
  for (size_t i = 0; i < statuses.size(); ++i) {
    if (i == 5) {
      EXPECT_TRUE(absl::IsNotFound(statuses[i])) << statuses[i];
    } else {
      EXPECT_EQ(statuses[i].ok(), i != 3 && i != 7) << i << statuses[i];
    }
  }
  // The last of a row's mutations is the one that stays.
  EXPECT_EQ(table->Get("r0", "f:q").value(), "800");
  EXPECT_EQ(table->Get("r399", "f:q").value(), "799");
  EXPECT_TRUE(table->ReadRow("x")->empty());
}

TEST_F(CallsTest, ABatchOfOneRowIsApplied) {
  Table* const table = NewTable();
  WriteBatch batch;
  EXPECT_TRUE(database_->Apply(batch).ok());
  batch.Apply(table, RowMutation("r").Set("f:q", Timestamp(0), "1"));
  batch.Apply(table, RowMutation("r").Set("f:q", Timestamp(0), "2").Set("g:q", "3"));
  EXPECT_TRUE(database_->Apply(batch).ok());
  EXPECT_EQ(table->Get("r", "f:q").value(), "2");
  batch.Apply(table, RowMutation("other").Set("f:q", "3"));
  EXPECT_TRUE(absl::IsUnimplemented(database_->Apply(batch)));
  EXPECT_TRUE(table->ReadRow("other")->empty());
}

TEST_F(CallsTest, TablesOfEitherKindDoNotMix) {
  Table* const remote = NewTable();
  DatabaseOptions options;
  const auto embedded = Database::Open(directory_.path() + "/embedded", options);
  ASSERT_TRUE(embedded.ok());
  Table* const local = *(*embedded)->OpenOrCreateTable("t", {.families = {{"f", {}}}});
  WriteBatch batch;
  batch.Apply(remote, RowMutation("r").Set("f:q", ""));
  EXPECT_TRUE(absl::IsInvalidArgument((*embedded)->Apply(batch)));
  batch.Clear();
  batch.Apply(local, RowMutation("r").Set("f:q", ""));
  EXPECT_TRUE((*embedded)->Apply(batch).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(database_->Apply(batch)));
  auto transaction = (*embedded)->BeginTransaction();
  ASSERT_TRUE(transaction.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(transaction->ReadRow(remote, "r").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(transaction->Apply(remote, RowMutation("r"))));
  RowReader rows = transaction->ReadRows(remote, RowRange::All());
  EXPECT_FALSE(rows.Next());
  EXPECT_TRUE(absl::IsInvalidArgument(rows.status()));
}

TEST_F(CallsTest, TablesAndFamilies) {
  Table* const table = NewTable("one");
  NewTable("two");
  EXPECT_EQ(NewTable("one"), table);
  EXPECT_EQ(table->name(), "one");
  EXPECT_THAT(database_->ListTables().value(), ElementsAre("one", "two"));
  EXPECT_TRUE(absl::IsAlreadyExists(database_->CreateTable("one", {.families = {{"f", {}}}})));
  const GcRule rule =
      GcRule::Union(GcRule::MaxAge(absl::Hours(720)),
                    GcRule::Intersection(GcRule::MaxVersions(3), GcRule::MaxAge(absl::Hours(24))));
  ASSERT_TRUE(database_->AddFamily("one", "new", {.gc = rule}).ok());
  ASSERT_TRUE(database_->UpdateFamily("one", "g", {.gc = GcRule::MaxVersions(2)}).ok());
  ASSERT_TRUE(database_->DropFamily("one", "f").ok());
  const TableSchema schema = database_->GetSchema("one").value();
  EXPECT_EQ(schema.families.size(), 3u);
  EXPECT_EQ(schema.families.at("new").gc, rule);
  EXPECT_EQ(schema.families.at("g").gc, GcRule::MaxVersions(2));
  EXPECT_EQ(schema.families.at("s").value_type, ValueType::kInt64Sum);
  ASSERT_TRUE(database_->DeleteTable("two").ok());
  EXPECT_TRUE(absl::IsNotFound(database_->DeleteTable("two")));
  EXPECT_THAT(database_->ListTables().value(), ElementsAre("one"));
}

TEST_F(CallsTest, AggregatesOfEveryKind) {
  TableSchema schema;
  schema.families = {{"sum", {.value_type = ValueType::kInt64Sum}},
                     {"min", {.value_type = ValueType::kInt64Min}},
                     {"max", {.value_type = ValueType::kInt64Max}},
                     {"unique", {.value_type = ValueType::kHyperLogLog}},
                     {"dsum", {.value_type = ValueType::kDoubleSum}},
                     {"dmin", {.value_type = ValueType::kDoubleMin}},
                     {"dmax", {.value_type = ValueType::kDoubleMax}}};
  ASSERT_TRUE(database_->CreateTable("t", schema).ok());
  EXPECT_EQ(database_->GetSchema("t").value().families, schema.families);
  Table* const table = database_->OpenTable("t").value();
  for (const int64_t number : {5, 3, 4}) {
    RowMutation mutation("r");
    for (const auto& [family, options] : schema.families) {
      if (family.starts_with("d")) {
        mutation.AddToCell(family + ":q", Timestamp(0), number / 10.0);
      } else {
        mutation.AddToCell(family + ":q", Timestamp(0), number);
      }
    }
    ASSERT_TRUE(table->Apply(mutation).ok());
  }
  const auto read = [&](std::string_view column) {
    return DecodeBigEndian(table->Get("r", column).value()).value();
  };
  EXPECT_EQ(read("sum:q"), 12);
  EXPECT_EQ(read("min:q"), 3);
  EXPECT_EQ(read("max:q"), 5);
  const std::string sum = table->Get("r", "dsum:q").value();
  EXPECT_EQ(DoubleSumValue(sum).value(), 1.2);
  EXPECT_EQ(table->Get("r", "dmin:q").value(), EncodeDouble(0.3));
  EXPECT_EQ(table->Get("r", "dmax:q").value(), EncodeDouble(0.5));
  ASSERT_TRUE(table->Apply(RowMutation("r").MergeToCell("dsum:q", Timestamp(0), sum)).ok());
  EXPECT_EQ(DoubleSumValue(table->Get("r", "dsum:q").value()).value(), 2.4);
}

TEST_F(CallsTest, DropsRowsOfAPrefixAndSamplesKeys) {
  ASSERT_TRUE(
      database_->CreateTable("t", {.families = {{"f", {}}}}, {.split_rows = {"b", "c"}}).ok());
  Table* const table = database_->OpenTable("t").value();
  for (const char* key : {"a1", "a2", "b1", "c1"}) {
    ASSERT_TRUE(table->Apply(RowMutation(key).Set("f:q", "")).ok());
  }
  const std::vector<RowKeySample> samples = table->SampleRowKeys().value();
  std::vector<std::string> rows;
  for (const RowKeySample& sample : samples) rows.push_back(sample.row);
  EXPECT_THAT(rows, testing::IsSupersetOf({"b", "c", ""}));
  EXPECT_EQ(rows.back(), "");
  ASSERT_TRUE(table->DropRowRange(RowRange::Prefix("a")).ok());
  EXPECT_THAT(KeysOf(table->ReadRows(RowRange::All())), ElementsAre("b1", "c1"));
  EXPECT_TRUE(absl::IsUnimplemented(table->DropRowRange(RowRange::Closed("a", "b"))));
  EXPECT_TRUE(table->DropRowRange(RowRange::All()).ok());
  EXPECT_THAT(KeysOf(table->ReadRows(RowRange::All())), ElementsAre());
}

TEST_F(CallsTest, WhatTheServiceDoesNotHaveIsUnimplementedAndNamed) {
  Table* const table = NewTable();
  const auto expect = [](const absl::Status& status, std::string_view what) {
    EXPECT_TRUE(absl::IsUnimplemented(status)) << what << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(what)));
  };
  expect(database_->TakeSnapshot().status(), "TakeSnapshot");
  expect(database_->BeginTransaction().status(), "BeginTransaction");
  expect(database_->RunTransaction([](Transaction*) { return absl::OkStatus(); }),
         "BeginTransaction");
  expect(database_->Flush("t"), "Flush");
  expect(database_->Compact("t"), "Compact");
  expect(database_->WaitUntilQuiet(), "WaitUntilQuiet");
  expect(database_->ListTablets("t").status(), "ListTablets");
  expect(database_->SplitTablet("t", "r"), "SplitTablet");
  expect(database_->MergeTablets("t", "r"), "MergeTablets");
  expect(database_->MoveTablet("t", "r", 0), "MoveTablet");
  expect(database_->SetLocalityGroup("t", "g", {}), "SetLocalityGroup");
  expect(database_->SetSplitRule("t", {}), "SetSplitRule");
  expect(database_->SetChangeStream("t", {}), "SetChangeStream");
  expect(database_->SetObservers("t", {}), "SetObservers");
  expect(database_->SetAccessList("l", {}), "SetAccessList");
  expect(database_->DeleteAccessList("l"), "DeleteAccessList");
  expect(database_->GetAccessList("l").status(), "GetAccessList");
  expect(database_->ListAccessLists().status(), "ListAccessLists");
  expect(database_->SetTableQuota("t", {}), "SetTableQuota");
  expect(database_->SetCallerQuota("c", {}), "SetCallerQuota");
  expect(database_->GetTableQuota("t").status(), "GetTableQuota");
  expect(database_->GetCallerQuota("c").status(), "GetCallerQuota");
  expect(database_->ListTableQuotas().status(), "ListTableQuotas");
  expect(database_->ListCallerQuotas().status(), "ListCallerQuotas");
  expect(database_->SetOptions({}), "SetOptions");
  expect(database_->Statistics().background_error, "Statistics");
  expect(database_->OpenTable("t", {.caller = "c"}).status(), "caller");
  expect(table->ApproximateSizes({}).status(), "ApproximateSizes");
  expect(table->MutateRowAtomically("r", {}, [](const Row&) { return RowMutation("r"); }),
         "MutateRowAtomically");
  expect(database_->CreateTable("x", {.locality_groups = {{"big", {}}},
                                      .families = {{"f", {.locality_group = "big"}}}}),
         "big");
  expect(database_->CreateTable("x", {.families = {{"f", {.owner = "o"}}}}), "owner");
  expect(database_->AddFamily("t", "x", {.access_list = "l"}), "access_list");
  database_->PauseCompactions();
  database_->ContinueCompactions();
  database_->CancelCompactions();
  database_->SetCompactionRate(1);
  EXPECT_TRUE(database_->ChangeableOptions().empty());
}

TEST_F(CallsTest, CallsAfterCloseAreRefused) {
  Table* const table = NewTable();
  ASSERT_TRUE(table->Apply(RowMutation("r").Set("f:q", "")).ok());
  RowReader open = table->ReadRows(RowRange::All());
  EXPECT_TRUE(database_->Close().ok());
  EXPECT_TRUE(database_->Close().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(table->ReadRow("r").status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(table->Apply(RowMutation("r").Set("f:q", ""))));
  EXPECT_TRUE(absl::IsFailedPrecondition(database_->ListTables().status()));
  EXPECT_FALSE(open.Next());
  EXPECT_TRUE(absl::IsFailedPrecondition(open.status()));
}

}  // namespace
}  // namespace bigtable::remote
