// The effect of failing background work on the users of a database: it is retried by itself,
// unreadable files are left out, and other work continues.
#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "admission/write_controller.h"
#include "base/mutex.h"
#include "base/retry_pause.h"
#include "support/database_fixture.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class QuarantineListener final : public EventListener {
 public:
  void OnFileQuarantined(const QuarantineEvent& event) override {
    MutexLock lock(&mutex_);
    events_.push_back(event);
  }
  void OnBackgroundError(const BackgroundErrorEvent& event) override {
    MutexLock lock(&mutex_);
    errors_.push_back(event);
  }
  std::vector<QuarantineEvent> events() {
    MutexLock lock(&mutex_);
    return events_;
  }
  std::vector<BackgroundErrorEvent> errors() {
    MutexLock lock(&mutex_);
    return errors_;
  }

 private:
  Mutex mutex_;
  std::vector<QuarantineEvent> events_ ABSL_GUARDED_BY(mutex_);
  std::vector<BackgroundErrorEvent> errors_ ABSL_GUARDED_BY(mutex_);
};

class BackgroundFailureTest : public DatabaseFixture {
 protected:
  void SetUp() override { OpenFaulty(); }
  void TearDown() override {
    faulty_->ClearFaults();
    database_.reset();  // before the file systems and the listener
  }
  void OpenFaulty() {
    faulty_ = std::make_unique<FaultyFileSystem>(
        file_system_.get(), FaultyFileSystem::Options{.hide_file_mappings = true});
    DatabaseOptions options = Options();
    options.memtable_size = 64 << 10;
    options.log_segment_size = 64 << 10;
    options.event_listener = &listener_;
    options.file_system = faulty_.get();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
  }

  std::set<std::string> SSTables() const {
    std::set<std::string> files;
    for (const std::string& path : file_system_->AllFiles()) {
      if (path.ends_with(".sst")) files.insert(path);
    }
    return files;
  }
  // Writes a run that overlaps all others of the table, and returns its file.
  std::string AddRun(Table* table) {
    const std::set<std::string> before = SSTables();
    for (const char* place : {"a", "z"}) {
      Set(table, absl::StrCat(place, next_++), "f:q", 1, std::string(6000, 'v'));
    }
    EXPECT_OK(database_->Flush(table->name()));
    for (const std::string& path : SSTables()) {
      if (!before.contains(path)) return path;
    }
    return "";
  }
  uint64_t Runs(const std::string& table) {
    return database_->Statistics().tables.at(table).at("default").sorted_runs;
  }
  void ExpectAllRows(Table* table, size_t rows) {
    size_t found = 0;
    RowReader reader = table->ReadRows(RowRange::All());
    for (const Row& row : reader) found += row.cells().size() == 1 ? 1 : 0;
    EXPECT_OK(reader.status());
    EXPECT_EQ(found, rows);
  }
  static bool Eventually(const std::function<bool()>& condition) {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    while (!condition()) {
      if (absl::Now() > end) return false;
      absl::SleepFor(absl::Milliseconds(5));
    }
    return true;
  }

  QuarantineListener listener_;
  std::unique_ptr<FaultyFileSystem> faulty_;
  int next_ = 0;
};

