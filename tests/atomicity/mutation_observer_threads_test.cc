// Observers under concurrent writers, changes of tablets, changes of the observers, and crashes: an
// index is never out of step, and After is called in the order of the commits.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"
#include "support/test_observers.h"

namespace bigtable {
namespace {

// Table "t" with an index in table "index", both in several tablets on three servers.
class ObserverThreadsTest : public TabletsFixture {
 protected:
  void SetUp() override {
    HookObserver::ClearAll();
    IndexObserver::Register();
  }
  void TearDown() override {
    database_.reset();
    HookObserver::ClearAll();
  }
  void MakeTables(const std::vector<std::string>& observers) {
    TableSchema schema = StillSchema();
    CreateTableOptions options{.split_rows = {"v3", "v6"}};
    ASSERT_OK(database_->CreateTable("index", schema, options));
    schema.observers = observers;
    options.split_rows = {RowOf(5), RowOf(10)};
    ASSERT_OK(database_->CreateTable("t", schema, options));
    OpenTables();
  }
  void OpenTables() {
    t_ = OpenTable("t");
    index_ = OpenTable("index");
  }
  void ExpectIndexInStep() {
    absl::StatusOr<std::shared_ptr<const Snapshot>> snapshot = database_->TakeSnapshot();
    ASSERT_OK(snapshot);
    EXPECT_EQ(IndexObserver::Actual(index_, *snapshot), IndexObserver::Expected(t_, *snapshot));
  }
  // One random write to one of 15 rows. Refusals are errors that change nothing.
  void WriteRandomly(Random* random) {
    const auto mutation = [&] {
      RowMutation made(RowOf(static_cast<int>(random->Below(15))));
      const std::string value =
          random->OneIn(10) ? std::string("bad") : absl::StrCat("v", random->Below(9));
      const Timestamp timestamp(static_cast<int64_t>(random->Below(4)));
      switch (random->Below(6)) {
        case 0:
          return made.Delete("f:q");
        case 1:
          return made.DeleteRow();
        case 2:
          return made.DeleteCell("f:q", timestamp);
        default:
          return made.Set("f:q", timestamp, value);
      }
    };
    const RowMutation one = mutation();
    absl::Status status;
    switch (random->Below(6)) {
      case 0:
        status = t_->ApplyBatch({one, mutation()})[0];
        break;
      case 1: {
        WriteBatch batch;
        status = database_->Apply(batch.Apply(t_, one).Apply(t_, mutation()));
        break;
      }
      case 2:
        status = t_->CheckAndMutateRow(one.row(), Filter(), one, one).status();
        break;
      case 3:
        status = database_->RunTransaction([&](Transaction* transaction) -> absl::Status {
          absl::StatusOr<Row> row = transaction->ReadRow(t_, one.row());
          if (!row.ok()) return row.status();
          absl::Status applied = transaction->Apply(t_, one);
          return applied.ok() ? transaction->Apply(t_, mutation()) : applied;
        });
        break;
      default:
        status = t_->Apply(one);
    }
    if (absl::IsInvalidArgument(status)) return;
    EXPECT_OK(status);
  }

  Table* t_ = nullptr;
  Table* index_ = nullptr;
};

TEST_F(ObserverThreadsTest, AnIndexIsInStepForEveryReaderBesideConcurrentWriters) {
  Open(WithServers(3));
  MakeTables({IndexObserver::kName});
  // The writers go on until each kind of change was made, however slow the machine is.
  constexpr int kLeastChecks = 6;
  std::atomic<int> left{8};
  std::atomic<int> checks{0};
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      Random random(i);
      for (int k = 0; k < (kSlow ? 30 : 150) || (checks < kLeastChecks && !HasFailure()); ++k) {
        WriteRandomly(&random);
      }
      --left;
    });
  }
  for (int step = 0; left > 0 && !HasFailure(); ++step) {
    ExpectIndexInStep();
    ++checks;
    switch (step % 6) {
      case 0:
        EXPECT_OK(database_->SplitTablet("t", RowOf(7)));
        break;
      case 2:
        EXPECT_OK(database_->MoveTablet("t", RowOf(7), step % 3));
        break;
      case 3:
        EXPECT_OK(database_->Flush("index"));
        break;
      case 4:
        EXPECT_OK(database_->MergeTablets("t", RowOf(7)));
        break;
    }
  }
  for (std::thread& thread : threads) thread.join();
  ExpectIndexInStep();
}

TEST_F(ObserverThreadsTest, AfterIsCalledInTheOrderOfConcurrentCommits) {
  Open(WithServers(3));
  MakeTables({HookObserver::NameOf(0)});
  // Calls are made one at a time, so these need no lock.
  std::vector<std::pair<std::string, uint64_t>> calls;
  std::atomic<bool> is_calling{false};
  HookObserver::Get(0)->after = [&](const ObservedMutation& mutation, uint64_t sequence) {
    EXPECT_FALSE(is_calling.exchange(true));
    if (!calls.empty()) {
      EXPECT_LE(calls.back().second, sequence);
    }
    calls.emplace_back(mutation.operations().front().value, sequence);
    if (calls.size() % 16 == 0) std::this_thread::yield();
    is_calling = false;
  };
  constexpr int kThreads = 8;
  const int writes = kSlow ? 40 : 200;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Random random(static_cast<uint64_t>(i));
      for (int k = 0; k < writes; ++k) {
        const std::string value = absl::StrCat(i, ".", k);
        const RowMutation write =
            RowMutation(RowOf(static_cast<int>(random.Below(15)))).Set("f:q", Timestamp(1), value);
        WriteBatch batch;
        batch.Apply(t_, write).Apply(t_, RowMutation(RowOf(0)).Set("f:b", Timestamp(1), value));
        EXPECT_OK(random.OneIn(3) ? database_->Apply(batch) : t_->Apply(write));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Each once (of a batch, twice), and each thread's in its order.
  std::map<std::string, int> counts;
  for (const auto& [value, sequence] : calls) ++counts[value];
  EXPECT_EQ(counts.size(), static_cast<size_t>(kThreads * writes));
  // The last call for each row is for what the row has.
  const std::string newest = *t_->Get(RowOf(0), "f:b");
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    if (counts[call->first] != 2) continue;
    EXPECT_EQ(call->first, newest);
    break;
  }
}

