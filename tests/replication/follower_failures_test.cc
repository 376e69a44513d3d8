// Followers after errors and losses of power at each call of the file system, of their own
// directory and of that of the source: they end up with exactly what the source has, and of the two
// only one is written.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/status.h"
#include "changes/replayed_table.h"
#include "support/database_fixture.h"
#include "support/each_call.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

using Repeat = FaultyFileSystem::Repeat;

// Each change that is repeated or left out is seen in the sums.
class FollowerFailuresTest : public DatabaseFixture {
 protected:
  static constexpr const char* kFollower = "/follower";
  static constexpr const char* kTables[] = {"t", "u", "later"};

  void TearDown() override {
    follower_.reset();
    database_.reset();
  }

  // --- The source ---

  static TableSchema Schema() {
    TableSchema schema;
    for (const char* family : {"f", "g", "sum"}) schema.families[family] = {};
    schema.families["sum"].value_type = ValueType::kInt64Sum;
    schema.changes.retention = absl::Hours(1);
    return schema;
  }
  DatabaseOptions OptionsOfSource() {
    DatabaseOptions options = Options();
    options.tablet_servers = 2;
    options.durability = Durability::kSync;
    return options;
  }
  // Of the checkpoint, `checkpoint_` has the follower's directory. A table is younger than it.
  void MakeSource() {
    database_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    Open(OptionsOfSource());
    for (const char* table : {"t", "u"}) ASSERT_OK(database_->CreateTable(table, Schema()));
    ASSERT_OK(database_->SplitTablet("t", "m"));
    WriteRound(0);
    ASSERT_OK(database_->Flush("t"));
    WriteRound(1);
    ASSERT_OK(database_->Checkpoint(kFollower));
    checkpoint_ = file_system_->CrashClone(1, Unsynced::kEverything);
    WriteRound(2);
    ASSERT_OK(database_->CreateTable("later", Schema()));
    Add(OpenTable("later"), "a");
    Add(OpenTable("later"), "b");
  }
  static void Add(Table* table, const char* row) {
    EXPECT_OK(table->Apply(RowMutation(row).AddToCell("sum:", Timestamp(1), int64_t{1})));
  }
  void WriteRound(int number) {
    Table* const t = OpenTable("t");
    Table* const u = OpenTable("u");
    Add(t, "a");
    Add(t, "z");
    Add(u, "a");
    WriteBatch batch;
    for (const char* row : {"b", "d", "y"}) {
      for (Table* const table : {t, u}) {
        batch.Apply(table, RowMutation(row)
                               .AddToCell("sum:", Timestamp(1), int64_t{1})
                               .Set("g:q", Timestamp(number), Cat(number)));
      }
    }
    EXPECT_OK(database_->Apply(batch));
    if (number % 3 == 1) {
      EXPECT_OK(t->DropRowRange(RowRange::RightOpen("d", "e")));
    }
    if (number % 3 == 2) {
      EXPECT_OK(
          database_->ModifyFamilies("t", {FamilyChange::Drop("g"), FamilyChange::Add("g", {})}));
    }
    Set(t, "n", "g:q", number, "last");
  }

  // --- The follower ---

