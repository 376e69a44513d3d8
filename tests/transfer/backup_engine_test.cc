// BackupEngine: what a backup has and what it writes, and what is left of backups and databases
// after errors, crashes and damage.
#include "bigtable/backup_engine.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "transfer/backups_fixture.h"

namespace bigtable {
namespace {

class BackupEngineTest : public BackupsFixture {};

TEST_F(BackupEngineTest, EachBackupIsRestoredAsItWas) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  std::vector<std::string> states;
  for (int i = 0; i < 4; ++i) {
    Fill(OpenTable("rows"), 5 * i, 5 * i + 5, absl::StrCat("of", i));
    if (i == 2) {
      ASSERT_OK(database_->Compact("rows"));
    }
    if (i == 3) {
      ASSERT_OK(database_->DeleteTable("other"));
    }
    states.push_back(Dump());
    const BackupInfo made = Create(absl::StrCat("number ", i));
    EXPECT_EQ(made.id, static_cast<uint64_t>(i + 1));
    EXPECT_EQ(made.tables.size(), i == 3 ? 1u : 2u);
  }
  const std::vector<BackupInfo> list = backups_->List().value();
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[1].description, "number 1");
  EXPECT_EQ(list[1].time, clock_.Now());
  EXPECT_EQ(list[0].tables, (std::vector<std::string>{"other", "rows"}));
  OpenBackups();
  for (uint64_t id = 1; id <= 4; ++id) {
    EXPECT_OK(backups_->Verify(id));
    ASSERT_OK(Restore(id));
    EXPECT_EQ(DumpRestored(), states[id - 1]) << id;
  }
}

TEST_F(BackupEngineTest, OnlyWhatIsNewIsCopied) {
  Table* const rows = CreateSplitTable("rows", 4, 1000);
  for (int i = 0; i < 4000; ++i) Set(rows, RowOf(i), "f:q", 1, std::string(100, 'v'));
  ASSERT_OK(database_->Flush("rows"));
  const BackupInfo first = Create();
  EXPECT_EQ(first.new_bytes, first.bytes);
  EXPECT_EQ(first.new_files, first.files);
  const BackupInfo second = Create();
  EXPECT_EQ(second.new_files, 0u);
  EXPECT_EQ(second.bytes, first.bytes);
  // 1% of the rows.
  for (int i = 0; i < 40; ++i) Set(rows, RowOf(i), "f:q", 2, std::string(100, 'w'));
  const BackupInfo third = Create();
  EXPECT_GT(third.new_bytes, 0u);
  EXPECT_LT(third.new_bytes, first.bytes / 20);
  const size_t files = FilesIn(kFiles);
  EXPECT_EQ(files, first.files + third.new_files);
}

TEST_F(BackupEngineTest, TablesAreRestoredAloneAndUnderOtherNames) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const BackupInfo made = Create();
  ASSERT_OK(Restore(made.id, {{"other", "renamed"}}));
  EXPECT_EQ(DumpRestored(), "renamed\n  r: f:q@1=v\n");
  ASSERT_OK(Restore(made.id, {{"other", "rows"}, {"rows", "other"}}));
  EXPECT_EQ(DumpRestored().substr(0, 6), "other\n");
  EXPECT_STATUS(kNotFound, "no table \"none\"; it has: other, rows",
                Restore(made.id, {{"none", "a"}}));
  for (const char* const name : {"a/b", "a+b", ""}) {
    EXPECT_STATUS(kInvalidArgument, "name", Restore(made.id, {{"other", name}}));
  }
  EXPECT_STATUS(kAlreadyExists, "\"a\"", Restore(made.id, {{"other", "a"}, {"rows", "a"}}));
  EXPECT_EQ(FilesIn(Restored()), 0u);
}

