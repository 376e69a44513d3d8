// Transactions: what they see, what is a conflict and what is not, and what they leave behind.
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/strings.h"
#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/faulty_network.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

// Tables "t" and "u" of four tablets each, with two families in two locality groups.
class TransactionTest : public TabletsFixture {
 protected:
  void OpenTables(int servers = 3) {
    Open(WithServers(servers));
    TableSchema schema = StillSchema();
    schema.locality_groups["other"] = {};
    schema.families["g"] = {.locality_group = "other"};
    CreateTableOptions options{.split_rows = {RowOf(10), RowOf(20), RowOf(30)}};
    ASSERT_OK(database_->CreateTable("t", schema, options));
    ASSERT_OK(database_->CreateTable("u", schema, options));
    t_ = OpenTable("t");
    u_ = OpenTable("u");
  }
  Transaction Begin() {
    absl::StatusOr<Transaction> begun = database_->BeginTransaction();
    EXPECT_OK(begun);
    return *std::move(begun);
  }
  static RowMutation Write(int row, std::string_view value) {
    return RowMutation(RowOf(row)).Set("f:q", Timestamp(1), value);
  }
  static std::string Get(Transaction& transaction, Table* table, int row) {
    return Show(transaction.ReadRow(table, RowOf(row)));
  }
  static std::string Rows(RowReader reader) {
    std::string text;
    for (const Row& row : reader) absl::StrAppend(&text, ToAbsl(row.key()), "=", Show(row), ";");
    EXPECT_OK(reader.status());
    return text;
  }
  // Whether a transaction that has run `read`, and writes to row 35 of "u", commits after `write`.
  template <typename Read, typename Interfere>
  bool Commits(Read read, Interfere interfere) {
    Transaction transaction = Begin();
    read(transaction);
    interfere();
    EXPECT_OK(transaction.Apply(u_, Write(35, "committed")));
    const absl::Status status = transaction.Commit();
    if (!status.ok()) {
      EXPECT_STATUS(kAborted, "may have been written since", status);
    }
    return status.ok();
  }

  Table* t_ = nullptr;
  Table* u_ = nullptr;
};

TEST_F(TransactionTest, WritesAreVisibleTogetherAtTheCommit) {
  OpenTables();
  Transaction transaction = Begin();
  ASSERT_OK(transaction.Apply(t_, Write(1, "a")));
  ASSERT_OK(transaction.Apply(u_, Write(31, "b")));
  EXPECT_EQ(Show(t_->ReadRow(RowOf(1))), "");
  ASSERT_OK(transaction.Commit({.durability = Durability::kSync}));
  EXPECT_EQ(Show(t_->ReadRow(RowOf(1))), "f:q@1=a");
  EXPECT_EQ(Show(u_->ReadRow(RowOf(31))), "f:q@1=b");
  Kill();
  Open(WithServers(2));
  EXPECT_EQ(Show(OpenTable("t")->ReadRow(RowOf(1))), "f:q@1=a");
  EXPECT_EQ(Show(OpenTable("u")->ReadRow(RowOf(31))), "f:q@1=b");
}

TEST_F(TransactionTest, ReadsSeeTheSnapshotAndTheOwnWrites) {
  OpenTables();
  for (const int row : {1, 11, 21}) ASSERT_OK(t_->Apply(Write(row, "old")));
  Transaction transaction = Begin();
  ASSERT_OK(t_->Apply(Write(1, "new")));
  ASSERT_OK(t_->Apply(Write(2, "new")));
  EXPECT_EQ(Get(transaction, t_, 1), "f:q@1=old");
  EXPECT_EQ(Get(transaction, t_, 2), "");
  ASSERT_OK(transaction.Apply(t_, Write(11, "own")));
  ASSERT_OK(transaction.Apply(t_, Write(12, "own")));
  ASSERT_OK(transaction.Apply(t_, RowMutation(RowOf(21)).DeleteRow()));
  ASSERT_OK(transaction.Apply(u_, Write(5, "elsewhere")));
  EXPECT_EQ(Get(transaction, t_, 11), "f:q@1=own");
  EXPECT_EQ(Get(transaction, t_, 12), "f:q@1=own");
  EXPECT_EQ(Get(transaction, t_, 21), "");
  const std::string expected = "row00001=f:q@1=old;row00011=f:q@1=own;row00012=f:q@1=own;";
  EXPECT_EQ(Rows(transaction.ReadRows(t_, RowRange::All())), expected);
  EXPECT_EQ(Rows(transaction.ReadRows(t_, RowRange::All(), Filter::PassAll(), {.reverse = true})),
            "row00012=f:q@1=own;row00011=f:q@1=own;row00001=f:q@1=old;");
  EXPECT_EQ(Rows(transaction.ReadRows(t_, RowRange::RightOpen(RowOf(11), RowOf(12)))),
            "row00011=f:q@1=own;");
  // After a flush too.
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Rows(transaction.ReadRows(t_, RowRange::All())), expected);
  transaction.Rollback();
  EXPECT_EQ(Rows(t_->ReadRows(RowRange::All())),
            "row00001=f:q@1=new;row00002=f:q@1=new;row00011=f:q@1=old;row00021=f:q@1=old;");
}

