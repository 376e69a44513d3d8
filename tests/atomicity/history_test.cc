// Histories of transactions and batches of eight threads, with servers that are lost, tablets that
// are split, merged and moved, and deaths of the process and of the machine between: all that has
// committed is serializable (support/history.h).
#include "support/history.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/mutex.h"
#include "base/strings.h"
#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

using testing::HasSubstr;
using Outcome = HistoryTransaction::Outcome;

// --- The checker itself ---

std::string CheckHistory(const std::vector<HistoryTransaction>& transactions,
                         const HistoryVersions& versions) {
  return HistoryChecker(transactions, versions).Check();
}

TEST(HistoryCheckerTest, FindsWhatIsWrong) {
  constexpr auto kCommitted = Outcome::kCommitted;
  // One after the other.
  EXPECT_EQ(CheckHistory({{1, {{"a", 0}}, {"a"}, kCommitted}, {2, {{"a", 1}}, {"a"}, kCommitted}},
                         {{"a", {1, 2}}}),
            "");
  // A lost update.
  EXPECT_EQ(CheckHistory({{1, {{"a", 0}}, {"a"}, kCommitted}, {2, {{"a", 0}}, {"a"}, kCommitted}},
                         {{"a", {1, 2}}}),
            "not serializable: 1 before 2 before 1");
  // Write skew.
  EXPECT_EQ(CheckHistory({{1, {{"a", 0}, {"b", 0}}, {"a"}, kCommitted},
                          {2, {{"a", 0}, {"b", 0}}, {"b"}, kCommitted}},
                         {{"a", {1}}, {"b", {2}}}),
            "not serializable: 1 before 2 before 1");
  // A reader that sees one of two writers, and another reader that sees the other.
  EXPECT_THAT(CheckHistory({{1, {}, {"a"}, kCommitted},
                            {2, {}, {"b"}, kCommitted},
                            {3, {{"a", 1}, {"b", 0}}, {}, kCommitted},
                            {4, {{"a", 0}, {"b", 2}}, {}, kCommitted}},
                           {{"a", {1}}, {"b", {2}}}),
              HasSubstr("not serializable"));
  EXPECT_EQ(CheckHistory({{1, {}, {"a", "b"}, Outcome::kUnknown}}, {{"a", {1}}}),
            "transaction 1 is in 1 of its 2 rows");
  EXPECT_EQ(CheckHistory({{1, {}, {"a"}, kCommitted}}, {}),
            "transaction 1 has committed, and is lost");
  EXPECT_EQ(CheckHistory({{1, {}, {"a"}, Outcome::kAborted}}, {{"a", {1}}}),
            "transaction 1 was aborted, and is there");
  EXPECT_THAT(
      CheckHistory({{1, {}, {"a"}, Outcome::kAborted}, {2, {{"a", 1}}, {}, kCommitted}}, {}),
      HasSubstr("which is not there"));
  EXPECT_EQ(CheckHistory({{1, {}, {"a"}, Outcome::kUnknown}}, {}), "");
}

// --- Histories ---

constexpr size_t kRows = 20;
constexpr const char* kTables[] = {"t", "u", "v"};

const char* TableOf(size_t row) { return kTables[row % 3]; }
std::string KeyOf(size_t row) { return absl::StrCat(10 + row); }
std::string NameOf(size_t row) { return absl::StrCat(TableOf(row), KeyOf(row)); }

// A database between an opening and a crash, and the threads that use it.
class Life {
 public:
  Life(InMemoryFileSystem* disk, uint64_t seed, std::atomic<uint64_t>* numbers, bool syncs)
      : seed_(seed),
        numbers_(*numbers),
        durability_(syncs ? Durability::kSync : Durability::kBuffered) {
    DatabaseOptions options = TestOptions();
    options.memory_budget = MemoryBudget::kMinimum;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = 3;
    options.file_system = disk;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open("/db", options);
    EXPECT_OK(opened);
    if (!opened.ok()) return;
    database_ = *std::move(opened);
    for (const char* const name : kTables) {
      TableSchema schema;
      schema.families["f"] = {};
      schema.split.tablet_size = schema.split.merge_size = 0;
      const absl::Status created =
          database_->CreateTable(name, schema, {.split_rows = {"15", "22"}});
      EXPECT_TRUE(created.ok() || absl::IsAlreadyExists(created)) << created;
      const absl::StatusOr<Table*> table = database_->OpenTable(name);
      EXPECT_OK(table);
      tables_.push_back(table.ok() ? *table : nullptr);
    }
  }
  bool is_open() const { return database_ != nullptr && !testing::Test::HasFailure(); }

