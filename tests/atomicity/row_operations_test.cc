// CheckAndMutateRow, ReadModifyWriteRow and MutateRowAtomically with one thread, in place and
// through messages: what they read, write, return and refuse.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"

namespace bigtable {
namespace {

// Families "f" and "g" in two locality groups; two tablets on two servers.
class RowOperationsTest : public DatabaseFixture, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    OpenHere(Options());
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["f"] = {};
    schema.families["g"] = {.locality_group = "other"};
    schema.split.tablet_size = 0;
    ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"s"}}));
    table_ = OpenTable("t");
  }
  void OpenHere(DatabaseOptions options) {
    options.tablet_servers = 2;
    Open(options);
    if (!GetParam()) return;
    DatabasePeer peer(database_.get());
    network_ = std::make_unique<FaultyNetwork>(1, FaultyNetwork::Faults{});
    peer.UseServices([this](ServerHost* host) { return network_->To(host); });
  }
  void ReopenHere(const DatabaseOptions& options) {
    ASSERT_OK(database_->Close());
    database_.reset();
    OpenHere(options);
    table_ = OpenTable("t");
  }
  void TearDown() override { database_.reset(); }

  static Filter Column(std::string_view qualifier) { return Filter::Column("f", qualifier); }
  int64_t CounterOf(std::string_view row, std::string_view column) {
    const absl::StatusOr<std::string> value = table_->Get(row, column);
    EXPECT_OK(value);
    const absl::StatusOr<int64_t> number = DecodeBigEndian(value.value_or(""));
    EXPECT_OK(number);
    return number.value_or(-1);
  }
  TableCallStatistics Calls() { return database_->Statistics().calls.at("t"); }

  Table* table_ = nullptr;
  std::unique_ptr<FaultyNetwork> network_;
};
INSTANTIATE_TEST_SUITE_P(InPlaceAndByMessages, RowOperationsTest, testing::Bool(),
                         [](const auto& instance) {
                           return instance.param ? "Messages" : "InPlace";
                         });

// --- CheckAndMutateRow ---

TEST_P(RowOperationsTest, APredicateThatPassesACellChoosesTheFirstMutation) {
  Set(table_, "r", "f:state", 1, "new");
  const Filter is_new =
      Filter::Chain(Column("state"), Filter::Latest(1), Filter::ValueRegex("new"));
  const RowMutation begin = RowMutation("r").Set("f:state", Timestamp(2), "begun");
  const RowMutation complain = RowMutation("r").Set("g:error", Timestamp(3), "not new");

  ASSERT_OK_AND_ASSIGN(const bool first, table_->CheckAndMutateRow("r", is_new, begin, complain));
  EXPECT_TRUE(first);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:state@2=begun f:state@1=new");
  ASSERT_OK_AND_ASSIGN(const bool second, table_->CheckAndMutateRow("r", is_new, begin, complain));
  EXPECT_FALSE(second);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:state@2=begun f:state@1=new g:error@3=not new");
}

TEST_P(RowOperationsTest, AnEmptyMutationDoesNothing) {
  const RowMutation nothing("r");
  const RowMutation set = RowMutation("r").Set("f:q", Timestamp(1), "v");
  ASSERT_OK_AND_ASSIGN(const bool absent, table_->CheckAndMutateRow("r", {}, set, nothing));
  EXPECT_FALSE(absent);
  EXPECT_EQ(Show(table_->ReadRow("r")), "");
  ASSERT_OK_AND_ASSIGN(const bool claimed, table_->CheckAndMutateRow("r", {}, nothing, set));
  EXPECT_FALSE(claimed);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@1=v");
  const RowMutation again = RowMutation("r").Set("f:q", Timestamp(2), "w");
  ASSERT_OK_AND_ASSIGN(const bool taken, table_->CheckAndMutateRow("r", {}, nothing, again));
  EXPECT_TRUE(taken);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@1=v");
}

