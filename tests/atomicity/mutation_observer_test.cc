// Observers of mutations: what they see, what they may do, and that every way to write calls them.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "support/expect_status.h"
#include "support/observer_fixture.h"

namespace bigtable {
namespace {

class ObserverTest : public ObserverFixture {};

// --- What is seen ---

TEST_F(ObserverTest, AnObserverSeesTheOperationsOfTheMutation) {
  std::string operations;
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* /*context*/) {
    EXPECT_EQ(mutation.table(), t_);
    EXPECT_EQ(mutation.row(), "r");
    for (const ObservedOperation& operation : mutation.operations()) {
      absl::StrAppend(&operations, static_cast<int>(operation.kind), " ", ToAbsl(operation.family),
                      ":", ToAbsl(operation.qualifier), "@",
                      operation.timestamp.has_value() ? operation.timestamp->micros() : -1, "=",
                      ToAbsl(operation.value), "\n");
    }
    return absl::OkStatus();
  };
  ASSERT_OK(t_->Apply(RowMutation("r")
                          .Set("f:q", "now")
                          .Set("f:q", Timestamp(5), "then")
                          .Delete("f:p")
                          .DeleteCell("g:p", Timestamp(6))
                          .DeleteTimeRange("g:p", Timestamp(2), Timestamp(7))
                          .DeleteFamily("g")
                          .DeleteRow()));
  EXPECT_EQ(operations,
            "0 f:q@-1=now\n"
            "0 f:q@5=then\n"
            "3 f:p@-1=\n"
            "4 g:p@6=\n"
            "5 g:p@2=\n"
            "6 g:@-1=\n"
            "7 :@-1=\n");
}

TEST_F(ObserverTest, AnAtomicOperationPaysAQuotaOfRequestsOnce) {
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 1}));
  const auto matched = t_->CheckAndMutateRow("r", Filter(), RowMutation("r"), Write("r", "v"));
  ASSERT_OK(matched.status());
  EXPECT_FALSE(*matched);
  EXPECT_STATUS(kResourceExhausted, "1 requests a second", t_->Apply(Write("r", "w")));
  ASSERT_OK(database_->SetTableQuota("t", {}));
  EXPECT_EQ(Rows(t_), "r=f:q@1=v");
}

TEST_F(ObserverTest, TheRowIsReadAsItIsAndAsItWillBe) {
  std::string seen;
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    absl::StrAppend(&seen, Show(context->ReadBefore()), " -> ", Show(context->ReadAfter()), "; ");
    EXPECT_EQ(Show(context->ReadRow(mutation.table(), mutation.row())),
              Show(context->ReadBefore()));
    EXPECT_EQ(Show(context->ReadAfter(Filter::Family("g"))), "");
    return absl::OkStatus();
  };
  ASSERT_OK(t_->Apply(Write("r", "one")));
  ASSERT_OK(t_->Apply(RowMutation("r").Set("f:q", Timestamp(2), "two")));
  ASSERT_OK(t_->Apply(RowMutation("r").DeleteCell("f:q", Timestamp(2)).Delete("f:p")));
  ASSERT_OK(t_->Apply(RowMutation("r").DeleteRow()));
  EXPECT_EQ(seen,
            " -> f:q@1=one; f:q@1=one -> f:q@2=two f:q@1=one; f:q@2=two f:q@1=one -> f:q@1=one; "
            "f:q@1=one -> ; ");
}

