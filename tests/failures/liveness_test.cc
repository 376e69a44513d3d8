// No write waits longer than the machine needs for the written data, for every mix of value size,
// number of threads and memory budget, with and without deadlines, while the wall clock jumps in
// both directions.
//
// The limit is derived from a measurement on the same machine: the time that one thread needs for
// the same bytes. Other programs may be busy during the test, so a mix that exceeds its limit is
// measured again, up to twice.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/steady_time.h"
#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "support/temp_directory.h"
#include "support/wall_clock.h"

namespace bigtable {
namespace {

constexpr uint64_t kKiB = 1 << 10;
constexpr uint64_t kMiB = 1 << 20;

struct Mix {
  uint64_t value_size;
  int threads;
  uint64_t budget;  // 0: the default
  bool deadlines;   // half of the threads have deadlines
  uint64_t bytes;   // written by all threads together

  std::string ToString() const {
    return absl::StrCat(value_size, " bytes a value, ", threads, " threads, ", bytes >> 20,
                        " MiB, a budget of ", budget >> 20, " MiB",
                        deadlines ? ", with deadlines" : "");
  }
};

struct Waits {
  absl::Duration total;
  absl::Duration worst;        // of a write without a deadline
  absl::Duration worst_small;  // of a write of 100 bytes beside them
  absl::Duration most_late;    // the longest time past a deadline
};

constexpr absl::Duration kDeadline = absl::Milliseconds(30);

class LivenessTest : public testing::Test {
 protected:
  void TearDown() override { SetWallClockOffset(absl::ZeroDuration()); }

  // Writes the mix into a new database. The wall clock is moved by `jump` half way, and corrected
  // later.
  static Waits Write(const Mix& mix, int threads, absl::Duration jump) {
    const TempDirectory directory(TempDirectory::Where::kMemory);
    DatabaseOptions options = TestOptions();
    if (mix.budget > 0) options.memory_budget = mix.budget;
    absl::StatusOr<std::unique_ptr<Database>> database =
        Database::Open(directory.path() + "/db", options);
    EXPECT_OK(database);
    EXPECT_OK((*database)->CreateTable("t", TableSchema{.families = {{"f", {}}}}));
    Table* const table = *(*database)->OpenTable("t");

    const uint64_t writes = std::max<uint64_t>(mix.bytes / mix.value_size / threads, 1);
    std::atomic<uint64_t> done{0};
    std::atomic<bool> is_over{false};
    std::vector<Waits> waits(static_cast<size_t>(threads) + 1);
    std::vector<std::thread> writers;
    const SteadyTime start = SteadyTime::Now();
    for (int thread = 0; thread < threads; ++thread) {
      writers.emplace_back([&, thread] {
        Random random(static_cast<uint64_t>(thread) + 1);
        std::string value = random.Bytes(std::min(mix.value_size, kMiB));
        while (value.size() < mix.value_size) {
          value.append(value, 0, std::min(mix.value_size - value.size(), kMiB));
        }
        Waits& waited = waits[static_cast<size_t>(thread)];
        const bool in_time = mix.deadlines && thread % 2 == 1;
        for (uint64_t i = 0; i < writes; ++i) {
          RowMutation mutation(absl::StrCat("row", thread, ".", i));
          mutation.Set("f:q", value);
          WriteOptions write;
          const SteadyTime begin = SteadyTime::Now();
          if (in_time) write.deadline = absl::Now() + kDeadline;
          const absl::Status status = table->Apply(mutation, write);
          const absl::Duration took = SteadyTime::Now() - begin;
          EXPECT_TRUE(status.ok() || (in_time && absl::IsDeadlineExceeded(status))) << status;
          if (!in_time) waited.worst = std::max(waited.worst, took);
          if (in_time) waited.most_late = std::max(waited.most_late, took - kDeadline);
          // The clock is wrong for some writes of every thread, and right for others.
          const uint64_t n = ++done;
          const uint64_t all = writes * static_cast<uint64_t>(threads);
          if (n == all / 3) SetWallClockOffset(jump);
          if (n == all * 2 / 3) SetWallClockOffset(absl::ZeroDuration());
        }
      });
    }
    std::thread small([&] {
      const std::string value(100, 'v');
      for (uint64_t i = 0; !is_over; ++i) {
        const SteadyTime begin = SteadyTime::Now();
        EXPECT_OK(table->Apply(RowMutation(absl::StrCat("small", i % 100)).Set("f:q", value)));
        waits.back().worst_small = std::max(waits.back().worst_small, SteadyTime::Now() - begin);
        absl::SleepFor(absl::Milliseconds(1));
      }
    });
    for (std::thread& writer : writers) writer.join();
    Tally("operations", done);
    Waits all;
    all.total = SteadyTime::Now() - start;
    is_over = true;
    small.join();
    SetWallClockOffset(absl::ZeroDuration());
    for (const Waits& waited : waits) {
      all.worst = std::max(all.worst, waited.worst);
      all.worst_small = std::max(all.worst_small, waited.worst_small);
      all.most_late = std::max(all.most_late, waited.most_late);
    }
    return all;
  }

  // Two seconds if one thread takes less than a second. Otherwise twice its time, since all data of
  // the other threads may be written before a write's turn, and one second more.
  static absl::Duration Bound(absl::Duration alone) {
    return alone < absl::Seconds(1) ? absl::Seconds(2) : 2 * alone + absl::Seconds(1);
  }