TEST_P(RowOperationsTest, AnInvalidCheckIsRefusedAndChangesNothing) {
  const RowMutation set = RowMutation("r").Set("f:q", Timestamp(1), "v");
  const RowMutation other = RowMutation("other").Set("f:q", "v");
  EXPECT_STATUS(kInvalidArgument, "both mutations of row \"r\" are empty",
                table_->CheckAndMutateRow("r", {}, RowMutation("r"), RowMutation("r")));
  for (const auto& [matched, not_matched] : {std::pair(&set, &other), std::pair(&other, &set)}) {
    const auto result = table_->CheckAndMutateRow("r", {}, *matched, *not_matched);
    EXPECT_TRUE(
        IsStatus(absl::StatusCode::kInvalidArgument, result.status(), "\"r\"", "\"other\""));
  }
  // Of both mutations, whichever is applied.
  const RowMutation bad = RowMutation("r").Set("no colon", "v");
  EXPECT_STATUS(kInvalidArgument, "no colon", table_->CheckAndMutateRow("r", {}, bad, set));
  EXPECT_STATUS(kInvalidArgument, "no colon", table_->CheckAndMutateRow("r", {}, set, bad));
  EXPECT_STATUS(kInvalidArgument, "must not be empty",
                table_->CheckAndMutateRow("", {}, RowMutation(""), RowMutation("")));
  EXPECT_STATUS(kInvalidArgument, "", table_->CheckAndMutateRow("r", Filter::Latest(0), set, set));
  EXPECT_STATUS(kNotFound, "nothing",
                table_->CheckAndMutateRow("r", Filter::Family("nothing"), set, set));
  EXPECT_STATUS(kNotFound, "nothing",
                table_->CheckAndMutateRow("r", {}, set, RowMutation("r").Set("nothing:q", "v")));
  EXPECT_EQ(Show(table_->ReadRow("r")), "");
  EXPECT_EQ(Calls().check_and_mutate_row.errors, 9u);
}

// --- ReadModifyWriteRow ---

TEST_P(RowOperationsTest, RulesSeeTheResultsOfThoseBefore) {
  clock_.Set(5000);
  Set(table_, "r", "f:text", 7, "abc");
  Set(table_, "r", "f:text", 3, "older");
  ReadModifyWrite rules("r");
  rules.Append("g:new", "x").Append("f:text", "d").Increment("f:n", 5).Append("f:text", "e");
  rules.Increment("f:n", -7);
  ASSERT_OK_AND_ASSIGN(const Row written, table_->ReadModifyWriteRow(rules));
  EXPECT_EQ(written.key(), "r");
  ASSERT_EQ(written.cells().size(), 3u);
  EXPECT_EQ(written.cells()[0].value, EncodeBigEndian(-2));
  EXPECT_EQ(written.cells()[1].value, "abcde");
  EXPECT_EQ(written.cells()[2].value, "x");
  for (const Cell& cell : written.cells()) EXPECT_EQ(cell.timestamp.micros(), 5000);
  EXPECT_EQ(CounterOf("r", "f:n"), -2);
  EXPECT_EQ(Show(table_->ReadRow("r", Column("text"))),
            "f:text@5000=abcde f:text@7=abc f:text@3=older");
  EXPECT_EQ(Show(table_->ReadRow("r", Filter::Family("g"))), "g:new@5000=x");
}

// Families and qualifiers, and not the text of the column, in which ':' is after '-'.
TEST_P(RowOperationsTest, TheNewCellsAreInTheOrderOfARow) {
  ASSERT_OK(database_->AddFamily("t", "f-2", {}));
  ReadModifyWrite rules("r");
  rules.Append("f-2:a", "1").Append("f:b", "2").Append("f:", "3").Append("f:\xff", "4");
  ASSERT_OK_AND_ASSIGN(const Row written, table_->ReadModifyWriteRow(rules));
  EXPECT_EQ(Show(written), Show(table_->ReadRow("r")));
  EXPECT_EQ(Show(written), "f:@1000=3 f:b@1000=2 f:\\xff@1000=4 f-2:a@1000=1");
}

TEST_P(RowOperationsTest, ANewCellIsNeverOlderThanTheOldOne) {
  Set(table_, "r", "f:q", 9000, "future");
  ASSERT_OK_AND_ASSIGN(const Row written,
                       table_->ReadModifyWriteRow(ReadModifyWrite("r").Append("f:q", "!")));
  EXPECT_EQ(Show(written), "f:q@9000=future!");
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@9000=future!");
}

TEST_P(RowOperationsTest, ACounterWrapsAround) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", kMost)));
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 1)));
  EXPECT_EQ(CounterOf("r", "f:n"), std::numeric_limits<int64_t>::min());
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", -1)));
  EXPECT_EQ(CounterOf("r", "f:n"), kMost);
}

TEST_P(RowOperationsTest, ADeletedCounterBeginsAtZero) {
  clock_.Set(2000);
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 5)));
  ASSERT_OK(table_->Apply(RowMutation("r").Delete("f:n")));
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 3)));
  EXPECT_EQ(CounterOf("r", "f:n"), 3);
  ASSERT_OK(database_->DropFamily("t", "f"));
  ASSERT_OK(database_->AddFamily("t", "f", {}));
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 4)));
  EXPECT_EQ(CounterOf("r", "f:n"), 4);
}

