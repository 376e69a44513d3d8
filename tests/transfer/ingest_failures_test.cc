// Table::Ingest beside other threads, and after errors and losses of power at each of its calls:
// all of the files are in the table, or none.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/mutex.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"
#include "support/watched_file_system.h"

namespace bigtable {
namespace {

class IngestFailuresTest : public TabletsFixture {
 protected:
  static constexpr int kRows = 30;

  void SetUp() override { ASSERT_OK(file_system_->CreateDirectory("/in")); }
  void TearDown() override { database_.reset(); }

  DatabaseOptions OptionsOf(FileSystem* file_system) {
    DatabaseOptions options = WithServers(2);
    options.file_system = file_system;
    return options;
  }
  void OpenOn(FileSystem* file_system) {
    absl::StatusOr<std::unique_ptr<Database>> opened =
        Database::Open(kPath, OptionsOf(file_system));
    ASSERT_OK(opened);
    database_ = *std::move(opened);
  }
  // Three tablets on two servers, with old rows in files and in memtables.
  void MakeTable(FileSystem* file_system) {
    OpenOn(file_system);
    Table* const table = CreateSplitTable("t", 3, 10);
    Fill(table, 0, kRows, "old");
    ASSERT_OK(database_->Flush("t"));
    Fill(table, 0, kRows, "old");
  }
  // A file of all rows, and one of the rows of the middle.
  std::vector<std::string> WriteFiles(std::string_view value) {
    std::vector<std::string> paths;
    for (const auto& [begin, end] : {std::pair(0, kRows), std::pair(8, 22)}) {
      paths.push_back(absl::StrCat("/in/", ++files_, ".sst"));
      auto writer =
          SSTableWriter::Create(paths.back(), {.file_system = file_system_.get()}).value();
      for (int i = begin; i < end; ++i) {
        EXPECT_OK(writer->Add({.row = RowOf(i),
                               .family = "f",
                               .qualifier = "q",
                               .timestamp = Timestamp(1),
                               .value = Cat(value, i)}));
      }
      EXPECT_OK(writer->Finish());
    }
    return paths;
  }
  // "old" or "new", if all rows have such values.
  static std::string ValueOfAll(Database* database) {
    Table* const table = database->OpenTable("t").value();
    std::string value;
    int rows = 0;
    RowReader reader = table->ReadRows(RowRange::All());
    for (const Row& row : reader) {
      EXPECT_EQ(row.key(), RowOf(rows));
      const std::string text(row.cells()[0].value.substr(0, 3));
      if (value.empty()) value = text;
      EXPECT_EQ(row.cells()[0].value, Cat(value, rows));
      ++rows;
    }
    EXPECT_OK(reader.status());
    EXPECT_EQ(rows, kRows);
    return value;
  }
  std::string ValueAfterOpening(FileSystem* file_system) {
    absl::StatusOr<std::unique_ptr<Database>> opened =
        Database::Open(kPath, OptionsOf(file_system));
    EXPECT_OK(opened);
    if (!opened.ok()) return "";
    const std::string value = ValueOfAll(opened->get());
    EXPECT_OK((*opened)->Compact("t"));
    EXPECT_EQ(ValueOfAll(opened->get()), value);
    // What is written now wins.
    Fill((*opened)->OpenTable("t").value(), 0, kRows, "now");
    EXPECT_EQ(ValueOfAll(opened->get()), "now");
    return value;
  }
  size_t SSTables() const {
    return static_cast<size_t>(std::ranges::count_if(
        file_system_->AllFiles(),
        [](const std::string& path) { return path.starts_with("/db/sst/"); }));
  }

