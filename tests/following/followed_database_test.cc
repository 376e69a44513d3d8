// DatabaseOptions::follow: a database that is read while another process, here another object,
// writes it.
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"

#include "support/expect_status.h"
#include "support/hiding_file_system.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class FollowedDatabaseTest : public TabletsFixture {
 protected:
  void TearDown() override {
    follower_.reset();
    database_.reset();
  }
  DatabaseOptions FollowOptions() {
    DatabaseOptions options = Options();
    options.follow = true;
    options.follow_interval = absl::InfiniteDuration();
    return options;
  }
  void Follow(const DatabaseOptions& options) {
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    follower_ = *std::move(opened);
  }
  void Follow() { Follow(FollowOptions()); }
  Table* Followed(std::string_view name = "t") { return follower_->OpenTable(name).value(); }
  static std::string Dump(Database* database) {
    std::string dump;
    const std::vector<std::string> names = database->ListTables().value();
    for (const std::string& name : names) {
      absl::StrAppend(&dump, name, "\n");
      RowReader reader = (*database->OpenTable(name))->ReadRows(RowRange());
      for (const Row& row : reader)
        absl::StrAppend(&dump, ToAbsl(row.key()), ": ", Show(row), "\n");
      EXPECT_OK(reader.status());
    }
    return dump;
  }
  void ExpectSame() {
    ASSERT_OK(follower_->Refresh());
    EXPECT_EQ(Dump(follower_.get()), Dump(database_.get()));
  }

  std::unique_ptr<Database> follower_;
};

TEST_F(FollowedDatabaseTest, ItHasWhatTheOtherOneHasAfterEachRefresh) {
  Open(WithServers(2));
  Table* const table = CreateSplitTable("t", 3, 10);
  Fill(table, 0, 30, "a");
  ASSERT_NO_FATAL_FAILURE(Follow());
  ExpectFilled(Followed(), 0, 30, "a");
  Fill(table, 0, 30, "b");
  ExpectFilled(Followed(), 0, 30, "a");  // until it is refreshed
  ExpectSame();
  ExpectFilled(Followed(), 0, 30, "b");
  ASSERT_OK(follower_->Refresh());  // nothing has changed
  ExpectFilled(Followed(), 0, 30, "b");
  ASSERT_OK(database_->Flush("t"));
  ExpectSame();
  Fill(table, 5, 25, "c");
  ASSERT_OK(database_->Compact("t"));
  ExpectSame();
  ASSERT_OK(database_->SplitTablet("t", RowOf(15)));
  EXPECT_OK(table->Apply(RowMutation(RowOf(15)).DeleteRow()));
  ExpectSame();
  ASSERT_OK(database_->MergeTablets("t", RowOf(10)));
  ASSERT_OK(database_->MoveTablet("t", RowOf(0), 1));
  ExpectSame();
  CreateTable("u", {"g"});
  ExpectSame();
  ASSERT_OK(database_->AddFamily("t", "n", {.value_type = ValueType::kInt64Sum}));
  EXPECT_OK(table->Apply(RowMutation(RowOf(3)).AddToCell("n:q", Timestamp(1), 5)));
  ExpectSame();
  ASSERT_OK(database_->DeleteTable("u"));
  ExpectSame();
  EXPECT_STATUS(kNotFound, "no table \"u\"", follower_->OpenTable("u"));
  ASSERT_OK(table->DropRowRange(RowRange::Prefix("row0002")));
  ExpectSame();
}

TEST_F(FollowedDatabaseTest, ItOutlivesOpeningsAndDeathsOfTheOtherOne) {
  Open();
  Table* table = CreateSplitTable("t", 2, 10);
  Fill(table, 0, 20, "a");
  ASSERT_NO_FATAL_FAILURE(Follow());
  for (int i = 0; i < 4; ++i) {
    if (i % 2 == 0) {
      ASSERT_OK(database_->Close());
    }
    database_.reset();
    ExpectFilled(Followed(), 0, 20, i == 0 ? "a" : absl::StrCat("of", i - 1));
    ASSERT_OK(follower_->Refresh());
    Open(WithServers(1 + i));
    ExpectSame();
    Fill(OpenTable("t"), 0, 20, absl::StrCat("of", i));
    if (i >= 2) {
      ASSERT_OK(database_->Compact("t"));
    }
    ExpectSame();
  }
}