  // Runs eight threads, with changes of tablets and servers, for this many transactions; then the
  // crash comes, while they go on.
  std::unique_ptr<InMemoryFileSystem> Run(InMemoryFileSystem* disk, size_t transactions,
                                          Unsynced survives) {
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < 8; ++thread) {
      threads.emplace_back([this, thread] {
        Random random(seed_ * 100 + thread);
        while (!stop_) RunOne(random);
      });
    }
    Random random(seed_);
    while (done_ < transactions) ChangeSomething(random);
    crash_ = true;
    std::unique_ptr<InMemoryFileSystem> clone;
    WithTurnsOfAll([&] { clone = disk->CrashClone(seed_, survives); });
    stop_ = true;
    for (std::thread& thread : threads) thread.join();
    return clone;
  }

  HistoryVersions ReadVersions() {
    HistoryVersions versions;
    for (size_t row = 0; row < kRows; ++row) {
      const absl::StatusOr<Row> found = TableAt(row)->ReadRow(KeyOf(row));
      EXPECT_OK(found);
      if (!found.ok()) continue;
      // The server's timestamps ascend in the order of the writes.
      for (size_t i = found->cells().size(); i-- > 0;) {
        versions[NameOf(row)].push_back(NumberIn(found->cells()[i]));
      }
    }
    return versions;
  }
  std::vector<HistoryTransaction>& transactions() { return transactions_; }

 private:
  Table* TableAt(size_t row) const { return tables_[row % 3]; }
  static uint64_t NumberIn(const Cell& cell) {
    uint64_t number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(ToAbsl(cell.value), &number));
    return number;
  }
  static uint64_t VersionIn(const absl::StatusOr<Row>& row) {
    return row->empty() ? 0 : NumberIn(row->cells()[0]);
  }
  static size_t AnyRow(Random& random) { return random.Below(kRows); }
  RowMutation WriteOf(size_t row, uint64_t number) const {
    return RowMutation(KeyOf(row)).Set("f:q", absl::StrCat(number));
  }

  void RunOne(Random& random) {
    HistoryTransaction one{.number = ++numbers_};
    const absl::Status status =
        random.OneIn(6) ? ApplyBatch(random, &one) : RunTransaction(random, &one);
    if (absl::IsAborted(status)) {
      one.outcome = Outcome::kAborted;
    } else if (status.ok() && !crash_) {
      // What is acknowledged later may not be in the clone.
      one.outcome = Outcome::kCommitted;
    }
    // Unavailable: of a batch in one tablet whose server was lost, it is not known if it is found.
    EXPECT_TRUE(status.ok() || absl::IsAborted(status) || absl::IsUnavailable(status)) << status;
    ++done_;
    MutexLock lock(&mutex_);
    transactions_.push_back(std::move(one));
  }
  absl::Status ApplyBatch(Random& random, HistoryTransaction* one) {
    WriteBatch batch;
    for (size_t i = 2 + random.Below(3); i > 0; --i) {
      const size_t row = AnyRow(random);
      if (!one->writes.insert(NameOf(row)).second) continue;
      batch.Apply(TableAt(row), WriteOf(row, one->number));
    }
    return database_->Apply(batch, {.durability = durability_});
  }
  absl::Status RunTransaction(Random& random, HistoryTransaction* one) {
    absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
    if (!transaction.ok()) return transaction.status();
    if (random.OneIn(5)) ReadRange(random, &*transaction, one);
    for (size_t i = 1 + random.Below(3); i > 0; --i) {
      const size_t row = AnyRow(random);
      const absl::StatusOr<Row> found =
          transaction->ReadRow(TableAt(row), KeyOf(row), Filter::Latest(1));
      if (!found.ok()) return found.status();
      one->reads.emplace(NameOf(row), VersionIn(found));
    }
    for (size_t i = random.Below(3); i > 0; --i) {
      const size_t row = AnyRow(random);
      if (!one->writes.insert(NameOf(row)).second) continue;
      EXPECT_OK(transaction->Apply(TableAt(row), WriteOf(row, one->number)));
      // Its own write is seen.
      if (random.OneIn(4)) {
        EXPECT_EQ(VersionIn(transaction->ReadRow(TableAt(row), KeyOf(row), Filter::Latest(1))),
                  one->number);
      }
    }
    return transaction->Commit({.durability = durability_});
  }
  // All rows of a part of a table, absent ones too.
  void ReadRange(Random& random, Transaction* transaction, HistoryTransaction* one) {
    const size_t table = random.Below(3);
    const size_t begin = AnyRow(random);
    const size_t end = begin + 1 + random.Below(8);
    for (size_t row = begin; row < std::min(end, kRows); ++row) {
      if (row % 3 == table) one->reads[NameOf(row)] = 0;
    }
    RowReader rows = transaction->ReadRows(
        tables_[table], RowRange::RightOpen(KeyOf(begin), KeyOf(end)), Filter::Latest(1));
    for (const Row& row : rows) {
      one->reads[absl::StrCat(kTables[table], std::string(row.key()))] = NumberIn(row.cells()[0]);
    }
    EXPECT_OK(rows.status());
  }

  // A copy of the disk is made file by file, so nothing is written meanwhile. In the order in which
  // a batch takes its turns.
  void WithTurnsOfAll(const std::function<void()>& function) {
    std::vector<GroupWriter*> servers;
    for (TabletServer* const server : DatabasePeer(database_.get()).ServersEver()) {
      if (server->log().started()) servers.push_back(&server->writer());
    }
    std::sort(servers.begin(), servers.end(), std::less<>());
    const std::function<void(size_t)> take_turns = [&](size_t i) {
      if (i == servers.size()) return function();
      servers[i]->queue()->RunExclusive([&] { take_turns(i + 1); });
    };
    take_turns(0);
  }
  void ChangeSomething(Random& random) {
    DatabasePeer peer(database_.get());
    const std::vector<TabletServer*> servers = peer.Servers();
    const char* const table = kTables[random.Below(3)];
    const std::string row = KeyOf(AnyRow(random));
    switch (random.Below(8)) {
      case 0:
        if (!servers.empty()) peer.Kill(servers[random.Below(servers.size())]);
        break;
      case 1:
        database_->SplitTablet(table, row).IgnoreError();
        break;
      case 2:
        database_->MergeTablets(table, row).IgnoreError();
        break;
      case 3:
        database_->MoveTablet(table, row, static_cast<int>(random.Below(3))).IgnoreError();
        break;
      case 4:
        database_->Flush(table).IgnoreError();
        break;
      default:
        absl::SleepFor(absl::Milliseconds(1));
    }
  }

  const uint64_t seed_;
  std::atomic<uint64_t>& numbers_;
  const Durability durability_;
  std::unique_ptr<Database> database_;
  std::vector<Table*> tables_;
  std::atomic<bool> crash_{false};
  std::atomic<bool> stop_{false};
  std::atomic<size_t> done_{0};
  Mutex mutex_;
  std::vector<HistoryTransaction> transactions_ ABSL_GUARDED_BY(mutex_);
};