TEST_F(ObserverTest, EarlierMutationsOfABatchAndOfATransactionAreSeen) {
  std::string seen;
  Hook(0)->before = [&](const ObservedMutation& /*mutation*/, ObserverContext* context) {
    absl::StrAppend(&seen, Show(context->ReadBefore()), " -> ", Show(context->ReadAfter()), "; ");
    absl::StrAppend(&seen, ShowKeys(context->ReadRows(t_, RowSet(RowRange::All()))), "; ");
    return absl::OkStatus();
  };
  const std::string expected = " -> f:q@1=a; ; f:q@1=a -> f:q@1=b; r; f:q@1=b -> f:q@1=c; r s; ";
  WriteBatch batch;
  batch.Apply(t_, Write("r", "a")).Apply(t_, Write("r", "b"));
  batch.Apply(u_, Write("s", "u")).Apply(t_, Write("r", "c"));
  ASSERT_OK(database_->Apply(batch));
  EXPECT_EQ(seen, " -> f:q@1=a; ; f:q@1=a -> f:q@1=b; r; f:q@1=b -> f:q@1=c; r; ");

  ASSERT_OK(t_->Apply(RowMutation("r").DeleteRow()));
  seen.clear();
  ASSERT_OK(database_->RunTransaction([&](Transaction* transaction) -> absl::Status {
    EXPECT_OK(transaction->Apply(t_, Write("r", "a")));
    EXPECT_OK(transaction->Apply(t_, Write("r", "b")));
    EXPECT_EQ(Show(transaction->ReadRow(t_, "r")), "f:q@1=b");
    EXPECT_OK(transaction->Apply(t_, RowMutation("s").Set("f:q", Timestamp(1), "")));
    return transaction->Apply(t_, Write("r", "c"));
  }));
  EXPECT_EQ(seen,
            " -> f:q@1=a; ; f:q@1=a -> f:q@1=b; r;  -> f:q@1=; r; "
            "f:q@1=b -> f:q@1=c; r s; ");
  EXPECT_EQ(Rows(t_), "r=f:q@1=c s=f:q@1=");
}

// --- Ways to write ---

TEST_F(ObserverTest, EveryWayToWriteCallsTheObserver) {
  RecordRows();
  ASSERT_OK(t_->Apply(Write("a", "1")));
  for (const absl::Status& status : t_->ApplyBatch({Write("b", "1"), Write("c", "1")})) {
    ASSERT_OK(status);
  }
  ASSERT_OK(t_->CheckAndMutateRow("d", Filter(), Write("d", "matched"), Write("d", "not")));
  ASSERT_OK(t_->ReadModifyWriteRow(ReadModifyWrite("e").Append("f:q", "1")));
  ASSERT_OK(t_->MutateRowAtomically("f", Filter(), [](const Row&) { return Write("f", "1"); }));
  WriteBatch batch;
  batch.Apply(t_, Write("g", "1")).Apply(u_, Write("not", "1")).Apply(t_, Write("h", "1"));
  ASSERT_OK(database_->Apply(batch));
  ASSERT_OK(database_->RunTransaction(
      [&](Transaction* transaction) { return transaction->Apply(t_, Write("i", "1")); }));
  RowMutation mutation(t_, "j");
  mutation.Set("f:q", "1");
  Operation operation;
  Apply(&operation, &mutation);
  ASSERT_OK(operation.status());

  EXPECT_EQ(seen_, "a b c d e f g h i j ");
  EXPECT_EQ(ShowKeys(t_->ReadRows(RowSet(RowRange::All()))), "a b c d e f g h i j");
  EXPECT_EQ(Rows(u_), "not=f:q@1=1");
}