TEST_P(RowOperationsTest, AnIncrementOfAnythingElseIsRefusedAndChangesNothing) {
  Set(table_, "r", "f:text", 1, "abc");
  const auto refused =
      table_->ReadModifyWriteRow(ReadModifyWrite("r").Append("f:q", "v").Increment("f:text", 1));
  EXPECT_TRUE(IsStatus(absl::StatusCode::kFailedPrecondition, refused.status(), "\"f:text\"",
                       "\"r\"", "has 3"));
  EXPECT_STATUS(
      kFailedPrecondition, "has 1",
      table_->ReadModifyWriteRow(ReadModifyWrite("r").Append("f:new", "x").Increment("f:new", 1)));
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:text@1=abc");
}

TEST_P(RowOperationsTest, InvalidRulesAreRefused) {
  EXPECT_STATUS(kInvalidArgument, "\"r\" has none",
                table_->ReadModifyWriteRow(ReadModifyWrite("r")));
  EXPECT_STATUS(kInvalidArgument, "no colon",
                table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("n", 1)));
  EXPECT_STATUS(kInvalidArgument, "no family",
                table_->ReadModifyWriteRow(ReadModifyWrite("r").Append(":n", "x")));
  EXPECT_STATUS(kInvalidArgument, "must not be empty",
                table_->ReadModifyWriteRow(ReadModifyWrite("").Increment("f:n", 1)));
  EXPECT_STATUS(kNotFound, "nothing",
                table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("nothing:n", 1)));
  EXPECT_STATUS(kInvalidArgument, "durability",
                table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 1),
                                           {.durability = static_cast<Durability>(7)}));
  EXPECT_STATUS(kInvalidArgument, "has 7", DecodeBigEndian("1234567"));
  EXPECT_EQ(Show(table_->ReadRow("r")), "");
}

TEST_P(RowOperationsTest, AValueThatWouldBecomeTooLargeIsRefusedAndChangesNothing) {
  Set(table_, "r", "f:q", 1, "1234");
  const auto limited = [] { return ReadModifyWrite("r").SetMaxValueSize(5); };
  EXPECT_STATUS(kInvalidArgument, "a value must be at most 5 bytes, and \"f:q\" would have 6",
                table_->ReadModifyWriteRow(limited().Append("f:new", "x").Append("f:q", "56")));
  EXPECT_STATUS(kInvalidArgument, "\"f:q\" would have 6",
                table_->ReadModifyWriteRow(limited().Append("f:q", "5").Append("f:q", "6")));
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@1=1234");
  ASSERT_OK(table_->ReadModifyWriteRow(limited().Append("f:q", "5")));
  ASSERT_OK_AND_ASSIGN(const std::string value, table_->Get("r", "f:q"));
  EXPECT_EQ(value, "12345");
  EXPECT_EQ(ReadModifyWrite("r").max_value_size(), RowMutation::kMaxValueSize);
}

// --- MutateRowAtomically ---

TEST_P(RowOperationsTest, AFunctionSeesTheCellsThatPassAndItsMutationIsApplied) {
  Set(table_, "r", "f:a", 1, "1");
  Set(table_, "r", "g:b", 1, "2");
  const absl::Status status = table_->MutateRowAtomically(
      "r", Filter::Family("f"), [](const Row& row) -> absl::StatusOr<RowMutation> {
        EXPECT_EQ(Show(row), "f:a@1=1");
        return RowMutation("r").Delete("f:a").Set("f:c", Timestamp(2), row.cells()[0].value);
      });
  ASSERT_OK(status);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:c@2=1 g:b@1=2");
}

TEST_P(RowOperationsTest, AFunctionRunsAgainIfItsCellsHaveChanged) {
  int runs = 0;
  const auto count = [&](const Row& row) -> absl::StatusOr<RowMutation> {
    if (++runs <= 2) Set(table_, "r", "f:n", 1, std::string(static_cast<size_t>(runs), 'x'));
    const std::string seen(row.empty() ? "" : row.cells()[0].value);
    return RowMutation("r").Set("f:n", Timestamp(1), seen + "!");
  };
  ASSERT_OK(table_->MutateRowAtomically("r", Column("n"), count));
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:n@1=xx!");
  EXPECT_GE(Calls().row_retries, 2u);
}

TEST_P(RowOperationsTest, AFunctionRunsOnceIfOnlyOtherCellsHaveChanged) {
  Set(table_, "r", "f:n", 1, "x");
  int runs = 0;
  ASSERT_OK(
      table_->MutateRowAtomically("r", Column("n"), [&](const Row&) -> absl::StatusOr<RowMutation> {
        ++runs;
        Set(table_, "r", "g:other", 1, "y");
        return RowMutation("r").Set("f:n", Timestamp(1), "z");
      }));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:n@1=z g:other@1=y");
}

