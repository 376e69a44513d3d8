// Atomic operations of several threads: no increment is lost or applied twice, a claim has one
// winner, whatever happens to the tablets, the servers, the messages and the machine meanwhile.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/random.h"
#include "support/remote_fixture.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

constexpr int kWorkers = 8;
constexpr const char* kCounter = "f:n";
constexpr int64_t kNow = 1000;  // by the clock of the database, which stands still

void InThreads(int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : all) thread.join();
}

// How many increments were acknowledged, and how many may have been applied besides.
struct Increments {
  std::atomic<int64_t> done{0};
  std::atomic<int64_t> unknown{0};

  void Count(const absl::Status& status) {
    if (status.ok()) {
      ++done;
    } else {
      // Only this error leaves open whether it was applied.
      EXPECT_STATUS(kUnavailable, "", status);
      ++unknown;
    }
  }
};

class RowThreadsTest : public RemoteFixture, public testing::WithParamInterface<bool> {
 protected:
  // By messages, on a network with every fault, or in place.
  void OpenHere(int servers, uint64_t seed = 1) {
    clock_.Set(kNow);
    if (GetParam()) {
      OpenRemotely(servers, FaultyNetwork::Everything(), seed);
    } else {
      Open(WithServers(servers));
      peer_.emplace(database_.get());
    }
  }
  static int Scaled(int in_place) {
    const int n = GetParam() ? in_place / 10 : in_place;
    return kSlow ? n / 5 : n;
  }
  static int64_t CounterOf(Table* table, std::string_view row) {
    const absl::StatusOr<std::string> value = table->Get(row, kCounter);
    if (absl::IsNotFound(value.status())) return 0;
    EXPECT_OK(value);
    const absl::StatusOr<int64_t> number = DecodeBigEndian(value.value_or(""));
    EXPECT_OK(number);
    return number.value_or(-1);
  }
  static absl::Status Increment(Table* table, std::string_view row) {
    return table->ReadModifyWriteRow(ReadModifyWrite(row).Increment(kCounter, 1)).status();
  }
  // The same, as a transaction.
  static absl::Status IncrementByFunction(Table* table, std::string_view row) {
    return table->MutateRowAtomically(
        row, Filter::Chain(Filter::Column("f", "n"), Filter::Latest(1)),
        [&](const Row& found) -> absl::StatusOr<RowMutation> {
          const int64_t old = found.empty() ? 0 : *DecodeBigEndian(found.cells()[0].value);
          return RowMutation(row).Set(kCounter, Timestamp(kNow), EncodeBigEndian(old + 1));
        });
  }
  void ExpectCount(Table* table, std::string_view row, const Increments& increments) {
    const int64_t count = CounterOf(table, row);
    EXPECT_GE(count, increments.done.load());
    EXPECT_LE(count, increments.done + increments.unknown);
  }
};
INSTANTIATE_TEST_SUITE_P(InPlaceAndByMessages, RowThreadsTest, testing::Bool(),
                         [](const auto& instance) {
                           return instance.param ? "Messages" : "InPlace";
                         });

TEST_P(RowThreadsTest, EightThreadsOnOneCounterLoseNothing) {
  OpenHere(1);
  Table* const table = CreateStillTable();
  const int each = Scaled(2000);
  InThreads(kWorkers, [&](int) {
    for (int n = 0; n < each; ++n) ASSERT_OK(Increment(table, "r"));
  });
  EXPECT_EQ(CounterOf(table, "r"), kWorkers * each);
  // The stripe keeps them from disturbing each other; only the first meets a server that did not
  // note its writes before.
  EXPECT_LE(database_->Statistics().calls.at("t").row_retries, 1u);
}

TEST_P(RowThreadsTest, FunctionsAndRulesOnOneCounterLoseNothing) {
  OpenHere(1);
  Table* const table = CreateStillTable();
  const int each = Scaled(500);
  InThreads(kWorkers, [&](int i) {
    for (int n = 0; n < each; ++n) {
      ASSERT_OK(i % 2 == 0 ? Increment(table, "r") : IncrementByFunction(table, "r"));
    }
  });
  EXPECT_EQ(CounterOf(table, "r"), kWorkers * each);
}

TEST_P(RowThreadsTest, PlainWritesToOtherColumnsLoseNothingAndStopNobody) {
  OpenHere(1);
  Table* const table = CreateStillTable();
  const int each = Scaled(500);
  std::atomic<int> left{kWorkers};
  std::atomic<int64_t> plain{0};
  InThreads(kWorkers + 2, [&](int i) {
    if (i < kWorkers) {
      for (int n = 0; n < each; ++n) ASSERT_OK(Increment(table, "r"));
      --left;
      return;
    }
    for (int n = 0; left > 0; ++n, ++plain) {
      ASSERT_OK(table->Apply(RowMutation("r").Set(Cat("f:plain", i), std::to_string(n))));
    }
  });
  EXPECT_EQ(CounterOf(table, "r"), kWorkers * each);
  Tally("retries", database_->Statistics().calls.at("t").row_retries);
  Tally("plain writes", static_cast<uint64_t>(plain.load()));
}