TEST_F(FollowedDatabaseTest, SnapshotsAndStreamsStayAtTheirMoment) {
  Open();
  Table* const table = CreateSplitTable("t", 3, 100);
  Fill(table, 0, 300, "a");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(Follow());
  const auto snapshot = follower_->TakeSnapshot().value();
  RowReader reader = Followed()->ReadRows(RowRange::All());
  auto row = reader.begin();
  Scanner scanner(Followed());
  ScanStream* const stream = scanner.FetchColumnFamily("f");
  ASSERT_FALSE(stream->Done());
  // All of its files are removed.
  Fill(table, 0, 300, "b");
  ASSERT_OK(database_->Compact("t"));
  ExpectSame();
  ExpectFilled(Followed(), 0, 300, "b");
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(Show(*row), absl::StrCat("f:q@1=a", i));
    ++row;
    ASSERT_FALSE(stream->Done());
    ASSERT_EQ(stream->Value(), absl::StrCat("a", i));
    stream->Next();
    ASSERT_EQ(Show(Followed()->ReadRow(RowOf(i), Filter(), {.snapshot = snapshot})),
              absl::StrCat("f:q@1=a", i));
  }
  EXPECT_OK(reader.status());
  EXPECT_OK(scanner.status());
  EXPECT_STATUS(kInvalidArgument, "another database",
                table->ReadRow(RowOf(0), Filter(), {.snapshot = snapshot}).status());
  EXPECT_STATUS(kInvalidArgument, "another database",
                Followed()
                    ->ReadRow(RowOf(0), Filter(), {.snapshot = database_->TakeSnapshot().value()})
                    .status());
}

// What the program still has when the follower is gone is valid, and says so.
TEST_F(FollowedDatabaseTest, WhatIsHeldOutlivesIt) {
  Open();
  Table* const table = CreateSplitTable("t", 2, 100);
  Fill(table, 0, 200, "a");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(Follow());
  auto snapshot = follower_->TakeSnapshot().value();
  RowReader reader = Followed()->ReadRows(RowRange::All());
  auto row = reader.begin();
  auto scanner = std::make_unique<Scanner>(Followed());
  ScanStream* const stream = scanner->FetchColumnFamily("f");
  ASSERT_FALSE(stream->Done());
  const Row single = Followed()->ReadRow(RowOf(7)).value();
  // Those of an earlier state, too.
  Fill(table, 0, 200, "b");
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(follower_->Refresh());
  RowReader later = Followed()->ReadRows(RowRange::All());
  auto later_row = later.begin();
  EXPECT_EQ(Show(*later_row), "f:q@1=b0");
  follower_.reset();
  EXPECT_EQ(Show(single), "f:q@1=a7");
  EXPECT_EQ(Show(*row), "f:q@1=a0");
  EXPECT_EQ(Show(*later_row), "f:q@1=b0");
  while (row != reader.end()) ++row;
  EXPECT_STATUS(kFailedPrecondition, "closed", reader.status());
  while (later_row != later.end()) ++later_row;
  EXPECT_STATUS(kFailedPrecondition, "closed", later.status());
  while (!stream->Done()) stream->Next();
  EXPECT_STATUS(kFailedPrecondition, "closed", scanner->status());
  snapshot.reset();
}

