// Followers: a database that becomes what another one is, whatever happens to either.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/backup_engine.h"
#include "bigtable/bigtable.h"

#include "changes/replayed_table.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/test_observers.h"

namespace bigtable {
namespace {

class FollowerTest : public DatabaseFixture {
 protected:
  static constexpr const char* kFollower = "/follower";

  static TableSchema Schema(const std::vector<std::string>& families) {
    TableSchema schema;
    for (const std::string& family : families) schema.families[family] = {};
    schema.changes.retention = absl::Hours(1);
    return schema;
  }
  FollowerOptions OfFollower() {
    FollowerOptions options{.database = Options(), .interval = absl::Milliseconds(2)};
    options.database.file_system = own_files_.get();
    return options;
  }
  void Follow(const FollowerOptions& options) {
    follower_.reset();
    absl::StatusOr<std::unique_ptr<Follower>> opened =
        Follower::Open(kFollower, database_.get(), options);
    ASSERT_OK(opened);
    follower_ = *std::move(opened);
  }
  void Follow() { Follow(OfFollower()); }
  // The process of the follower dies.
  void KillFollower() {
    std::unique_ptr<InMemoryFileSystem> clone = own_files_->CrashClone(1, Unsynced::kEverything);
    follower_.reset();
    own_files_ = std::move(clone);
  }
  // The checkpoint is made in the files of the database that is followed, and is moved from there.
  void BeginWithCheckpoint() {
    ASSERT_OK(database_->Checkpoint(kFollower));
    own_files_ = file_system_->CrashClone(1, Unsynced::kEverything);
  }
  std::string Here(std::string_view table) { return ReplayedTable::Show(OpenTable(table)); }
  std::string There(std::string_view table) {
    absl::StatusOr<Table*> opened = follower_->database()->OpenTable(table);
    return opened.ok() ? ReplayedTable::Show(*opened) : std::string(opened.status().ToString());
  }

  std::unique_ptr<InMemoryFileSystem> own_files_ = std::make_unique<InMemoryFileSystem>();
  std::unique_ptr<Follower> follower_;
};

TEST_F(FollowerTest, BeginsEmptyAndFollowsTables) {
  Open();
  Table* const table = CreateTable("t", Schema({"f"}));
  CreateTable("plain", {"f"});
  Set(table, "a", "f:", 1, "before");
  Follow();
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), "a f:@1=before\n");
  Set(table, "b", "f:", 1, "after");
  Table* const later = CreateTable("later", Schema({"g"}));
  Set(later, "r", "g:", 1, "v");
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), Here("t"));
  EXPECT_EQ(There("later"), "r g:@1=v\n");
  EXPECT_EQ(*follower_->database()->ListTables(),
            (std::vector<std::string>{"bigtable.follower", "later", "t"}));
  ASSERT_OK(database_->DeleteTable("later"));
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(*follower_->database()->ListTables(),
            (std::vector<std::string>{"bigtable.follower", "t"}));
  const FollowerStatistics statistics = follower_->Statistics();
  EXPECT_OK(statistics.status);
  EXPECT_GE(statistics.changes_applied, 3u);
  EXPECT_LT(statistics.lag, absl::Minutes(1));
}

TEST_F(FollowerTest, BeginsWithACheckpoint) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  Set(table, "a", "f:", 1, "without a stream");
  ASSERT_OK(database_->SetChangeStream("t", {.retention = absl::Hours(1)}));
  Set(table, "b", "f:", 1, "in the checkpoint");
  const absl::StatusOr<std::unique_ptr<Follower>> empty =
      Follower::Open(kFollower, database_.get(), OfFollower());
  EXPECT_STATUS(kOutOfRange, "begins with a checkpoint", empty);
  BeginWithCheckpoint();
  Set(table, "c", "f:", 1, "after it");
  Follow();
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), Here("t"));
}