TEST_F(BackupEngineTest, DeletingLeavesWhatOthersHave) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  std::vector<std::string> states;
  for (int i = 0; i < 4; ++i) {
    Fill(OpenTable("rows"), 0, 30, absl::StrCat("of", i));
    ASSERT_OK(database_->Compact("rows"));
    states.push_back(Dump());
    Create();
  }
  ASSERT_OK(backups_->Delete(2));
  EXPECT_STATUS(kNotFound, "no backup 2", backups_->Delete(2));
  EXPECT_STATUS(kNotFound, "no backup 2", backups_->Verify(2));
  EXPECT_STATUS(kNotFound, "no backup 2", Restore(2));
  ASSERT_OK(Restore(3));
  EXPECT_EQ(DumpRestored(), states[2]);
  ASSERT_OK(backups_->DeleteOld(1));
  ASSERT_EQ(backups_->List()->size(), 1u);
  EXPECT_EQ((*backups_->List())[0].id, 4u);
  EXPECT_EQ(FilesIn(kFiles), (*backups_->List())[0].files);
  ASSERT_OK(Restore(4));
  EXPECT_EQ(DumpRestored(), states[3]);
  ASSERT_OK(backups_->DeleteOld(0));
  EXPECT_EQ(FilesIn(kFiles), 0u);
}

TEST_F(BackupEngineTest, DamageIsFoundAndNamed) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const BackupInfo made = Create();
  for (const std::string& file : disk_.AllFiles()) {
    if (!file.starts_with(kBackups) || file.ends_with("LOCK")) continue;
    const std::string sound = disk_.Contents(file);
    std::string damaged = sound;
    damaged[sound.size() / 2] = static_cast<char>(damaged[sound.size() / 2] ^ 1);
    disk_.SetContents(file, damaged);
    EXPECT_EQ(backups_->Verify(made.id).code(), absl::StatusCode::kDataLoss) << file;
    EXPECT_EQ(Restore(made.id).code(), absl::StatusCode::kDataLoss) << file;
    EXPECT_EQ(FilesIn(Restored()), 0u);
    if (file.starts_with(kFiles)) {
      ASSERT_OK(disk_.RemoveFile(file));
      EXPECT_STATUS(kDataLoss, "is missing", backups_->Verify(made.id));
      EXPECT_STATUS(kDataLoss, "is missing", Restore(made.id));
    } else {
      OpenBackups();  // a description is read once
      EXPECT_EQ(backups_->List().status().code(), absl::StatusCode::kDataLoss);
      std::vector<uint64_t> unreadable;
      EXPECT_TRUE(backups_->List({}, &unreadable).value().empty());
      EXPECT_EQ(unreadable, (std::vector<uint64_t>{made.id}));
      // It is not known which files are still needed.
      Create();
      const size_t files = FilesIn(kFiles);
      EXPECT_EQ(backups_->Delete(made.id + 1).code(), absl::StatusCode::kDataLoss);
      EXPECT_EQ(FilesIn(kFiles), files);
    }
    disk_.SetContents(file, sound);
  }
  EXPECT_OK(backups_->Verify(made.id));
}

TEST_F(BackupEngineTest, OneEngineHasTheDirectory) {
  EXPECT_STATUS(kFailedPrecondition, "LOCK", BackupEngine::Open(kBackups, &disk_).status());
  backups_.reset();
  EXPECT_OK(BackupEngine::Open(kBackups, &disk_));
}

TEST_F(BackupEngineTest, LimitsEndItsCalls) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  Cancellation cancelled;
  cancelled.Cancel();
  EXPECT_STATUS(kCancelled, "",
                backups_->Create(database_.get(), {.cancellation = &cancelled}).status());
  EXPECT_TRUE(backups_->List()->empty());
  EXPECT_STATUS(
      kInvalidArgument, "4097 bytes",
      backups_->Create(database_.get(), {.description = std::string(4097, 'd')}).status());
  uint64_t files = 0;
  const absl::StatusOr<BackupInfo> made =
      backups_->Create(database_.get(), {.on_progress = [&](uint64_t n, uint64_t) { files = n; }});
  ASSERT_OK(made);
  EXPECT_EQ(files, made->files);
  EXPECT_STATUS(kCancelled, "", backups_->Verify(made->id, {.cancellation = &cancelled}));
  EXPECT_STATUS(
      kDeadlineExceeded, "",
      backups_->Restore(made->id, kRestored,
                        {.file_system = &disk_, .deadline = absl::Now() - absl::Seconds(1)}));
  EXPECT_EQ(FilesIn(kRestored), 0u);
}