TEST_P(RowOperationsTest, AFunctionMayUseItsOwnRow) {
  int runs = 0;
  ASSERT_OK(table_->MutateRowAtomically(
      "r", Column("q"), [&](const Row& row) -> absl::StatusOr<RowMutation> {
        ++runs;
        if (row.empty()) {
          EXPECT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Append("f:q", "inner")));
        }
        return RowMutation("r").Set("f:seen", Timestamp(1), row.empty() ? "nothing" : "inner");
      }));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(table_->Get("r", "f:seen").value_or(""), "inner");
}

TEST_P(RowOperationsTest, WhatAFunctionRefusesChangesNothing) {
  const absl::Status error =
      table_->MutateRowAtomically("r", {}, [](const Row&) -> absl::StatusOr<RowMutation> {
        return absl::OutOfRangeError("my own error");
      });
  EXPECT_STATUS(kOutOfRange, "my own error", error);
  EXPECT_OK(table_->MutateRowAtomically(
      "r", {}, [](const Row&) -> absl::StatusOr<RowMutation> { return RowMutation("r"); }));
  const absl::Status other = table_->MutateRowAtomically(
      "r", {},
      [](const Row&) -> absl::StatusOr<RowMutation> { return RowMutation("s").Set("f:q", "v"); });
  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, other, "\"r\"", "\"s\""));
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All())), "");
  EXPECT_EQ(Calls().mutate_row_atomically.calls, 3u);
  EXPECT_EQ(Calls().mutate_row_atomically.errors, 2u);
}

// --- Preconditions ---

// A schema is changed between the read and the write: it is a write to every row.
TEST_P(RowOperationsTest, AFamilyThatIsDroppedMeanwhileIsNotMissed) {
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("g:n", 1)));  // tracks writes
  Set(table_, "r", "f:q", 1, "v");
  std::string seen;
  ASSERT_OK(table_->MutateRowAtomically(
      "r", Column("q"), [&](const Row& row) -> absl::StatusOr<RowMutation> {
        seen += row.empty() ? "none" : "one ";
        if (!row.empty()) {
          EXPECT_OK(database_->DropFamily("t", "f"));
          EXPECT_OK(database_->AddFamily("t", "f", {}));
        }
        return RowMutation("r").Set("g:seen", Timestamp(1), row.empty() ? "none" : "one");
      }));
  EXPECT_EQ(seen, "one none");
  EXPECT_EQ(table_->Get("r", "g:seen").value_or(""), "none");
}

TEST_P(RowOperationsTest, AWriteOnAnotherServerIsNotMissed) {
  for (const std::string row : {"a", "z"}) {  // both servers track writes
    ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite(row).Increment("f:n", 1)));
  }
  Set(table_, "r", "f:q", 1, "0");
  int runs = 0;
  ASSERT_OK(table_->MutateRowAtomically(
      "r", Column("q"), [&](const Row& row) -> absl::StatusOr<RowMutation> {
        if (++runs == 1) {
          EXPECT_OK(database_->MoveTablet("t", "a", 1));
          Set(table_, "r", "f:q", 1, "1");
          EXPECT_OK(database_->MoveTablet("t", "a", 0));
        }
        return RowMutation("r").Set("f:q", Timestamp(1), std::string(row.cells()[0].value) + "+");
      }));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@1=1+");
}

// Also one that leaves no trace in a log: a server that is lost loses it.
TEST_P(RowOperationsTest, TheLossOfAnUnloggedWriteIsNotMissed) {
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 1)));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 1),
                                       {.durability = Durability::kNone}));
  int runs = 0;
  ASSERT_OK(table_->MutateRowAtomically(
      "r", Column("n"), [&](const Row& row) -> absl::StatusOr<RowMutation> {
        if (++runs == 1) {
          DatabasePeer peer(database_.get());
          for (TabletServer* server : peer.Servers()) peer.Kill(server);
          peer.ReplaceLostServers();
        }
        return RowMutation("r").Set("g:copy", row.cells()[0].value);
      }));
  EXPECT_EQ(CounterOf("r", "g:copy"), CounterOf("r", "f:n"));
}

// --- Limits ---