TEST_F(FollowerTest, AppliesEachChangeOnceOverKills) {
  Open();
  TableSchema schema = Schema({"f"});
  schema.families["sum"].value_type = ValueType::kInt64Sum;
  Table* const table = CreateTable("t", schema);
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 20; ++k) {
      ASSERT_OK(table->Apply(RowMutation("r").AddToCell("sum:", Timestamp(1), int64_t{1})));
    }
    Follow();
    if (i % 2 == 0) {
      ASSERT_OK(follower_->CatchUp());
    }
    KillFollower();
  }
  Follow();
  ASSERT_OK(follower_->CatchUp());
  Table* const own = *follower_->database()->OpenTable("t");
  EXPECT_EQ(Show(own->ReadRow("r")), Show(table->ReadRow("r")));
  EXPECT_EQ(*DecodeBigEndian(own->ReadRow("r")->cells()[0].value), 100);
}

TEST_F(FollowerTest, FollowsFamiliesAndDroppedRows) {
  Open();
  Table* const table = CreateTable("t", Schema({"f", "g"}));
  Follow();
  for (const char* row : {"a", "b", "c"}) {
    Set(table, row, "f:", 1, "1");
    Set(table, row, "g:", 1, "1");
  }
  ASSERT_OK(table->DropRowRange(RowRange::RightOpen("b", "c")));
  ASSERT_OK(database_->ModifyFamilies(
      "t", {FamilyChange::Drop("g"), FamilyChange::Add("g", {.gc = GcRule::MaxVersions(2)}),
            FamilyChange::Add("h", {})}));
  Set(table, "a", "g:", 2, "2");
  Set(table, "a", "h:", 2, "2");
  ASSERT_OK(database_->DropFamily("t", "f"));
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), "a g:@2=2\na h:@2=2\n");
  EXPECT_EQ(There("t"), Here("t"));
  EXPECT_EQ(follower_->database()->GetSchema("t")->families, database_->GetSchema("t")->families);
}

// The changes of an earlier time are made with the families of that time.
TEST_F(FollowerTest, BeginsEmptyWithTheFamiliesOfTheBeginning) {
  Open();
  TableSchema schema = Schema({"f", "g", "h"});
  schema.families["f"].gc = GcRule::MaxVersions(1);
  Table* const table = CreateTable("t", schema);
  for (int i = 1; i <= 3; ++i) {
    for (const char* family : {"f:", "g:", "h:"}) Set(table, "a", family, i, Cat(i));
  }
  // What the rule has dropped does not come back.
  ASSERT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(3)}));
  Set(table, "a", "f:", 4, "4");
  ASSERT_OK(database_->ModifyFamilies(
      "t",
      {FamilyChange::Drop("g"), FamilyChange::Add("g", {.value_type = ValueType::kInt64Sum})}));
  ASSERT_OK(table->Apply(RowMutation("a").AddToCell("g:", Timestamp(1), int64_t{1})));
  ASSERT_OK(database_->DropFamily("t", "h"));
  Follow();
  ASSERT_OK(follower_->CatchUp({.deadline = absl::Now() + absl::Seconds(10)}));
  EXPECT_EQ(There("t"), Here("t"));
  EXPECT_EQ(follower_->database()->GetSchema("t")->families, database_->GetSchema("t")->families);
}

TEST_F(FollowerTest, ARestoredTableHasMoreThanItsStream) {
  Open();
  Table* const table = CreateTable("t", Schema({"f"}));
  Set(table, "a", "f:", 1, "1");
  const auto backups = BackupEngine::Open("/backups", file_system_.get());
  ASSERT_OK(backups);
  const auto made = (*backups)->Create(database_.get());
  ASSERT_OK(made);
  Follow();
  ASSERT_OK((*backups)->RestoreTable(made->id, "t", database_.get(), "u"));
  EXPECT_STATUS(kOutOfRange, "begins with a checkpoint", follower_->CatchUp());
}

