// Background work as the users of a database see it: work that is due is done, and users can wait
// for it, pause it and cancel it.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/steady_time.h"
#include "support/database_fixture.h"

namespace bigtable {
namespace {

class BackgroundWorkTest : public DatabaseFixture {
 protected:
  static constexpr uint64_t kSegmentSize = 64 << 10;

  void SetUp() override {
    DatabaseOptions options = Options();
    options.memory_budget = MemoryBudget::kMinimum;
    options.memtable_size = 64 << 10;
    options.log_segment_size = kSegmentSize;
    options.file_system = &faulty_;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
    table_ = CreateTable("t", {"f"});
  }
  void TearDown() override {
    faulty_.ReleaseCalls();
    database_.reset();  // before the file systems
  }

  static std::string RowName(int n) { return absl::StrCat(n % 2 == 0 ? "a" : "z", n); }
  // Twelve of these fill a memtable. Memtables that are rotated meanwhile are flushed together. The
  // writes go to both ends of the table, so that no two files can form one run.
  void WriteSome(int n) {
    for (int i = 0; i < n; ++i) {
      Set(table_, RowName(next_++), "f:q", 1, std::string(6000, 'v'));
    }
  }
  // The same, with one run for each flush.
  void WriteRuns(int n) {
    for (int i = 0; i < n; ++i) {
      WriteSome(12);
      ASSERT_OK(database_->WaitUntilQuiet());
    }
  }
  LocalityGroupStatistics Group() { return database_->Statistics().tables.at("t").at("default"); }
  // The log segments of the users' server, needed or free.
  struct LogFiles {
    size_t count = 0;
    uint64_t bytes = 0;
  };
  LogFiles LogFilesOfTheUser() {
    LogFiles files;
    for (const std::string& path : file_system_->AllFiles()) {
      if (!path.starts_with(absl::StrCat(kPath, "/log/server-")) || !path.ends_with(".log")) {
        continue;
      }
      ++files.count;
      files.bytes += file_system_->Contents(path).size();
    }
    return files;
  }
  CallOptions Soon() { return {.deadline = absl::Now() + absl::Milliseconds(50)}; }

  FaultyFileSystem faulty_{file_system_.get()};
  Table* table_ = nullptr;
  int next_ = 0;
};

TEST_F(BackgroundWorkTest, QuietIsWhenNothingIsLeftToFlushOrToMerge) {
  WriteRuns(20);
  const DatabaseStatistics statistics = database_->Statistics();
  EXPECT_GT(statistics.minor_compactions, 5u);
  EXPECT_GT(statistics.merging_compactions, 0u);
  EXPECT_EQ(Group().memtables, 1u);  // the active one
  const uint64_t runs = Group().sorted_runs;
  EXPECT_LT(runs, statistics.minor_compactions);
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_EQ(database_->Statistics().merging_compactions, statistics.merging_compactions);
  for (int i = 0; i < next_; ++i) {
    ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow(RowName(i)));
    ASSERT_FALSE(row.empty()) << i;
  }
}

// No call waits for them, and it is long before the threads search all tablets again.
TEST_F(BackgroundWorkTest, RunsAreMergedSoonAfterTheyWereWritten) {
  for (int i = 0; i < 10; ++i) {
    WriteSome(12);
    ASSERT_OK(database_->Flush("t"));
  }
  const absl::Time end = absl::Now() + absl::Seconds(5);
  while (database_->Statistics().merging_compactions == 0 && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_GT(database_->Statistics().merging_compactions, 0u);
}

TEST_F(BackgroundWorkTest, WhilePausedNothingIsMergedAndMemtablesAreFlushed) {
  database_->PauseCompactions();
  database_->PauseCompactions();
  WriteRuns(10);
  EXPECT_EQ(database_->Statistics().merging_compactions, 0u);
  const uint64_t runs = Group().sorted_runs;
  EXPECT_EQ(runs, database_->Statistics().minor_compactions);
  EXPECT_GT(runs, 5u);
  database_->ContinueCompactions();
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Group().sorted_runs, runs);  // pauses nest
  database_->ContinueCompactions();
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_LT(Group().sorted_runs, runs);
  EXPECT_GT(database_->Statistics().merging_compactions, 0u);
}

TEST_F(BackgroundWorkTest, TheNumberOfThreadsChangesWhileTheyWork) {
  const std::vector<Table*> tables = {table_, CreateTable("u", {"f"}), CreateTable("v", {"f"})};
  const auto write_runs = [&] {
    database_->PauseCompactions();
    for (int run = 0; run < 10; ++run) {
      for (Table* table : tables) {
        for (const char* row : {"a", "z"}) {
          Set(table, absl::StrCat(row, next_++), "f:q", 1, std::string(1000, 'v'));
        }
        ASSERT_OK(database_->Flush(table->name()));
      }
    }
    faulty_.StallCalls({{FileCall::kNewWritableFile}, ".sst"});
    database_->ContinueCompactions();
  };
  const auto set_threads = [&](const char* count) {
    ASSERT_OK(database_->SetOptions({{"compaction_threads", count}}));
  };

  write_runs();
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  set_threads("3");
  ASSERT_TRUE(faulty_.WaitUntilStalled(3));
  set_threads("1");  // does not wait for their compactions
  faulty_.ReleaseCalls();
  ASSERT_OK(database_->WaitUntilQuiet());

  write_runs();
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  EXPECT_FALSE(faulty_.WaitUntilStalled(2, absl::Milliseconds(100)));
  set_threads("2");  // one that has ended, again
  ASSERT_TRUE(faulty_.WaitUntilStalled(2));
  EXPECT_FALSE(faulty_.WaitUntilStalled(3, absl::Milliseconds(100)));
  faulty_.ReleaseCalls();
  ASSERT_OK(database_->WaitUntilQuiet());
}

TEST_F(BackgroundWorkTest, AMajorCompactionWorksWhilePausedAndLeavesOneRun) {
  database_->PauseCompactions();
  WriteRuns(10);
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Group().sorted_runs, 1u);
  EXPECT_EQ(database_->Statistics().major_compactions, 1u);
}