TEST(RandomHistoryTest, ConcurrentTransactionsAreSerializable) {
  size_t committed = 0;
  size_t aborted = 0;
  ForEachSeed(kSlow ? 2 : 20, [&](uint64_t seed) {
    Random random(seed);
    std::atomic<uint64_t> numbers{0};
    std::vector<HistoryTransaction> transactions;
    auto disk = std::make_unique<InMemoryFileSystem>();
    for (int life = 0; life < 4; ++life) {
      SCOPED_TRACE(absl::StrCat("life ", life));
      // What kSync has acknowledged survives the machine, what kBuffered has the process.
      const bool syncs = random.OneIn(2);
      auto run = std::make_unique<Life>(disk.get(), random.Next(), &numbers, syncs);
      ASSERT_TRUE(run->is_open());
      auto clone = run->Run(disk.get(), kSlow ? 300 : 1500,
                            syncs ? Unsynced::kRandomPart : Unsynced::kEverything);
      Tally("power losses");
      transactions.insert(transactions.end(), run->transactions().begin(),
                          run->transactions().end());
      run.reset();  // before its disk
      auto found = std::make_unique<Life>(clone.get(), 0, &numbers, false);
      ASSERT_TRUE(found->is_open());
      HistoryChecker checker(transactions, found->ReadVersions());
      ASSERT_EQ(checker.Check(), "");
      committed = checker.committed();
      found.reset();
      disk = std::move(clone);
    }
    for (const HistoryTransaction& transaction : transactions) {
      aborted += transaction.outcome == Outcome::kAborted ? 1 : 0;
    }
    Tally("operations", transactions.size());
    EXPECT_GT(committed, transactions.size() / 4);
  });
  EXPECT_GT(aborted, 50u);
}

}  // namespace
}  // namespace bigtable