// What was lost is followed again, with the rule under which it was written.
TEST_F(FollowerTest, ALossOfPowerAfterAChangeOfARuleLosesNothing) {
  Open();
  TableSchema schema = Schema({"f"});
  schema.families["f"].gc = GcRule::MaxVersions(1);
  Table* const table = CreateTable("t", schema);
  Follow();
  for (int i = 1; i <= 3; ++i) Set(table, "a", "f:", i, Cat(i));
  ASSERT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(3)}));
  Set(table, "a", "f:", 4, "4");
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), "a f:@4=4\na f:@3=3\n");
  std::unique_ptr<InMemoryFileSystem> clone = own_files_->CrashClone(1, Unsynced::kNothing);
  follower_.reset();
  own_files_ = std::move(clone);
  Follow();
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), Here("t"));
}

// Otherwise it would be taken for one of a checkpoint.
TEST_F(FollowerTest, AfterALossOfPowerItKnowsTheTablesThatItHasMade) {
  Open();
  CreateTable("t", Schema({"f"}));
  Follow();
  std::unique_ptr<InMemoryFileSystem> clone = own_files_->CrashClone(1, Unsynced::kNothing);
  follower_.reset();
  own_files_ = std::move(clone);
  ASSERT_OK(database_->DeleteTable("t"));
  Follow();
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(*follower_->database()->ListTables(), std::vector<std::string>{"bigtable.follower"});
}

// The quotas of a checkpoint are those of its database, which goes on with others.
TEST_F(FollowerTest, IsNotHeldUpByAQuotaOfTheCheckpoint) {
  Open();
  Table* const table = CreateTable("t", Schema({"f"}));
  Set(table, "a", "f:", 1, "1");
  ASSERT_OK(database_->SetTableQuota("t", {.storage_bytes = 1}));
  BeginWithCheckpoint();
  ASSERT_OK(database_->SetTableQuota("t", {}));
  Set(table, "b", "f:", 1, "2");
  Follow();
  ASSERT_OK(follower_->CatchUp({.deadline = absl::Now() + absl::Seconds(10)}));
  EXPECT_EQ(There("t"), Here("t"));
}

TEST_F(FollowerTest, FollowsTheDirectoryOfAnotherProcess) {
  Open();
  Table* const table = CreateTable("t", Schema({"f"}));
  Set(table, "a", "f:", 1, "1");
  DatabaseOptions options = Options();
  options.follow = true;
  absl::StatusOr<std::unique_ptr<Database>> beside = Database::Open(kPath, options);
  ASSERT_OK(beside);
  absl::StatusOr<std::unique_ptr<Follower>> opened =
      Follower::Open(kFollower, beside->get(), OfFollower());
  ASSERT_OK(opened);
  follower_ = *std::move(opened);
  ASSERT_OK(database_->SplitTablet("t", "m"));
  for (int i = 0; i < 50; ++i) Set(table, i % 2 == 0 ? "a" : "z", "f:", i, Cat(i));
  ASSERT_OK(database_->Flush("t"));
  Set(table, "b", "f:", 1, "last");
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), Here("t"));
  follower_.reset();
}