  FollowerOptions OptionsOn(FileSystem* files, Durability durability = Durability::kBuffered) {
    FollowerOptions options{.database = Options(), .interval = absl::Milliseconds(1)};
    options.database.file_system = files;
    options.database.durability = durability;
    return options;
  }
  absl::Status Follow(FileSystem* files, Database* source,
                      Durability durability = Durability::kBuffered) {
    follower_.reset();
    absl::StatusOr<std::unique_ptr<Follower>> opened =
        Follower::Open(kFollower, source, OptionsOn(files, durability));
    if (opened.ok()) follower_ = *std::move(opened);
    return opened.status();
  }
  // Catches up, or returns the error of the first pass that has failed.
  absl::Status TryToCatchUp(const FaultyFileSystem& faulty) {
    for (int i = 0; i < 12'000; ++i) {
      const absl::Status status =
          follower_->CatchUp({.deadline = absl::Now() + absl::Milliseconds(5)});
      if (!absl::IsDeadlineExceeded(status)) return status;
      const absl::Status passed = follower_->Statistics().status;
      if (faulty.faults() > 0 && !passed.ok()) return passed;
    }
    return absl::DeadlineExceededError("it has not caught up in a minute");
  }
  // Three rounds of the source, and a flush of the own files.
  absl::Status FollowRounds(FaultyFileSystem* faulty, Durability durability) {
    BT_RETURN_IF_ERROR(Follow(faulty, database_.get(), durability));
    for (int round = 0; round < 3; ++round) {
      BT_RETURN_IF_ERROR(TryToCatchUp(*faulty));
      WriteRound(round);
      if (round == 1) BT_RETURN_IF_ERROR(follower_->database()->Flush("t"));
    }
    return TryToCatchUp(*faulty);
  }
  void ExpectCaughtUp() {
    ASSERT_OK(follower_->CatchUp({.deadline = absl::Now() + absl::Seconds(60)}));
    ExpectIsCopy(follower_->database());
  }
  void ExpectIsCopy(Database* own) {
    for (const char* name : kTables) {
      const absl::StatusOr<Table*> table = own->OpenTable(name);
      ASSERT_OK(table);
      ASSERT_EQ(ReplayedTable::Show(*table), ReplayedTable::Show(OpenTable(name))) << name;
    }
  }
  // In a new process.
  void ExpectFollowsOn(FileSystem* files) {
    ASSERT_OK(Follow(files, database_.get()));
    ExpectCaughtUp();
    follower_.reset();
  }

  std::unique_ptr<InMemoryFileSystem> checkpoint_;
  std::unique_ptr<Follower> follower_;
};

// The sources of many runs are one database, which is made anew before it has too much.
constexpr uint64_t kRunsOfASource = 20;

TEST_F(FollowerFailuresTest, AnErrorAtEachCallOfItsFilesLosesAndRepeatsNothing) {
  int failed = 0;
  uint64_t runs = 0;
  ForEachCall(61, [&](uint64_t call, bool* is_over) {
    if (runs++ % kRunsOfASource == 0) {
      ASSERT_NO_FATAL_FAILURE(MakeSource());
    }
    const auto files = checkpoint_->CrashClone(1, Unsynced::kEverything);
    FaultyFileSystem faulty(files.get(), {.hide_log_mappings = true});
    const absl::Cleanup closes = [&] { follower_.reset(); };
    faulty.FailCall(call, absl::InternalError("injected"));
    const absl::Status status = FollowRounds(&faulty, Durability::kBuffered);
    *is_over = faulty.faults() == 0;
    if (*is_over) {
      ASSERT_OK(status);
    }
    faulty.ClearFaults();
    if (!status.ok()) ++failed;
    if (follower_ != nullptr) {
      // It goes on by itself, once its database takes writes again.
      ASSERT_OK(follower_->database()->Resume());
      ASSERT_NO_FATAL_FAILURE(ExpectCaughtUp());
      follower_.reset();
    }
    ASSERT_NO_FATAL_FAILURE(ExpectFollowsOn(files.get()));
  });
  EXPECT_GT(failed, 0);
}

// What is applied is written together with the mutations.
TEST_F(FollowerFailuresTest, AnErrorAtEachWriteOfItsLogLosesAndRepeatsNothing) {
  ASSERT_NO_FATAL_FAILURE(MakeSource());
  bool is_over = false;
  for (uint64_t call = 1; !is_over; ++call) {
    SCOPED_TRACE(call);
    const auto files = checkpoint_->CrashClone(1, Unsynced::kEverything);
    FaultyFileSystem faulty(files.get(), {.hide_log_mappings = true});
    const absl::Cleanup closes = [&] { follower_.reset(); };
    ASSERT_OK(Follow(&faulty, database_.get()));
    ASSERT_NO_FATAL_FAILURE(ExpectCaughtUp());
    faulty.CountCalls({.kinds = {FileCall::kLogWrite}});
    faulty.FailCall(call, absl::InternalError("injected"));
    WriteRound(0);
    const absl::Status status = TryToCatchUp(faulty);
    is_over = faulty.faults() == 0;
    if (is_over) {
      ASSERT_OK(status);
    }
    faulty.ClearFaults();
    ASSERT_OK(follower_->database()->Resume());
    ASSERT_NO_FATAL_FAILURE(ExpectCaughtUp());
  }
}