// Options that are for reads of several rows make no difference to a read of one, and the read goes
// into no neighbouring row.
TEST_F(TransactionTest, AReadOfAnOwnRowIsOfThatRowWhateverTheOptions) {
  OpenTables();
  ASSERT_OK(t_->Apply(RowMutation("a").Set("f:o", Timestamp(1), "of a")));
  ASSERT_OK(t_->Apply(RowMutation("b").Set("f:q", Timestamp(1), "of b")));
  Transaction transaction = Begin();
  ASSERT_OK(transaction.Apply(t_, RowMutation("a").Set("f:p", Timestamp(1), "own")));
  const std::vector<std::pair<Filter, std::string>> expected = {
      {Filter(), "f:o@1=of a f:p@1=own"},
      {Filter::Column("f", "o"), "f:o@1=of a"},
      {Filter::Column("f", "p"), "f:p@1=own"},
      {Filter::Column("f", "q"), ""},
      {Filter::Interleave({Filter::Column("f", "q"), Filter::Column("f", "p")}), "f:p@1=own"},
      {Filter::Family("g"), ""}};
  for (const bool reverse : {false, true}) {
    for (const int64_t row_limit : {0, 1}) {
      for (const bool limited : {false, true}) {
        ReadOptions options{.reverse = reverse, .row_limit = row_limit};
        if (limited) options.deadline = absl::Now() + absl::Hours(1);
        for (const auto& [filter, cells] : expected) {
          EXPECT_EQ(Show(transaction.ReadRow(t_, "a", filter, options)), cells) << reverse;
        }
      }
    }
  }
  // The neighbour was not read.
  ASSERT_OK(t_->Apply(RowMutation("b").Set("f:q", Timestamp(1), "new")));
  EXPECT_OK(transaction.Commit());
}

TEST_F(TransactionTest, OwnWritesTakeEffectInCallOrderAndAfterTheSnapshot) {
  OpenTables();
  Begin().Rollback();  // the servers note writes from here on, and take no numbers for that
  // The last mutation before the snapshot is of the same row, so its number is the nearest.
  ASSERT_OK(t_->Apply(RowMutation(RowOf(1)).Set("f:a", Timestamp(5), "x").Set("g:b", "y")));
  Transaction transaction = Begin();
  ASSERT_OK(transaction.Apply(t_, RowMutation(RowOf(1)).Set("f:a", Timestamp(5), "own")));
  EXPECT_EQ(Get(transaction, t_, 1), "f:a@5=own g:b@1000=y");
  ASSERT_OK(transaction.Apply(t_, RowMutation(RowOf(1)).Delete("f:a")));
  EXPECT_EQ(Get(transaction, t_, 1), "g:b@1000=y");
  ASSERT_OK(transaction.Apply(
      t_, RowMutation(RowOf(1)).Set("f:a", Timestamp(3), "1").Set("f:a", Timestamp(3), "2")));
  ASSERT_OK(transaction.Apply(t_, RowMutation(RowOf(1)).DeleteFamily("g")));
  EXPECT_EQ(Get(transaction, t_, 1), "f:a@3=2");
  ASSERT_OK(transaction.Apply(t_, RowMutation(RowOf(1)).DeleteRow().Set("g:c", Timestamp(9), "3")));
  EXPECT_EQ(Get(transaction, t_, 1), "g:c@9=3");
  EXPECT_EQ(Show(transaction.ReadRow(t_, RowOf(1), Filter::Family("f"))), "");
  ASSERT_OK(transaction.Commit());
  EXPECT_EQ(Show(t_->ReadRow(RowOf(1))), "g:c@9=3");
}