TEST_F(FollowerTest, IsPromotedAndFencesTheOtherOne) {
  Open();
  Table* const table = CreateTable("t", Schema({"f"}));
  Set(table, "a", "f:", 1, "1");
  DatabaseOptions options = Options();
  options.follow = true;
  absl::StatusOr<std::unique_ptr<Database>> beside = Database::Open(kPath, options);
  ASSERT_OK(beside);
  absl::StatusOr<std::unique_ptr<Follower>> opened =
      Follower::Open(kFollower, beside->get(), OfFollower());
  ASSERT_OK(opened);
  follower_ = *std::move(opened);
  const PromoteOptions fencing{.fence_directory = kPath, .file_system = file_system_.get()};
  EXPECT_FALSE(follower_->Promote(fencing).ok()) << "the writer is alive";
  EXPECT_FALSE(file_system_->FileExists(Cat(kPath, "/FENCED")));
  Set(table, "b", "f:", 1, "last");
  Set(CreateTable("u", Schema({"f"})), "a", "f:", 1, "of a new table");
  ASSERT_OK(database_->Close());
  database_.reset();

  absl::StatusOr<std::unique_ptr<Database>> promoted = follower_->Promote(fencing);
  ASSERT_OK(promoted);
  Table* const own = *(*promoted)->OpenTable("t");
  EXPECT_EQ(ReplayedTable::Show(own), "a f:@1=1\nb f:@1=last\n");
  EXPECT_EQ(ReplayedTable::Show(*(*promoted)->OpenTable("u")), "a f:@1=of a new table\n");
  Set(own, "c", "f:", 1, "the writer's");
  EXPECT_EQ(*(*promoted)->ListTables(), (std::vector<std::string>{"t", "u"}));
  EXPECT_STATUS(kFailedPrecondition, "is fenced", Database::Open(kPath, Options()));
  ASSERT_OK((*promoted)->Close());
  follower_.reset();
}

TEST_F(FollowerTest, SaysThatItCannotGoOn) {
  Open();
  Table* const table = CreateTable("t", Schema({"f"}));
  FollowerOptions options = OfFollower();
  options.tables = {"t"};
  Follow(options);
  ASSERT_OK(follower_->CatchUp());
  ASSERT_OK(database_->SetChangeStream("t", {}));
  Set(table, "a", "f:", 1, "1");
  EXPECT_STATUS(kFailedPrecondition, "no change stream", follower_->CatchUp());
  EXPECT_STATUS(kFailedPrecondition, "no change stream", follower_->Statistics().status);
  ASSERT_OK(database_->SetChangeStream("t", {.retention = absl::Hours(1)}));
  EXPECT_STATUS(kOutOfRange, "not kept any more", follower_->CatchUp());
  options.tables = {"missing"};
  options.database.file_system = file_system_.get();
  EXPECT_STATUS(kNotFound, "missing", Follower::Open("/other", database_.get(), options));
  EXPECT_STATUS(kDeadlineExceeded, "",
                follower_->CatchUp({.deadline = absl::Now() - absl::Seconds(1)}));
}

TEST_F(FollowerTest, KeepsATableWhoseStreamWasClosed) {
  Open();
  Table* const table = CreateTable("t", Schema({"f"}));
  Set(table, "a", "f:", 1, "1");
  Follow();
  ASSERT_OK(follower_->CatchUp());
  ASSERT_OK(database_->SetChangeStream("t", {}));
  EXPECT_STATUS(kFailedPrecondition, "no change stream", follower_->CatchUp());
  EXPECT_EQ(There("t"), "a f:@1=1\n");
}

TEST_F(FollowerTest, RegistersAsAReader) {
  Open();
  Table* const table = CreateTable("t", Schema({"f"}));
  Set(table, "a", "f:", 1, "1");
  FollowerOptions options = OfFollower();
  options.reader = "standby";
  Follow(options);
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(database_->Statistics().change_streams.at("t").unread_bytes.count("standby"), 1u);
}