TEST_F(FollowerFailuresTest, ALossOfPowerAtEachCallOfItsFilesLosesAndRepeatsNothing) {
  uint64_t runs = 0;
  ForEachCall(61, [&](uint64_t call, bool* is_over) {
    if (runs++ % kRunsOfASource == 0) {
      ASSERT_NO_FATAL_FAILURE(MakeSource());
    }
    const auto files = checkpoint_->CrashClone(1, Unsynced::kEverything);
    FaultyFileSystem faulty(files.get(), {.hide_log_mappings = call % 2 == 0});
    const absl::Cleanup closes = [&] { follower_.reset(); };
    faulty.FailCall(call, absl::InternalError("the power is gone"), Repeat::kFromThenOn);
    const absl::Status status =
        FollowRounds(&faulty, call % 3 == 0 ? Durability::kSync : Durability::kBuffered);
    *is_over = faulty.faults() == 0;
    if (*is_over) {
      ASSERT_OK(status);
    }
    for (const Unsynced survives : {Unsynced::kNothing, Unsynced::kRandomPart}) {
      const auto after = files->CrashClone(call, survives);
      follower_.reset();
      ASSERT_NO_FATAL_FAILURE(ExpectFollowsOn(after.get())) << static_cast<int>(survives);
    }
  });
}

// Changes of families are durable at once, also at kBuffered, and must not be taken for those of
// the source.
TEST_F(FollowerFailuresTest, ALossOfPowerThatTakesTheLogBeginsAgainWithTheCheckpoint) {
  ASSERT_NO_FATAL_FAILURE(MakeSource());
  const auto files = checkpoint_->CrashClone(1, Unsynced::kEverything);
  ASSERT_OK(Follow(files.get(), database_.get()));
  ASSERT_NO_FATAL_FAILURE(ExpectCaughtUp());
  const auto after = files->CrashClone(1, Unsynced::kNothing);
  follower_.reset();
  ASSERT_NO_FATAL_FAILURE(ExpectFollowsOn(after.get()));
}

TEST_F(FollowerFailuresTest, AnErrorOrALossOfPowerAtEachCallOfTheFirstOpeningCanBeRepeated) {
  ASSERT_NO_FATAL_FAILURE(MakeSource());
  for (const Repeat repeat : {Repeat::kOnce, Repeat::kFromThenOn}) {
    ForEachCall(47, [&](uint64_t call, bool* is_over) {
      InMemoryFileSystem files;
      FaultyFileSystem faulty(&files);
      const absl::Cleanup closes = [&] { follower_.reset(); };
      faulty.FailCall(call, absl::InternalError("injected"), repeat);
      absl::Status status = Follow(&faulty, database_.get());
      if (status.ok()) status = TryToCatchUp(faulty);
      *is_over = faulty.faults() == 0;
      if (*is_over) {
        ASSERT_OK(status);
      }
      const auto after = files.CrashClone(call, repeat == Repeat::kOnce ? Unsynced::kEverything
                                                : call % 2 == 0         ? Unsynced::kNothing
                                                                        : Unsynced::kRandomPart);
      follower_.reset();
      ASSERT_NO_FATAL_FAILURE(ExpectFollowsOn(after.get()));
    });
  }
}