// What was only in memory would be of no use to another try.
TEST_F(BackupEngineTest, ABackupThatEndsEarlyLeavesNoFilesOfMemory) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  Cancellation cancellation;
  CreateBackupOptions options{.cancellation = &cancellation};
  options.on_progress = [&](uint64_t, uint64_t) { cancellation.Cancel(); };
  EXPECT_STATUS(kCancelled, "", backups_->Create(database_.get(), options).status());
  EXPECT_EQ(FilesIn(kFiles), 0u);
  disk_.set_max_total_bytes(disk_.total_bytes() + 100);
  EXPECT_STATUS(kResourceExhausted, "", backups_->Create(database_.get()).status());
  EXPECT_TRUE(backups_->List()->empty());
  disk_.set_max_total_bytes(UINT64_MAX);
  const BackupInfo made = Create();
  ASSERT_OK(Restore(made.id));
  EXPECT_EQ(DumpRestored(), Dump());
}

TEST_F(BackupEngineTest, ClosingTheDatabaseEndsABackup) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  std::thread closing;
  CreateBackupOptions options;
  options.on_progress = [&](uint64_t, uint64_t) {
    if (closing.joinable()) return;
    closing = std::thread([&] { EXPECT_OK(database_->Close()); });
    absl::SleepFor(absl::Milliseconds(100));
  };
  EXPECT_STATUS(kFailedPrecondition, "closed", backups_->Create(database_.get(), options).status());
  closing.join();
  EXPECT_TRUE(backups_->List()->empty());
}

TEST_F(BackupEngineTest, ABackupOfSomeTablesHasNoOthers) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  EXPECT_STATUS(kNotFound, "no table \"none\"; there are: other, rows",
                backups_->Create(database_.get(), {.tables = {"other", "none"}}).status());
  EXPECT_EQ(FilesIn(kFiles), 0u);
  const absl::StatusOr<BackupInfo> made = backups_->Create(database_.get(), {.tables = {"other"}});
  ASSERT_OK(made);
  EXPECT_EQ(made->tables, (std::vector<std::string>{"other"}));
  EXPECT_EQ(made->files, 1u);
  EXPECT_EQ(FilesIn(kFiles), 1u);
  ASSERT_OK(Restore(made->id));
  EXPECT_EQ(DumpRestored(), "other\n  r: f:q@1=v\n");
}

TEST_F(BackupEngineTest, WhatIsSaidOfABackupCanBeChanged) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const absl::Time time = absl::FromUnixSeconds(5000);
  const absl::StatusOr<BackupInfo> made =
      backups_->Create(database_.get(), {.description = "d", .expire_time = time});
  ASSERT_OK(made);
  EXPECT_EQ(made->expire_time, time);
  EXPECT_EQ(Create().expire_time, absl::InfiniteFuture());
  // Times are told as they are kept: in microseconds.
  clock_.ManualClock::Set(absl::FromUnixNanos(1'000'000'700));
  const absl::StatusOr<BackupInfo> exact =
      backups_->Create(database_.get(), {.expire_time = time + absl::Nanoseconds(5)});
  ASSERT_OK(exact);
  EXPECT_EQ(exact->time, backups_->Get(exact->id)->time);
  EXPECT_EQ(exact->expire_time, time);
  ASSERT_OK(backups_->Update(made->id, {.description = "e"}));
  EXPECT_EQ(backups_->Get(made->id)->description, "e");
  EXPECT_EQ(backups_->Get(made->id)->expire_time, time);
  ASSERT_OK(backups_->Update(made->id, {.expire_time = time + absl::Seconds(1)}));
  OpenBackups();
  EXPECT_EQ(backups_->Get(made->id)->description, "e");
  EXPECT_EQ(backups_->Get(made->id)->expire_time, time + absl::Seconds(1));
  EXPECT_OK(backups_->Verify(made->id));
  EXPECT_STATUS(kNotFound, "no backup 9", backups_->Update(9, {}));
  EXPECT_STATUS(kNotFound, "no backup 9", backups_->Get(9).status());
  EXPECT_STATUS(kInvalidArgument, "4097 bytes",
                backups_->Update(made->id, {.description = std::string(4097, 'd')}));
}

TEST_F(BackupEngineTest, ACopyIsABackupOfTheSameFiles) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const BackupInfo made = Create("first");
  const size_t files = FilesIn(kFiles);
  const absl::StatusOr<BackupInfo> copy =
      backups_->Copy(made.id, {.expire_time = absl::FromUnixSeconds(7)});
  ASSERT_OK(copy);
  EXPECT_EQ(copy->id, made.id + 1);
  EXPECT_EQ(copy->description, "first");
  EXPECT_EQ(copy->time, made.time);
  EXPECT_EQ(copy->bytes, made.bytes);
  EXPECT_EQ(copy->new_bytes, 0u);
  EXPECT_EQ(FilesIn(kFiles), files);
  ASSERT_OK(backups_->Delete(made.id));
  EXPECT_OK(backups_->Verify(copy->id));
  ASSERT_OK(Restore(copy->id));
  EXPECT_EQ(DumpRestored(), Dump());
  EXPECT_STATUS(kNotFound, "no backup 1", backups_->Copy(made.id, {}).status());
}