TEST_F(ObserverTest, ARefusalIsTheErrorOfEveryWayToWriteAndNothingIsApplied) {
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    EXPECT_OK(context->Apply(u_, Write("added", "1")));
    return mutation.row() == "good" ? absl::OkStatus() : absl::OutOfRangeError("refused");
  };
  EXPECT_STATUS(kOutOfRange, "refused", t_->Apply(Write("a", "1")));
  EXPECT_EQ(Rows(u_), "");
  const std::vector<absl::Status> statuses =
      t_->ApplyBatch({Write("b", "1"), Write("good", "1"), RowMutation("")});
  EXPECT_STATUS(kOutOfRange, "refused", statuses[0]);
  EXPECT_OK(statuses[1]);
  EXPECT_STATUS(kInvalidArgument, "a row key must not be empty", statuses[2]);
  EXPECT_STATUS(kOutOfRange, "refused",
                t_->CheckAndMutateRow("d", Filter(), Write("d", "1"), Write("d", "2")));
  EXPECT_STATUS(kOutOfRange, "refused",
                t_->ReadModifyWriteRow(ReadModifyWrite("e").Append("f:q", "1")));
  EXPECT_STATUS(kOutOfRange, "refused",
                t_->MutateRowAtomically("f", Filter(), [](const Row&) { return Write("f", "1"); }));
  WriteBatch batch;
  batch.Apply(t_, Write("good", "2")).Apply(u_, Write("g", "1")).Apply(t_, Write("h", "1"));
  EXPECT_STATUS(kOutOfRange, "refused", database_->Apply(batch));
  EXPECT_EQ(Rows(t_), "good=f:q@1=1");
  EXPECT_EQ(Rows(u_), "added=f:q@1=1");
}

// It is a refusal as any other, and no conflict of the write that is observed.
TEST_F(ObserverTest, AConflictOfAnObserversOwnTransactionIsARefusal) {
  int calls = 0;
  Hook(0)->before = [&](const ObservedMutation& /*mutation*/, ObserverContext* /*context*/) {
    if (++calls > 3) return absl::InternalError("called again");
    Transaction own = *database_->BeginTransaction();
    EXPECT_OK(own.ReadRow(u_, "r").status());
    EXPECT_OK(u_->Apply(Write("r", Cat(calls))));
    EXPECT_OK(own.Apply(u_, Write("other", "v")));
    return own.Commit();
  };
  EXPECT_EQ(t_->Apply(Write("r", "v")).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(t_->ReadModifyWriteRow(ReadModifyWrite("r").Append("f:q", "v")).status().code(),
            absl::StatusCode::kAborted);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(Rows(t_), "");
}

TEST_F(ObserverTest, ARefusalInATransactionLeavesItsEarlierWrites) {
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    EXPECT_OK(context->Apply(u_, Write(mutation.row(), "1")));
    EXPECT_OK(context->ReadBefore());
    return mutation.row() == "bad" ? absl::OutOfRangeError("refused") : absl::OkStatus();
  };
  absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
  ASSERT_OK(transaction);
  EXPECT_OK(transaction->Apply(t_, Write("a", "1")));
  EXPECT_STATUS(kOutOfRange, "refused", transaction->Apply(t_, Write("bad", "1")));
  EXPECT_EQ(Show(transaction->ReadRow(t_, "bad")), "");
  EXPECT_EQ(Show(transaction->ReadRow(u_, "a")), "f:q@1=1");
  EXPECT_OK(transaction->Apply(t_, Write("b", "1")));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(Rows(t_), "a=f:q@1=1 b=f:q@1=1");
  EXPECT_EQ(Rows(u_), "a=f:q@1=1 b=f:q@1=1");
  EXPECT_STATUS(kFailedPrecondition, "the transaction has ended",
                transaction->Apply(t_, Write("c", "1")));
}

TEST_F(ObserverTest, ARefusalOfAnAdditionInATransactionTakesTheMutationBack) {
  Table* const v = CreateObserved("v", {HookObserver::NameOf(1)});
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    EXPECT_OK(context->Apply(u_, Write(mutation.row(), "1")));
    return context->Apply(v, Write(mutation.row(), "1"));
  };
  Hook(1)->before = [&](const ObservedMutation& mutation, ObserverContext* /*context*/) {
    return mutation.row() == "bad" ? absl::OutOfRangeError("refused") : absl::OkStatus();
  };
  Hook(0)->after = [&](const ObservedMutation& mutation, uint64_t /*sequence*/) {
    seen_ += Cat(mutation.row(), " ");
  };
  absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
  ASSERT_OK(transaction);
  EXPECT_OK(transaction->Apply(t_, Write("a", "1")));
  EXPECT_STATUS(kOutOfRange, "refused", transaction->Apply(t_, Write("bad", "1")));
  EXPECT_EQ(ShowKeys(transaction->ReadRows(t_, RowSet(RowRange::All()))), "a");
  EXPECT_EQ(ShowKeys(transaction->ReadRows(u_, RowSet(RowRange::All()))), "a");
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(Rows(t_), "a=f:q@1=1");
  EXPECT_EQ(Rows(u_), "a=f:q@1=1");
  EXPECT_EQ(Rows(v), "a=f:q@1=1");
  EXPECT_EQ(seen_, "a ");
}