// Free segments are kept for later writers. Once it is quiet, only the active segment and the spare
// are needed.
TEST_F(BackgroundWorkTest, QuietIsWhenFreeLogSegmentsAreRemoved) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) {
      WriteSome(12);
      ASSERT_OK(database_->Flush("t"));
    }
    const LogFiles before = LogFilesOfTheUser();
    EXPECT_GT(before.count, 2u);
    ASSERT_OK(database_->WaitUntilQuiet());
    const LogFiles after = LogFilesOfTheUser();
    EXPECT_LE(after.count, 2u);
    EXPECT_LE(after.bytes, 2 * kSegmentSize);
    EXPECT_LT(after.bytes, before.bytes);
    ASSERT_OK(database_->WaitUntilQuiet());
    EXPECT_EQ(LogFilesOfTheUser().count, after.count);
  }
  for (int i = 0; i < next_; ++i) {
    ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow(RowName(i)));
    ASSERT_FALSE(row.empty()) << i;
  }
}

TEST_F(BackgroundWorkTest, LogSegmentsThatAreNeededStayWhenItIsQuiet) {
  for (int i = 0; i < 5; ++i) {
    WriteSome(12);
    ASSERT_OK(database_->Flush("t"));
  }
  WriteSome(5);  // only in the memtable
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Group().memtables, 1u);
  EXPECT_GT(Group().memtable_bytes, 5u * 6000);
  // If the process is killed now, recovery finds all of them.
  const std::unique_ptr<InMemoryFileSystem> left =
      file_system_->CrashClone(1, Unsynced::kEverything);
  DatabaseOptions options = Options();
  options.file_system = left.get();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> opened, Database::Open(kPath, options));
  ASSERT_OK_AND_ASSIGN(Table* const table, opened->OpenTable("t"));
  for (int i = 0; i < next_; ++i) {
    ASSERT_OK_AND_ASSIGN(const Row row, table->ReadRow(RowName(i)));
    ASSERT_FALSE(row.empty()) << i;
  }
}