TEST_F(BackupEngineTest, OnlyThoseThatHaveExpiredAreDeleted) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const absl::Time now = absl::FromUnixSeconds(5000);
  for (int i = -1; i <= 1; ++i) {
    ASSERT_OK(backups_->Create(database_.get(), {.expire_time = now + absl::Seconds(i)}));
  }
  Create();
  const size_t files = FilesIn(kFiles);
  EXPECT_EQ(backups_->DeleteExpired(now - absl::Seconds(2)).value(), 0u);
  EXPECT_EQ(backups_->DeleteExpired(now).value(), 2u);
  EXPECT_STATUS(kNotFound, "", backups_->Get(1).status());
  EXPECT_STATUS(kNotFound, "", backups_->Get(2).status());
  EXPECT_LT(FilesIn(kFiles), files);
  for (const uint64_t id : {3, 4}) EXPECT_OK(backups_->Verify(id));
  EXPECT_EQ(backups_->DeleteExpired(absl::FromUnixSeconds(1'000'000)).value(), 1u);
  EXPECT_EQ(backups_->List()->size(), 1u);
}

// Descriptions can be read while a backup is made.
TEST_F(BackupEngineTest, ReadersOfDescriptionsDoNotWaitForABackup) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const BackupInfo first = Create();
  CreateBackupOptions options;
  options.on_progress = [&](uint64_t, uint64_t) {
    EXPECT_EQ(backups_->List()->size(), 1u);
    EXPECT_OK(backups_->Get(first.id));
    EXPECT_STATUS(
        kDeadlineExceeded, "",
        backups_->Update(first.id, {}, {.deadline = absl::Now() + absl::Milliseconds(1)}));
  };
  ASSERT_OK(backups_->Create(database_.get(), options));
}

// Each call on the disk of the backups fails once, in each of the three.
TEST_F(BackupEngineTest, AnErrorOfAnyCallLeavesWhatThereWas) {
  ASSERT_NO_FATAL_FAILURE(FillTables());
  const std::string before = Dump();
  const BackupInfo first = Create();
  Fill(OpenTable("rows"), 0, 30, "later");
  ASSERT_OK(database_->Compact("rows"));
  const std::string later = Dump();
  int failed = 0;
  uint64_t second = 0;
  for (uint64_t call = 1;; ++call) {
    faulty_.CountCalls();
    faulty_.FailCall(call, absl::UnavailableError("no disk"));
    const absl::StatusOr<BackupInfo> made = backups_->Create(database_.get());
    const bool has_failed = faulty_.calls() >= call;
    faulty_.ClearFaults();
    ASSERT_OK(backups_->Verify(first.id)) << call;
    if (made.ok()) {
      ASSERT_OK(backups_->Verify(made->id)) << call;
      second = made->id;
      if (!has_failed) break;
      ASSERT_OK(backups_->Delete(made->id));
      continue;
    }
    ++failed;
    EXPECT_STATUS(kUnavailable, "no disk", made.status()) << call;
    // One that was written, and not known to be durable, is whole.
    const std::vector<BackupInfo> list = backups_->List().value();
    for (const BackupInfo& info : list) {
      ASSERT_OK(backups_->Verify(info.id)) << call;
      if (info.id != first.id) {
        ASSERT_OK(backups_->Delete(info.id));
      }
    }
  }
  EXPECT_GT(failed, 10);
  failed = 0;
  for (uint64_t call = 1;; ++call) {
    faulty_.CountCalls();
    faulty_.FailCall(call, absl::UnavailableError("no disk"));
    const absl::Status restored = Restore(second);
    const bool has_failed = faulty_.calls() >= call;
    faulty_.ClearFaults();
    if (restored.ok()) {
      EXPECT_EQ(DumpRestored(), later) << call;
      if (!has_failed) break;
      continue;
    }
    ++failed;
    EXPECT_STATUS(kUnavailable, "no disk", restored) << call;
    EXPECT_EQ(FilesIn(Restored()), 0u) << call;
  }
  EXPECT_GT(failed, 40);
  for (uint64_t call = 1;; ++call) {
    faulty_.CountCalls();
    faulty_.FailCall(call, absl::UnavailableError("no disk"));
    const absl::Status deleted = backups_->Delete(second);
    const bool has_failed = faulty_.calls() >= call;
    faulty_.ClearFaults();
    ASSERT_OK(backups_->Verify(first.id)) << call;
    if (deleted.ok() && !has_failed) break;
    if (absl::IsNotFound(deleted)) break;  // it was deleted, and its files were not
  }
  ASSERT_OK(backups_->DeleteOld(1));
  EXPECT_EQ(FilesIn(kFiles), first.files);
  ASSERT_OK(Restore(first.id));
  EXPECT_EQ(DumpRestored(), before);
}

