// Observers in schemas: how they are set and changed, who may write to a table that has some, and
// what cannot call them.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "support/expect_status.h"
#include "support/observer_fixture.h"
#include "support/remote_fixture.h"
#include "transaction/observers.h"

namespace bigtable {
namespace {

class ObserverSchemaTest : public ObserverFixture {};

// --- Schemas ---

TEST_F(ObserverSchemaTest, ObserversChangeWhileTheTableIsOpen) {
  RecordRows();
  ASSERT_OK(u_->Apply(Write("a", "1")));
  ASSERT_OK(database_->SetObservers("u", {HookObserver::NameOf(0)}));
  ASSERT_OK(u_->Apply(Write("b", "1")));
  EXPECT_EQ(database_->GetSchema("u")->observers,
            std::vector<std::string>{HookObserver::NameOf(0)});
  Reopen(WithServers(2));
  u_ = OpenTable("u");
  ASSERT_OK(u_->Apply(Write("c", "1")));
  ASSERT_OK(database_->SetObservers("u", {}));
  ASSERT_OK(u_->Apply(Write("d", "1")));
  ASSERT_OK(u_->Apply(Write("e", "1")));
  EXPECT_EQ(seen_, "b c ");
}

TEST_F(ObserverSchemaTest, EveryWayToWriteFindsNewObservers) {
  RecordRows();
  const std::vector<std::function<absl::Status(std::string_view)>> ways = {
      [&](std::string_view row) { return u_->Apply(Write(row, "1")); },
      [&](std::string_view row) { return u_->ApplyBatch({Write(row, "1")}).front(); },
      [&](std::string_view row) {
        return u_->CheckAndMutateRow(row, Filter(), Write(row, "1"), Write(row, "1")).status();
      },
      [&](std::string_view row) {
        return u_->ReadModifyWriteRow(ReadModifyWrite(row).Append("f:q", "1")).status();
      },
      [&](std::string_view row) {
        return u_->MutateRowAtomically(row, Filter(), [&](const Row&) { return Write(row, "1"); });
      },
      [&](std::string_view row) {
        WriteBatch batch;
        return database_->Apply(batch.Apply(u_, Write(row, "1")));
      },
      [&](std::string_view row) {
        return database_->RunTransaction(
            [&](Transaction* transaction) { return transaction->Apply(u_, Write(row, "1")); });
      },
  };
  for (size_t i = 0; i < ways.size(); ++i) {
    ASSERT_OK(database_->SetObservers("u", {}));
    ASSERT_OK(ways[i]("unobserved"));
    ASSERT_OK(ways[i]("unobserved"));
    ASSERT_OK(database_->SetObservers("u", {HookObserver::NameOf(0)}));
    seen_.clear();
    ASSERT_OK(ways[i]("observed"));
    EXPECT_EQ(seen_, "observed ") << i;
  }
}

// Without a conflict that tells the transaction of them.
TEST_F(ObserverSchemaTest, ATransactionAfterSetObserversCallsThemAtOnce) {
  RecordRows();
  ASSERT_OK(u_->Apply(Write("a", "1")));
  ASSERT_OK(database_->SetObservers("u", {HookObserver::NameOf(0)}));
  ASSERT_OK_AND_ASSIGN(Transaction transaction, database_->BeginTransaction());
  ASSERT_OK(transaction.Apply(u_, Write("b", "1")));
  EXPECT_EQ(seen_, "b ");
  EXPECT_OK(transaction.Commit());
}

TEST_F(ObserverSchemaTest, NamesAreChecked) {
  EXPECT_STATUS(kInvalidArgument, "there is no mutation observer \"none\"; registered are: ",
                database_->SetObservers("u", {"none"}));
  TableSchema schema = StillSchema();
  schema.observers = {"none"};
  EXPECT_STATUS(kInvalidArgument, "there is no mutation observer \"none\"",
                database_->CreateTable("v", schema));
  const std::string name = HookObserver::NameOf(0);
  EXPECT_STATUS(kInvalidArgument, "must have each observer once",
                database_->SetObservers("u", {name, name}));
  EXPECT_STATUS(kInvalidArgument, "at most 16 observers, and has 17",
                database_->SetObservers("u", std::vector<std::string>(17, name)));
  EXPECT_STATUS(kInvalidArgument, "the name of an observer must be 1 to 64 printable ASCII",
                database_->SetObservers("u", {"a b"}));
  EXPECT_STATUS(kAlreadyExists, "is already registered",
                RegisterMutationObserver(name, std::make_unique<IndexObserver>()));
  EXPECT_STATUS(kInvalidArgument, "must not be null", RegisterMutationObserver("null", nullptr));
  EXPECT_STATUS(kNotFound, "", database_->SetObservers("none", {name}));
}

TEST_F(ObserverSchemaTest, WithoutItsObserverATableIsReadAndNotWritten) {
  static const absl::Status registered =
      RegisterMutationObserver("test-forgotten", std::make_unique<IndexObserver>());
  ASSERT_OK(registered);
  ASSERT_OK(u_->Apply(Write("r", "1")));
  ASSERT_OK(database_->SetObservers("u", {"test-forgotten"}));
  ForgetObserver("test-forgotten");

  Reopen(WithServers(2));
  u_ = OpenTable("u");
  EXPECT_EQ(Rows(u_), "r=f:q@1=1");
  const char* const why =
      "table u has the observer \"test-forgotten\", which this program has not registered";
  EXPECT_STATUS(kFailedPrecondition, why, u_->Apply(Write("r", "2")));
  EXPECT_STATUS(kFailedPrecondition, why, u_->ApplyBatch({Write("r", "2")}).front());
  EXPECT_STATUS(kFailedPrecondition, why,
                u_->ReadModifyWriteRow(ReadModifyWrite("r").Append("f:q", "1")));
  ASSERT_OK(database_->Compact("u"));
  EXPECT_EQ(Rows(u_), "r=f:q@1=1");
  // Without the observer the table can be written.
  ASSERT_OK(database_->SetObservers("u", {}));
  ASSERT_OK(u_->Apply(Write("r", "2")));
}

// --- Callers ---

TEST_F(ObserverSchemaTest, ObserversActForTheProgramAndOnlyOnWhatTheCallerMayWrite) {
  ASSERT_OK(database_->SetAccessList("writers", {.writers = {"alice"}}));
  ASSERT_OK(database_->SetAccessList("nobody", {}));
  ASSERT_OK(database_->UpdateFamily("t", "f", {.access_list = "writers"}));
  ASSERT_OK(database_->UpdateFamily("t", "g", {.access_list = "nobody"}));
  ASSERT_OK(database_->UpdateFamily("u", "f", {.access_list = "nobody"}));
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* context) {
    seen_ += Cat(mutation.row(), " ");
    EXPECT_EQ(Show(context->ReadBefore()), "");
    EXPECT_EQ(Show(context->ReadAfter()), "f:q@1=1");
    absl::StatusOr<Table*> u = context->OpenTable("u");
    EXPECT_OK(u);
    EXPECT_OK(context->Apply(mutation.table(),
                             RowMutation(mutation.row()).Set("g:q", Timestamp(1), "stamp")));
    return context->Apply(*u, Write(mutation.row(), "1"));
  };
  const absl::StatusOr<Table*> of_alice = database_->OpenTable("t", {.caller = "alice"});
  const absl::StatusOr<Table*> of_bob = database_->OpenTable("t", {.caller = "bob"});
  ASSERT_OK(of_alice);
  ASSERT_OK(of_bob);
  ASSERT_OK((*of_alice)->Apply(Write("a", "1")));
  EXPECT_STATUS(kPermissionDenied, "bob", (*of_bob)->Apply(Write("b", "1")));
  EXPECT_EQ(seen_, "a ");
  EXPECT_EQ(Rows(t_), "a=f:q@1=1 g:q@1=stamp");
  EXPECT_EQ(Rows(u_), "a=f:q@1=1");
}

TEST_F(ObserverSchemaTest, ADatabaseThatCannotBeWrittenCallsNoObserver) {
  RecordRows();
  DatabaseOptions options = WithServers(2);
  options.read_only = true;
  Reopen(options);
  t_ = OpenTable("t");
  EXPECT_STATUS(kFailedPrecondition, "read-only", t_->Apply(Write("r", "1")));
  ASSERT_OK(database_->Close());
  EXPECT_STATUS(kFailedPrecondition, "the database is closed", t_->Apply(Write("r", "1")));
  EXPECT_EQ(seen_, "");
}

TEST_F(ObserverSchemaTest, ADatabaseThatIsClosedMeanwhileRefusesTheRest) {
  bool closes = false;
  Hook(0)->before = [&](const ObservedMutation& /*mutation*/, ObserverContext* context) {
    EXPECT_OK(context->ReadBefore());
    if (closes) {
      EXPECT_OK(database_->Close());
    }
    return context->Apply(u_, Write("r", "1"));
  };
  absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
  ASSERT_OK(transaction);
  ASSERT_OK(transaction->Apply(t_, Write("a", "1")));
  closes = true;
  EXPECT_STATUS(kFailedPrecondition, "the database is closed", t_->Apply(Write("r", "1")));
  EXPECT_STATUS(kFailedPrecondition, "the database is closed",
                transaction->Apply(t_, Write("b", "1")));
  EXPECT_STATUS(kFailedPrecondition, "the database is closed", transaction->Commit());
}

TEST_F(ObserverSchemaTest, CallsAreCountedAndTheirErrors) {
  Hook(0)->before = [&](const ObservedMutation& mutation, ObserverContext* /*context*/) {
    return mutation.row() == "bad" ? absl::OutOfRangeError("refused") : absl::OkStatus();
  };
  EXPECT_OK(t_->Apply(Write("a", "1")));
  EXPECT_STATUS(kOutOfRange, "", t_->Apply(Write("bad", "1")));
  (void)t_->ApplyBatch({Write("a", "1"), Write("bad", "1")});
  EXPECT_OK(t_->CheckAndMutateRow("a", Filter(), Write("a", "1"), Write("a", "1")));
  const TableCallStatistics calls = database_->Statistics().calls.at("t");
  EXPECT_EQ(calls.apply.calls, 2);
  EXPECT_EQ(calls.apply.errors, 1);
  EXPECT_EQ(calls.apply_batch.calls, 1);
  EXPECT_EQ(calls.apply_batch.errors, 1);
  EXPECT_EQ(calls.check_and_mutate_row.calls, 1);
}

// --- By messages ---

class RemoteObserverTest : public RemoteFixture {};

TEST_F(RemoteObserverTest, ATableWithObserversIsNotWrittenByMessages) {
  HookObserver::ClearAll();
  TableSchema schema = StillSchema();
  schema.observers = {HookObserver::Get(0)->NameOf(0)};
  OpenRemotely(2, FaultyNetwork::Faults());
  Table* const t = CreateTable("t", schema);
  Table* const u = CreateTable("u", StillSchema());
  EXPECT_STATUS(kUnimplemented, "table t has observers",
                t->Apply(RowMutation("r").Set("f:q", "1")));
  EXPECT_STATUS(kUnimplemented, "table t has observers",
                t->ReadModifyWriteRow(ReadModifyWrite("r").Append("f:q", "1")));
  ASSERT_OK(u->Apply(RowMutation("r").Set("f:q", "1")));
  ASSERT_OK(database_->SetObservers("u", schema.observers));
  EXPECT_STATUS(kUnimplemented, "table u has observers",
                u->Apply(RowMutation("r").Set("f:q", "1")));
}

}  // namespace
}  // namespace bigtable