TEST_F(FollowerFailuresTest, AnErrorAtEachReadOfTheSourceIsAnErrorOrRight) {
  const std::vector<FileCall> reads = {
      FileCall::kRead,     FileCall::kPopulate, FileCall::kNewRandomAccessFile,
      FileCall::kReadFile, FileCall::kFileSize, FileCall::kListDirectory};
  for (const Repeat repeat : {Repeat::kOnce, Repeat::kFromThenOn}) {
    uint64_t runs = 0;
    int failed = 0;
    // The sanitizers' runs read by position, which makes many more calls.
    ForEachCall(kSlow ? 331 : 67, [&](uint64_t call, bool* is_over) {
      if (runs++ % kRunsOfASource == 0) {
        ASSERT_NO_FATAL_FAILURE(MakeSource());
      }
      const auto files = checkpoint_->CrashClone(1, Unsynced::kEverything);
      FaultyFileSystem faulty(file_system_.get(),
                              {.hide_log_mappings = true, .hide_file_mappings = true});
      DatabaseOptions options = OptionsOfSource();
      options.file_system = &faulty;
      options.follow = true;
      options.follow_interval = absl::InfiniteDuration();
      ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> beside, Database::Open(kPath, options));
      const absl::Cleanup closes = [&] { follower_.reset(); };
      faulty.CountCalls({.kinds = reads});
      faulty.FailCall(call, absl::InternalError("injected"), repeat);
      absl::Status status = Follow(files.get(), beside.get());
      if (status.ok()) status = TryToCatchUp(faulty);
      if (status.ok()) {
        ExpectIsCopy(follower_->database());
        WriteRound(2);
        ASSERT_OK(database_->Flush("u"));
        status = TryToCatchUp(faulty);
      }
      *is_over = faulty.faults() == 0;
      if (status.ok()) {
        ExpectIsCopy(follower_->database());
      } else {
        ASSERT_FALSE(*is_over) << status;
        ++failed;
      }
      faulty.ClearFaults();
      if (follower_ == nullptr) {
        ASSERT_OK(Follow(files.get(), beside.get()));
      }
      ASSERT_NO_FATAL_FAILURE(ExpectCaughtUp());
      follower_.reset();
    });
    EXPECT_GT(failed, 0);
  }
}

// --- Promotion ---

// A source whose writer has ended, and a follower that does not have everything yet.
class PromotionFailuresTest : public FollowerFailuresTest {
 protected:
  // Two disks, with faults.
  struct Machine {
    explicit Machine(const InMemoryFileSystem& source_disk, const InMemoryFileSystem& own_disk)
        : source(source_disk.CrashClone(1, Unsynced::kEverything)),
          own(own_disk.CrashClone(1, Unsynced::kEverything)),
          faulty_source(source.get()),
          faulty_own(own.get()) {}

