// Table::ReadRowAsync, GetRowsAsync, and the same for coroutines: what they return, by whom and
// when.
#include <atomic>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/awaitable.h"
#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "support/cold_file_system.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

using Repeat = FaultyFileSystem::Repeat;

// How a read is held, and whether it is.
struct Holding {
  std::function<void()> hold, release;
  std::function<bool()> is_held;
  std::function<void()> in_first = [] {};  // when it is told
};

class AsyncReadsTest : public testing::Test {
 protected:
  static constexpr int kRows = 500;

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Open());
    TableSchema schema;
    schema.locality_groups["g"] = {.block_size = 1 << 10};
    schema.families["f"] = {.locality_group = "g"};
    ASSERT_OK(database_->CreateTable("t", schema));
    table_ = *database_->OpenTable("t");
    for (int i = 0; i < kRows; ++i) {
      ASSERT_OK(table_->Apply(RowMutation(RowOf(i)).Set("f:q", Timestamp(1), ValueOf(i))));
    }
    ASSERT_OK(database_->Flush("t"));
    for (int i = 0; i < kRows; i += 3) {
      ASSERT_OK(table_->Apply(RowMutation(RowOf(i)).Set("f:r", Timestamp(1), "more")));
    }
    ASSERT_OK(database_->Flush("t"));
  }
  void Open() {
    DatabaseOptions options;
    options.memory_budget = 16 << 20;
    options.log_segment_size = 256 << 10;
    options.read_mode = FileSystem::ReadMode::kMapped;
    options.file_system = &faulty_;
    ASSERT_OK_AND_ASSIGN(database_, Database::Open("/db", options));
  }
  static std::string RowOf(int i) { return absl::StrFormat("row%04d", i); }
  static std::string ValueOf(int i) { return Cat("value ", i, std::string(200, '.')); }
  static void ExpectRow(int i, const absl::StatusOr<Row>& row) {
    ASSERT_OK(row);
    ASSERT_EQ(row->key(), RowOf(i));
    ASSERT_EQ(row->cells().size(), i % 3 == 0 ? 2u : 1u);
    ASSERT_EQ(row->cells()[0].value, ValueOf(i));
  }
  // Waits for the result of one read.
  absl::StatusOr<Row> Read(std::string row, const Filter& filter = {}, ReadOptions options = {}) {
    absl::Notification is_done;
    absl::StatusOr<Row> result;
    table_->ReadRowAsync(std::move(row), filter, std::move(options), [&](absl::StatusOr<Row> got) {
      result = std::move(got);
      is_done.Notify();
    });
    is_done.WaitForNotification();
    return result;
  }

  void ExpectOthersAreNotHeldUp(const Holding& holding);

  InMemoryFileSystem memory_;
  ColdFileSystem cold_{&memory_, /*is_cold=*/false};
  FaultyFileSystem faulty_{&cold_};
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
};

TEST_F(AsyncReadsTest, WhatIsInMemoryIsToldBeforeTheCallReturns) {
  for (int i = 0; i < kRows; ++i) ExpectRow(i, table_->ReadRow(RowOf(i)));
  for (int i = 0; i < kRows; ++i) {
    bool is_told = false;
    table_->ReadRowAsync(RowOf(i), {}, {},
                         [&, caller = std::this_thread::get_id()](absl::StatusOr<Row> row) {
                           EXPECT_EQ(std::this_thread::get_id(), caller);
                           ExpectRow(i, row);
                           is_told = true;
                         });
    ASSERT_TRUE(is_told) << i;
  }
  bool is_told = false;
  ASSERT_OK(table_->Apply(RowMutation("only in the memtable").Set("f:q", Timestamp(1), "v")));
  table_->ReadRowAsync("only in the memtable", {}, {}, [&](const absl::StatusOr<Row>& row) {
    EXPECT_OK(row);
    is_told = row.ok() && row->cells().size() == 1;
  });
  EXPECT_TRUE(is_told);
}