TEST_F(TransactionTest, OwnContributionsToAggregatesAreMergedWithTheSnapshot) {
  OpenTables();
  ASSERT_OK(database_->AddFamily("t", "sum", {.value_type = ValueType::kInt64Sum}));
  const auto add = [&](int64_t n) {
    return RowMutation(RowOf(1)).AddToCell("sum:q", Timestamp(7), n);
  };
  const auto sum = [](const absl::StatusOr<Row>& row) {
    EXPECT_OK(row);
    return *DecodeBigEndian(row->cells()[0].value);
  };
  ASSERT_OK(t_->Apply(add(1)));
  Transaction transaction = Begin();
  ASSERT_OK(t_->Apply(add(100)));
  ASSERT_OK(transaction.Apply(t_, add(10)));
  ASSERT_OK(transaction.Apply(t_, add(20)));
  EXPECT_EQ(sum(transaction.ReadRow(t_, RowOf(1))), 31);
  transaction.Rollback();
  Transaction blind = Begin();
  ASSERT_OK(blind.Apply(t_, add(1000)));
  ASSERT_OK(blind.Apply(u_, Write(31, "x")));
  ASSERT_OK(t_->Apply(add(5)));
  ASSERT_OK(blind.Commit());
  EXPECT_EQ(sum(t_->ReadRow(RowOf(1))), 1106);
}

TEST_F(TransactionTest, AStreamDoesNotSeeLaterOwnWrites) {
  OpenTables();
  for (const int row : {1, 11, 31}) ASSERT_OK(t_->Apply(Write(row, "old")));
  Transaction transaction = Begin();
  ASSERT_OK(transaction.Apply(t_, Write(2, "own")));
  RowReader reader = transaction.ReadRows(t_, RowRange::All());
  ASSERT_TRUE(reader.Next());
  for (const int row : {3, 12, 31}) ASSERT_OK(transaction.Apply(t_, Write(row, "later")));
  EXPECT_EQ(Rows(std::move(reader)), "row00002=f:q@1=own;row00011=f:q@1=old;row00031=f:q@1=old;");
  EXPECT_EQ(Get(transaction, t_, 31), "f:q@1=later");
}

TEST_F(TransactionTest, AWriteToARowThatWasReadIsAConflict) {
  OpenTables();
  ASSERT_OK(t_->Apply(Write(1, "a")));
  const auto read_1 = [&](Transaction& transaction) { Get(transaction, t_, 1); };
  EXPECT_FALSE(Commits(read_1, [&] { ASSERT_OK(t_->Apply(Write(1, "b"))); }));
  EXPECT_EQ(Show(u_->ReadRow(RowOf(35))), "");
  // Any column of it, deletions, absent rows, batches and other transactions.
  EXPECT_FALSE(
      Commits(read_1, [&] { ASSERT_OK(t_->Apply(RowMutation(RowOf(1)).Set("g:other", "b"))); }));
  EXPECT_FALSE(Commits(read_1, [&] { ASSERT_OK(t_->Apply(RowMutation(RowOf(1)).DeleteRow())); }));
  EXPECT_FALSE(Commits([&](Transaction& transaction) { Get(transaction, t_, 9); },
                       [&] { ASSERT_OK(t_->Apply(Write(9, "new"))); }));
  EXPECT_FALSE(Commits(read_1, [&] {
    WriteBatch batch;
    batch.Apply(t_, Write(1, "b")).Apply(u_, Write(1, "b"));
    ASSERT_OK(database_->Apply(batch));
  }));
  EXPECT_FALSE(Commits(read_1, [&] {
    Transaction other = Begin();
    ASSERT_OK(other.Apply(t_, Write(1, "c")));
    ASSERT_OK(other.Commit());
  }));
  EXPECT_FALSE(Commits(read_1, [&] { ASSERT_OK(t_->DropRowRange(RowRange::Single(RowOf(1)))); }));
}