TEST_F(BackgroundWorkTest, WaitingEndsWithTheDeadlineOrTheCancellation) {
  faulty_.StallCalls({{FileCall::kNewWritableFile}, ".sst"});
  WriteSome(12);
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  EXPECT_STATUS(kDeadlineExceeded, "deadline", database_->WaitUntilQuiet(Soon()));
  EXPECT_STATUS(kDeadlineExceeded, "deadline", database_->Flush("t", Soon()));
  EXPECT_STATUS(kDeadlineExceeded, "deadline", database_->Compact("t", Soon()));
  Cancellation cancellation;
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(30));
    cancellation.Cancel();
  });
  EXPECT_STATUS(kCancelled, "cancelled",
                database_->WaitUntilQuiet({.cancellation = &cancellation}));
  canceller.join();
  faulty_.ReleaseCalls();
  EXPECT_OK(database_->WaitUntilQuiet());
}

// --- A compaction that the rate limit delays for hours ---

constexpr uint64_t kHours = 100;  // bytes a second

TEST_F(BackgroundWorkTest, TheDeadlineAndTheCancellationOfACallEndItsCompaction) {
  WriteRuns(3);
  database_->SetCompactionRate(kHours);
  const auto count_sstables = [&] {
    const std::vector<std::string> files = file_system_->AllFiles();
    return std::count_if(files.begin(), files.end(),
                         [](const std::string& path) { return path.ends_with(".sst"); });
  };
  ASSERT_OK(database_->Flush("t"));  // a compaction begins with a flush
  const auto sstables = count_sstables();
  EXPECT_STATUS(kDeadlineExceeded, "the compaction", database_->Compact("t", Soon()));
  Cancellation cancellation;
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(30));
    cancellation.Cancel();
  });
  EXPECT_STATUS(kCancelled, "cancelled", database_->Compact("t", {.cancellation = &cancellation}));
  canceller.join();
  EXPECT_EQ(count_sstables(), sstables);  // the compaction leaves no files
  database_->SetCompactionRate(0);
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Group().sorted_runs, 1u);
}

TEST_F(BackgroundWorkTest, ClosingEndsACompaction) {
  WriteRuns(3);
  database_->SetCompactionRate(kHours);
  std::thread compacter([&] {
    EXPECT_STATUS(kFailedPrecondition, "the database is closed", database_->Compact("t"));
  });
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_OK(database_->Close());
  compacter.join();
}

TEST_F(BackgroundWorkTest, CancellingEndsACompactionOfACall) {
  WriteRuns(3);
  database_->SetCompactionRate(kHours);
  std::atomic<bool> is_over{false};
  std::thread compacter([&] {
    EXPECT_STATUS(kCancelled, "", database_->Compact("t"));
    is_over = true;
  });
  while (!is_over) {  // it may not have begun
    database_->CancelCompactions();
    absl::SleepFor(absl::Milliseconds(5));
  }
  compacter.join();
}

TEST_F(BackgroundWorkTest, ANewRateAppliesToACompactionThatWaits) {
  WriteRuns(3);
  database_->SetCompactionRate(kHours);
  std::thread compacter([&] { EXPECT_OK(database_->Compact("t")); });
  absl::SleepFor(absl::Milliseconds(50));
  database_->SetCompactionRate(0);
  compacter.join();
  EXPECT_EQ(Group().sorted_runs, 1u);
}

TEST_F(BackgroundWorkTest, ClosingEndsTheWaitsOfCalls) {
  faulty_.StallCalls({{FileCall::kNewWritableFile}, ".sst"});
  WriteSome(3);
  std::vector<std::thread> waiters;
  std::atomic<int> over{0};
  const auto wait = [&](std::function<absl::Status()> call) {
    waiters.emplace_back([&over, call = std::move(call)] {
      EXPECT_STATUS(kFailedPrecondition, "closed", call());
      ++over;
    });
  };
  wait([&] { return database_->Flush("t"); });
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  wait([&] { return database_->Compact("t"); });
  wait([&] { return database_->WaitUntilQuiet(); });
  wait([&] { return database_->SplitTablet("t", "m"); });
  absl::SleepFor(absl::Milliseconds(50));
  std::thread closer([&] { EXPECT_OK(database_->Close()); });
  while (over < 3) absl::SleepFor(absl::Milliseconds(1));
  faulty_.ReleaseCalls();  // closing needs these calls itself, and so may the split
  closer.join();
  for (std::thread& waiter : waiters) waiter.join();
}