    std::unique_ptr<InMemoryFileSystem> source;
    std::unique_ptr<InMemoryFileSystem> own;
    FaultyFileSystem faulty_source;
    FaultyFileSystem faulty_own;
  };

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(MakeSource());
    const auto own = checkpoint_->CrashClone(1, Unsynced::kEverything);
    ASSERT_NO_FATAL_FAILURE(ExpectFollowsOn(own.get()));
    WriteRound(0);
    own_disk_ = own->CrashClone(1, Unsynced::kEverything);
    source_disk_ = file_system_->CrashClone(1, Unsynced::kNothing);
  }
  std::unique_ptr<Database> OpenBeside(FileSystem* files) {
    DatabaseOptions options = OptionsOfSource();
    options.file_system = files;
    options.follow = true;
    options.follow_interval = absl::InfiniteDuration();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    EXPECT_OK(opened);
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  absl::StatusOr<std::unique_ptr<Database>> Promote(FileSystem* source) {
    return follower_->Promote({.fence_directory = kPath,
                               .file_system = source,
                               .deadline = absl::Now() + absl::Seconds(60)});
  }
  void ExpectFenced(FileSystem* source) {
    DatabaseOptions options = OptionsOfSource();
    options.file_system = source;
    EXPECT_STATUS(kFailedPrecondition, "is fenced", Database::Open(kPath, options));
  }
  void ExpectIsWriter(Database* promoted) {
    ASSERT_NO_FATAL_FAILURE(ExpectIsCopy(promoted));
    EXPECT_STATUS(kNotFound, "", promoted->OpenTable("bigtable.follower"));
    EXPECT_OK((*promoted->OpenTable("t"))->Apply(RowMutation("w").Set("f:", Timestamp(1), "")));
  }
  // After the machine has started again: the promotion has happened, or can be done.
  void ExpectPromotedOrPromotes(FileSystem* source, FileSystem* own, bool was_promoted) {
    const std::unique_ptr<Database> beside = OpenBeside(source);
    const absl::Status opened = Follow(own, beside.get());
    if (opened.ok()) {
      EXPECT_FALSE(was_promoted);
      absl::StatusOr<std::unique_ptr<Database>> promoted = Promote(source);
      ASSERT_OK(promoted);
      ASSERT_NO_FATAL_FAILURE(ExpectIsWriter(promoted->get()));
      promoted->reset();
      follower_.reset();
    } else {
      EXPECT_STATUS(kFailedPrecondition, "/follower: the database was promoted", opened);
      absl::StatusOr<std::unique_ptr<Database>> promoted =
          Database::Open(kFollower, OptionsOn(own).database);
      ASSERT_OK(promoted);
      ASSERT_NO_FATAL_FAILURE(ExpectIsWriter(promoted->get()));
    }
    ExpectFenced(source);
    EXPECT_STATUS(kFailedPrecondition, "/follower: the database was promoted",
                  Follow(own, beside.get()));
  }

  std::unique_ptr<InMemoryFileSystem> source_disk_;
  std::unique_ptr<InMemoryFileSystem> own_disk_;
};

TEST_F(PromotionFailuresTest, AfterAnErrorAtEachCallItCanBeRepeated) {
  for (const bool is_own : {true, false}) {
    SCOPED_TRACE(is_own ? "own files" : "files of the source");
    int failed = 0;
    ForEachCall(10, [&](uint64_t call, bool* is_over) {
      Machine machine(*source_disk_, *own_disk_);
      const std::unique_ptr<Database> beside = OpenBeside(&machine.faulty_source);
      const absl::Cleanup closes = [&] { follower_.reset(); };
      ASSERT_OK(Follow(&machine.faulty_own, beside.get()));
      FaultyFileSystem& faulty = is_own ? machine.faulty_own : machine.faulty_source;
      faulty.CountCalls();
      faulty.FailCall(call, absl::InternalError("injected"));
      absl::StatusOr<std::unique_ptr<Database>> promoted = Promote(&machine.faulty_source);
      *is_over = faulty.faults() == 0;
      faulty.ClearFaults();
      if (!promoted.ok()) {
        ASSERT_FALSE(*is_over) << promoted.status();
        ++failed;
        ASSERT_OK(follower_->database()->Resume());
        // It follows as before, unless it was promoted in spite of the error.
        if (call % 2 == 0) TryToCatchUp(faulty).IgnoreError();
        promoted = Promote(&machine.faulty_source);
        ASSERT_OK(promoted);
      }
      ASSERT_NO_FATAL_FAILURE(ExpectIsWriter(promoted->get()));
      ExpectFenced(machine.source.get());
      promoted->reset();
      EXPECT_STATUS(kFailedPrecondition, "/follower: the database was promoted",
                    Follow(machine.own.get(), beside.get()));
    });
    EXPECT_GT(failed, 0);
  }
}