TEST_F(TransactionTest, OtherRowsAndBlindWritesAreNoConflicts) {
  OpenTables();
  const auto read_1 = [&](Transaction& transaction) { Get(transaction, t_, 1); };
  EXPECT_TRUE(Commits(read_1, [] {}));
  EXPECT_TRUE(Commits(read_1, [&] { ASSERT_OK(t_->Apply(Write(2, "b"))); }));
  EXPECT_TRUE(Commits(read_1, [&] { ASSERT_OK(u_->Apply(Write(1, "b"))); }));
  EXPECT_TRUE(Commits(read_1, [&] { ASSERT_OK(database_->Flush("t")); }));
  EXPECT_TRUE(Commits([](Transaction&) {}, [&] { ASSERT_OK(u_->Apply(Write(35, "b"))); }));
  // What only reads saw a state that there was.
  Transaction reader = Begin();
  EXPECT_EQ(Get(reader, t_, 2), "f:q@1=b");
  ASSERT_OK(t_->Apply(Write(2, "c")));
  EXPECT_OK(reader.Commit());
}

TEST_F(TransactionTest, AWriteIntoARangeThatWasReadIsAConflict) {
  OpenTables();
  for (const int row : {3, 13}) ASSERT_OK(t_->Apply(Write(row, "a")));
  const auto read = [&](Transaction& transaction) {
    Rows(transaction.ReadRows(t_, RowRange::RightOpen(RowOf(2), RowOf(15))));
  };
  EXPECT_TRUE(Commits(read, [] {}));
  EXPECT_TRUE(Commits(read, [&] {
    for (const int row : {1, 15, 30}) ASSERT_OK(t_->Apply(Write(row, "b")));
    ASSERT_OK(u_->Apply(Write(3, "b")));
  }));
  for (const int row : {2, 3, 10, 14}) {
    EXPECT_FALSE(Commits(read, [&] { ASSERT_OK(t_->Apply(Write(row, "b"))); })) << row;
    EXPECT_FALSE(Commits(read, [&] { ASSERT_OK(t_->Apply(RowMutation(RowOf(row)).DeleteRow())); }))
        << row;
  }
  // In a memtable that was flushed since, or is being flushed.
  EXPECT_FALSE(Commits(read, [&] {
    ASSERT_OK(t_->Apply(Write(3, "c")));
    ASSERT_OK(database_->Flush("t"));
  }));
  EXPECT_TRUE(Commits(read, [&] { ASSERT_OK(database_->Flush("t")); }));
  EXPECT_TRUE(Commits(read, [&] { ASSERT_OK(database_->Compact("t")); }));
  EXPECT_FALSE(Commits(read, [&] { ASSERT_OK(t_->DropRowRange(RowRange::Prefix(RowOf(13)))); }));
}

TEST_F(TransactionTest, ChangesOfTabletsAndServersLoseNoConflict) {
  OpenTables();
  const auto interfere = [&] { ASSERT_OK(t_->Apply(Write(12, "b"))); };
  const auto done = [](const absl::Status& status) {
    EXPECT_TRUE(status.ok() || absl::IsAlreadyExists(status) || absl::IsNotFound(status)) << status;
  };
  const std::vector<std::function<void()>> changes = {
      [&] { done(database_->SplitTablet("t", RowOf(15))); },
      [&] { done(database_->MergeTablets("t", RowOf(15))); },
      [&] { done(database_->MoveTablet("t", RowOf(12), 0)); },
      [&] { done(database_->MoveTablet("t", RowOf(12), 1)); },
      [&] {
        DatabasePeer peer(database_.get());
        for (TabletServer* server : peer.Servers()) peer.Kill(server);
      },
  };
  for (const bool is_range : {false, true}) {
    const auto read = [&](Transaction& transaction) {
      if (is_range) {
        Rows(transaction.ReadRows(t_, RowRange::RightOpen(RowOf(11), RowOf(14))));
      } else {
        Get(transaction, t_, 12);
      }
    };
    for (const auto& change : changes) {
      EXPECT_FALSE(Commits(read, [&] {
        interfere();
        change();
      }));
      EXPECT_FALSE(Commits(read, [&] {
        change();
        interfere();
      }));
      // After the change it commits again, at the latest when the server notes its writes.
      static_cast<void>(Commits(read, [] {}));
      EXPECT_TRUE(Commits(read, [] {}));
    }
  }
}