TEST_F(ObserverTest, AtomicOperationsReturnTheirResults) {
  RecordRows();
  EXPECT_FALSE(*t_->CheckAndMutateRow("d", Filter(), Write("d", "yes"), Write("d", "no")));
  EXPECT_TRUE(*t_->CheckAndMutateRow("d", Filter(), Write("d", "yes"), Write("d", "no")));
  EXPECT_EQ(Show(t_->ReadRow("d")), "f:q@1=yes");
  clock_.Set(5000);
  EXPECT_EQ(Show(t_->ReadModifyWriteRow(ReadModifyWrite("e").Append("f:q", "x"))), "f:q@5000=x");
  EXPECT_EQ(Show(t_->ReadModifyWriteRow(ReadModifyWrite("e").Increment("f:n", 3))),
            "f:n@5000=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03");
  EXPECT_EQ(seen_, "d d e e ");
}

TEST_F(ObserverTest, InvalidAndUnknownMutationsAreNotObserved) {
  RecordRows();
  EXPECT_STATUS(kNotFound, "has no column family \"x\"",
                t_->Apply(RowMutation("r").Set("x:q", "1")));
  EXPECT_STATUS(kInvalidArgument, "is no aggregate",
                t_->Apply(RowMutation("r").AddToCell("f:q", Timestamp(1), int64_t{1})));
  EXPECT_STATUS(kInvalidArgument, "", t_->Apply(RowMutation("r")));
  EXPECT_STATUS(kInvalidArgument, "WriteOptions::durability",
                t_->Apply(Write("r", "1"), {.durability = static_cast<Durability>(7)}));
  EXPECT_EQ(seen_, "");
}

// --- Additions ---

TEST_F(ObserverTest, WhatIsAddedIsAppliedAfterTheMutationAndWithIt) {
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    absl::StatusOr<Table*> u = context->OpenTable("u");
    EXPECT_OK(u);
    EXPECT_OK(context->Apply(*u, Write(mutation.row(), "of another table")));
    // Of the same row: it is not observed, and overwrites the cell of the mutation.
    EXPECT_OK(context->Apply(t_, Write(mutation.row(), "overwritten")));
    EXPECT_OK(context->Apply(t_, RowMutation(mutation.row()).Set("g:q", Timestamp(1), "more")));
    // It sees neither of these.
    EXPECT_EQ(Show(context->ReadAfter()), "f:q@1=written");
    EXPECT_EQ(Show(context->ReadRow(*u, mutation.row())), "");
    return absl::OkStatus();
  };
  ASSERT_OK(t_->Apply(Write("r", "written")));
  EXPECT_EQ(Rows(t_), "r=f:q@1=overwritten g:q@1=more");
  EXPECT_EQ(Rows(u_), "r=f:q@1=of another table");
}

TEST_F(ObserverTest, ObserversAreCalledInTheirOrderAndSeeWhatIsAddedToTheRowBefore) {
  ASSERT_OK(database_->SetObservers("t", {HookObserver::NameOf(1), HookObserver::NameOf(0)}));
  Hook(1)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    seen_ += "1 ";
    EXPECT_OK(context->Apply(t_, RowMutation(mutation.row()).Set("g:q", Timestamp(1), "added")));
    return absl::OkStatus();
  };
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    seen_ += Cat("0 ", Show(context->ReadAfter()), " ", mutation.operations().size());
    return absl::OkStatus();
  };
  ASSERT_OK(t_->Apply(Write("r", "written")));
  EXPECT_EQ(seen_, "1 0 f:q@1=written g:q@1=added 1");
}