TEST_P(RowThreadsTest, AClaimHasOneWinner) {
  OpenHere(2);
  Table* const table = CreateSplitTable("t", 2, Scaled(200) / 2);
  std::vector<std::atomic<int>> winners(static_cast<size_t>(Scaled(200)));
  InThreads(kWorkers, [&](int i) {
    for (size_t job = 0; job < winners.size(); ++job) {
      const std::string row = RowOf(static_cast<int>(job));
      ASSERT_OK_AND_ASSIGN(
          const bool is_taken,
          table->CheckAndMutateRow(row, Filter::Column("f", "owner"), RowMutation(row),
                                   RowMutation(row).Set("f:owner", std::to_string(i))));
      if (!is_taken) ++winners[job];
    }
  });
  for (size_t job = 0; job < winners.size(); ++job) {
    EXPECT_EQ(winners[job], 1) << job;
    ASSERT_OK_AND_ASSIGN(const Row row, table->ReadRow(RowOf(static_cast<int>(job))));
    EXPECT_EQ(row.cells().size(), 1u);
  }
}

TEST_P(RowThreadsTest, ChangesOfTabletsLoseNoIncrement) {
  OpenHere(3);
  constexpr int kRows = 10;
  Table* const table = CreateSplitTable("t", 2, kRows / 2);
  std::vector<Increments> increments(kRows);
  std::atomic<int> left{4};
  InThreads(5, [&](int i) {
    Random random(static_cast<uint64_t>(i) + 1);
    const auto any = [&] { return static_cast<int>(random.Below(kRows)); };
    if (i < 4) {
      for (int n = Scaled(2000); n > 0; --n) {
        const int row = any();
        Increments& of_row = increments[static_cast<size_t>(row)];
        of_row.Count(random.OneIn(2) ? Increment(table, RowOf(row))
                                     : IncrementByFunction(table, RowOf(row)));
      }
      --left;
      return;
    }
    while (left > 0) {
      const std::string row = RowOf(any());
      switch (random.Below(4)) {
        case 0:
          database_->SplitTablet("t", row).IgnoreError();
          break;
        case 1:
          database_->MergeTablets("t", row).IgnoreError();
          break;
        case 2:
          EXPECT_OK(database_->Flush("t"));
          break;
        default:
          database_->MoveTablet("t", row, static_cast<int>(random.Below(3))).IgnoreError();
          break;
      }
    }
  });
  for (int row = 0; row < kRows; ++row) {
    const Increments& of_row = increments[static_cast<size_t>(row)];
    EXPECT_EQ(of_row.unknown, 0);
    EXPECT_EQ(CounterOf(table, RowOf(row)), of_row.done) << row;
  }
}

TEST_P(RowThreadsTest, LostServersLoseNoAcknowledgedIncrement) {
  OpenHere(2);
  constexpr int kRows = 6;
  Table* const table = CreateSplitTable("t", 3, kRows / 3);
  std::vector<Increments> increments(kRows);
  std::atomic<int> left{4};
  InThreads(5, [&](int i) {
    Random random(static_cast<uint64_t>(i) + 1);
    if (i < 4) {
      for (int n = 0; n < 10 || n < Scaled(1000); ++n) {
        const auto row = random.Below(kRows);
        increments[row].Count(Increment(table, RowOf(static_cast<int>(row))));
      }
      --left;
      return;
    }
    for (int n = 0; n < (kSlow ? 2 : 5) && left > 0; ++n) {
      absl::SleepFor(absl::Milliseconds(5));
      const std::vector<TabletServer*> servers = peer_->Servers();
      if (servers.empty()) continue;
      peer_->Kill(servers[random.Below(servers.size())]);
      peer_->ReplaceLostServers();
      Tally("lost servers");
    }
  });
  for (int row = 0; row < kRows; ++row) {
    ExpectCount(table, RowOf(row), increments[static_cast<size_t>(row)]);
  }
}

TEST_P(RowThreadsTest, APowerLossLosesNoSyncedIncrement) {
  OpenHere(2);
  Table* table = CreateStillTable();
  const int each = Scaled(100) + 1;
  InThreads(4, [&](int) {
    for (int n = 0; n < each; ++n) {
      ASSERT_OK(table->ReadModifyWriteRow(ReadModifyWrite("r").Increment(kCounter, 1),
                                          {.durability = Durability::kSync}));
    }
  });
  std::unique_ptr<InMemoryFileSystem> clone = file_system_->CrashClone(1, Unsynced::kNothing);
  database_.reset();
  file_system_ = std::move(clone);
  Open(WithServers(2));
  table = OpenTable("t");
  EXPECT_EQ(CounterOf(table, "r"), 4 * each);
  ASSERT_OK(Increment(table, "r"));
  EXPECT_EQ(CounterOf(table, "r"), 4 * each + 1);
}

// A waiting caller ends at its deadline, although nobody ever wakes it.
TEST_P(RowThreadsTest, AThreadThatWaitsForTheRowKeepsItsDeadline) {
  OpenHere(1);
  Table* const table = CreateStillTable();
  std::atomic<bool> stop{false};
  InThreads(4, [&](int i) {
    if (i > 0) {
      while (!stop) ASSERT_OK(Increment(table, "r"));
      return;
    }
    for (int n = 0; n < 50; ++n) {
      const absl::Status status =
          table
              ->ReadModifyWriteRow(ReadModifyWrite("r").Increment(kCounter, 1),
                                   {.deadline = absl::Now() + absl::Microseconds(100)})
              .status();
      if (!status.ok() && !absl::IsUnavailable(status)) {
        EXPECT_STATUS(kDeadlineExceeded, "", status);
      }
    }
    stop = true;
  });
}

}  // namespace
}  // namespace bigtable