// Commits that wait for a server form one group, in which none is in the memtables yet.
TEST_F(TransactionTest, ConcurrentCommitsOfOneGroupAreCompared) {
  OpenTables();
  constexpr int kThreads = 6;
  for (const bool is_range : {false, true}) {
    std::vector<Transaction> transactions;
    for (int i = 0; i < kThreads; ++i) {
      transactions.push_back(Begin());
      if (is_range) {
        Rows(transactions.back().ReadRows(t_, RowRange::Closed(RowOf(0), RowOf(5))));
      } else {
        Get(transactions.back(), t_, 1);
      }
      ASSERT_OK(transactions.back().Apply(t_, Write(1, absl::StrCat(i))));
      ASSERT_OK(transactions.back().Apply(u_, Write(31, absl::StrCat(i))));
    }
    std::atomic<int> committed{0};
    std::vector<std::thread> threads;
    DatabasePeer peer(database_.get());
    const std::vector<TabletServer*> servers = peer.Servers();
    const std::function<void(size_t)> commit_with_turns_of_all = [&](size_t i) {
      if (i < servers.size()) {
        return servers[i]->writer().queue()->RunExclusive([&] { commit_with_turns_of_all(i + 1); });
      }
      // A batch of other rows is a group of its own, and the others gather behind it.
      threads.emplace_back([&] {
        WriteBatch batch;
        batch.Apply(t_, Write(25, "x")).Apply(u_, Write(15, "x"));
        EXPECT_OK(database_->Apply(batch));
      });
      absl::SleepFor(absl::Milliseconds(50));
      for (Transaction& transaction : transactions) {
        threads.emplace_back([&] { committed += transaction.Commit().ok() ? 1 : 0; });
      }
      absl::SleepFor(absl::Milliseconds(100));  // until they wait, mostly
    };
    commit_with_turns_of_all(0);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(committed, 1);
  }
}

TEST_F(TransactionTest, WriteSkewIsAConflict) {
  OpenTables();
  Transaction one = Begin();
  Transaction other = Begin();
  for (Transaction* const transaction : {&one, &other}) {
    EXPECT_EQ(Get(*transaction, t_, 1), "");
    EXPECT_EQ(Get(*transaction, u_, 31), "");
  }
  ASSERT_OK(one.Apply(t_, Write(1, "one")));
  ASSERT_OK(other.Apply(u_, Write(31, "other")));
  EXPECT_OK(one.Commit());
  EXPECT_STATUS(kAborted, "may have been written since", other.Commit());
  EXPECT_EQ(Show(u_->ReadRow(RowOf(31))), "");
}

TEST_F(TransactionTest, ErrorsNameTheRuleAndChangeNothing) {
  OpenTables();
  Transaction transaction = Begin();
  EXPECT_STATUS(kInvalidArgument, "row key",
                transaction.Apply(t_, RowMutation("").Set("f:q", "x")));
  EXPECT_STATUS(kInvalidArgument, "row key", transaction.ReadRow(t_, ""));
  const auto snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot);
  EXPECT_STATUS(kInvalidArgument, "snapshot must be null",
                transaction.ReadRow(t_, "r", Filter::PassAll(), {.snapshot = *snapshot}));
  EXPECT_STATUS(
      kInvalidArgument, "snapshot must be null",
      transaction.ReadRows(t_, RowRange::All(), Filter::PassAll(), {.snapshot = *snapshot})
          .status());
  ASSERT_OK(transaction.Apply(t_, Write(1, "x")));
  ASSERT_OK(transaction.Apply(t_, RowMutation(RowOf(2)).Set("nosuch:q", "x")));
  ASSERT_OK(transaction.Apply(t_, RowMutation(RowOf(3)).AddToCell("f:q", Timestamp(1), 1)));
  EXPECT_EQ(Get(transaction, t_, 2), "");
  EXPECT_EQ(Get(transaction, t_, 3), "");
  EXPECT_EQ(Rows(transaction.ReadRows(t_, RowRange::All())), "row00001=f:q@1=x;");
  EXPECT_STATUS(kNotFound, "nosuch", transaction.Commit());
  EXPECT_EQ(Show(t_->ReadRow(RowOf(1))), "");
  for (const absl::Status& status : {transaction.Commit(), transaction.Apply(t_, Write(1, "x")),
                                     transaction.ReadRow(t_, "r").status(),
                                     transaction.ReadRows(t_, RowRange::All()).status()}) {
    EXPECT_STATUS(kFailedPrecondition, "has ended", status);
  }
  transaction.Rollback();
  Transaction closed = Begin();
  ASSERT_OK(closed.Apply(t_, Write(1, "x")));
  ASSERT_OK(database_->Close());
  EXPECT_STATUS(kFailedPrecondition, "closed", closed.ReadRow(t_, "r"));
  EXPECT_STATUS(kFailedPrecondition, "closed", closed.Commit());
  EXPECT_STATUS(kFailedPrecondition, "closed", database_->BeginTransaction());
}