// The disk of the backups loses power, at random places, also while a backup is deleted.
TEST_F(BackupEngineTest, BackupsSurviveALossOfPower) {
  ForEachSeed(kSlow ? 5 : 30, [&](uint64_t seed) {
    Random random(seed);
    database_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    DatabaseOptions options = Options();
    Open(options);
    Table* const table = CreateTable("t", {"f"});
    auto disk = std::make_unique<InMemoryFileSystem>();
    std::map<uint64_t, std::string> states;  // of backups that are durable
    for (int i = 0; i < 12; ++i) {
      FaultyFileSystem faulty(disk.get());
      const absl::StatusOr<std::unique_ptr<BackupEngine>> engine =
          BackupEngine::Open(kBackups, &faulty);
      ASSERT_OK(engine);
      const std::vector<BackupInfo> list = (*engine)->List().value();
      for (const auto& [id, state] : states) {
        ASSERT_OK((*engine)->Verify(id));
      }
      for (const BackupInfo& info : list) ASSERT_OK((*engine)->Verify(info.id));
      for (int w = 0; w < 20; ++w) {
        Set(table, absl::StrCat(random.Below(30)), "f:q", 1, absl::StrCat(random.Next()));
      }
      if (random.OneIn(2)) {
        ASSERT_OK(database_->Flush("t"));
      }
      if (random.OneIn(4)) {
        ASSERT_OK(database_->Compact("t"));
      }
      // From some call on nothing reaches the disk.
      faulty.CountCalls();
      faulty.FailCall(1 + random.Below(40), absl::UnavailableError("no power"),
                      FaultyFileSystem::Repeat::kFromThenOn);
      if (random.OneIn(3) && !states.empty()) {
        const uint64_t id = states.begin()->first;
        states.erase(id);
        (*engine)->Delete(id).IgnoreError();
      } else {
        const std::string state = Dump();
        const absl::StatusOr<BackupInfo> made = (*engine)->Create(database_.get());
        if (made.ok()) states[made->id] = state;
      }
      disk = disk->CrashClone(random.Next());
    }
    FaultyFileSystem faulty(disk.get());
    const absl::StatusOr<std::unique_ptr<BackupEngine>> engine =
        BackupEngine::Open(kBackups, &faulty);
    ASSERT_OK(engine);
    for (const auto& [id, state] : states) {
      const std::string path = absl::StrCat("/restored", id);
      ASSERT_OK((*engine)->Restore(id, path, {.file_system = disk.get()}));
      options.file_system = disk.get();
      const absl::StatusOr<std::unique_ptr<Database>> restored = Database::Open(path, options);
      ASSERT_OK(restored);
      EXPECT_EQ(Dump(restored->get()), state);
    }
  });
}

}  // namespace
}  // namespace bigtable