TEST_F(FollowerTest, IsNotFollowedAfterThePromotion) {
  Open();
  Table* const table = CreateTable("t", Schema({"f"}));
  Set(table, "a", "f:", 1, "1");
  Follow();
  ASSERT_OK(follower_->CatchUp());
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> promoted, follower_->Promote());
  Set(*promoted->OpenTable("t"), "b", "f:", 1, "the writer's");
  ASSERT_OK(promoted->Checkpoint("/copy"));
  promoted.reset();
  Set(table, "c", "f:", 1, "of the old source");
  EXPECT_STATUS(kFailedPrecondition, "/follower: the database was promoted",
                Follower::Open(kFollower, database_.get(), OfFollower()));
  DatabaseOptions options = OfFollower().database;
  ASSERT_OK_AND_ASSIGN(promoted, Database::Open(kFollower, options));
  EXPECT_EQ(ReplayedTable::Show(*promoted->OpenTable("t")), "a f:@1=1\nb f:@1=the writer's\n");
  EXPECT_EQ(*promoted->ListTables(), std::vector<std::string>{"t"});
  // A copy of it begins a follower of it.
  Set(*promoted->OpenTable("t"), "d", "f:", 1, "later");
  ASSERT_OK_AND_ASSIGN(follower_, Follower::Open("/copy", promoted.get(), OfFollower()));
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), ReplayedTable::Show(*promoted->OpenTable("t")));
  follower_.reset();
}

TEST_F(FollowerTest, LeavesNothingWhereItCannotBegin) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  Set(table, "a", "f:", 1, "without a stream");
  ASSERT_OK(database_->SetChangeStream("t", {.retention = absl::Hours(1)}));
  FollowerOptions options = OfFollower();
  options.database.file_system = file_system_.get();
  EXPECT_STATUS(kOutOfRange, "begins with a checkpoint",
                Follower::Open(kFollower, database_.get(), options));
  options.tables = {"missing"};
  EXPECT_STATUS(kNotFound, "missing", Follower::Open(kFollower, database_.get(), options));
  options.tables = {};
  EXPECT_FALSE(file_system_->FileExists(kFollower));
  ASSERT_OK(database_->Checkpoint(kFollower));
  Follow(options);
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), Here("t"));
  follower_.reset();
}

TEST_F(FollowerTest, NeedsALog) {
  Open();
  FollowerOptions options = OfFollower();
  options.database.durability = Durability::kNone;
  EXPECT_STATUS(kInvalidArgument, "kNone", Follower::Open(kFollower, database_.get(), options));
}

TEST_F(FollowerTest, CallsNoObservers) {
  std::atomic<int> calls = 0;
  HookObserver::Get(1)->before = [&](const ObservedMutation&, ObserverContext*) {
    ++calls;
    return absl::OkStatus();
  };
  for (const bool begins_empty : {true, false}) {
    file_system_ = std::make_unique<InMemoryFileSystem>();
    own_files_ = std::make_unique<InMemoryFileSystem>();
    Open();
    TableSchema schema = Schema({"f"});
    schema.observers = {HookObserver::NameOf(1)};
    Table* const table = CreateTable("t", schema);
    Set(table, "a", "f:", 1, "1");
    if (!begins_empty) BeginWithCheckpoint();
    Set(table, "b", "f:", 1, "2");
    calls = 0;
    ASSERT_NO_FATAL_FAILURE(Follow());
    ASSERT_OK(follower_->CatchUp());
    EXPECT_EQ(There("t"), Here("t"));
    EXPECT_EQ(calls, 0);
    Set(table, "c", "f:", 1, "3");
    EXPECT_EQ(calls, 1);
    ASSERT_OK(follower_->CatchUp());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(There("t"), Here("t"));
    follower_.reset();
    database_.reset();
  }
  HookObserver::ClearAll();
}

TEST_F(FollowerTest, CopiesATableWithAccessListsAndAGroupWithoutFamilies) {
  Open();
  const AccessList list{.readers = {"ann"}, .writers = {"bob"}};
  ASSERT_OK(database_->SetAccessList("list", list));
  TableSchema schema = Schema({"f", "g"});
  schema.locality_groups["one"] = schema.locality_groups["two"] = {};
  schema.families["f"].locality_group = "one";
  schema.families["g"].locality_group = "two";
  schema.families["f"].access_list = "list";
  Table* const table = CreateTable("t", schema);
  Set(table, "a", "f:", 1, "1");
  Set(table, "a", "g:", 1, "1");
  ASSERT_OK(database_->DropFamily("t", "g"));
  ASSERT_NO_FATAL_FAILURE(Follow());
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), "a f:@1=1\n");
  EXPECT_EQ(follower_->database()->GetSchema("t")->families, database_->GetSchema("t")->families);
  EXPECT_EQ(follower_->database()->GetAccessList("list")->readers, list.readers);
  EXPECT_EQ(follower_->database()->GetAccessList("list")->writers, list.writers);
}

