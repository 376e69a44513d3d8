// A follower goes on only in the history that its positions are of: after other sources, copies of
// followers and sources that went back to an earlier backup it has the rows of its source, or an
// error says why it does not begin.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "backend/database_backend.h"
#include "changes/replayed_table.h"
#include "cluster/database_history.h"
#include "lockservice/small_files.h"
#include "support/database_fixture.h"
#include "support/each_call.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// Several databases in one file system.
class SourceIdentityTest : public DatabaseFixture {
 protected:
  std::unique_ptr<Database> OpenAt(std::string_view path, bool follow = false,
                                   absl::Duration interval = absl::InfiniteDuration()) {
    DatabaseOptions options = Options();
    options.follow = follow;
    options.follow_interval = interval;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(path, options);
    EXPECT_OK(opened);
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  // With a table "t", and another number for each change than a database with other `changes` has.
  std::unique_ptr<Database> NewSource(std::string_view path, int changes) {
    std::unique_ptr<Database> source = OpenAt(path);
    CreateT(source.get());
    for (int i = 0; i < changes; ++i) Put(source.get(), Cat("r", i), path);
    return source;
  }
  static void CreateT(Database* database) {
    TableSchema schema;
    schema.families["f"] = {};
    schema.families["sum"].value_type = ValueType::kInt64Sum;
    schema.changes.retention = absl::Hours(1);
    EXPECT_OK(database->CreateTable("t", schema));
  }
  // Seen in the sum, if it is repeated.
  static void Put(Database* database, std::string_view row, std::string_view value) {
    EXPECT_OK((*database->OpenTable("t"))
                  ->Apply(RowMutation(row)
                              .Set("f:", Timestamp(1), value)
                              .AddToCell("sum:", Timestamp(1), int64_t{1})));
  }
  static std::string Rows(Database* database) {
    return ReplayedTable::Show(*database->OpenTable("t"));
  }
  static std::string NameOf(Database* database) {
    return NameOfIdentity(DatabaseBackend::Of(database)->History()->latest());
  }

  absl::StatusOr<std::unique_ptr<Follower>> Follow(std::string_view path, Database* source,
                                                   FileSystem* files = nullptr) {
    FollowerOptions options{.database = Options(), .interval = absl::Milliseconds(2)};
    if (files != nullptr) options.database.file_system = files;
    return Follower::Open(path, source, options);
  }
  // Follows, and has what the source has.
  void ExpectFollows(std::string_view path, Database* source, FileSystem* files = nullptr) {
    absl::StatusOr<std::unique_ptr<Follower>> follower = Follow(path, source, files);
    ASSERT_OK(follower);
    ASSERT_OK((*follower)->CatchUp());
    EXPECT_EQ(Rows((*follower)->database()), Rows(source));
  }
  void ExpectRefuses(std::string_view path, Database* source, std::string_view because) {
    ExpectRefusesOn(file_system_.get(), path, source, because);
  }
  void ExpectRefusesOn(FileSystem* files, std::string_view path, Database* source,
                       std::string_view because) {
    const absl::Status opened = Follow(path, source, files).status();
    EXPECT_STATUS(kFailedPrecondition, because, opened);
    EXPECT_STATUS(kFailedPrecondition, Cat(path, ": "), opened);
    EXPECT_STATUS(kFailedPrecondition, NameOf(source), opened);
  }
};

TEST_F(SourceIdentityTest, GoesOnWithTheSameSource) {
  std::unique_ptr<Database> source = NewSource("/a", 3);
  ASSERT_OK(source->Checkpoint("/copied"));
  for (const char* path : {"/empty", "/copied"}) {
    ASSERT_NO_FATAL_FAILURE(ExpectFollows(path, source.get()));
    Put(source.get(), Cat("later", path), "1");
    ASSERT_NO_FATAL_FAILURE(ExpectFollows(path, source.get()));
  }
  const std::string name = NameOf(source.get());
  source.reset();
  source = OpenAt("/a");
  EXPECT_EQ(NameOf(source.get()), name);
  Put(source.get(), "reopened", "1");
  const std::unique_ptr<Database> beside = OpenAt("/a", true);
  EXPECT_EQ(NameOf(beside.get()), name);
  for (const char* path : {"/empty", "/copied"}) {
    ASSERT_NO_FATAL_FAILURE(ExpectFollows(path, beside.get()));
    ASSERT_NO_FATAL_FAILURE(ExpectFollows(path, source.get()));
  }
}

TEST_F(SourceIdentityTest, RefusesAnotherSource) {
  const std::unique_ptr<Database> a = NewSource("/a", 3);
  const std::unique_ptr<Database> b = NewSource("/b", 30);
  const std::unique_ptr<Database> beside = OpenAt("/b", true);
  ASSERT_OK(a->Checkpoint("/copied"));
  // Also before it has followed anything; then it can still follow the right one.
  ExpectRefuses("/copied", b.get(), Cat("a copy of database ", NameOf(a.get())));
  for (const char* path : {"/empty", "/copied"}) {
    ASSERT_NO_FATAL_FAILURE(ExpectFollows(path, a.get()));
    for (Database* const other : {b.get(), beside.get()}) {
      ExpectRefuses(path, other, Cat("has followed database ", NameOf(a.get())));
    }
    Put(a.get(), Cat("later", path), "1");
    ASSERT_NO_FATAL_FAILURE(ExpectFollows(path, a.get()));
  }
}

TEST_F(SourceIdentityTest, RefusesADatabaseThatIsNoCopy) {
  const std::unique_ptr<Database> a = NewSource("/a", 3);
  NewSource("/own", 3).reset();
  ExpectRefuses("/own", a.get(), "is no copy of database");
  // Another table of that name does not begin here, either, once it is a follower.
  ASSERT_OK(a->Checkpoint("/written"));
  {
    const std::unique_ptr<Database> own = OpenAt("/written");
    Put(own.get(), "own", "1");
  }
  ExpectRefuses("/written", a.get(), "changed since it was copied");
}

// Whichever of the positions is larger, and whether the follower has begun with a checkpoint.
TEST_F(SourceIdentityTest, ACopyOfAFollowerFollowsThatFollower) {
  for (const bool begins_empty : {true, false}) {
    for (const bool source_is_ahead : {true, false}) {
      SCOPED_TRACE(Cat(begins_empty, " ", source_is_ahead));
      file_system_ = std::make_unique<InMemoryFileSystem>();
      std::unique_ptr<Database> source = NewSource("/a", 5);
      if (!begins_empty) {
        ASSERT_OK(source->Checkpoint("/first"));
      }
      // Each opening leaves out numbers.
      for (int i = 0; source_is_ahead && i < 3; ++i) {
        source.reset();
        source = OpenAt("/a");
      }
      ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Follower> first, Follow("/first", source.get()));
      ASSERT_OK(first->CatchUp());
      for (int i = 0; i < 10; ++i) {
        Put(source.get(), "again", Cat(i));
        ASSERT_OK(first->CatchUp());
      }
      ASSERT_OK(first->database()->Checkpoint("/second"));
      ASSERT_OK(first->database()->Checkpoint("/other"));
      Put(source.get(), "after the copy", "1");
      ASSERT_OK(first->CatchUp());
      ASSERT_NO_FATAL_FAILURE(ExpectFollows("/second", first->database()));
      EXPECT_EQ(Rows(first->database()), Rows(source.get()));
      Put(source.get(), "later", "1");
      ASSERT_OK(first->CatchUp());
      ASSERT_NO_FATAL_FAILURE(ExpectFollows("/second", first->database()));
      ExpectRefuses("/second", source.get(),
                    Cat("has followed database ", NameOf(first->database())));
      // Or it goes on with what the first one follows, from where that one was.
      ASSERT_NO_FATAL_FAILURE(ExpectFollows("/other", source.get()));
      ExpectRefuses("/other", first->database(), "has followed database");
      Put(source.get(), "at the end", "1");
      ASSERT_NO_FATAL_FAILURE(ExpectFollows("/other", source.get()));
    }
  }
}