TEST_F(ObserverTest, AdditionsToOtherRowsAndTablesAreObservedInTheirTurn) {
  Table* const v = CreateObserved("v", {HookObserver::NameOf(1)});
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    seen_ += Cat("t:", mutation.row(), " ");
    if (mutation.row() == "b") return absl::OkStatus();
    EXPECT_OK(context->Apply(t_, Write("b", "1")));
    return context->Apply(v, Write("c", "1"));
  };
  Hook(1)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    // What precedes the addition is seen.
    seen_ += Cat("v:", mutation.row(), " after ",
                 ShowKeys(context->ReadRows(t_, RowSet(RowRange::All()))));
    return context->Apply(u_, Write("d", "1"));
  };
  ASSERT_OK(t_->Apply(Write("a", "1")));
  EXPECT_EQ(seen_, "t:a t:b v:c after a b");
  EXPECT_EQ(Rows(t_), "a=f:q@1=1 b=f:q@1=1");
  EXPECT_EQ(Rows(v), "c=f:q@1=1");
  EXPECT_EQ(Rows(u_), "d=f:q@1=1");
}

TEST_F(ObserverTest, ARefusalOfAnAdditionRefusesAll) {
  Table* const v = CreateObserved("v", {HookObserver::NameOf(1)});
  Hook(0)->before = [&](const ObservedMutation& /*mutation*/, ObserverContext* context) {
    return context->Apply(v, Write("c", "1"));
  };
  Hook(1)->before = [&](const ObservedMutation& /*mutation*/, ObserverContext* /*context*/) {
    return absl::OutOfRangeError("refused");
  };
  EXPECT_STATUS(kOutOfRange, "refused", t_->Apply(Write("a", "1")));
  EXPECT_EQ(Rows(t_), "");
}

TEST_F(ObserverTest, ObserversThatAddForEverAreStopped) {
  int depth = 0;
  int limit = 8;
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    if (depth++ == limit) return absl::OkStatus();
    return context->Apply(t_, Write(Cat(mutation.row(), "+"), "1"));
  };
  limit = 8;
  const absl::Status status = t_->Apply(Write("r", "1"));
  EXPECT_STATUS(kFailedPrecondition,
                "observers add mutations that are observed in their turn more than 8 deep: table t "
                "(observer test-hook-0) -> table t (observer test-hook-0) -> table t",
                status);
  EXPECT_EQ(Rows(t_), "");
  depth = 0;
  limit = 7;
  ASSERT_OK(t_->Apply(Write("r", "1")));
  EXPECT_EQ(ShowKeys(t_->ReadRows(RowSet(RowRange::All()))),
            "r r+ r++ r+++ r++++ r+++++ r++++++ r+++++++");
}

TEST_F(ObserverTest, InvalidAdditionsAreRefused) {
  Hook(0)->before = [&](const ObservedMutation& /*mutation*/, ObserverContext* context) {
    EXPECT_STATUS(kInvalidArgument, "must not be empty", context->Apply(u_, RowMutation("")));
    EXPECT_STATUS(kNotFound, "no table \"none\"", context->OpenTable("none"));
    return context->Apply(u_, RowMutation("r").Set("x:q", "1"));
  };
  EXPECT_STATUS(kNotFound, "has no column family \"x\"", t_->Apply(Write("a", "1")));
  EXPECT_EQ(Rows(t_), "");
}

// --- Conflicts ---