TEST_F(BackgroundFailureTest, ADamagedFileIsLeftOutAndOtherCompactionsContinue) {
  database_->PauseCompactions();
  Table* damaged = CreateTable("damaged", {"f"});
  Table* sound = CreateTable("sound", {"f"});
  std::vector<std::string> files;
  for (int i = 0; i < 10; ++i) {
    files.push_back(AddRun(damaged));
    AddRun(sound);
  }
  ASSERT_OK(database_->Close());
  const std::string& path = files[5];
  std::string bytes = file_system_->Contents(path);
  bytes[100] ^= 1;  // in the file's first block
  file_system_->SetContents(path, bytes);
  OpenFaulty();  // runs are merged after this
  damaged = OpenTable("damaged");
  sound = OpenTable("sound");

  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_LT(Runs("sound"), 10u);
  EXPECT_LT(Runs("damaged"), 10u);  // the runs beside it
  const DatabaseStatistics statistics = database_->Statistics();
  EXPECT_OK(statistics.background_error);
  EXPECT_TRUE(statistics.failing_work.empty());
  ASSERT_EQ(statistics.quarantined_files.size(), 1u);
  const QuarantinedFile& file = statistics.quarantined_files[0];
  EXPECT_EQ(file.table, "damaged");
  EXPECT_EQ(file.locality_group, "default");
  EXPECT_EQ(file.end_row, std::nullopt);
  EXPECT_FALSE(file.server.empty());
  EXPECT_TRUE(path.ends_with(absl::StrCat(file.number, ".sst"))) << file.number;
  EXPECT_STATUS(kDataLoss, path, file.status);
  EXPECT_GT(file.since, absl::Now() - absl::Minutes(5));
  ASSERT_TRUE(Eventually([&] { return !listener_.events().empty(); }));
  EXPECT_EQ(listener_.events().size(), 1u);
  EXPECT_EQ(listener_.events()[0].location.table, "damaged");
  EXPECT_EQ(listener_.events()[0].file.number, file.number);
  EXPECT_EQ(listener_.events()[0].file.bytes, bytes.size());
  EXPECT_STATUS(kDataLoss, path, listener_.events()[0].status);
  EXPECT_TRUE(listener_.errors().empty());

  EXPECT_STATUS(kDataLoss, path, database_->Compact("damaged"));
  EXPECT_OK(database_->Compact("sound"));
  EXPECT_EQ(Runs("sound"), 1u);
  ExpectAllRows(sound, 20);
  Set(damaged, "row", "f:q", 1, "v");
  Set(sound, "row", "f:q", 1, "v");
  EXPECT_OK(database_->Flush("damaged"));
  EXPECT_OK(database_->Flush("sound"));
  const ScopedShortcutsOn on;  // the damaged file is not read, since it has no such row
  EXPECT_EQ(Show(damaged->ReadRow("row")), "f:q@1=v");
}

TEST_F(BackgroundFailureTest, RunsOfATableWithADamagedFileStayBoundedAndItsWritersAreNotSlowed) {
  Table* table = CreateTable("t", {"f"});
  const std::string path = AddRun(table);
  faulty_->FailCalls({{FileCall::kRead}, path}, absl::DataLossError(path));
  EXPECT_STATUS(kDataLoss, path, database_->Compact("t"));
  uint64_t most = 0;
  for (int i = 0; i < 60; ++i) {
    AddRun(table);
    if (i % 10 == 0) {
      ASSERT_OK(database_->WaitUntilQuiet());
    }
    most = std::max(most, Runs("t"));
  }
  EXPECT_LT(most, WriteController::kSlowRuns);
  EXPECT_EQ(database_->Statistics().total_write_delay, absl::ZeroDuration());
  EXPECT_EQ(database_->Statistics().quarantined_files.size(), 1u);
}

// A run that is completely overwritten may be unmergeable. The runs above it are then not merged
// repeatedly because of it.
TEST_F(BackgroundFailureTest, RunsThatHideRowsOfADamagedFileAreNotRewrittenMoreOften) {
  Table* table = CreateTable("t", {"f"});
  const auto write_all = [&](int timestamp) {
    for (int i = 0; i < 10; ++i) {
      Set(table, absl::StrCat("row", i), "f:q", timestamp, std::string(3000, 'v'));
    }
    ASSERT_OK(database_->Flush("t"));
  };
  const std::set<std::string> before = SSTables();
  write_all(1);
  for (const std::string& path : SSTables()) {
    if (!before.contains(path)) {
      faulty_->FailCalls({{FileCall::kRead}, path}, absl::DataLossError(path));
    }
  }
  EXPECT_STATUS(kDataLoss, "sst", database_->Compact("t"));
  const uint64_t read = database_->Statistics().merging_compaction_bytes_read;
  constexpr int kRounds = 40;
  for (int i = 0; i < kRounds; ++i) {
    write_all(2 + i);
    ASSERT_OK(database_->WaitUntilQuiet());
  }
  // Four times: five runs are merged at a time.
  EXPECT_LT(database_->Statistics().merging_compaction_bytes_read - read,
            uint64_t{kRounds} * 10 * 3000 * 4);
  EXPECT_LT(Runs("t"), WriteController::kSlowRuns);
}

TEST_F(BackgroundFailureTest, WritersAreNotSlowedByManyDamagedFiles) {
  database_->PauseCompactions();
  Table* table = CreateTable("t", {"f"});
  for (size_t i = 0; i < WriteController::kMostRuns; ++i) {
    const std::string path = AddRun(table);
    faulty_->FailCalls({{FileCall::kRead}, path}, absl::DataLossError(path));
  }
  EXPECT_NE(database_->Statistics().stall_reason, StallReason::kNone);
  database_->ContinueCompactions();
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_GT(Runs("t"), WriteController::kSlowRuns);
  EXPECT_GT(database_->Statistics().quarantined_files.size(), 5u);
  EXPECT_EQ(database_->Statistics().stall_reason, StallReason::kNone);
}