// The follower applies about a mebibyte at a time. Its own change streams say which mutations it
// has applied together.
TEST_F(FollowerTest, AppliesALargeBatchAsOne) {
  DatabaseOptions options = Options();
  options.tablet_servers = 2;
  Open(options);
  Table* const tables[] = {CreateTable("t", Schema({"f"})), CreateTable("u", Schema({"f"}))};
  ASSERT_OK(database_->SplitTablet("t", "m"));
  Follow();
  ASSERT_OK(follower_->CatchUp());
  constexpr size_t kValue = 50 << 10;
  // The border of a mebibyte is in the batch wherever it is: before it are mutations that are
  // alone.
  for (int alone = 0; alone < 3; ++alone) {
    Set(tables[0], Cat("alone", alone), "f:", 1, std::string(10 * kValue, 'a'));
    WriteBatch batch;
    for (int i = 0; i < 15; ++i) {
      for (Table* const table : tables) {
        for (const char* half : {"a", "z"}) {
          batch.Apply(table, RowMutation(Cat(half, alone, "-", i))
                                 .Set("f:", Timestamp(1), std::string(kValue, 'v')));
        }
      }
    }
    ASSERT_OK(database_->Apply(batch));
  }
  ASSERT_OK(follower_->CatchUp());
  std::map<std::string, std::set<uint64_t>> applied;  // by batch of the source
  std::map<std::string, int> mutations;
  for (const char* name : {"t", "u"}) {
    Table* const own = *follower_->database()->OpenTable(name);
    ChangeStream stream = own->ReadChanges({.since = absl::InfinitePast()});
    while (stream.Next()) {
      const std::string row(stream.change().mutation.row());
      if (row.starts_with("alone")) continue;
      applied[row.substr(1, 1)].insert(stream.change().batch);
      ++mutations[row.substr(1, 1)];
    }
    ASSERT_OK(stream.status());
    EXPECT_EQ(There(name), Here(name));
  }
  ASSERT_EQ(applied.size(), 3u);
  for (const auto& [batch, numbers] : applied) {
    EXPECT_EQ(numbers.size(), 1u) << batch;
    EXPECT_EQ(numbers.count(0), 0u) << batch;
    EXPECT_EQ(mutations[batch], 60) << batch;
  }
}

// Batches over tables and tablets are never seen in part in the follower, and after all the tables
// are the same.
TEST_F(FollowerTest, ConcurrentBatchesStayWhole) {
  DatabaseOptions options = Options();
  options.tablet_servers = 2;
  Open(options);
  Table* const t = CreateTable("t", Schema({"f"}));
  Table* const u = CreateTable("u", Schema({"f"}));
  ASSERT_OK(database_->SplitTablet("t", "m"));
  WriteBatch zero;
  for (Table* const table : {t, u}) {
    zero.Apply(table, RowMutation("a").Set("f:", Timestamp(1), "0"));
    zero.Apply(table, RowMutation("z").Set("f:", Timestamp(1), "0"));
  }
  ASSERT_OK(database_->Apply(zero));
  Follow();
  ASSERT_OK(follower_->CatchUp());
  std::thread writer([&] {
    for (int i = 1; i <= (kSlow ? 50 : 500); ++i) {
      WriteBatch batch;
      for (Table* const table : {t, u}) {
        batch.Apply(table, RowMutation("a").Set("f:", Timestamp(1), Cat(i)));
        batch.Apply(table, RowMutation("z").Set("f:", Timestamp(1), Cat(i)));
      }
      EXPECT_OK(database_->Apply(batch));
      if (i % 100 == 0) {
        EXPECT_OK(database_->MoveTablet("t", "z", i / 100 % 2));
      }
    }
  });
  Database* const own = follower_->database();
  for (int i = 0; i < 200; ++i) {
    const auto snapshot = *own->TakeSnapshot();
    std::string first;
    for (const char* name : {"t", "u"}) {
      Table* const table = *own->OpenTable(name);
      for (const char* row : {"a", "z"}) {
        const std::string now = Show(table->ReadRow(row, Filter(), {.snapshot = snapshot}));
        if (first.empty()) first = now;
        EXPECT_EQ(now, first);
      }
    }
  }
  writer.join();
  ASSERT_OK(follower_->CatchUp());
  EXPECT_EQ(There("t"), Here("t"));
  EXPECT_EQ(There("u"), Here("u"));
}