TEST_F(FollowedDatabaseTest, RowsThatAreReadTogetherAreOfOneState) {
  Open();
  Table* const table = CreateSplitTable("t", 2, 10);
  Fill(table, 0, 20, "a");
  ASSERT_NO_FATAL_FAILURE(Follow());
  const std::vector<std::string> names = {RowOf(15), RowOf(99), RowOf(3), RowOf(15), "", RowOf(20)};
  const std::vector<std::string_view> rows(names.begin(), names.end());
  const auto read = [&] {
    std::string text;
    for (const auto& row : Followed()->GetRows(rows)) {
      absl::StrAppend(&text, row.ok() ? Show(row) : "error", "; ");
    }
    return text;
  };
  const std::string before = read();
  EXPECT_EQ(before, "f:q@1=a15; ; f:q@1=a3; f:q@1=a15; error; ; ");
  Fill(table, 0, 21, "b");
  EXPECT_EQ(read(), before);
  ASSERT_OK(follower_->Refresh());
  EXPECT_EQ(read(), "f:q@1=b15; ; f:q@1=b3; f:q@1=b15; error; f:q@1=b20; ");
  const std::string closed = "FAILED_PRECONDITION";
  Table* const followed = Followed();
  ASSERT_OK(follower_->Close());
  for (const auto& row : followed->GetRows(rows)) {
    EXPECT_EQ(absl::StatusCodeToString(row.status().code()), closed);
  }
}

TEST_F(FollowedDatabaseTest, RowsThatAreReadTogetherDuringRefreshesConcurrency) {
  Open();
  Table* const table = CreateSplitTable("t", 2, 10);
  Fill(table, 0, 20, "0-");
  ASSERT_NO_FATAL_FAILURE(Follow());
  std::atomic<bool> is_done = false;
  std::thread reader([&, followed = Followed()] {
    std::vector<std::string> names;
    for (int i = 0; i < 20; ++i) names.push_back(RowOf(i));
    const std::vector<std::string_view> rows(names.begin(), names.end());
    while (!is_done && !HasFailure()) {
      std::map<std::string, int> states;
      for (const auto& row : followed->GetRows(rows)) {
        const std::string text = Show(row);
        ++states[text.substr(0, text.find('-'))];
      }
      EXPECT_EQ(states.size(), 1u) << states.begin()->first << " and " << states.rbegin()->first;
    }
  });
  for (int state = 1; state <= (kSlow ? 10 : 50); ++state) {
    Fill(table, 0, 20, absl::StrCat(state, "-"));
    EXPECT_OK(follower_->Refresh());
  }
  is_done = true;
  reader.join();
}