TEST_F(SourceIdentityTest, ACopyOfAFollowerRefusesAThirdDatabase) {
  const std::unique_ptr<Database> a = NewSource("/a", 3);
  const std::unique_ptr<Database> b = NewSource("/b", 3);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Follower> first, Follow("/first", a.get()));
  ASSERT_OK(first->CatchUp());
  ASSERT_OK(first->database()->Checkpoint("/second"));
  ExpectRefuses("/second", b.get(), Cat("has followed database ", NameOf(a.get())));
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/second", first->database()));
}

// A source that went back: its later changes have numbers that the follower may have got already.
TEST_F(SourceIdentityTest, RefusesASourceThatWentBackBehindIt) {
  std::unique_ptr<Database> source = NewSource("/a", 3);
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/before", source.get()));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BackupEngine> backups,
                       BackupEngine::Open("/backups", file_system_.get()));
  ASSERT_OK_AND_ASSIGN(const BackupInfo backup, backups->Create(source.get()));
  for (int i = 0; i < 5; ++i) Put(source.get(), "lost", Cat(i));
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/behind", source.get()));
  const std::string name = NameOf(source.get());

  ASSERT_OK(backups->Restore(backup.id, "/restored", {.file_system = file_system_.get()}));
  const std::unique_ptr<Database> restored = OpenAt("/restored");
  EXPECT_NE(NameOf(restored.get()), name);
  for (int i = 0; i < 50; ++i) Put(restored.get(), Cat("new", i), "1");
  ExpectRefuses("/behind", restored.get(), Cat("has followed database ", name));
  // One that has nothing of what was lost goes on, and does not go back to the other one.
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/before", restored.get()));
  ExpectRefuses("/before", source.get(), Cat("has followed database ", NameOf(restored.get())));
  // A later backup of the first one is no copy of the restored one.
  ASSERT_OK(source->Checkpoint("/later"));
  ExpectRefuses("/later", restored.get(), Cat("a copy of database ", name));
  ASSERT_OK(backups->Restore(backup.id, "/follower", {.file_system = file_system_.get()}));
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/follower", restored.get()));
}

