// Splits, moves and merges of tablets while others read and write.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "support/random.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class TabletChangesConcurrencyTest : public TabletsFixture {};

// Writers increment their rows, each row by one thread, and read back their writes. Scanners check
// that each snapshot is consistent. Meanwhile tablets are split, moved and merged.
TEST_F(TabletChangesConcurrencyTest, ReadersAndWritersSeeNoDifference) {
  constexpr int kWriters = 3;
  constexpr int kRowsEach = 40;
  DatabaseOptions options = WithServers(3);
  options.memtable_size = 64 << 10;
  Open(options);
  Table* const table = CreateStillTable();
  std::atomic<bool> done{false};
  std::atomic<int64_t> writes{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      for (int n = 1; !done; ++n) {
        std::vector<RowMutation> batch;
        for (int r = 0; r < kRowsEach; ++r) {
          RowMutation mutation(RowOf(r * kWriters + w));
          mutation.Set("f:a", Timestamp(n), std::to_string(n));
          mutation.Set("f:b", Timestamp(n), std::to_string(n));
          if (n % 2 == 0) {
            batch.push_back(std::move(mutation));
            continue;
          }
          ASSERT_OK(table->Apply(mutation));
          const auto row = table->ReadRow(RowOf(r * kWriters + w), Filter::Latest(1));
          ASSERT_OK(row);
          ASSERT_EQ(Show(*row), Cat("f:a@", n, "=", n, " f:b@", n, "=", n));
        }
        for (const absl::Status& status : table->ApplyBatch(batch)) ASSERT_OK(status);
        writes += kRowsEach;
      }
    });
  }
  threads.emplace_back([&] {
    std::map<std::string, int> last;
    while (!done) {
      RowReader reader = table->ReadRows(RowRange::All(), Filter::Latest(1));
      size_t rows = 0;
      for (const Row& row : reader) {
        ASSERT_EQ(row.cells().size(), 2u);
        ASSERT_EQ(row.cells()[0].value, row.cells()[1].value);
        int& before = last[std::string(row.key())];
        const int now = std::stoi(std::string(row.cells()[0].value));
        ASSERT_GE(now, before);
        before = now;
        ++rows;
      }
      ASSERT_OK(reader.status());
      ASSERT_EQ(rows, last.size());  // no earlier row is missing
    }
  });
  Random random(7);
  const absl::Time end = absl::Now() + absl::Seconds(2);
  int changes = 0;
  while (absl::Now() < end && !HasFailure()) {
    const std::string row = RowOf(static_cast<int>(random.Below(kWriters * kRowsEach)));
    const std::vector<TabletInfo> tablets = Tablets("t");
    absl::Status status;
    switch (random.Below(4)) {
      case 0:
        if (tablets.size() < 8) status = database_->SplitTablet("t", row);
        break;
      case 1:
        if (tablets.size() > 1) {
          const size_t i = 1 + random.Below(tablets.size() - 1);
          status = database_->MergeTablets("t", tablets[i].rows.begin());
        }
        break;
      case 2:
        status = database_->MoveTablet("t", row, static_cast<int>(random.Below(3)));
        break;
      default:
        if (random.OneIn(4)) status = database_->Compact("t");
        break;
    }
    EXPECT_TRUE(status.ok() || absl::IsAlreadyExists(status)) << status;
    ++changes;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(changes, 0);
  EXPECT_GT(writes.load(), 0);
}

// The time of which 999 of 1,000 calls take less, by one thread that reads and one that writes,
// while `changes` runs and until there are enough calls.
struct Pauses {
  absl::Duration of_reads;
  absl::Duration of_writes;
};

class TabletChangePauseConcurrencyTest : public TabletChangesConcurrencyTest {
 protected:
  Pauses PausesDuring(Table* table, const std::function<void()>& changes) {
    std::atomic<bool> done{false};
    std::atomic<int> begun{0}, enough{0};
    std::array<std::vector<absl::Duration>, 2> times;
    std::vector<std::thread> threads;
    for (const bool writes : {false, true}) {
      threads.emplace_back([&, writes] {
        for (int i = 0; !done; i = (i + 7) % 2000) {
          const absl::Time start = absl::Now();
          if (writes) {
            Set(table, RowOf(i), "f:q", 1, "w");
          } else {
            EXPECT_OK(table->ReadRow(RowOf(i)));
          }
          times[writes].push_back(absl::Now() - start);
          if (times[writes].size() == 1) ++begun;
          if (times[writes].size() == 3000) ++enough;
        }
      });
    }
    while (begun < 2) std::this_thread::yield();
    changes();
    while (enough < 2) std::this_thread::yield();
    done = true;
    for (std::thread& thread : threads) thread.join();
    return {.of_reads = Percentile(&times[0]), .of_writes = Percentile(&times[1])};
  }

 private:
  static absl::Duration Percentile(std::vector<absl::Duration>* times) {
    std::sort(times->begin(), times->end());
    return (*times)[times->size() - 1 - times->size() / 1000];
  }
};

// Repeatedly, while a tablet is split, and while one is moved.
TEST_F(TabletChangePauseConcurrencyTest, ThePauseIsShort) {
  Open(WithServers(2));
  Table* const table = CreateStillTable();
  Fill(table, 0, 2000);
  // On a busy machine calls take long without changes, too.
  const Pauses before = PausesDuring(table, [] {});
  const auto check = [&](const Pauses& during, absl::Duration limit) {
    if (kSlow) limit *= 5;
    EXPECT_LT(during.of_reads, limit + 3 * before.of_reads) << "before: " << before.of_reads;
    EXPECT_LT(during.of_writes, limit + 3 * before.of_writes) << "before: " << before.of_writes;
  };
  check(PausesDuring(table,
                     [&] {
                       for (int i = 1; i <= 40; ++i) {
                         EXPECT_OK(database_->SplitTablet("t", RowOf(i * 40)));
                       }
                     }),
        absl::Milliseconds(20));
  check(PausesDuring(table,
                     [&] {
                       for (int i = 1; i <= 40; ++i) {
                         EXPECT_OK(database_->MoveTablet("t", RowOf(i), i % 2));
                       }
                     }),
        absl::Milliseconds(50));
}

}  // namespace
}  // namespace bigtable