// Threads that read while states come and go.
TEST_F(FollowedDatabaseTest, ReadersAndRefreshesConcurrency) {
  Open();
  Table* const table = CreateSplitTable("t", 2, 10);
  Fill(table, 0, 20, "000-");
  ASSERT_NO_FATAL_FAILURE(Follow());
  Table* const followed = Followed();
  std::atomic<bool> is_over = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      std::string last = "f:q@1=";
      while (!is_over) {
        const std::string row = Show(followed->ReadRow(RowOf(3)));
        EXPECT_GE(row, last);
        last = row;
        EXPECT_OK(followed->ReadRows(RowRange::All()).status());
      }
    });
  }
  for (int i = 1; i < (kSlow ? 40 : 100); ++i) {
    Fill(table, 0, 20, absl::StrFormat("%03d-", i));
    ASSERT_OK(follower_->Refresh());
  }
  is_over = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_F(FollowedDatabaseTest, ItOnlyReads) {
  Open();
  Table* const table = CreateStillTable();
  Set(table, "r", "f:q", 1, "v");
  // But for segments that the writer prepares.
  const auto files = [&] {
    std::vector<std::string> all = file_system_->AllFiles();
    std::erase_if(all, [](const std::string& file) { return file.ends_with(".log"); });
    return all;
  };
  const std::vector<std::string> before = files();
  ASSERT_NO_FATAL_FAILURE(Follow());
  Table* const followed = Followed();
  const std::string refused = "read-only";
  EXPECT_STATUS(kFailedPrecondition, refused,
                followed->Apply(RowMutation("r").Set("f:q", Timestamp(1), "w")));
  EXPECT_STATUS(kFailedPrecondition, refused, followed->DropRowRange(RowRange::All()));
  EXPECT_STATUS(kFailedPrecondition, refused, follower_->CreateTable("u", StillSchema()));
  EXPECT_STATUS(kFailedPrecondition, refused, follower_->DeleteTable("t"));
  EXPECT_STATUS(kFailedPrecondition, refused, follower_->Flush("t"));
  EXPECT_STATUS(kFailedPrecondition, "transactions", follower_->BeginTransaction().status());
  WriteBatch batch;
  batch.Apply(followed, RowMutation("r").Set("f:q", Timestamp(1), "w"));
  EXPECT_STATUS(kFailedPrecondition, refused, follower_->Apply(batch));
  EXPECT_STATUS(kFailedPrecondition, "DatabaseOptions::follow", database_->Refresh());
  EXPECT_EQ(files(), before);
  EXPECT_OK(followed->SampleRowKeys().status());
  EXPECT_EQ(follower_->ListTablets("t")->size(), 1u);
  EXPECT_OK(follower_->GetSchema("t").status());
  ASSERT_OK(follower_->Close());
  EXPECT_STATUS(kFailedPrecondition, "closed", followed->ReadRow("r").status());
  EXPECT_STATUS(kFailedPrecondition, "closed", follower_->Refresh());
  RowReader reader = followed->ReadRows(RowRange::All());
  EXPECT_STATUS(kFailedPrecondition, "closed", reader.status());
}

// A database that a program writes can be copied without its help.
TEST_F(FollowedDatabaseTest, CopiesAreOfItsMoment) {
  Open(WithServers(2));
  Table* const table = CreateSplitTable("t", 3, 10);
  Fill(table, 0, 30, "a");
  ASSERT_OK(database_->Flush("t"));
  Fill(table, 0, 15, "a");
  ASSERT_NO_FATAL_FAILURE(Follow());
  const std::string before = Dump(follower_.get());
  Fill(table, 0, 30, "b");
  ASSERT_OK(database_->Compact("t"));  // which removes the files
  ASSERT_OK(follower_->Checkpoint("/copy"));
  auto backups = BackupEngine::Open("/backups", file_system_.get()).value();
  const absl::StatusOr<BackupInfo> made = backups->Create(follower_.get());
  ASSERT_OK(made);
  ASSERT_OK(backups->Restore(made->id, "/restored", {.file_system = file_system_.get()}));
  for (const char* const path : {"/copy", "/restored"}) {
    DatabaseOptions options = Options();
    absl::StatusOr<std::unique_ptr<Database>> copy = Database::Open(path, options);
    ASSERT_OK(copy);
    EXPECT_EQ(Dump(copy->get()), before) << path;
  }
  EXPECT_STATUS(kFailedPrecondition, "read-only",
                backups->RestoreTable(made->id, "t", follower_.get(), "u"));
}

TEST_F(FollowedDatabaseTest, ThereMustBeADatabase) {
  EXPECT_STATUS(kNotFound, "there is no database here",
                Database::Open(kPath, FollowOptions()).status());
  ASSERT_OK(file_system_->CreateDirectory(kPath));
  EXPECT_STATUS(kNotFound, "", Database::Open(kPath, FollowOptions()).status());
  DatabaseOptions options = FollowOptions();
  options.follow_interval = absl::Microseconds(1);
  EXPECT_STATUS(kInvalidArgument, "follow_interval", Database::Open(kPath, options).status());
}