TEST_F(ObserverTest, ObserversAreCalledAgainIfWhatTheyHaveReadWasWritten) {
  int calls = 0;
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    absl::StatusOr<Row> read = context->ReadRow(u_, "x");
    EXPECT_OK(read);
    if (++calls < 3) {
      EXPECT_OK(u_->Apply(Write("x", absl::StrCat(calls))));
    }
    return context->Apply(u_, Write(mutation.row(), Show(read)));
  };
  ASSERT_OK(t_->Apply(Write("r", "1")));
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(Rows(u_), "r=f:q@1=f:q@1=2 x=f:q@1=2");
}

TEST_F(ObserverTest, AWriteWhoseObserverReadsNothingHasNoConflict) {
  int calls = 0;
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    if (++calls == 1) {
      EXPECT_OK(t_->Apply(Write(mutation.row(), "between")));
    }
    return context->Apply(u_, Write("added", "1"));
  };
  ASSERT_OK(t_->Apply(Write("r", "1")));
  EXPECT_EQ(calls, 2);  // one of them for the write in between
  EXPECT_EQ(Rows(t_), "r=f:q@1=1");
}

TEST_F(ObserverTest, AnAtomicOperationReadsItsRowAgainAfterAConflict) {
  int calls = 0;
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* /*context*/) {
    // Of the same row: the operations do not hold what their callers wait for.
    if (++calls == 1) {
      EXPECT_OK(t_->ReadModifyWriteRow(ReadModifyWrite(mutation.row()).Append("f:q", "b")));
    }
    return absl::OkStatus();
  };
  absl::StatusOr<Row> row = t_->ReadModifyWriteRow(ReadModifyWrite("r").Append("f:q", "a"));
  ASSERT_OK(row);
  EXPECT_EQ(row->cells().front().value, "ba");
  EXPECT_EQ(*t_->Get("r", "f:q"), "ba");
  EXPECT_GE(calls, 3);
}

TEST_F(ObserverTest, AnAtomicOperationIsTriedOnceThoughAnotherServerHasLaterWrites) {
  ASSERT_OK(database_->MoveTablet("t", "r", 0));
  ASSERT_OK(database_->MoveTablet("u", "x", 1));
  ASSERT_OK(t_->Apply(Write("r", "1")));
  ASSERT_OK(u_->Apply(Write("x", "1")));
  int calls = 0;
  Hook(0)->before = [&](const ObservedMutation& /*mutation*/, ObserverContext* context) {
    ++calls;
    EXPECT_EQ(Show(context->ReadRow(u_, "x")), "f:q@1=1");
    return absl::OkStatus();
  };
  const WriteOptions options{.deadline = absl::Now() + absl::Seconds(2)};
  EXPECT_OK(t_->ReadModifyWriteRow(ReadModifyWrite("r").Append("f:q", "2"), options));
  EXPECT_EQ(calls, 1);
}

TEST_F(ObserverTest, DeadlineAndCancellationEndTheTries) {
  Hook(0)->before = [&](const ObservedMutation& /*mutation*/, ObserverContext* context) {
    // The read is of the call, and may be what its deadline ends.
    const absl::Status read = context->ReadRow(u_, "x").status();
    if (absl::IsDeadlineExceeded(read)) return read;
    EXPECT_OK(read);
    EXPECT_OK(u_->Apply(Write("x", "1")));
    return absl::OkStatus();
  };
  EXPECT_STATUS(kDeadlineExceeded, "",
                t_->Apply(Write("r", "1"), {.deadline = absl::Now() + absl::Milliseconds(20)}));
  Cancellation cancellation;
  Hook(0)->before = [&](const ObservedMutation& /*mutation*/, ObserverContext* context) {
    EXPECT_OK(context->ReadRow(u_, "x"));
    EXPECT_OK(u_->Apply(Write("x", "1")));
    cancellation.Cancel();
    return absl::OkStatus();
  };
  EXPECT_STATUS(kCancelled, "", t_->Apply(Write("r", "1"), {.cancellation = &cancellation}));
  EXPECT_EQ(Rows(t_), "");
}

// --- After ---

