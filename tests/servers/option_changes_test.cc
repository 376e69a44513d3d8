// Options that change while many threads write and read, servers are lost and syncs stall. Only a
// write whose outcome a lost server leaves unknown may fail, and no acknowledged write is lost,
// whatever the options are.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_peer.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class OptionChangesConcurrencyTest : public TabletsFixture {
 protected:
  static constexpr int kWriters = 6;
  static constexpr int kRowsEach = 50;
  // A call waits for the replacement of a server, which waits for a sync, which stalls; on a busy
  // machine, several times over.
  static constexpr absl::Duration kLongest = absl::Seconds(60);

  static absl::Time Deadline() { return absl::Now() + kLongest; }
  static std::string Number(uint64_t n) { return absl::StrCat(n); }

  // Some of the options, each with one of a few values far apart.
  static std::map<std::string, std::string> RandomOptions(Random& random) {
    std::map<std::string, std::string> options;
    const auto maybe = [&](const char* name, const std::vector<std::string>& values) {
      if (random.OneIn(2)) options[name] = values[random.Below(values.size())];
    };
    maybe("memory_budget", {Number(8 << 20), Number(12 << 20), Number(64 << 20)});
    maybe("memtable_size", {"0", Number(64 << 10), Number(2 << 20)});
    maybe("compaction_threads", {"1", "2", "5"});
    maybe("compaction_rate", {"0", Number(1 << 30)});  // which compactions keep up with
    maybe("target_file_size", {Number(1 << 20), Number(64 << 20)});
    maybe("durability", {"buffered", "sync"});  // with none, a lost server's writes are lost
    return options;
  }

  // Makes the same call again when a lost server leaves unknown whether it was made.
  template <typename Call>
  static absl::Status Again(Call call) {
    const absl::Time end = Deadline();
    absl::Status status;
    do {
      status = call();
    } while (absl::IsUnavailable(status) && absl::Now() < end);
    return status;
  }
  // Writes rows of its own with ascending numbers, one by one and as batches over servers, and
  // reads some of them back.
  void WriteRows(Table* table, int writer, const std::atomic<bool>& done, int* last) {
    Random random(static_cast<uint64_t>(writer) + 1);
    const auto mutation = [&](int r, int n) {
      RowMutation m(RowOf(r * kWriters + writer));
      m.Set("f:n", Timestamp(1), absl::StrCat(n)).Set("f:v", Timestamp(1), std::string(2000, 'v'));
      return m;
    };
    for (int n = 1; !done && !HasFailure(); ++n) {
      if (random.OneIn(3)) {
        WriteBatch batch;
        for (int r = 0; r < kRowsEach; ++r) batch.Apply(table, mutation(r, n));
        ASSERT_OK(Again([&] { return database_->Apply(batch, {.deadline = Deadline()}); }));
      } else {
        for (int r = 0; r < kRowsEach; ++r) {
          const RowMutation m = mutation(r, n);
          ASSERT_OK(Again([&] { return table->Apply(m, {.deadline = Deadline()}); }));
        }
      }
      const int r = static_cast<int>(random.Below(kRowsEach));
      ASSERT_NO_FATAL_FAILURE(ExpectNumber(table, RowOf(r * kWriters + writer), n));
      *last = n;
    }
  }
  static void ExpectNumber(Table* table, const std::string& row, int n) {
    ReadOptions options;
    options.deadline = Deadline();
    const auto found = table->ReadRow(row, Filter::Column("f", "n"), options);
    ASSERT_OK(found);
    ASSERT_EQ(Show(*found), absl::StrCat("f:n@1=", n)) << row;
  }
};

TEST_F(OptionChangesConcurrencyTest, NoCallFailsAndNothingIsLostRandom) {
  ForEachSeed(kSlow ? 1 : 3, [&](uint64_t seed) {
    database_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    FaultyFileSystem faulty(file_system_.get());
    DatabaseOptions options = WithServers(3);
    options.file_system = &faulty;
    options.log_segment_size = 1 << 20;
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
    Table* const table = CreateSplitTable("t", 6, kWriters * kRowsEach / 6);
    std::atomic<bool> done{false};
    std::vector<int> last(kWriters, 0);
    std::vector<std::thread> threads;
    for (int w = 0; w < kWriters; ++w) {
      threads.emplace_back([&, w] { WriteRows(table, w, done, &last[static_cast<size_t>(w)]); });
    }
    DatabasePeer peer(database_.get());
    Random random(seed);
    int changes = 0;
    for (int step = 0; step < 40 && !HasFailure(); ++step) {
      switch (random.Below(5)) {
        case 0: {
          const std::vector<TabletServer*> servers = peer.Servers();
          if (!servers.empty()) peer.Kill(servers[random.Below(servers.size())]);
          break;
        }
        case 1:
          faulty.StallCalls({.kinds = {FileCall::kSync, FileCall::kLogSync}});
          absl::SleepFor(absl::Milliseconds(20));
          faulty.ReleaseCalls();
          break;
        case 2:
          // Compact does not wait for long for a log that stalls.
          EXPECT_OK(Again(
              [&] { return random.OneIn(2) ? database_->Flush("t") : database_->Compact("t"); }));
          break;
        default:
          EXPECT_OK(database_->SetOptions(RandomOptions(random)));
          ++changes;
      }
      absl::SleepFor(absl::Milliseconds(random.Below(20)));
    }
    done = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(changes, 0);
    EXPECT_OK(database_->Statistics().background_error);

    // With the smallest budget everything is there, also after the next opening.
    ASSERT_OK(database_->SetOptions({{"memory_budget", Number(8 << 20)}, {"memtable_size", "0"}}));
    ASSERT_OK(database_->WaitUntilQuiet());
    for (const bool again : {false, true}) {
      if (again) {
        ASSERT_OK(database_->Close());
        database_.reset();
        ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
      }
      Table* const found = OpenTable("t");
      for (int w = 0; w < kWriters; ++w) {
        EXPECT_GT(last[static_cast<size_t>(w)], 0);
        for (int r = 0; r < kRowsEach; ++r) {
          ASSERT_NO_FATAL_FAILURE(
              ExpectNumber(found, RowOf(r * kWriters + w), last[static_cast<size_t>(w)]));
        }
      }
    }
    database_.reset();  // before `faulty`
  });
}

}  // namespace
}  // namespace bigtable