  int files_ = 0;
};

TEST_F(IngestFailuresTest, AnErrorAtEachCallAddsAllOrNothingAndCanBeTriedAgain) {
  for (const IngestOptions::Wins wins :
       {IngestOptions::Wins::kNewest, IngestOptions::Wins::kOldest}) {
    const std::string after = wins == IngestOptions::Wins::kNewest ? "new" : "old";
    int failed = 0;
    for (uint64_t call = 1;; ++call) {
      SCOPED_TRACE(call);
      file_system_ = std::make_unique<InMemoryFileSystem>();
      ASSERT_OK(file_system_->CreateDirectory("/in"));
      FaultyFileSystem faulty(file_system_.get());
      ASSERT_NO_FATAL_FAILURE(MakeTable(&faulty));
      const std::vector<std::string> files = WriteFiles("new");
      // Those of this thread, which flushes the tablets in the end.
      faulty.CountCalls({.thread = std::this_thread::get_id()});
      faulty.FailCall(call, absl::InternalError("injected"));
      Table* const table = OpenTable("t");
      const absl::Status status =
          table->Ingest(files, {.wins = wins, .moves_files = call % 2 == 0}).status();
      const bool is_over = faulty.calls() < call;
      faulty.ClearFaults();
      if (is_over) {
        EXPECT_OK(status);
        EXPECT_EQ(ValueOfAll(database_.get()), after);
        database_.reset();
        break;
      }
      if (!status.ok()) {
        ++failed;
        EXPECT_EQ(ValueOfAll(database_.get()), "old");
        for (const std::string& file : files) EXPECT_TRUE(file_system_->FileExists(file));
        ASSERT_OK(database_->Resume());
        ASSERT_OK(OpenTable("t")->Ingest(files, {.wins = wins}));
      }
      EXPECT_EQ(ValueOfAll(database_.get()), after);
      database_.reset();
      EXPECT_EQ(ValueAfterOpening(file_system_.get()), after);
    }
    EXPECT_GT(failed, 10);
  }
}

TEST_F(IngestFailuresTest, AfterALossOfPowerAtEachCallAllIsThereOrNothingRandom) {
  ForEachSeed(3, [&](uint64_t seed) {
    file_system_ = std::make_unique<InMemoryFileSystem>();
    ASSERT_OK(file_system_->CreateDirectory("/in"));
    WatchedFileSystem watched(file_system_.get());
    ASSERT_NO_FATAL_FAILURE(MakeTable(&watched));
    const std::vector<std::string> files = WriteFiles("new");
    // The writes before were not synced, and those of the memtables may be lost.
    ASSERT_OK(database_->Flush("t"));
    Mutex mutex;
    std::vector<std::unique_ptr<InMemoryFileSystem>> disks;
    watched.Watch([&] {
      MutexLock lock(&mutex);
      disks.push_back(file_system_->CrashClone(seed * 1000 + disks.size()));
    });
    ASSERT_OK(OpenTable("t")->Ingest(files, {.moves_files = seed % 2 == 0}));
    watched.Watch(nullptr);
    disks.push_back(file_system_->CrashClone(seed));
    database_.reset();
    bool was_there = false;
    for (const std::unique_ptr<InMemoryFileSystem>& disk : disks) {
      const std::string value = ValueAfterOpening(disk.get());
      EXPECT_TRUE(value == "old" || value == "new") << value;
      EXPECT_TRUE(value == "new" || !was_there) << "it is durable once it is there";
      was_there = value == "new";
    }
    EXPECT_TRUE(was_there);
  });
}

TEST_F(IngestFailuresTest, ItsLimitsEndItBeforeAnythingIsAdded) {
  ASSERT_NO_FATAL_FAILURE(MakeTable(file_system_.get()));
  const std::vector<std::string> files = WriteFiles("new");
  const size_t before = SSTables();
  EXPECT_STATUS(kDeadlineExceeded, "",
                OpenTable("t")->Ingest(files, {.deadline = absl::Now() - absl::Seconds(1)}));
  Cancellation cancellation;
  cancellation.Cancel();
  EXPECT_STATUS(kCancelled, "", OpenTable("t")->Ingest(files, {.cancellation = &cancellation}));
  EXPECT_EQ(ValueOfAll(database_.get()), "old");
  EXPECT_EQ(SSTables(), before);
  Table* const table = OpenTable("t");
  ASSERT_OK(database_->Close());
  EXPECT_STATUS(kFailedPrecondition, "closed", table->Ingest(files));
}

TEST_F(IngestFailuresTest, ClosingEndsIt) {
  FaultyFileSystem faulty(file_system_.get());
  ASSERT_NO_FATAL_FAILURE(MakeTable(&faulty));
  const std::vector<std::string> files = WriteFiles("new");
  Table* const table = OpenTable("t");
  faulty.StallCalls({.kinds = {FileCall::kAppend}, .path_contains = "/sst/"});
  absl::Status ingested;
  std::thread ingesting([&] { ingested = table->Ingest(files).status(); });
  ASSERT_TRUE(faulty.WaitUntilStalled(1));
  std::thread closing([&] { EXPECT_OK(database_->Close()); });
  absl::SleepFor(absl::Milliseconds(100));
  faulty.ReleaseCalls();
  ingesting.join();
  closing.join();
  EXPECT_STATUS(kFailedPrecondition, "closed", ingested);
  database_.reset();
  EXPECT_EQ(ValueAfterOpening(file_system_.get()), "old");
}

TEST_F(IngestFailuresTest, AFullDiskRefusesItAndItGoesOnWithRoom) {
  ASSERT_NO_FATAL_FAILURE(MakeTable(file_system_.get()));
  const std::vector<std::string> files = WriteFiles("new");
  const size_t before = SSTables();
  file_system_->set_max_total_bytes(file_system_->total_bytes() + 100);
  EXPECT_STATUS(kResourceExhausted, "", OpenTable("t")->Ingest(files));
  EXPECT_EQ(SSTables(), before);
  EXPECT_EQ(ValueOfAll(database_.get()), "old");
  file_system_->set_max_total_bytes(InMemoryFileSystem::kUnlimited);
  EXPECT_OK(OpenTable("t")->Ingest(files));
  EXPECT_EQ(ValueOfAll(database_.get()), "new");
}

// One stream, and single reads one after the other over both servers.
TEST_F(IngestFailuresTest, ReadersSeeAllOrNothingConcurrency) {
  ASSERT_NO_FATAL_FAILURE(MakeTable(file_system_.get()));
  Table* const table = OpenTable("t");
  const auto number = [](std::string_view value) {
    return value.starts_with("old") ? 0 : value[0] - 'A' + 1;
  };
  std::atomic<bool> ends = false;
  std::atomic<int> streams = 0;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int last = 0; !ends;) {
      const std::string value = [&] {
        RowReader reader = table->ReadRows(RowRange::All());
        std::string first;
        for (const Row& row : reader) {
          const std::string text(row.cells()[0].value.substr(0, 1));
          if (first.empty()) first = text;
          EXPECT_EQ(text, first) << row.key();
        }
        EXPECT_OK(reader.status());
        return first;
      }();
      const int now = value == "o" ? 0 : value[0] - 'A' + 1;
      EXPECT_GE(now, last);
      last = now;
      ++streams;
    }
  });
  threads.emplace_back([&] {
    Random random(1);
    for (int last = 0; !ends;) {
      const absl::StatusOr<std::string> value =
          table->Get(RowOf(static_cast<int>(random.Below(kRows))), "f:q");
      ASSERT_OK(value);
      const int now = number(*value);
      EXPECT_GE(now, last) << "what was seen on one server is seen on the other";
      last = now;
    }
  });
  // Other writes go on: to another table, and to another column of these rows.
  Table* const other = CreateTable("other", {"f"});
  std::atomic<int> written = 0;
  threads.emplace_back([&] {
    for (int i = 0; !ends; ++i) {
      EXPECT_OK(other->Apply(RowMutation(RowOf(i % 100)).Set("f:q", Timestamp(1), "x")));
      EXPECT_OK(table->Apply(RowMutation(RowOf(i % kRows)).Set("f:zother", Timestamp(1), Cat(i))));
      written = i;
    }
  });
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(table->Ingest(WriteFiles(std::string(1, static_cast<char>('A' + i)))));
    if (i % 5 == 3) {
      ASSERT_OK(database_->MoveTablet("t", RowOf(15), i % 2));
    }
    const int now = streams;
    for (int wait = 0; wait < 1000 && streams < now + 2; ++wait)
      absl::SleepFor(absl::Milliseconds(1));
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table->Get(RowOf(written % kRows), "f:zother").value(), Cat(written.load()));
  EXPECT_EQ(table->Get(RowOf(5), "f:q").value(), "T5");
  database_.reset();
  OpenOn(file_system_.get());
  EXPECT_EQ(OpenTable("t")->Get(RowOf(15), "f:q").value(), "T15");
}