  static void Check(const Mix& mix, absl::Duration jump) {
    constexpr int kTries = 3;
    for (int tried = 1;; ++tried) {
      Mix same = mix;
      same.deadlines = false;
      const absl::Duration alone = Write(same, 1, absl::ZeroDuration()).total;
      const Waits waited = Write(mix, mix.threads, jump);
      if (testing::Test::HasFailure()) return;
      const absl::Duration bound = Bound(alone);
      const absl::Duration worst = std::max({waited.worst, waited.worst_small, waited.most_late});
      if (worst <= bound) return;
      if (tried < kTries) continue;
      ADD_FAILURE() << mix.ToString() << ", clock moved by " << absl::FormatDuration(jump)
                    << ": one thread took " << absl::FormatDuration(alone) << ", so "
                    << absl::FormatDuration(bound) << " are allowed; but a write took "
                    << absl::FormatDuration(waited.worst) << ", a small one "
                    << absl::FormatDuration(waited.worst_small) << ", one was late by "
                    << absl::FormatDuration(waited.most_late) << ", all took "
                    << absl::FormatDuration(waited.total);
      return;
    }
  }
};

constexpr std::array kBudgets{8 * kMiB, 64 * kMiB, uint64_t{0}};

// Enough to reach the limit of the smaller budgets, and, with large values, of the larger budget.
uint64_t BytesOf(uint64_t value_size) {
  if (value_size <= 100) return 4 * kMiB;
  if (value_size <= 64 * kKiB) return 48 * kMiB;
  return value_size <= kMiB ? 96 * kMiB : 16 * value_size;
}

TEST_F(LivenessTest, NoWriteWaitsLongerThanItsDataTakes) {
  if (std::getenv("BIGTABLE_TEST_LONG_SECONDS") != nullptr) GTEST_SKIP() << "the random one runs";
  int n = 0;
  for (const uint64_t value_size : {uint64_t{100}, 64 * kKiB, kMiB, 8 * kMiB}) {
    for (const uint64_t budget : kBudgets) {
      for (const int threads : {4, 16}) {
        ++n;
        if (kSlow && n % 5 != 0) continue;  // only a part of the grid
        Check({.value_size = value_size,
               .threads = threads,
               .budget = budget,
               .deadlines = n % 3 == 0,
               .bytes = BytesOf(value_size)},
              n % 4 < 2 ? -absl::Seconds(30) : absl::Hours(1));
        if (HasFailure()) return;
      }
    }
  }
}

// Random mixes of the whole grid.
TEST_F(LivenessTest, NoWriteWaitsLongerInRandomMixes) {
  ForEachSeed(2, [](uint64_t seed) {
    Random random(seed);
    const std::array sizes{uint64_t{100}, 64 * kKiB, kMiB, 8 * kMiB, 64 * kMiB};
    // The largest only in long runs.
    const bool is_long = std::getenv("BIGTABLE_TEST_LONG_SECONDS") != nullptr;
    const uint64_t value_size = sizes[random.Below(is_long ? 5 : 3)];
    Check({.value_size = value_size,
           .threads = std::array{1, 4, 16}[random.Below(3)],
           .budget = kBudgets[random.Below(3)],
           .deadlines = random.OneIn(2),
           .bytes = BytesOf(value_size)},
          absl::Seconds(static_cast<int64_t>(random.Below(7200))) - absl::Hours(1));
  });
}

// With the default budget, all data fits into memory, or nearly.
// The clock is set back after the transaction has begun, and its commit has to wait.
TEST_F(LivenessTest, ATransactionHasNoMoreTimeIfTheClockIsSetBack) {
  const TempDirectory directory(TempDirectory::Where::kMemory);
  DatabaseOptions options = TestOptions();
  options.tablet_servers = 1;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                       Database::Open(directory.path() + "/db", options));
  ASSERT_OK(database->CreateTable("t", TableSchema{.families = {{"f", {}}}}));
  Table* const table = *database->OpenTable("t");
  ASSERT_OK(table->Apply(RowMutation("row").Set("f:q", "v")));
  GroupCommit* const queue = DatabasePeer(database.get()).Servers().front()->writer().queue();
  absl::Notification is_held, release;
  std::thread holder;
  const auto function = [&](Transaction* transaction) {
    SetWallClockOffset(-absl::Hours(1));
    holder = std::thread([&] {
      queue->RunExclusive([&] {
        is_held.Notify();
        release.WaitForNotification();
      });
    });
    is_held.WaitForNotification();
    return transaction->Apply(table, RowMutation("row").Set("f:q", "w"));
  };
  std::future<absl::Status> result = std::async(std::launch::async, [&] {
    return database->RunTransaction(function, {.deadline = absl::Now() + absl::Milliseconds(300)});
  });
  EXPECT_EQ(result.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  release.Notify();
  EXPECT_STATUS(kDeadlineExceeded, "", result.get());
  holder.join();
}

TEST_F(LivenessTest, SixteenThreadsWithLargeValuesWaitNoLongerThanOneTakes) {
  Check({.value_size = 8 * kMiB,
         .threads = 16,
         .budget = 0,
         .deadlines = false,
         .bytes = (kSlow ? 16 : 64) * 8 * kMiB},
        -absl::Seconds(30));
}

TEST_F(LivenessTest, AValueLargerThanTheBudgetWaitsOnlyForExistingMemtables) {
  Check({.value_size = 100 * kMiB,
         .threads = 2,
         .budget = 64 * kMiB,
         .deadlines = false,
         .bytes = 200 * kMiB},
        absl::Hours(1));
}

}  // namespace
}  // namespace bigtable