// It does not know up to which number it has everything.
TEST_F(SourceIdentityTest, ACopyOfAnImageBeginsAFollowerButIsNoSourceOfOne) {
  const std::unique_ptr<Database> source = NewSource("/a", 3);
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/before", source.get()));
  const std::unique_ptr<Database> beside = OpenAt("/a", true);
  ASSERT_OK(beside->Checkpoint("/follower"));
  ASSERT_OK(beside->Checkpoint("/restored"));
  Put(source.get(), "later", "1");
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/follower", source.get()));
  const std::unique_ptr<Database> restored = OpenAt("/restored");
  ExpectRefuses("/before", restored.get(), Cat("has followed database ", NameOf(source.get())));
}

// A copy that nobody writes to is followed, and goes on as a database of its own.
TEST_F(SourceIdentityTest, FollowsACopyUntilAndAfterItIsOpened) {
  const std::unique_ptr<Database> source = NewSource("/a", 3);
  const std::unique_ptr<Database> beside = OpenAt("/a", true);
  ASSERT_OK(source->Checkpoint("/copy"));
  const std::unique_ptr<Database> copy = OpenAt("/copy", true);
  EXPECT_EQ(NameOf(copy.get()), NameOf(source.get()));
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Follower> follower, Follow("/follower", copy.get()));
  ASSERT_OK(follower->CatchUp());
  const std::unique_ptr<Database> opened = OpenAt("/copy");
  EXPECT_NE(NameOf(opened.get()), NameOf(source.get()));
  for (int i = 0; i < 5; ++i) Put(opened.get(), "new", Cat(i));
  Put(source.get(), "other", "1");
  ASSERT_OK(follower->CatchUp());
  EXPECT_EQ(Rows(follower->database()), Rows(opened.get()));
  follower.reset();
  ExpectRefuses("/follower", source.get(), Cat("has followed database ", NameOf(opened.get())));
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/follower", opened.get()));
}