// Whatever has been acknowledged when the refresh begins is there: also in a log of another
// segment, and in one that was switched.
TEST_F(FollowedDatabaseTest, EachWriteIsThereAtOnceAcrossSegments) {
  DatabaseOptions options = WithServers(2);
  options.log_segment_size = 64 << 10;
  options.memory_budget = 8 << 20;
  Open(options);
  Table* const table = CreateSplitTable("t", 4, 10);
  ASSERT_NO_FATAL_FAILURE(Follow());
  std::map<std::string, std::string> written;
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    for (int k = 0; k < 20; ++k) {
      const std::string row = RowOf(static_cast<int>(random.Below(40)));
      const std::string value = absl::StrCat(i, "-", k, std::string(random.Below(600), 'v'));
      Set(table, row, "f:q", 1, value);
      written[row] = value;
    }
    if (i % 50 == 49) {
      ASSERT_OK(database_->Flush("t"));
    }
    ASSERT_OK(follower_->Refresh());
    RowReader reader = Followed()->ReadRows(RowRange::All());
    auto expected = written.begin();
    for (const Row& row : reader) {
      ASSERT_NE(expected, written.end());
      ASSERT_EQ(row.key(), expected->first);
      ASSERT_EQ(row.cells()[0].value, expected->second);
      ++expected;
    }
    ASSERT_OK(reader.status());
    ASSERT_EQ(expected, written.end());
  }
}

// Writers of rows on several servers, one after the other and as batches, while the tables are
// flushed, compacted, split, merged and moved: each state is one that there was.
TEST_F(FollowedDatabaseTest, EachStateIsOneMomentConcurrency) {
  DatabaseOptions options = WithServers(3);
  options.log_segment_size = 64 << 10;
  options.memory_budget = 16 << 20;
  options.memtable_size = 64 << 10;
  Open(options);
  constexpr int kRows = 30;
  Table* const table = CreateSplitTable("t", 3, 10);
  Table* const batched = CreateSplitTable("b", 3, 10);
  const auto write = [&](int round) {
    const std::string value = absl::StrFormat("%08d", round) + std::string(300, 'x');
    // Rows in the order of their numbers: no row is newer than one before it.
    for (int i = 0; i < kRows; ++i) Set(table, RowOf(i), "f:q", 1, value);
    WriteBatch batch;
    for (int i = 0; i < kRows; i += 5) {
      batch.Apply(batched, RowMutation(RowOf(i)).Set("f:q", Timestamp(1), value));
    }
    EXPECT_OK(database_->Apply(batch));
  };
  write(0);
  ASSERT_NO_FATAL_FAILURE(Follow());
  std::atomic<bool> is_over = false;
  std::atomic<int> acknowledged = 0;
  std::thread writer([&] {
    for (int round = 1; !is_over; ++round) {
      write(round);
      acknowledged = round;
    }
  });
  std::thread changer([&] {
    Random random(2);
    while (!is_over) {
      absl::SleepFor(absl::Milliseconds(kSlow ? 20 : 1));
      const std::string name = random.OneIn(2) ? "t" : "b";
      const std::string row = RowOf(static_cast<int>(random.Below(kRows)));
      switch (random.Below(5)) {
        case 0:
          database_->Flush(name).IgnoreError();
          break;
        case 1:
          database_->Compact(name).IgnoreError();
          break;
        case 2:
          database_->SplitTablet(name, row).IgnoreError();
          break;
        case 3:
          database_->MergeTablets(name, row).IgnoreError();
          break;
        default:
          database_->MoveTablet(name, row, static_cast<int>(random.Below(3))).IgnoreError();
      }
    }
  });
  const absl::Cleanup join = [&] {
    is_over = true;
    writer.join();
    changer.join();
  };
  const absl::Time end = absl::Now() + absl::Seconds(5);
  int refreshes = 0;
  int last = 0;
  while (absl::Now() < end && !HasFailure()) {
    const int least = acknowledged;
    const absl::Status refreshed = follower_->Refresh();
    EXPECT_OK(refreshed);
    ++refreshes;
    const auto snapshot = follower_->TakeSnapshot().value();
    std::vector<int> rounds;
    {
      RowReader reader = Followed("t")->ReadRows(RowRange::All(), Filter(), {.snapshot = snapshot});
      for (const Row& row : reader) rounds.push_back(std::stoi(std::string(row.cells()[0].value)));
      EXPECT_OK(reader.status());
    }
    ASSERT_EQ(rounds.size(), static_cast<size_t>(kRows));
    for (int i = 1; i < kRows; ++i) {
      ASSERT_LE(rounds[i], rounds[i - 1]) << i;
      ASSERT_GE(rounds[i], rounds[0] - 1) << i;
    }
    ASSERT_GE(rounds[kRows - 1], least);
    RowReader reader = Followed("b")->ReadRows(RowRange::All(), Filter(), {.snapshot = snapshot});
    for (const Row& row : reader) {
      const int round = std::stoi(std::string(row.cells()[0].value));
      // The batch of a round comes after its rows, and before those of the next one.
      ASSERT_TRUE(round == rounds[kRows - 1] || round == rounds[kRows - 1] - 1) << round;
      ASSERT_GE(round, last);
      last = round;
    }
    ASSERT_OK(reader.status());
    // Batches are whole.
    int batch_round = -1;
    RowReader again = Followed("b")->ReadRows(RowRange::All(), Filter(), {.snapshot = snapshot});
    for (const Row& row : again) {
      const int round = std::stoi(std::string(row.cells()[0].value));
      ASSERT_TRUE(batch_round < 0 || round == batch_round) << round;
      batch_round = round;
    }
    ASSERT_OK(again.status());
  }
  EXPECT_GT(refreshes, 5);
}