TEST_P(RowOperationsTest, DeadlineAndCancellationEndTheTries) {
  const auto disturb = [&](const WriteOptions& options) {
    int runs = 0;
    return table_->MutateRowAtomically(
        "r", {},
        [&](const Row&) -> absl::StatusOr<RowMutation> {
          Set(table_, "r", "f:q", 1, std::to_string(++runs));
          return RowMutation("r").Set("f:mine", "v");
        },
        options);
  };
  EXPECT_STATUS(kDeadlineExceeded, "", disturb({.deadline = absl::Now() + absl::Milliseconds(50)}));
  Cancellation cancellation;
  int runs = 0;
  const absl::Status cancelled =
      table_->MutateRowAtomically("r", {},
                                  [&](const Row&) -> absl::StatusOr<RowMutation> {
                                    Set(table_, "r", "f:q", 1, std::to_string(++runs));
                                    if (runs == 5) cancellation.Cancel();
                                    return RowMutation("r").Set("f:mine", "v");
                                  },
                                  {.cancellation = &cancellation});
  EXPECT_STATUS(kCancelled, "", cancelled);
  EXPECT_EQ(runs, 5);
  const WriteOptions late = {.deadline = absl::Now() - absl::Seconds(1)};
  EXPECT_STATUS(kDeadlineExceeded, "",
                table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 1), late));
  EXPECT_STATUS(kCancelled, "",
                table_->CheckAndMutateRow("r", {}, RowMutation("r"), RowMutation("r").DeleteRow(),
                                          {.cancellation = &cancellation}));
  EXPECT_STATUS(kNotFound, "", table_->Get("r", "f:mine"));
}

TEST_P(RowOperationsTest, AReadOnlyOrClosedDatabaseRefuses) {
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 1)));
  bool has_run = false;
  const auto expect_refused = [&](std::string_view why) {
    const auto function = [&](const Row&) -> absl::StatusOr<RowMutation> {
      has_run = true;
      return RowMutation("r");
    };
    EXPECT_STATUS(kFailedPrecondition, why, table_->MutateRowAtomically("r", {}, function));
    EXPECT_STATUS(kFailedPrecondition, why,
                  table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 1)));
    EXPECT_STATUS(
        kFailedPrecondition, why,
        table_->CheckAndMutateRow("r", {}, RowMutation("r"), RowMutation("r").DeleteRow()));
  };
  DatabaseOptions read_only = Options();
  read_only.read_only = true;
  ReopenHere(read_only);
  expect_refused("read-only");
  EXPECT_EQ(CounterOf("r", "f:n"), 1);
  ASSERT_OK(database_->Close());
  expect_refused("closed");
  EXPECT_FALSE(has_run);
}

TEST_P(RowOperationsTest, ACallerNeedsPermissionToReadAndToWrite) {
  ASSERT_OK(database_->SetAccessList(
      "list", {.readers = {"reader", "both"}, .writers = {"writer", "both"}}));
  ASSERT_OK(database_->AddFamily("t", "p", {.access_list = "list"}));
  const auto as = [&](std::string_view caller) {
    return *database_->OpenTable("t", {.caller = std::string(caller)});
  };
  const ReadModifyWrite visit = ReadModifyWrite("r").Increment("p:n", 1);
  const RowMutation set = RowMutation("r").Set("p:q", "v");
  const auto copy = [&](const Row&) -> absl::StatusOr<RowMutation> { return set; };
  for (const std::string_view who : {"reader", "writer"}) {
    EXPECT_STATUS(kPermissionDenied, who, as(who)->ReadModifyWriteRow(visit));
    EXPECT_STATUS(kPermissionDenied, who,
                  as(who)->CheckAndMutateRow("r", Filter::Family("p"), set, set));
    EXPECT_STATUS(kPermissionDenied, who,
                  as(who)->MutateRowAtomically("r", Filter::Family("p"), copy));
  }
  EXPECT_EQ(Show(table_->ReadRow("r")), "");
  EXPECT_OK(as("both")->ReadModifyWriteRow(visit));
  EXPECT_OK(as("both")->CheckAndMutateRow("r", Filter::Family("p"), set, set));
  EXPECT_OK(as("both")->MutateRowAtomically("r", Filter::Family("p"), copy));
}

TEST_P(RowOperationsTest, CallsAreCounted) {
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 1)));
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:n", 1)));
  ASSERT_OK(table_->CheckAndMutateRow("r", {}, RowMutation("r"), RowMutation("r").DeleteRow()));
  const TableCallStatistics calls = Calls();
  EXPECT_EQ(calls.read_modify_write_row.calls, 2u);
  EXPECT_EQ(calls.check_and_mutate_row.calls, 1u);
  EXPECT_EQ(calls.apply.calls, 0u);
  EXPECT_EQ(calls.read_row.calls, 0u);
  EXPECT_LE(calls.row_retries, 1u);  // the first of a server, which did not note its writes before
}

}  // namespace
}  // namespace bigtable