// The image may become another database at any moment of a pass.
TEST_F(SourceIdentityTest, ConcurrentOpeningsOfTheCopyAreNoticed) {
  const std::unique_ptr<Database> source = NewSource("/a", 3);
  for (int i = 0; i < (kSlow ? 3 : 15); ++i) {
    SCOPED_TRACE(i);
    const std::string path = Cat("/copy", i);
    const std::string own = Cat("/follower", i);
    ASSERT_OK(source->Checkpoint(path));
    const std::unique_ptr<Database> copy = OpenAt(path, true, absl::Milliseconds(1));
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<Follower> follower, Follow(own, copy.get()));
    const std::unique_ptr<Database> opened = OpenAt(path);
    std::thread writer([&] {
      for (int k = 0; k < 50; ++k) Put(opened.get(), "new", Cat(k));
    });
    for (int k = 0; k < 20; ++k) follower->CatchUp().IgnoreError();
    writer.join();
    ASSERT_OK(copy->Refresh());
    ASSERT_OK(follower->CatchUp());
    EXPECT_EQ(Rows(follower->database()), Rows(opened.get()));
    follower.reset();
    ExpectRefuses(own, source.get(), Cat("has followed database ", NameOf(opened.get())));
    ASSERT_NO_FATAL_FAILURE(ExpectFollows(own, opened.get()));
  }
}

// The positions that the copy has are gone, or it has not begun.
TEST_F(SourceIdentityTest, ACopyOfAFollowerBeginsAfterAnErrorOrALossOfPowerAtEachCall) {
  const std::unique_ptr<Database> source = NewSource("/a", 40);
  ASSERT_OK(source->Checkpoint("/first"));  // the tables have the same ids
  Put(source.get(), "r0", "again");
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Follower> first, Follow("/first", source.get()));
  ASSERT_OK(first->CatchUp());
  ASSERT_OK(first->database()->Checkpoint("/second"));
  Put(source.get(), "after the copy", "1");
  ASSERT_OK(first->CatchUp());
  for (const auto repeat :
       {FaultyFileSystem::Repeat::kOnce, FaultyFileSystem::Repeat::kFromThenOn}) {
    ForEachCall(7, [&](uint64_t call, bool* is_over) {
      const auto files = file_system_->CrashClone(1, Unsynced::kEverything);
      FaultyFileSystem faulty(files.get());
      faulty.FailCall(call, absl::InternalError("injected"), repeat);
      absl::StatusOr<std::unique_ptr<Follower>> opened =
          Follow("/second", first->database(), &faulty);
      *is_over = faulty.faults() == 0;
      if (*is_over) {
        ASSERT_OK(opened);
      }
      const auto after =
          files->CrashClone(call, call % 2 == 0 ? Unsynced::kNothing : Unsynced::kRandomPart);
      opened = absl::UnknownError("closed");
      ASSERT_NO_FATAL_FAILURE(ExpectFollows("/second", first->database(), after.get()));
      ExpectRefusesOn(after.get(), "/second", source.get(), "has followed database");
    });
  }
}

TEST_F(SourceIdentityTest, GoesOnWithWhatAnEarlierVersionHasLeft) {
  const std::unique_ptr<Database> source = NewSource("/a", 3);
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/follower", source.get()));
  {
    const std::unique_ptr<Database> own = OpenAt("/follower");
    ASSERT_OK((*own->OpenTable("bigtable.follower"))->Apply(RowMutation("/source").DeleteRow()));
    ASSERT_OK(own->Checkpoint("/copy"));
  }
  Put(source.get(), "later", "1");
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/follower", source.get()));
  const std::unique_ptr<Database> other = NewSource("/b", 3);
  ExpectRefuses("/follower", other.get(), Cat("has followed database ", NameOf(source.get())));
  ExpectRefuses("/copy", source.get(), "has followed an unknown database");
}

TEST_F(SourceIdentityTest, ASourceWithoutAnIdentityGetsOneWhenItIsOpened) {
  NewSource("/a", 3).reset();
  SmallFiles files(file_system_.get(), "/a/lockservice", "/a/copies/lockservice");
  ASSERT_OK(files.Remove(DatabaseHistory::kFile));
  {
    const std::unique_ptr<Database> beside = OpenAt("/a", true);
    EXPECT_STATUS(kFailedPrecondition, "no identity yet", Follow("/follower", beside.get()));
    EXPECT_FALSE(file_system_->FileExists("/follower"));
  }
  const std::unique_ptr<Database> source = OpenAt("/a");
  ASSERT_NO_FATAL_FAILURE(ExpectFollows("/follower", source.get()));
}

}  // namespace
}  // namespace bigtable