// --- Many sorted runs ---

// Writers do not wait for compactions that do not run: they are slowed, but not below an eighth of
// the speed of flushes.
TEST_F(BackgroundWorkTest, PausedCompactionsDoNotStopWriters) {
  const auto time_to_write = [&] {
    const SteadyTime start = SteadyTime::Now();
    WriteSome(12 * 80);  // 6 MB
    return SteadyTime::Now() - start;
  };
  const absl::Duration without = time_to_write();
  ASSERT_OK(database_->Compact("t"));
  database_->PauseCompactions();
  WriteRuns(60);
  ASSERT_GE(Group().sorted_runs, 50u);
  EXPECT_EQ(database_->Statistics().stall_reason, StallReason::kSortedRuns);
  EXPECT_GT(database_->Statistics().write_delay, absl::ZeroDuration());
  // At a fixed megabyte a second it would take six seconds.
  EXPECT_LT(time_to_write(), 10 * without + absl::Seconds(2));
}

TEST_F(BackgroundWorkTest, AFlushReturnsOnlyWhenAllEarlierWritesAreInSSTables) {
  WriteSome(3);
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Group().entries, 3u);
  EXPECT_EQ(Group().memtables, 1u);
  ASSERT_OK(database_->Flush("t"));  // nothing to do
  EXPECT_EQ(Group().sorted_runs, 1u);
  EXPECT_STATUS(kNotFound, "other", database_->Flush("other"));
}

TEST_F(BackgroundWorkTest, ATableThatIsDeletedMeanwhileEndsTheWaitForIt) {
  faulty_.StallCalls({{FileCall::kNewWritableFile}, ".sst"});
  WriteSome(3);
  absl::Status flushed;
  std::thread flusher([&] { flushed = database_->Flush("t"); });
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  std::thread deleter([&] { EXPECT_OK(database_->DeleteTable("t")); });
  while (database_->ListTables()->size() == 1) absl::SleepFor(absl::Milliseconds(1));
  absl::SleepFor(absl::Milliseconds(10));
  faulty_.ReleaseCalls();
  flusher.join();
  deleter.join();
  // The flush was in time, or it was not.
  EXPECT_TRUE(flushed.ok() || absl::IsNotFound(flushed)) << flushed.ToString();
  EXPECT_OK(database_->WaitUntilQuiet());
}

TEST_F(BackgroundWorkTest, AFailedMinorCompactionStopsNoWritesAndIsRetried) {
  WriteSome(3);
  faulty_.FailCalls({{FileCall::kAppend}, ".sst"}, absl::ResourceExhaustedError("disk full"));
  EXPECT_STATUS(kResourceExhausted, "disk full", database_->Flush("t"));
  EXPECT_STATUS(kResourceExhausted, "disk full", database_->WaitUntilQuiet());
  EXPECT_STATUS(kResourceExhausted, "disk full", database_->Resume());
  WriteSome(3);
  faulty_.ClearFaults();
  EXPECT_OK(database_->Flush("t"));
  EXPECT_EQ(Group().entries, 6u);
}

// A few seconds of failures are no reason to refuse writes: the retry may free the memory.
TEST_F(BackgroundWorkTest, WritersWaitWhileFlushesFailForAShortTime) {
  faulty_.FailCalls({{FileCall::kAppend}, ".sst"}, absl::ResourceExhaustedError("disk full"));
  std::thread repair([&] {
    while (database_->Statistics().failing_work.empty()) absl::SleepFor(absl::Milliseconds(1));
    absl::SleepFor(absl::Milliseconds(300));
    faulty_.ClearFaults();
  });
  const std::string value(100'000, 'v');
  for (uint64_t bytes = 0; bytes < 2 * MemoryBudget::kMinimum; bytes += value.size()) {
    EXPECT_OK(table_->Apply(RowMutation(RowName(next_++)).Set("f:q", Timestamp(1), value)));
  }
  repair.join();
}

}  // namespace
}  // namespace bigtable