TEST_F(ObserverTest, AfterIsCalledForEachCommittedMutationWithItsSequenceNumber) {
  std::vector<uint64_t> sequences;
  Hook(0)->after = [&](const ObservedMutation& mutation, uint64_t sequence) {
    seen_ += Cat(mutation.row(), "=", mutation.operations().front().value, " ");
    sequences.push_back(sequence);
    EXPECT_EQ(Show(t_->ReadRow(mutation.row())),
              Cat("f:q@1=", mutation.operations().front().value));
    absl::StatusOr<std::shared_ptr<const Snapshot>> snapshot = database_->TakeSnapshot();
    EXPECT_OK(snapshot);
    EXPECT_GE((*snapshot)->sequence(), sequence);
  };
  absl::StatusOr<std::shared_ptr<const Snapshot>> before = database_->TakeSnapshot();
  ASSERT_OK(before);
  ASSERT_OK(t_->Apply(Write("a", "1")));
  WriteBatch batch;
  batch.Apply(t_, Write("c", "2")).Apply(u_, Write("x", "2")).Apply(t_, Write("b", "2"));
  ASSERT_OK(database_->Apply(batch));
  ASSERT_OK(t_->CheckAndMutateRow("d", Filter(), Write("d", "3"), Write("d", "4")));
  EXPECT_EQ(seen_, "a=1 c=2 b=2 d=4 ");
  ASSERT_EQ(sequences.size(), 4);
  EXPECT_LT((*before)->sequence(), sequences[0]);
  EXPECT_LT(sequences[0], sequences[1]);
  EXPECT_EQ(sequences[1], sequences[2]);
  EXPECT_LT(sequences[2], sequences[3]);
}

TEST_F(ObserverTest, AfterIsNotCalledForAWriteThatFails) {
  Hook(0)->after = [&](const ObservedMutation& mutation, uint64_t /*sequence*/) {
    seen_ += Cat(mutation.row(), " ");
  };
  WriteBatch batch;
  batch.Apply(t_, Write("a", "1")).Apply(u_, RowMutation("b").Set("x:q", "1"));
  EXPECT_STATUS(kNotFound, "has no column family \"x\"", database_->Apply(batch));
  Hook(0)->before = [&](const ObservedMutation& /*mutation*/, ObserverContext* /*context*/) {
    return absl::OutOfRangeError("refused");
  };
  EXPECT_STATUS(kOutOfRange, "refused", t_->Apply(Write("a", "1")));
  EXPECT_EQ(seen_, "");
}

TEST_F(ObserverTest, AfterMayReadAndWriteElsewhereAndNotToTablesWithObservers) {
  absl::Status written;
  Hook(0)->after = [&](const ObservedMutation& mutation, uint64_t /*sequence*/) {
    written = t_->Apply(Write("from-after", "1"));
    EXPECT_OK(u_->Apply(Write(mutation.row(), "1")));
  };
  ASSERT_OK(t_->Apply(Write("a", "1")));
  EXPECT_STATUS(kFailedPrecondition, "MutationObserver::After must not write to it", written);
  EXPECT_EQ(Rows(t_), "a=f:q@1=1");
  EXPECT_EQ(Rows(u_), "a=f:q@1=1");
  ASSERT_OK(t_->Apply(Write("b", "1")));
}

TEST_F(ObserverTest, AfterMayNotCommitATransactionThatIsObserved) {
  absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
  ASSERT_OK(transaction);
  ASSERT_OK(transaction->Apply(t_, Write("prepared", "1")));
  absl::Status committed;
  Hook(0)->after = [&](const ObservedMutation& /*mutation*/, uint64_t /*sequence*/) {
    committed = transaction->Commit();
  };
  ASSERT_OK(t_->Apply(Write("a", "1")));
  EXPECT_STATUS(kFailedPrecondition, "MutationObserver::After must not commit", committed);
}

}  // namespace
}  // namespace bigtable