// Random operations on the database, kills of both, and the follower again and again.
TEST_F(FollowerTest, RandomOperationsAreFollowed) {
  ForEachSeed(kSlow ? 2 : 8, [&](uint64_t seed) {
    Random random(seed);
    file_system_ = std::make_unique<InMemoryFileSystem>();
    own_files_ = std::make_unique<InMemoryFileSystem>();
    DatabaseOptions options = Options();
    options.tablet_servers = 2;
    options.durability = Durability::kSync;
    Open(options);
    for (const char* name : {"t", "u"}) {
      ASSERT_OK(database_->CreateTable(name, Schema({"f", "g"})));
    }
    const auto row = [&] { return std::string(1, static_cast<char>('a' + random.Between(0, 5))); };
    for (int i = 0; i < 120; ++i) {
      const std::string name = random.OneIn(2) ? "t" : "u";
      const auto mutation = [&] {
        RowMutation made(row());
        if (random.OneIn(6)) {
          made.DeleteRow();
        } else if (random.OneIn(5)) {
          made.DeleteFamily("g");
        } else {
          made.Set(random.OneIn(2) ? "f:q" : "g:q", Timestamp(random.Between(1, 3)),
                   Cat(random.Between(0, 99)));
        }
        return made;
      };
      switch (random.Between(0, 13)) {
        case 0:
          EXPECT_OK(OpenTable(name)->DropRowRange(RowRange::RightOpen(row(), row())));
          break;
        case 1:
          database_->SplitTablet(name, row()).IgnoreError();
          break;
        case 2:
          database_->MergeTablets(name, row()).IgnoreError();
          break;
        case 3:
          EXPECT_OK(database_->ModifyFamilies(
              name, {FamilyChange::Drop("g"), FamilyChange::Add("g", {})}));
          break;
        case 4: {
          WriteBatch batch;
          batch.Apply(OpenTable("t"), mutation());
          batch.Apply(OpenTable("u"), mutation());
          EXPECT_OK(database_->Apply(batch));
          break;
        }
        case 5:
          if (follower_ == nullptr) {
            Follow();
          } else if (random.OneIn(2)) {
            KillFollower();
          } else {
            ASSERT_OK(follower_->CatchUp());
            EXPECT_EQ(There("t"), Here("t"));
            EXPECT_EQ(There("u"), Here("u"));
          }
          break;
        case 6:
          if (random.OneIn(3)) {
            KillFollower();
            Kill();
            Open(options);
          }
          break;
        default:
          EXPECT_OK(OpenTable(name)->Apply(mutation()));
      }
      if (HasFailure()) return;
    }
    Follow();
    ASSERT_OK(follower_->CatchUp());
    EXPECT_EQ(There("t"), Here("t"));
    EXPECT_EQ(There("u"), Here("u"));
    follower_.reset();
    database_.reset();
  });
}

}  // namespace
}  // namespace bigtable