TEST_F(ObserverThreadsTest, AWriteReturnsAfterItsOwnCallsOfAfter) {
  Open(WithServers(2));
  MakeTables({HookObserver::NameOf(0)});
  std::mutex mutex;
  std::set<std::string> called;
  HookObserver::Get(0)->after = [&](const ObservedMutation& mutation, uint64_t /*sequence*/) {
    const std::lock_guard<std::mutex> lock(mutex);
    called.emplace(mutation.operations().front().value);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k) {
        const std::string value = absl::StrCat(i, ".", k);
        EXPECT_OK(t_->Apply(RowMutation(RowOf(i)).Set("f:q", value)));
        const std::lock_guard<std::mutex> lock(mutex);
        EXPECT_TRUE(called.contains(value));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The guarantee on which an index of an existing table is built: set the observer, take a snapshot,
// and index what it has. What it does not have was observed.
TEST_F(ObserverThreadsTest, NoWriteAfterTheChangeEscapesNewObservers) {
  ForEachSeed(kSlow ? 3 : 10, [&](uint64_t seed) {
    file_system_ = std::make_unique<InMemoryFileSystem>();
    Open(WithServers(3));
    MakeTables({});
    std::mutex mutex;
    std::set<std::string> rows;  // observed, or in the snapshot
    HookObserver::Get(1)->before = [&](const ObservedMutation& mutation,
                                       ObserverContext* /*context*/) {
      const std::lock_guard<std::mutex> lock(mutex);
      rows.emplace(mutation.row());
      return absl::OkStatus();
    };
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&, i] {
        for (int k = 0; !stop || k < 10; ++k) {
          const RowMutation write =
              RowMutation(absl::StrCat(RowOf(k % 15), "-", i, ".", k)).Set("f:q", "1");
          WriteBatch batch;
          absl::Status status;
          switch ((k + i) % 4) {
            case 0:
              status = t_->Apply(write);
              break;
            case 1:
              status = database_->Apply(batch.Apply(t_, write));
              break;
            case 2:
              status =
                  t_->MutateRowAtomically(write.row(), Filter(), [&](const Row&) { return write; });
              break;
            default:
              status = database_->RunTransaction(
                  [&](Transaction* transaction) { return transaction->Apply(t_, write); });
          }
          EXPECT_OK(status);
        }
      });
    }
    absl::SleepFor(absl::Milliseconds(5 + 2 * static_cast<int64_t>(seed % 5)));
    EXPECT_OK(database_->SetObservers("t", {HookObserver::NameOf(1)}));
    absl::StatusOr<std::shared_ptr<const Snapshot>> snapshot = database_->TakeSnapshot();
    ASSERT_OK(snapshot);
    absl::SleepFor(absl::Milliseconds(10));
    stop = true;
    for (std::thread& thread : threads) thread.join();
    for (const Row& row : t_->ReadRows(RowSet(RowRange::All()), {.snapshot = *snapshot})) {
      rows.emplace(row.key());
    }
    for (const Row& row : t_->ReadRows(RowSet(RowRange::All()))) {
      EXPECT_TRUE(rows.contains(std::string(row.key()))) << row.key();
    }
    *snapshot = nullptr;
    database_.reset();
  });
}

TEST_F(ObserverThreadsTest, AfterADeathOfTheProcessOrTheMachineTheIndexIsInStep) {
  ForEachSeed(kSlow ? 4 : 20, [&](uint64_t seed) {
    Random random(seed);
    file_system_ = std::make_unique<InMemoryFileSystem>();
    DatabaseOptions options = WithServers(3);
    options.durability = random.OneIn(2) ? Durability::kSync : Durability::kBuffered;
    Open(options);
    MakeTables({IndexObserver::kName});
    for (int round = 0; round < 4; ++round) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&, thread_seed = random.Next()] {
          Random choices(thread_seed);
          for (int k = 0; k < 20; ++k) WriteRandomly(&choices);
        });
      }
      // In the middle of the writes.
      absl::SleepFor(absl::Microseconds(random.Below(3000)));
      if (random.OneIn(2)) {
        EXPECT_OK(database_->Flush(random.OneIn(2) ? "t" : "index"));
      }
      std::unique_ptr<InMemoryFileSystem> clone = file_system_->CrashClone(
          random.Next(), random.OneIn(2) ? Unsynced::kEverything : Unsynced::kRandomPart);
      for (std::thread& thread : threads) thread.join();
      database_.reset();
      file_system_ = std::move(clone);
      Open(options);
      OpenTables();
      ExpectIndexInStep();
    }
    database_.reset();
  });
}

}  // namespace
}  // namespace bigtable