TEST_F(BackgroundFailureTest, ResumeRetriesQuarantinedFiles) {
  Table* table = CreateTable("t", {"f"});
  std::string path;
  for (int i = 0; i < 3; ++i) path = AddRun(table);
  faulty_->FailCalls({{FileCall::kRead}, path}, absl::DataLossError(path));
  EXPECT_STATUS(kDataLoss, path, database_->Compact("t"));
  faulty_->ClearFaults();
  EXPECT_STATUS(kDataLoss, path, database_->Compact("t"));  // not read again without Resume
  ASSERT_OK(database_->Resume());
  EXPECT_TRUE(database_->Statistics().quarantined_files.empty());
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Runs("t"), 1u);
  ExpectAllRows(table, 6);
}

TEST_F(BackgroundFailureTest, OtherTabletsAndGroupsOfATableWithADamagedFileAreCompacted) {
  TableSchema schema;
  schema.families["f"] = {};
  schema.locality_groups["other"] = {};
  schema.families["g"] = {.locality_group = "other"};
  schema.split.tablet_size = 0;
  CreateTableOptions options;
  options.split_rows = {"m"};
  ASSERT_OK(database_->CreateTable("t", schema, options));
  Table* const table = OpenTable("t");
  database_->PauseCompactions();
  std::string path;
  for (int i = 0; i < 3; ++i) {
    const std::set<std::string> before = SSTables();
    Set(table, "a", "f:q", i + 1, "v");
    ASSERT_OK(database_->Flush("t"));
    for (const std::string& file : SSTables()) {
      if (!before.contains(file)) path = file;
    }
    Set(table, "a", "g:q", i + 1, "v");
    Set(table, "z", "f:q", i + 1, "v");
    ASSERT_OK(database_->Flush("t"));
  }
  faulty_->FailCalls({{FileCall::kRead}, path}, absl::DataLossError(path));
  EXPECT_STATUS(kDataLoss, path, database_->Compact("t"));
  EXPECT_STATUS(kDataLoss, path, database_->Compact("t"));
  std::string runs;
  for (const auto& [name, server] : database_->Statistics().servers) {
    for (const TabletStatistics& tablet : server.tablets) {
      if (tablet.table == "t") absl::StrAppend(&runs, tablet.size.sorted_runs, " ");
    }
  }
  EXPECT_EQ(runs, "4 1 ");  // three of a in f, one of a in g; z
  ASSERT_EQ(database_->Statistics().quarantined_files.size(), 1u);
  EXPECT_EQ(database_->Statistics().quarantined_files[0].end_row, "m");
}

// The half that has no part of the damage is compacted.
TEST_F(BackgroundFailureTest, EachHalfOfATabletFindsDamageByItself) {
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 2; ++i) {
    for (const char* row : {"a", "b", "y", "z"}) {
      Set(table, row, "f:q", i + 1, std::string(60000, 'v'));
    }
    AddRun(table);
  }
  const auto damage = [&](const std::string& path) {
    faulty_->FailCalls({{FileCall::kRead}, path}, absl::DataLossError(path));
  };
  for (const std::string& path : SSTables()) damage(path);
  EXPECT_STATUS(kDataLoss, "sst", database_->Compact("t"));
  faulty_->ClearFaults();
  EXPECT_STATUS(kDataLoss, "sst", database_->Compact("t"));
  ASSERT_OK(database_->SplitTablet("t", "m"));
  EXPECT_TRUE(database_->Statistics().quarantined_files.empty());
  EXPECT_OK(database_->Compact("t"));
}