TEST_F(TransactionTest, RunTransactionReturnsTheErrorOfTheFunctionAndHearsDeadlines) {
  OpenTables();
  EXPECT_STATUS(kNotFound, "mine", database_->RunTransaction([&](Transaction* transaction) {
    EXPECT_OK(transaction->Apply(t_, Write(1, "x")));
    return absl::NotFoundError("mine");
  }));
  EXPECT_EQ(Show(t_->ReadRow(RowOf(1))), "");
  int runs = 0;
  const auto always_in_conflict = [&](Transaction* transaction) {
    ++runs;
    EXPECT_OK(transaction->ReadRow(t_, RowOf(1)));
    EXPECT_OK(t_->Apply(Write(1, "outside")));
    return transaction->Apply(t_, Write(2, "x"));
  };
  EXPECT_STATUS(kDeadlineExceeded, "",
                database_->RunTransaction(always_in_conflict,
                                          {.deadline = absl::Now() + absl::Milliseconds(50)}));
  EXPECT_GT(runs, 3);
  // A transaction within one, of the function's own, does not make it run again.
  EXPECT_STATUS(kAborted, "mine", database_->RunTransaction([&](Transaction*) {
    return absl::AbortedError("mine");
  }));
}

TEST_F(TransactionTest, MessagesCarryNoTransactions) {
  OpenTables();
  DatabasePeer peer(database_.get());
  FaultyNetwork network(1, FaultyNetwork::Faults{});
  peer.UseServices([&](ServerHost* host) { return network.To(host); });
  EXPECT_STATUS(kUnimplemented, "messages", database_->BeginTransaction());
  database_.reset();
}

// Money moves between accounts in both tables; readers always find the same sum.
TEST_F(TransactionTest, ConcurrentTransfersKeepTheSum) {
  OpenTables();
  constexpr int kAccounts = 8;
  constexpr int kThreads = 8;
  const auto table_of = [&](int account) { return account % 2 == 0 ? t_ : u_; };
  const auto row_of = [](int account) { return account * 5; };
  for (int i = 0; i < kAccounts; ++i) {
    ASSERT_OK(table_of(i)->Apply(Write(row_of(i), "100")));
  }
  const auto balance = [](const absl::StatusOr<Row>& row) {
    int value = 0;
    EXPECT_OK(row);
    EXPECT_TRUE(absl::SimpleAtoi(ToAbsl(row->cells()[0].value), &value));
    return value;
  };
  std::atomic<int> left{kThreads};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        const int from = (thread + i) % kAccounts;
        const int to = (from + 1 + i % (kAccounts - 1)) % kAccounts;
        EXPECT_OK(database_->RunTransaction([&](Transaction* transaction) -> absl::Status {
          const int a = balance(transaction->ReadRow(table_of(from), RowOf(row_of(from))));
          const int b = balance(transaction->ReadRow(table_of(to), RowOf(row_of(to))));
          EXPECT_OK(transaction->Apply(table_of(from), Write(row_of(from), absl::StrCat(a - 1))));
          return transaction->Apply(table_of(to), Write(row_of(to), absl::StrCat(b + 1)));
        }));
      }
      --left;
    });
  }
  const auto sum = [&](auto read) {
    int total = 0;
    for (int i = 0; i < kAccounts; ++i) total += balance(read(table_of(i), RowOf(row_of(i))));
    return total;
  };
  while (left > 0) {
    const auto snapshot = database_->TakeSnapshot();
    ASSERT_OK(snapshot);
    EXPECT_EQ(sum([&](Table* table, const std::string& row) {
                return table->ReadRow(row, Filter::PassAll(), {.snapshot = *snapshot});
              }),
              100 * kAccounts);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum([&](Table* table, const std::string& row) { return table->ReadRow(row); }),
            100 * kAccounts);
}

}  // namespace
}  // namespace bigtable