TEST_F(FollowedDatabaseTest, AThreadFollowsByItself) {
  Open();
  Table* const table = CreateStillTable();
  Set(table, "r", "f:q", 1, "a");
  DatabaseOptions options = FollowOptions();
  options.follow_interval = absl::Milliseconds(1);
  ASSERT_NO_FATAL_FAILURE(Follow(options));
  Set(table, "r", "f:q", 1, "b");
  for (int i = 0; i < 5000 && Followed()->Get("r", "f:q").value() != "b"; ++i) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(Followed()->Get("r", "f:q").value(), "b");
}

// An error of any call leaves the state as it was, and no more files open, and the next refresh
// succeeds.
TEST_F(FollowedDatabaseTest, AnErrorOfAnyCallLeavesTheStateAsItWas) {
  Open(WithServers(2));
  Table* const table = CreateSplitTable("t", 2, 10);
  Fill(table, 0, 20, "a");
  HidingFileSystem counting(file_system_.get());
  FaultyFileSystem faulty(&counting);
  DatabaseOptions options = FollowOptions();
  options.file_system = &faulty;
  ASSERT_NO_FATAL_FAILURE(Follow(options));
  int failed = 0;
  for (uint64_t call = 1;; ++call) {
    SCOPED_TRACE(call);
    Fill(table, 0, 20, "a");
    ASSERT_OK(follower_->Refresh());
    Fill(table, 0, 20, "b");
    ASSERT_OK(database_->Flush("t"));
    const int open_files = counting.open_files();
    faulty.CountCalls();
    faulty.FailCall(call, absl::InternalError("injected"));
    const absl::Status refreshed = follower_->Refresh();
    if (!refreshed.ok()) {
      EXPECT_LE(counting.open_files(), open_files);
    }
    const bool is_over = faulty.calls() < call;
    faulty.ClearFaults();
    ExpectFilled(Followed(), 0, 20, refreshed.ok() ? "b" : "a");
    failed += refreshed.ok() ? 0 : 1;
    if (is_over) {
      EXPECT_OK(refreshed);
      break;
    }
    ASSERT_OK(follower_->Refresh());
    ExpectFilled(Followed(), 0, 20, "b");
  }
  EXPECT_GT(failed, 10);
  follower_.reset();
}

}  // namespace
}  // namespace bigtable