// The cause may be a lack of file descriptors, or of space.
TEST_F(BackgroundFailureTest, ACompactionThatCannotWriteIsRetried) {
  database_->PauseCompactions();
  Table* table = CreateTable("t", {"f"});
  Table* other = CreateTable("other", {"f"});
  for (int i = 0; i < 6; ++i) AddRun(table);
  faulty_->FailCalls({{FileCall::kNewWritableFile}, ".sst"},
                     absl::ResourceExhaustedError("too many open files"));
  database_->ContinueCompactions();
  ASSERT_TRUE(Eventually([&] {
    const DatabaseStatistics statistics = database_->Statistics();
    return !statistics.failing_work.empty() && statistics.failing_work[0].failures >= 3;
  }));
  const DatabaseStatistics statistics = database_->Statistics();
  EXPECT_OK(statistics.background_error);
  EXPECT_TRUE(statistics.quarantined_files.empty());
  ASSERT_EQ(statistics.failing_work.size(), 1u);
  EXPECT_EQ(statistics.failing_work[0].kind, FailingWork::Kind::kCompaction);
  // The pauses double.
  const absl::Duration failing = absl::Now() - statistics.failing_work[0].since;
  absl::Duration pauses;
  for (uint64_t i = 1; i < statistics.failing_work[0].failures; ++i) {
    pauses += RetryPause::kFirst * (1 << (i - 1));
  }
  EXPECT_GE(failing + absl::Milliseconds(10), pauses);
  EXPECT_EQ(statistics.failing_work[0].table, "t");
  EXPECT_EQ(statistics.failing_work[0].locality_group, "default");
  EXPECT_STATUS(kResourceExhausted, "too many open files", statistics.failing_work[0].status);
  EXPECT_STATUS(kResourceExhausted, "too many open files", database_->WaitUntilQuiet());
  Set(table, "row", "f:q", 1, "v");
  Set(other, "row", "f:q", 1, "v");
  faulty_->ClearFaults();
  // Without Resume.
  ASSERT_TRUE(Eventually([&] { return database_->Statistics().failing_work.empty(); }));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_LT(Runs("t"), 6u);
  EXPECT_TRUE(listener_.errors().empty());
  ExpectAllRows(table, 13);
}

// An unreadable sector is not a checksum mismatch, and may be readable next time.
TEST_F(BackgroundFailureTest, AFileThatRepeatedlyCannotBeReadIsQuarantined) {
  Table* table = CreateTable("t", {"f"});
  std::string path;
  for (int i = 0; i < 2; ++i) path = AddRun(table);
  faulty_->FailCalls({{FileCall::kRead}, path}, absl::UnavailableError("input/output error"));
  int tries = 0;
  for (; database_->Statistics().quarantined_files.empty() && tries < 100; ++tries) {
    EXPECT_STATUS(kUnavailable, "input/output error", database_->Compact("t"));
  }
  EXPECT_GT(tries, 3);
  EXPECT_LT(tries, 20);
  EXPECT_STATUS(kUnavailable, "input/output error", database_->Compact("t"));
  faulty_->ClearFaults();
  ASSERT_OK(database_->Resume());
  EXPECT_OK(database_->Compact("t"));
}

TEST_F(BackgroundFailureTest, AFailedFlushIsRetriedWhileWritesContinue) {
  Table* table = CreateTable("t", {"f"});
  Table* other = CreateTable("other", {"f"});
  Set(table, "row1", "f:q", 1, "v");
  faulty_->FailCalls({{FileCall::kAppend}, ".sst"}, absl::ResourceExhaustedError("disk full"));
  EXPECT_STATUS(kResourceExhausted, "disk full", database_->Flush("t"));
  EXPECT_STATUS(kResourceExhausted, "disk full", database_->Flush("t"));
  EXPECT_STATUS(kResourceExhausted, "disk full", database_->WaitUntilQuiet());
  EXPECT_STATUS(kResourceExhausted, "disk full", database_->Resume());
  Set(table, "row2", "f:q", 1, "v");
  Set(other, "row", "f:q", 1, "v");
  const DatabaseStatistics statistics = database_->Statistics();
  EXPECT_OK(statistics.background_error);
  ASSERT_EQ(statistics.failing_work.size(), 1u);
  EXPECT_EQ(statistics.failing_work[0].kind, FailingWork::Kind::kFlush);
  EXPECT_FALSE(statistics.failing_work[0].server.empty());
  EXPECT_GE(statistics.failing_work[0].failures, 3u);
  EXPECT_STATUS(kResourceExhausted, "disk full", statistics.failing_work[0].status);
  faulty_->ClearFaults();
  const uint64_t flushed = statistics.minor_compactions;
  ASSERT_TRUE(Eventually([&] { return database_->Statistics().minor_compactions > flushed; }));
  ASSERT_TRUE(Eventually([&] { return database_->Statistics().failing_work.empty(); }));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_TRUE(listener_.errors().empty());
  ExpectAllRows(table, 2);
}

TEST_F(BackgroundFailureTest, ARequestedFlushDoesNotWaitForThePauseAfterAFailure) {
  Table* table = CreateTable("t", {"f"});
  Set(table, "row", "f:q", 1, "v");
  faulty_->FailCalls({{FileCall::kAppend}, ".sst"}, absl::ResourceExhaustedError("disk full"));
  // The pause is ten seconds after these failures.
  for (int i = 0; i < 12; ++i) {
    EXPECT_STATUS(kResourceExhausted, "disk full", database_->Flush("t"));
  }
  faulty_->ClearFaults();
  const absl::Time begin = absl::Now();
  EXPECT_OK(database_->Flush("t"));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
}