TEST_F(IngestFailuresTest, SeveralAtATimeAreAllThereConcurrency) {
  OpenOn(file_system_.get());
  Table* const table = CreateSplitTable("t", 3, 10);
  constexpr int kThreads = 4;
  constexpr int kEach = 10;
  Mutex mutex;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        std::string path;
        {
          MutexLock lock(&mutex);
          path = absl::StrCat("/in/", ++files_);
        }
        auto writer = SSTableWriter::Create(path, {.file_system = file_system_.get()}).value();
        for (int row = 0; row < kRows; ++row) {
          // Of all, so that they meet; and of its own.
          for (const std::string& qualifier : {std::string("a"), Cat("b", thread, "-", i)}) {
            ASSERT_OK(writer->Add({.row = RowOf(row),
                                   .family = "f",
                                   .qualifier = qualifier,
                                   .timestamp = Timestamp(1),
                                   .value = Cat(thread, "-", i)}));
          }
        }
        ASSERT_OK(writer->Finish());
        ASSERT_OK(table->Ingest({path}, {.wins = i % 3 == 2 ? IngestOptions::Wins::kOldest
                                                            : IngestOptions::Wins::kNewest}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto check = [&](Table* of) {
    std::string first;
    for (int row = 0; row < kRows; ++row) {
      const absl::StatusOr<Row> read = of->ReadRow(RowOf(row));
      ASSERT_OK(read);
      EXPECT_EQ(read->cells().size(), 1u + kThreads * kEach);
      const std::string winner(read->cells()[0].value);
      if (first.empty()) first = winner;
      EXPECT_EQ(winner, first) << "the order is the same in all rows";
    }
  };
  check(table);
  ASSERT_OK(database_->Compact("t"));
  check(table);
  database_.reset();
  OpenOn(file_system_.get());
  check(OpenTable("t"));
}

}  // namespace
}  // namespace bigtable