TEST_F(PromotionFailuresTest, AfterALossOfPowerAtEachCallOneOfTheTwoIsWritten) {
  for (const bool is_own : {true, false}) {
    SCOPED_TRACE(is_own ? "own files" : "files of the source");
    ForEachCall(67, [&](uint64_t call, bool* is_over) {
      Machine machine(*source_disk_, *own_disk_);
      std::unique_ptr<Database> beside = OpenBeside(&machine.faulty_source);
      const absl::Cleanup closes = [&] { follower_.reset(); };
      ASSERT_OK(Follow(&machine.faulty_own, beside.get()));
      FaultyFileSystem& faulty = is_own ? machine.faulty_own : machine.faulty_source;
      faulty.CountCalls();
      faulty.FailCall(call, absl::InternalError("the power is gone"), Repeat::kFromThenOn);
      absl::StatusOr<std::unique_ptr<Database>> promoted = Promote(&machine.faulty_source);
      *is_over = faulty.faults() == 0;
      const bool was_promoted = promoted.ok();
      EXPECT_TRUE(was_promoted || !*is_over);
      std::vector<std::unique_ptr<InMemoryFileSystem>> disks;
      for (const Unsynced survives : {Unsynced::kNothing, Unsynced::kRandomPart}) {
        disks.push_back(machine.source->CrashClone(call, survives));
        disks.push_back(machine.own->CrashClone(call, survives));
      }
      promoted = absl::UnknownError("closed");
      follower_.reset();
      beside.reset();
      for (size_t i = 0; i < disks.size(); i += 2) {
        ASSERT_NO_FATAL_FAILURE(
            ExpectPromotedOrPromotes(disks[i].get(), disks[i + 1].get(), was_promoted));
      }
    });
  }
}

// As after an error of the deletion that has happened all the same.
TEST_F(PromotionFailuresTest, IsRepeatedWhenTheTableIsDeletedAlready) {
  Machine machine(*source_disk_, *own_disk_);
  const std::unique_ptr<Database> beside = OpenBeside(&machine.faulty_source);
  const absl::Cleanup closes = [&] { follower_.reset(); };
  ASSERT_OK(Follow(&machine.faulty_own, beside.get()));
  ASSERT_NO_FATAL_FAILURE(ExpectCaughtUp());
  ASSERT_OK(follower_->database()->DeleteTable("bigtable.follower"));
  machine.faulty_source.FailCalls({}, absl::InternalError("injected"));
  EXPECT_FALSE(TryToCatchUp(machine.faulty_source).ok());
  machine.faulty_source.ClearFaults();
  EXPECT_STATUS(kFailedPrecondition, "/follower: the database was promoted",
                follower_->CatchUp({.deadline = absl::Now() + absl::Seconds(60)}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> promoted, Promote(&machine.faulty_source));
  ASSERT_NO_FATAL_FAILURE(ExpectIsWriter(promoted.get()));
  ExpectFenced(machine.source.get());
}

TEST_F(PromotionFailuresTest, FencingCanBeRepeatedAfterAnErrorAndALossOfPower) {
  for (const Repeat repeat : {Repeat::kOnce, Repeat::kFromThenOn}) {
    for (uint64_t call = 1;; ++call) {
      SCOPED_TRACE(call);
      Machine machine(*source_disk_, *own_disk_);
      machine.faulty_source.FailCall(call, absl::InternalError("injected"), repeat);
      const absl::Status fenced = FenceDatabase(kPath, &machine.faulty_source);
      const bool is_over = machine.faulty_source.faults() == 0;
      EXPECT_TRUE(fenced.ok() || !is_over) << fenced;
      for (const Unsynced survives : {Unsynced::kNothing, Unsynced::kRandomPart}) {
        const auto after = machine.source->CrashClone(call, survives);
        if (!fenced.ok()) {
          ASSERT_OK(FenceDatabase(kPath, after.get()));
        }
        ExpectFenced(after.get());
        EXPECT_NE(OpenBeside(after.get()), nullptr) << "it can be read";
      }
      machine.faulty_source.ClearFaults();
      ASSERT_OK(FenceDatabase(kPath, &machine.faulty_source));
      ExpectFenced(machine.source.get());
      if (is_over) break;
    }
  }
}

}  // namespace
}  // namespace bigtable