TEST_F(AsyncReadsTest, ThousandsThatAreNotInMemoryAreUnderWayAtTheSameTime) {
  cold_.SetCold(true);
  constexpr int kReads = 3000;
  absl::BlockingCounter missing(kReads);
  std::atomic<int> elsewhere = 0;
  Random random(1);
  for (int k = 0; k < kReads; ++k) {
    const int i = static_cast<int>(random.Below(kRows));
    table_->ReadRowAsync(RowOf(i), {}, {},
                         [&, i, caller = std::this_thread::get_id()](absl::StatusOr<Row> row) {
                           ExpectRow(i, row);
                           elsewhere += std::this_thread::get_id() != caller ? 1 : 0;
                           missing.DecrementCount();
                         });
  }
  missing.Wait();
  EXPECT_GT(elsewhere, 100);
  EXPECT_GT(cold_.overlapped_reads(), 50u);
}

TEST_F(AsyncReadsTest, OptionsAndFiltersAreThoseOfReadRow) {
  ASSERT_OK_AND_ASSIGN(const auto before, database_->TakeSnapshot());
  ASSERT_OK(table_->Apply(RowMutation(RowOf(3)).Set("f:s", Timestamp(1), "after")));
  for (const bool is_cold : {false, true}) {
    cold_.SetCold(is_cold);
    EXPECT_EQ(Read(RowOf(3))->cells().size(), 3u);
    EXPECT_EQ(Read(RowOf(3), {}, {.snapshot = before})->cells().size(), 2u);
    EXPECT_EQ(Read(RowOf(3), Filter::Column("f", "r"))->cells().size(), 1u);
    EXPECT_EQ(Read(RowOf(3), {}, {.cell_limit = 2})->cells().size(), 2u);
    EXPECT_TRUE(Read("there is no such row")->empty());
    EXPECT_STATUS(kInvalidArgument, "", Read(""));
    EXPECT_STATUS(kInvalidArgument, "", Read(RowOf(1), Filter::ValueRegex("(")));
    EXPECT_STATUS(kDeadlineExceeded, "",
                  Read(RowOf(1), {}, {.deadline = absl::Now() - absl::Seconds(1)}));
    Cancellation cancellation;
    cancellation.Cancel();
    EXPECT_STATUS(kCancelled, "", Read(RowOf(1), {}, {.cancellation = &cancellation}));
  }
}

TEST_F(AsyncReadsTest, RowsOfOneCallAreInItsOrder) {
  for (const bool is_cold : {false, true, true}) {
    cold_.SetCold(is_cold);
    std::vector<int> numbers = {7, 400, 7, 0, 499, 250};
    for (int i = 0; i < 200; i += 2) numbers.push_back(i);
    std::vector<std::string> rows;
    for (const int i : numbers) rows.push_back(RowOf(i));
    rows.push_back("absent");
    rows.push_back("");
    absl::Notification is_done;
    table_->GetRowsAsync(rows, {}, {}, [&](std::vector<absl::StatusOr<Row>> got) {
      ASSERT_EQ(got.size(), rows.size());
      for (size_t k = 0; k < numbers.size(); ++k) ExpectRow(numbers[k], got[k]);
      EXPECT_TRUE(got[numbers.size()]->empty());
      EXPECT_STATUS(kInvalidArgument, "", got.back());
      is_done.Notify();
    });
    is_done.WaitForNotification();
  }
  bool is_told = false;
  table_->GetRowsAsync({}, {}, {}, [&](const auto& got) { is_told = got.empty(); });
  EXPECT_TRUE(is_told);
}

// Each result asks for the next row.
TEST_F(AsyncReadsTest, AChainOfReadsDoesNotFillTheStack) {
  for (const bool is_cold : {false, true}) {
    cold_.SetCold(is_cold);
    const int rows = is_cold ? 2000 : 100'000;
    absl::Notification is_done;
    std::function<void(int)> read = [&](int k) {
      if (k == rows) return is_done.Notify();
      table_->ReadRowAsync(RowOf(k % kRows), {}, {}, [&, k](const absl::StatusOr<Row>& row) {
        if (!row.ok() || row->empty()) ADD_FAILURE() << k << ": " << row.status();
        read(k + 1);
      });
    };
    read(0);
    is_done.WaitForNotification();
  }
}