TEST_F(BackgroundFailureTest, DeletingATableFreesSpaceForAFailedFlush) {
  Table* table = CreateTable("t", {"f"});
  Table* large = CreateTable("large", {"f"});
  for (int i = 0; i < 20; ++i) Set(large, absl::StrCat(i), "f:q", 1, std::string(50'000, 'v'));
  ASSERT_OK(database_->Compact("large"));
  for (int i = 0; i < 4; ++i) Set(table, absl::StrCat(i), "f:q", 1, std::string(10'000, 'v'));
  ASSERT_OK(database_->WaitUntilQuiet());
  file_system_->set_max_total_bytes(file_system_->total_bytes() + 1000);
  for (int i = 0; i < 12; ++i) {
    EXPECT_STATUS(kResourceExhausted, "", database_->Flush("t"));
  }
  const absl::Time begin = absl::Now();
  ASSERT_OK(database_->DeleteTable("large"));
  ASSERT_TRUE(Eventually([&] { return database_->Statistics().failing_work.empty(); }));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
  EXPECT_OK(database_->Flush("t"));
  ExpectAllRows(table, 4);
}

TEST_F(BackgroundFailureTest, WritersGetTheReasonThatMemoryIsNotFreed) {
  Table* table = CreateTable("t", {"f"});
  faulty_->FailCalls({{FileCall::kAppend}, ".sst"}, absl::ResourceExhaustedError("disk full"));
  absl::Status status;
  const auto write = [&](absl::Time deadline) {
    return table->Apply(RowMutation(absl::StrCat("row", next_++))
                            .Set("f:q", Timestamp(1), std::string(100'000, 'v')),
                        {.deadline = deadline});
  };
  while (status.ok() && next_ < 1000) status = write(absl::Now() + absl::Milliseconds(500));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status) || absl::IsResourceExhausted(status))
      << status.ToString();
  const absl::Time begin = absl::Now();
  for (int i = 0; i < 100 && !absl::IsResourceExhausted(status); ++i) {
    status = write(absl::InfiniteFuture());
  }
  EXPECT_STATUS(kResourceExhausted, "memory is full, and memtables of server", status);
  EXPECT_STATUS(kResourceExhausted, "disk full", status);
  EXPECT_LT(absl::Now() - begin, absl::Seconds(60));
  faulty_->ClearFaults();
  ASSERT_OK(database_->Flush("t"));  // without Resume
  EXPECT_OK(write(absl::InfiniteFuture()));
}

TEST_F(BackgroundFailureTest, ClosingDoesNotWaitForAPauseAndLosesNothing) {
  Table* table = CreateTable("t", {"f"});
  Set(table, "row", "f:q", 1, "v");
  faulty_->FailCalls({{FileCall::kAppend}, ".sst"}, absl::ResourceExhaustedError("disk full"));
  for (int i = 0; i < 12; ++i) {
    EXPECT_STATUS(kResourceExhausted, "disk full", database_->Flush("t"));
  }
  const absl::Time begin = absl::Now();
  EXPECT_STATUS(kResourceExhausted, "disk full", database_->Close());
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
  faulty_->ClearFaults();
  database_.reset();
  OpenFaulty();
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("row")), "f:q@1=v");
}

// Nothing can be committed, so no work is tried.
TEST_F(BackgroundFailureTest, WhileMetadataIsInDoubtNothingIsCompactedUntilResume) {
  Table* table = CreateTable("t", {"f"});
  for (int i = 0; i < 3; ++i) AddRun(table);
  faulty_->FailCalls({{FileCall::kLogSync}, "/log/metadata-"},
                     absl::UnavailableError("input/output error"));
  EXPECT_STATUS(kUnavailable, "input/output error", database_->Compact("t"));
  EXPECT_STATUS(kUnavailable, "input/output error", database_->Statistics().background_error);
  EXPECT_TRUE(database_->Statistics().failing_work.empty());
  ASSERT_TRUE(Eventually([&] { return listener_.errors().size() >= 2; }));
  ExpectAllRows(table, 6);
  faulty_->ClearFaults();
  EXPECT_STATUS(kUnavailable, "input/output error", database_->WaitUntilQuiet());
  ASSERT_OK(database_->Resume());
  EXPECT_OK(database_->Compact("t"));
  EXPECT_EQ(Runs("t"), 1u);
  ExpectAllRows(table, 6);
}

}  // namespace
}  // namespace bigtable