TEST_F(AsyncReadsTest, AChainOfReadsOfAClosedDatabaseDoesNotFillTheStack) {
  ASSERT_OK(database_->Close());
  int refused = 0;
  std::function<void()> read = [&] {
    table_->ReadRowAsync(RowOf(1), {}, {}, [&](const absl::StatusOr<Row>& row) {
      if (absl::IsFailedPrecondition(row.status()) && ++refused < 100'000) read();
    });
  };
  read();
  EXPECT_EQ(refused, 100'000);
}

// Of a database that reads before the call returns.
TEST_F(AsyncReadsTest, ManyRowsOfAFollowedDatabaseDoNotFillTheStack) {
  DatabaseOptions options;
  options.file_system = &faulty_;
  options.follow = true;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> beside, Database::Open("/db", options));
  ASSERT_OK_AND_ASSIGN(Table* const table, beside->OpenTable("t"));
  std::vector<std::string> rows;
  for (int i = 0; i < 30'000; ++i) rows.push_back(RowOf(i % kRows));
  bool is_done = false;
  table->GetRowsAsync(std::move(rows), {}, {}, [&](const std::vector<absl::StatusOr<Row>>& got) {
    ASSERT_EQ(got.size(), 30'000u);
    for (int i = 0; i < 30'000; ++i) ASSERT_NO_FATAL_FAILURE(ExpectRow(i % kRows, got[i]));
    is_done = true;
  });
  EXPECT_TRUE(is_done);
}

// Its first block may be in memory, and the others not.
TEST_F(AsyncReadsTest, ARowOfSeveralBlocksIsReadElsewhereUnlessAllAreInMemory) {
  RowMutation mutation("wide");
  for (int i = 0; i < 100; ++i) {
    mutation.Set(absl::StrFormat("f:%03d", i), Timestamp(1), std::string(100, 'w'));
  }
  ASSERT_OK(table_->Apply(mutation));
  ASSERT_OK(database_->Flush("t"));
  const auto is_here = [&] {
    std::thread::id by;
    absl::Notification is_done;
    table_->ReadRowAsync("wide", {}, {}, [&](const absl::StatusOr<Row>& row) {
      EXPECT_OK(row);
      EXPECT_EQ(row->cells().size(), 100u);
      by = std::this_thread::get_id();
      is_done.Notify();
    });
    is_done.WaitForNotification();
    return by == std::this_thread::get_id();
  };
  cold_.SetCold(true);
  for (int i = 0; i < 5; ++i) {
    const uint64_t reads =
        cold_.overlapped_reads() + cold_.uncached_reads() + cold_.positional_reads();
    const bool was_here = is_here();
    // A thread that does not wait reads nothing.
    EXPECT_TRUE(!was_here ||
                cold_.overlapped_reads() + cold_.uncached_reads() + cold_.positional_reads() ==
                    reads);
  }
  cold_.SetCold(false);
  ASSERT_OK(table_->ReadRow("wide"));
  EXPECT_TRUE(is_here());
}

TEST_F(AsyncReadsTest, EachIsToldOnceIfTheDatabaseIsClosed) {
  cold_.SetCold(true);
  constexpr int kReads = 2000;
  std::vector<std::atomic<int>> told(kReads);
  std::atomic<int> closed = 0;
  for (int k = 0; k < kReads; ++k) {
    table_->ReadRowAsync(RowOf(k % kRows), {}, {}, [&, k](const absl::StatusOr<Row>& row) {
      ++told[k];
      if (row.ok()) return ExpectRow(k % kRows, row);
      EXPECT_STATUS(kFailedPrecondition, "the database is closed", row);
      ++closed;
    });
  }
  ASSERT_OK(database_->Close());
  for (int k = 0; k < kReads; ++k) ASSERT_EQ(told[k], 1) << k;
  bool is_told = false;
  table_->ReadRowAsync(RowOf(0), {}, {}, [&](const absl::StatusOr<Row>& row) {
    is_told = absl::IsFailedPrecondition(row.status());
  });
  EXPECT_TRUE(is_told);
}

// --- Reads that hold up others ---

// Behind a read of another table that is held, many rows of table "t" are told.
void AsyncReadsTest::ExpectOthersAreNotHeldUp(const Holding& holding) {
  std::vector<Table*> others;
  for (const char* name : {"u", "v", "w"}) {
    ASSERT_OK(database_->CreateTable(name, {.families = {{"f", {}}}}));
    others.push_back(*database_->OpenTable(name));
    ASSERT_OK(others.back()->Apply(RowMutation(RowOf(0)).Set("f:q", Timestamp(1), "v")));
    ASSERT_OK(database_->Flush(name));
    ASSERT_OK(others.back()->ReadRow(RowOf(0)));  // its file is open
  }
  for (int i = 0; i < kRows; i += 10) ExpectRow(i, table_->ReadRow(RowOf(i)));
  cold_.SetCold(true);
  int held = 0;
  for (Table* const other : others) {
    // A thread gets the read and the others together: it is busy until all are there.
    std::atomic<bool> is_busy = false, is_queued = false, is_through = false;
    table_->ReadRowAsync(RowOf(1), {}, {.fill_cache = false},
                         [&, caller = std::this_thread::get_id()](const absl::StatusOr<Row>&) {
                           is_busy = true;
                           const bool is_here = std::this_thread::get_id() == caller;
                           while (!is_here && !is_queued) absl::SleepFor(absl::Microseconds(100));
                           is_through = true;
                         });
    while (!is_busy) absl::SleepFor(absl::Microseconds(100));
    holding.hold();
    std::atomic<bool> is_first_told = false;
    other->ReadRowAsync(RowOf(0), {}, {.fill_cache = false}, [&](const absl::StatusOr<Row>& row) {
      EXPECT_OK(row);
      holding.in_first();
      is_first_told = true;
    });
    constexpr int kOthers = 40;  // one thread may have them
    std::atomic<int> missing = kOthers;
    for (int i = 0; i < kOthers; ++i) {
      table_->ReadRowAsync(RowOf(i * 2), {}, {}, [&, i](const absl::StatusOr<Row>& row) {
        ExpectRow(i * 2, row);
        --missing;
      });
    }
    is_queued = true;
    // Or the row was in memory.
    while (!is_first_told && !holding.is_held()) absl::SleepFor(absl::Milliseconds(1));
    const bool is_held = holding.is_held();
    held += is_held ? 1 : 0;
    if (!is_held) holding.release();
    const absl::Time begin = absl::Now();
    while (missing > 0 && absl::Now() < begin + absl::Seconds(30)) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    EXPECT_EQ(missing, 0) << "they wait for another read";
    EXPECT_NE(is_first_told, is_held);
    holding.release();
    while (missing > 0 || !is_first_told || !is_through) absl::SleepFor(absl::Milliseconds(1));
    if (HasFailure()) break;
  }
  EXPECT_GE(held, 1);
}

TEST_F(AsyncReadsTest, ABlockThatDoesNotComeHoldsUpNoOtherRow) {
  ExpectOthersAreNotHeldUp({.hold = [&] { cold_.HoldNextFile(); },
                            .release = [&] { cold_.Release(); },
                            .is_held = [&] { return cold_.is_holding(); }});
}

TEST_F(AsyncReadsTest, ARequestThatStallsHoldsUpNoOtherRow) {
  ExpectOthersAreNotHeldUp(
      {.hold =
           [&] {
             faulty_.StallOneFile(
                 {.kinds = {FileCall::kRead, FileCall::kPopulate}, .path_contains = ".sst"});
           },
       .release = [&] { faulty_.ReleaseCalls(); },
       .is_held = [&] { return faulty_.stalled() > 0; }});
}

TEST_F(AsyncReadsTest, ACallerThatTakesLongHoldsUpNoOtherRow) {
  std::atomic<bool> is_released = false, is_held = false;
  ExpectOthersAreNotHeldUp({.hold = [&] { is_released = is_held = false; },
                            .release = [&] { is_released = true; },
                            .is_held = [&] { return is_held.load(); },
                            .in_first =
                                [&, caller = std::this_thread::get_id()] {
                                  is_held = std::this_thread::get_id() != caller;
                                  while (is_held && !is_released)
                                    absl::SleepFor(absl::Milliseconds(1));
                                }});
}

// Every thread has a caller that takes long: rows wait, but not more than a part of the memory,
// also not those that were taken from readers.
TEST_F(AsyncReadsTest, MoreThanMayWaitAreRefusedAtOnceAndLaterItGoesOn) {
  const auto long_row = [](int i) { return Cat(std::string(20'000, 'x'), 1000 + i); };
  constexpr int kLongRows = 600;
  for (int i = 0; i < kLongRows; ++i) {
    ASSERT_OK(table_->Apply(RowMutation(long_row(i)).Set("f:q", Timestamp(1), "v")));
  }
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(table_->ReadRow(long_row(0)));  // the file is open
  for (const bool overlaps : {false, true}) {
    const Quota rates = overlaps ? Quota() : Quota{.requests_per_second = 1'000'000};
    ASSERT_OK(database_->SetTableQuota("t", rates));
    cold_.SetCold(false);
    cold_.SetCold(true);
    absl::Notification may_go_on;
    std::atomic<int> waiting = 0;
    int taken = 0;
    absl::Status refused;
    const absl::Time begin = absl::Now();
    while (refused.ok() && absl::Now() < begin + absl::Seconds(20)) {
      ++waiting;
      table_->ReadRowAsync(long_row(++taken % kLongRows), {}, {.fill_cache = false},
                           [&, caller = std::this_thread::get_id()](const auto& row) {
                             const bool is_here = std::this_thread::get_id() == caller;
                             if (is_here) refused.Update(row.status());
                             if (!is_here) may_go_on.WaitForNotification();
                             --waiting;
                           });
      if (taken % 2 == 0) absl::SleepFor(absl::Milliseconds(1));  // meanwhile some are moved
    }
    // A sixteenth of 16 MiB, wherever they wait, and what readers had besides and was moved.
    EXPECT_STATUS(kResourceExhausted, "rows wait already", refused);
    int rows = 0;
    ASSERT_EQ(
        std::sscanf(std::string(refused.message()).c_str(), "asynchronous reads of %d", &rows), 1);
    EXPECT_GE(rows, 51);
    EXPECT_LE(rows, overlaps ? 200 : 51);
    may_go_on.Notify();
    // It goes on by itself.
    while (waiting > 0) absl::SleepFor(absl::Milliseconds(1));
    ExpectRow(5, Read(RowOf(5)));
  }
}

// What cannot be requested before is read by many threads: of a table with a rate, whose reads may
// be refused, and from files that are not open yet.
TEST_F(AsyncReadsTest, ReadsThatDoNotOverlapAreUnderWayTogether) {
  constexpr int kReads = 16;
  for (const bool is_opened : {true, false}) {
    if (is_opened) {
      for (int i = 0; i < kRows; ++i) ExpectRow(i, table_->ReadRow(RowOf(i)));
      ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 1'000'000}));
      cold_.SetCold(true);
    } else {
      ASSERT_OK(database_->SetTableQuota("t", {}));
      database_.reset();
      Open();
      table_ = *database_->OpenTable("t");
    }
    absl::BlockingCounter told(kReads);
    std::atomic<int> under_way = kReads, here = 0;
    for (int i = 0; i < kReads; ++i) {
      const int row = i * 30;  // each in a block of its own
      table_->ReadRowAsync(
          RowOf(row), {}, {},
          [&, row, caller = std::this_thread::get_id()](const absl::StatusOr<Row>& got) {
            ExpectRow(row, got);
            --under_way;
            const bool is_here = std::this_thread::get_id() == caller;
            here += is_here ? 1 : 0;
            // For all others; else the first of them opens the file.
            while (!is_here && is_opened && under_way > 0) absl::SleepFor(absl::Milliseconds(1));
            told.DecrementCount();
          });
    }
    told.Wait();
    if (is_opened) {
      EXPECT_LT(here, kReads / 2) << "they were in memory";
      EXPECT_EQ(cold_.overlapped_reads(), 0u);
    }
  }
}

TEST_F(AsyncReadsTest, AnErrorOfAnyReadOfFilesIsToldOrThereIsNone) {
  cold_.SetCold(true);
  int failed = 0;
  for (const Repeat repeat : {Repeat::kOnce, Repeat::kFromThenOn}) {
    for (uint64_t call = 1; call < 60; ++call) {
      faulty_.CountCalls({.kinds = {FileCall::kRead, FileCall::kPopulate}});
      faulty_.FailCall(call, absl::InternalError("injected"), repeat);
      std::vector<std::string> rows;
      for (int i = 0; i < 40; ++i) rows.push_back(RowOf((i * 37 + static_cast<int>(call)) % kRows));
      absl::Notification is_done;
      table_->GetRowsAsync(rows, {}, {.fill_cache = false},
                           [&](std::vector<absl::StatusOr<Row>> got) {
                             for (size_t i = 0; i < rows.size(); ++i) {
                               if (got[i].ok()) {
                                 ExpectRow(static_cast<int>((i * 37 + call) % kRows), got[i]);
                               } else {
                                 EXPECT_STATUS(kInternal, "injected", got[i]);
                                 ++failed;
                               }
                             }
                             is_done.Notify();
                           });
      is_done.WaitForNotification();
      faulty_.ClearFaults();
    }
  }
  EXPECT_GT(failed, 20);
}

TEST_F(AsyncReadsTest, ManyThreadsReadBesideWritesAndCompactionsConcurrently) {
  cold_.SetCold(true);
  constexpr int kThreads = 3;
  const int reads = kSlow ? 300 : 1500;
  absl::BlockingCounter missing(kThreads * reads);
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    for (int round = 0; !is_over; ++round) {
      for (int i = 0; i < kRows; i += 7) {
        EXPECT_OK(table_->Apply(RowMutation(RowOf(i)).Set("f:q", Timestamp(1), ValueOf(i))));
      }
      EXPECT_OK(database_->Flush("t"));
      if (round % 3 != 2) continue;
      EXPECT_OK(database_->Compact("t"));
    }
  });
  std::vector<std::thread> readers;
  for (int t = 0; t < kThreads; ++t) {
    readers.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t));
      for (int k = 0; k < reads; ++k) {
        const int i = static_cast<int>(random.Below(kRows));
        table_->ReadRowAsync(RowOf(i), {}, {}, [&, i](const absl::StatusOr<Row>& row) {
          ExpectRow(i, row);
          missing.DecrementCount();
        });
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  missing.Wait();
  is_over = true;
  writer.join();
}

// --- Coroutines ---

// Runs at once, and nobody waits for it.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Detached ReadInTurn(Table* table, int rows, absl::Notification* is_done, std::string (*row_of)(int),
                    void (*expect)(int, const absl::StatusOr<Row>&)) {
  for (int k = 0; k < rows; ++k) {
    const absl::StatusOr<Row> row = co_await AwaitRow(table, row_of(k));
    expect(k, row);
  }
  std::vector<std::string> both = {row_of(0), row_of(1)};
  const std::vector<absl::StatusOr<Row>> two = co_await AwaitRows(table, std::move(both));
  expect(0, two[0]);
  expect(1, two[1]);
  const absl::StatusOr<Row> none = co_await AwaitRow(table, "");
  EXPECT_STATUS(kInvalidArgument, "", none);
  is_done->Notify();
}

TEST_F(AsyncReadsTest, ACoroutineGoesOnWhenItsRowIsThere) {
  for (const bool is_cold : {false, true}) {
    cold_.SetCold(is_cold);
    constexpr int kCoroutines = 20;
    std::vector<absl::Notification> is_done(kCoroutines);
    for (absl::Notification& one : is_done) {
      ReadInTurn(table_, kRows, &one, RowOf, ExpectRow);
    }
    for (absl::Notification& one : is_done) one.WaitForNotification();
  }
}

}  // namespace
}  // namespace bigtable
