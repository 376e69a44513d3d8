// Garbage collections in change streams: when there is one, what it says, that each reader gets it
// once whatever becomes of the tablet, and what is kept of it.
#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/compaction_filter.h"
#include "bigtable/follower.h"
#include "bigtable/testing/faulty_file_system.h"

#include "changes_fixture.h"
#include "support/expect_status.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

class GarbageCollectionTest : public ChangesFixture {
 protected:
  static constexpr const char* kMetadataLog = "/log/metadata-";

  // Nothing is compacted but by Compact.
  static TableSchema Rules(absl::Duration retention = absl::Hours(1)) {
    TableSchema schema = SchemaWith({"f", "g", "plain"}, retention);
    schema.families["f"].gc = GcRule::MaxVersions(1);
    schema.families["g"].gc = GcRule::MaxAge(absl::Seconds(1));
    schema.locality_groups["default"].compaction = CompactionStyle::kNone;
    return schema;
  }
  // Writes what the rule of f has for garbage, and compacts.
  void Collect(const std::vector<std::string>& rows = {"a"}) {
    Table* const table = OpenTable("t");
    for (const std::string& row : rows) {
      Set(table, row, "f:", ++last_, "");
      EXPECT_OK(database_->Flush("t"));
      Set(table, row, "f:", ++last_, "");
      EXPECT_OK(database_->Flush("t"));
    }
    EXPECT_OK(database_->Compact("t"));
  }
  // Only the garbage collections.
  static Strings CollectionsOf(ChangeStream* stream) {
    Strings texts;
    for (const std::string& text : Texts(stream)) {
      if (text.starts_with("collected ")) texts.push_back(text);
    }
    return texts;
  }
  Strings Collections(const ReadChangesOptions& options = All()) {
    ChangeStream stream = OpenTable("t")->ReadChanges(options);
    return CollectionsOf(&stream);
  }
  void OpenFaulty(FaultyFileSystem::Options faults = {}) {
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get(), faults);
    DatabaseOptions options = Options();
    options.file_system = faulty_.get();
    database_ = Database::Open(kPath, options).value();
  }
  void TearDown() override { database_.reset(); }

  std::unique_ptr<FaultyFileSystem> faulty_;
  int64_t last_ = 0;  // the timestamp of the last cell
};

// --- When there is one ---

TEST_F(GarbageCollectionTest, IsInTheStreamAfterACompactionThatHasRemovedCells) {
  Open();
  Table* const table = CreateTable("t", Rules());
  ChangeStream stream = table->ReadChanges();
  Set(table, "a", "f:", 1, "old");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "a", "f:", 2, "new");
  clock_.Set(5000);
  ASSERT_OK(database_->Compact("t"));
  Set(table, "b", "f:", 3, "");

  ASSERT_TRUE(stream.Next() && stream.Next() && stream.Next());
  const TableChange& change = stream.change();
  EXPECT_EQ(change.kind, TableChange::Kind::kGarbageCollection);
  EXPECT_EQ(change.rows, RowRange::All());
  EXPECT_EQ(change.families, (Strings{"f", "g"}));
  EXPECT_EQ(change.collected_at, absl::FromUnixMicros(5000));
  EXPECT_EQ(change.time, absl::FromUnixMicros(5000));
  EXPECT_EQ(change.batch, 0u);
  EXPECT_TRUE(change.Operations().empty());
  EXPECT_EQ(Texts(&stream), Strings{"b: set f@3"});
  EXPECT_EQ(AllOf(table), (Strings{"a: set f@1=old", "a: set f@2=new",
                                   "collected f g [, ...) as of 5000", "b: set f@3"}));
}

TEST_F(GarbageCollectionTest, IsThereForEachRule) {
  Open();
  TableSchema schema = Rules();
  schema.families["both"].gc =
      GcRule::Intersection(GcRule::MaxVersions(1), GcRule::MaxAge(absl::Seconds(1)));
  Table* const table = CreateTable("t", schema);
  for (const char* column : {"g:", "both:"}) {
    const int64_t now = clock_.micros();
    Set(table, "a", column, now, "");
    Set(table, "a", column, now + 1, "");
    ASSERT_OK(database_->Flush("t"));
    const size_t before = Collections().size();
    ASSERT_OK(database_->Compact("t"));
    EXPECT_EQ(Collections().size(), before) << column;
    clock_.Set(now + 2'000'000);
    ASSERT_OK(database_->Compact("t"));
    EXPECT_EQ(Collections(), Strings{Cat("collected both f g [, ...) as of ", now + 2'000'000)});
  }
}

TEST_F(GarbageCollectionTest, FilesThatAreDroppedWholeAreCollected) {
  Open();
  TableSchema schema = Rules();
  schema.families.erase("f");
  schema.families.erase("plain");
  schema.locality_groups["default"].compaction = CompactionStyle::kFifo;
  Table* const table = CreateTable("t", schema);
  Set(table, "a", "g:", clock_.micros(), "");
  ASSERT_OK(database_->Flush("t"));
  clock_.Set(clock_.micros() + 2'000'000);
  Set(table, "b", "g:", clock_.micros(), "");
  ASSERT_OK(database_->Flush("t"));
  const absl::Time until = absl::Now() + absl::Seconds(20);
  while (Collections().empty() && absl::Now() < until) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_EQ(Collections(), Strings{Cat("collected g [, ...) as of ", clock_.micros())});
}

TEST_F(GarbageCollectionTest, IsNotThereIfNoRuleHasRemovedACell) {
  Open();
  Table* const table = CreateTable("t", Rules());
  const auto write_and_compact = [&](const RowMutation& mutation) {
    EXPECT_OK(table->Apply(mutation));
    EXPECT_OK(database_->Flush("t"));
    EXPECT_OK(database_->Compact("t"));
  };
  for (const char* column : {"f:", "g:", "plain:"}) {
    const Timestamp now(clock_.micros());
    write_and_compact(RowMutation("a").Set(column, now, "1"));
    write_and_compact(RowMutation("a").Set(column, now, "over it"));
    write_and_compact(RowMutation("a").DeleteCell(column, now));
    write_and_compact(RowMutation("b").Set(column, now, "1"));
    write_and_compact(RowMutation("b").DeleteRow());
    write_and_compact(RowMutation("c").Set(column, now, "1"));
  }
  write_and_compact(RowMutation("d").Set("plain:", Timestamp(1), "1"));
  write_and_compact(RowMutation("d").Set("plain:", Timestamp(2), "1"));
  ASSERT_OK(database_->DropFamily("t", "plain"));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Collections(), Strings{});
}

TEST_F(GarbageCollectionTest, HasTheFamiliesOfTheCompactedGroup) {
  Open();
  TableSchema schema = Rules();
  schema.locality_groups["apart"] = {.compaction = CompactionStyle::kNone};
  schema.families["g"].locality_group = "apart";
  Table* const table = CreateTable("t", schema);
  Collect();
  EXPECT_EQ(Collections(), Strings{"collected f [, ...) as of 1000"});
  Set(table, "a", "g:", 1000, "");
  ASSERT_OK(database_->Flush("t"));
  clock_.Set(2'000'000);
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Collections(),
            (Strings{"collected f [, ...) as of 1000", "collected g [, ...) as of 2000000"}));
}

TEST_F(GarbageCollectionTest, IsOfTheTimeOfTheOldestSnapshot) {
  Open();
  CreateTable("t", Rules());
  clock_.Set(2000);
  auto snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot);
  clock_.Set(3000);
  Collect();
  EXPECT_EQ(Collections(), Strings{"collected f g [, ...) as of 2000"});
}

TEST_F(GarbageCollectionTest, ATableWithoutAStreamHasNone) {
  Open();
  TableSchema schema = Rules();
  schema.changes = {};
  CreateTable("t", schema);
  Collect();
  ASSERT_OK(database_->SetChangeStream("t", {.retention = absl::Hours(1)}));
  EXPECT_EQ(Collections(), Strings{});
  Collect();
  EXPECT_EQ(Collections().size(), 1u);
  // A stream that is opened again begins anew.
  ASSERT_OK(database_->SetChangeStream("t", {}));
  ASSERT_OK(database_->SetChangeStream("t", {.retention = absl::Hours(1)}));
  EXPECT_EQ(Collections(), Strings{});
}

class RemovesAll final : public CompactionFilter {
 public:
  Decision Filter(const CompactedCell&, std::string*) const override { return Decision::kRemove; }
};

TEST_F(GarbageCollectionTest, WhatACompactionFilterRemovesIsNotInIt) {
  static const absl::Status registered =
      RegisterCompactionFilter("GarbageCollectionTest.RemovesAll", std::make_unique<RemovesAll>());
  ASSERT_OK(registered);
  Open();
  TableSchema schema = Rules();
  schema.families["f"].compaction_filter = "GarbageCollectionTest.RemovesAll";
  Table* const table = CreateTable("t", schema);
  Set(table, "a", "f:", 1, "");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(bigtable::Show(table->ReadRow("a")), "");
  EXPECT_EQ(Collections(), Strings{});
}

// --- Each reader gets it once ---

TEST_F(GarbageCollectionTest, TheLastOfAFamilyStandsForThoseBefore) {
  Open();
  Table* const table = CreateTable("t", Rules());
  ChangeStream stream = table->ReadChanges();
  for (int i = 1; i <= 3; ++i) {
    clock_.Set(i * 1000);
    Collect();
    EXPECT_EQ(CollectionsOf(&stream), Strings{Cat("collected f g [, ...) as of ", i * 1000)});
  }
  EXPECT_EQ(Collections(), Strings{"collected f g [, ...) as of 3000"});
}

TEST_F(GarbageCollectionTest, IsClippedToTheRowsOfTheStream) {
  Open();
  CreateTable("t", Rules());
  Collect({"a", "m", "z"});
  EXPECT_EQ(Collections({.rows = RowRange::RightOpen("b", "n"), .since = absl::InfinitePast()}),
            Strings{"collected f g [b, n) as of 1000"});
  EXPECT_EQ(Collections({.rows = RowRange::StartingAt("b"), .since = absl::InfinitePast()}),
            Strings{"collected f g [b, ...) as of 1000"});
}

TEST_F(GarbageCollectionTest, SurvivesReopeningAndDeath) {
  Open();
  Table* const table = CreateTable("t", Rules());
  const std::string begin = table->ReadChanges().Position();
  Collect();
  const Strings expected = {"collected f g [, ...) as of 1000"};
  Reopen();
  EXPECT_EQ(Collections(From(begin)), expected);
  Kill();
  Open();
  EXPECT_EQ(Collections(From(begin)), expected);
  const std::string end = OpenTable("t")->ReadChanges().Position();
  EXPECT_EQ(Collections(From(end)), Strings{});
  // Its number is not given again.
  Set(OpenTable("t"), "b", "f:", 1, "later");
  ChangeStream stream = OpenTable("t")->ReadChanges(From(begin));
  EXPECT_EQ(Texts(&stream).back(), "b: set f@1=later");
}

TEST_F(GarbageCollectionTest, GoesAlongWithSplitsMergesAndMoves) {
  DatabaseOptions options = Options();
  options.tablet_servers = 2;
  Open(options);
  Table* const table = CreateTable("t", Rules());
  ChangeStream stream = table->ReadChanges();
  const std::string begin = stream.Position();
  Collect({"a", "z"});
  ASSERT_OK(database_->SplitTablet("t", "m"));
  EXPECT_EQ(Collections(From(begin)), Strings{"collected f g [, ...) as of 1000"});
  EXPECT_EQ(Collections({.rows = RowRange::StartingAt("m"), .since = absl::InfinitePast()}),
            Strings{"collected f g [m, ...) as of 1000"});
  EXPECT_EQ(CollectionsOf(&stream), Strings{"collected f g [, ...) as of 1000"});

  clock_.Set(2000);
  Collect({"a"});
  EXPECT_EQ(CollectionsOf(&stream), Strings{"collected f g [, m) as of 2000"});
  const Strings both = {"collected f g [m, ...) as of 1000", "collected f g [, m) as of 2000"};
  EXPECT_EQ(Collections(From(begin)), both);
  ASSERT_OK(database_->MoveTablet("t", "z", 1));
  EXPECT_EQ(Collections(From(begin)), both);
  ASSERT_OK(database_->MergeTablets("t", "m"));
  EXPECT_EQ(Collections(From(begin)),
            (Strings{"collected f g [m, ...) as of 1000", "collected f g [, m) as of 2000"}));
  EXPECT_EQ(CollectionsOf(&stream), Strings{});

  clock_.Set(3000);
  Collect({"a", "z"});
  EXPECT_EQ(Collections(From(begin)), Strings{"collected f g [, ...) as of 3000"});
  EXPECT_EQ(CollectionsOf(&stream), Strings{"collected f g [, ...) as of 3000"});
}

TEST_F(GarbageCollectionTest, IsInTheStreamsOfTheTabletsAfterASplit) {
  Open();
  Table* const table = CreateTable("t", Rules());
  ChangeStream stream = table->ReadChanges({.ends_with_tablets = true});
  EXPECT_EQ(Texts(&stream), Strings{});
  Collect({"a", "z"});
  ASSERT_OK(database_->SplitTablet("t", "m"));
  EXPECT_EQ(Texts(&stream), Strings{});
  ASSERT_TRUE(stream.ended());
  std::vector<ChangeStream> halves;
  for (const ChangePartition& half : stream.successors()) {
    halves.push_back(table->ReadChanges(
        {.rows = half.rows, .positions = {half.position}, .ends_with_tablets = true}));
  }
  ASSERT_EQ(halves.size(), 2u);
  EXPECT_EQ(CollectionsOf(&halves[0]), Strings{"collected f g [, m) as of 1000"});

  // The right half has not returned it, so the merged tablet has it for those rows.
  ASSERT_OK(database_->MergeTablets("t", "m"));
  std::vector<std::string> positions;
  for (ChangeStream& half : halves) {
    if (&half == &halves[0]) {
      EXPECT_EQ(Texts(&half), Strings{});
    } else {
      EXPECT_FALSE(half.Next());
    }
    ASSERT_TRUE(half.ended());
    positions.push_back(half.successors().front().position);
  }
  ChangeStream merged = table->ReadChanges({.positions = positions, .ends_with_tablets = true});
  EXPECT_EQ(CollectionsOf(&merged), Strings{"collected f g [m, ...) as of 1000"});
}

// The number of a collection is taken before METADATA has it, and writes go on meanwhile.
TEST_F(GarbageCollectionTest, AReaderDoesNotPassOneThatIsBeingCommittedInAThread) {
  OpenFaulty();
  Table* const table = CreateTable("t", Rules());
  Set(table, "a", "f:", 1, "");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "a", "f:", 2, "");
  ASSERT_OK(database_->Flush("t"));
  ChangeStream stream = table->ReadChanges();
  faulty_->StallCalls({{FileCall::kLogSync}, kMetadataLog});
  std::thread compaction([&] { EXPECT_OK(database_->Compact("t")); });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  Set(table, "b", "f:", 3, "beside it");
  Strings texts;
  std::thread reader([&] { texts = Texts(&stream); });
  absl::SleepFor(absl::Milliseconds(100));
  faulty_->ReleaseCalls();
  compaction.join();
  reader.join();
  const Strings rest = Texts(&stream);
  texts.insert(texts.end(), rest.begin(), rest.end());
  EXPECT_EQ(texts, (Strings{"collected f g [, ...) as of 1000", "b: set f@3=beside it"}));
}

TEST_F(GarbageCollectionTest, ReadersAndWritersBesideCompactionsConcurrency) {
  DatabaseOptions options = Options();
  options.durability = Durability::kBuffered;
  Open(options);
  TableSchema schema = Rules();
  schema.locality_groups["apart"] = {.compaction = CompactionStyle::kNone};
  schema.families["h"] = {.locality_group = "apart", .gc = GcRule::MaxVersions(1)};
  Table* const table = CreateTable("t", schema);
  ASSERT_OK(database_->SplitTablet("t", "m"));
  ChangeStream stream = table->ReadChanges();
  const int rounds = kSlow ? 6 : 12;
  std::atomic<bool> writes = true;
  std::atomic<int64_t> written = 0;
  std::thread writer([&] {
    for (int64_t i = 1; writes; ++i) {
      RowMutation mutation(i % 2 == 0 ? "a" : "z");
      EXPECT_OK(table->Apply(mutation.Set("f:", Timestamp(i), "").Set("h:", Timestamp(i), "")));
      written = i;
    }
  });
  std::thread compactions([&] {
    for (int i = 0; i < rounds; ++i) {
      // So that each has something to collect.
      const int64_t before = written;
      while (written < before + 2) std::this_thread::yield();
      EXPECT_OK(database_->Compact("t"));
    }
    writes = false;
  });
  // A collection of each group is in the state of each tablet, and no reader passes one: what is
  // kept in the end was read.
  std::set<std::string> read;
  uint64_t last = 0;
  const auto read_on = [&] {
    while (stream.Next()) {
      ASSERT_GT(stream.change().sequence, last);
      last = stream.change().sequence;
      if (stream.change().kind == TableChange::Kind::kGarbageCollection) {
        read.insert(Cat(last, " ", Show(stream.change())));
      }
    }
    ASSERT_OK(stream.status());
  };
  std::vector<std::string> kept;
  while (writes) {
    ChangeStream all = table->ReadChanges(All());
    while (all.Next()) {
      if (all.change().kind != TableChange::Kind::kGarbageCollection) continue;
      if (all.change().sequence <= last)
        kept.push_back(Cat(all.change().sequence, " ", Show(all.change())));
    }
    read_on();
    for (const std::string& text : kept) EXPECT_TRUE(read.contains(text)) << text;
    kept.clear();
  }
  writer.join();
  compactions.join();
  read_on();
  EXPECT_GE(read.size(), 4u);
  EXPECT_EQ(Collections().size(), 4u);
}

TEST_F(GarbageCollectionTest, OneThatMayBeWrittenIsWaitedForUntilResume) {
  OpenFaulty();
  Table* const table = CreateTable("t", Rules());
  ChangeStream stream = table->ReadChanges();
  Collect();
  EXPECT_EQ(CollectionsOf(&stream).size(), 1u);
  Set(table, "a", "f:", ++last_, "");
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Texts(&stream).size(), 1u);
  faulty_->FailCalls({{FileCall::kLogSync}, kMetadataLog}, absl::UnavailableError("no sync"));
  EXPECT_FALSE(database_->Compact("t").ok());
  faulty_->ClearFaults();
  ChangeStream meanwhile = table->ReadChanges(
      {.since = absl::InfinitePast(), .deadline = absl::Now() + absl::Milliseconds(200)});
  EXPECT_FALSE(meanwhile.Next());
  EXPECT_STATUS(kDeadlineExceeded, "", meanwhile.status());
  ASSERT_OK(database_->Resume());
  EXPECT_EQ(Texts(&stream), Strings{});
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(CollectionsOf(&stream), Strings{"collected f g [, ...) as of 1000"});
}

// --- Copies ---

TEST_F(GarbageCollectionTest, AFollowedDatabaseMayHaveItAfterLaterChanges) {
  OpenFaulty({.hide_log_mappings = true});
  Table* const table = CreateTable("t", Rules());
  Set(table, "a", "f:", 1, "");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "a", "f:", 2, "");
  ASSERT_OK(database_->Flush("t"));
  DatabaseOptions options = Options();
  options.follow = true;
  options.follow_interval = absl::InfiniteDuration();
  const std::unique_ptr<Database> image = Database::Open(kPath, options).value();
  Table* const followed = image->OpenTable("t").value();
  ChangeStream stream = followed->ReadChanges();
  EXPECT_EQ(Texts(&stream), Strings{});

  // METADATA's log has nothing of the commit yet.
  faulty_->StallCalls({{FileCall::kLogWrite}, kMetadataLog});
  std::thread compaction([&] { EXPECT_OK(database_->Compact("t")); });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  Set(table, "b", "f:", 3, "");
  ASSERT_OK(image->Refresh());
  EXPECT_EQ(Texts(&stream), Strings{"b: set f@3"});
  const std::string before = stream.Position();
  const absl::StatusOr<std::string> of_copy = followed->PositionOfCopy();
  ASSERT_OK(of_copy);
  faulty_->ReleaseCalls();
  compaction.join();
  ASSERT_OK(image->Refresh());
  const Strings collection = {"collected f g [, ...) as of 1000"};
  EXPECT_EQ(Texts(&stream), collection);
  EXPECT_EQ(Texts(&stream), Strings{});

  // The writer goes on where the image was.
  for (const std::string& position : {before, *of_copy}) {
    ChangeStream of_writer = table->ReadChanges(From(position));
    EXPECT_EQ(Texts(&of_writer), collection);
  }
  ChangeStream of_writer = table->ReadChanges(From(stream.Position()));
  EXPECT_EQ(Texts(&of_writer), Strings{});

  // A stream from the present begins after a collection that is the last change.
  Collect({"c"});
  ASSERT_OK(image->Refresh());
  ChangeStream present = followed->ReadChanges();
  EXPECT_EQ(Texts(&present), Strings{});
  EXPECT_EQ(CollectionsOf(&stream), collection);
}

TEST_F(GarbageCollectionTest, ACheckpointSaysWhichItHas) {
  Open();
  Table* const table = CreateTable("t", Rules());
  Collect();
  Set(table, "b", "f:", 9, "");
  ASSERT_OK(database_->Checkpoint("/copy"));
  DatabaseOptions options = Options();
  options.read_only = true;
  const std::unique_ptr<Database> copy = Database::Open("/copy", options).value();
  Table* const copied = copy->OpenTable("t").value();
  ChangeStream in_copy = copied->ReadChanges(All());
  EXPECT_EQ(CollectionsOf(&in_copy).size(), 1u);
  const absl::StatusOr<std::string> position = copied->PositionOfCopy();
  ASSERT_OK(position);
  EXPECT_EQ(Collections(From(*position)), Strings{});
  clock_.Set(2000);
  Collect({"c"});
  EXPECT_EQ(Collections(From(*position)), Strings{"collected f g [, ...) as of 2000"});
}

// A copy that is written to collects garbage with numbers of its own, which the source has not
// reached.
TEST_F(GarbageCollectionTest, ACopyThatCollectsDoesNotHideCollections) {
  Open();
  Table* const table = CreateTable("t", Rules());
  for (const int64_t timestamp : {8, 9}) {
    Set(table, "b", "f:", timestamp, "");
    ASSERT_OK(database_->Flush("t"));
  }
  ASSERT_OK(database_->Checkpoint("/copy"));
  const std::unique_ptr<Database> copy = Database::Open("/copy", Options()).value();
  Table* const copied = copy->OpenTable("t").value();
  clock_.Set(2000);
  ASSERT_OK(copy->Compact("t"));
  ChangeStream in_copy = copied->ReadChanges(All());
  ASSERT_EQ(CollectionsOf(&in_copy).size(), 1u);
  const absl::StatusOr<std::string> position = copied->PositionOfCopy();
  ASSERT_OK(position);
  Collect({"c"});
  EXPECT_EQ(Collections(From(*position)).size(), 1u);
}

// Its own rules are enough for it, also if a collection that it has not read is not kept any more.
TEST_F(GarbageCollectionTest, AFollowerNeedsNone) {
  Open();
  Table* const table = CreateTable("t", Rules(absl::Minutes(1)));
  Set(table, "a", "f:", 1, "");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "a", "f:", 2, "");
  ASSERT_OK(database_->Flush("t"));
  const auto file_system = std::make_unique<InMemoryFileSystem>();
  FollowerOptions options{.database = Options()};
  options.database.file_system = file_system.get();
  const auto catch_up = [&](Strings* cells, uint64_t* applied) {
    const auto follower = Follower::Open("/follower", database_.get(), options);
    ASSERT_OK(follower);
    ASSERT_OK((*follower)->CatchUp());
    const auto own = (*follower)->database()->OpenTable("t");
    ASSERT_OK(own);
    *cells = {bigtable::Show((*own)->ReadRow("a"))};
    *applied = (*follower)->Statistics().changes_applied;
    ASSERT_OK((*follower)->Close());
  };
  Strings cells;
  uint64_t applied = 0;
  ASSERT_NO_FATAL_FAILURE(catch_up(&cells, &applied));
  EXPECT_EQ(applied, 2u);
  ASSERT_OK(database_->Compact("t"));
  ASSERT_NO_FATAL_FAILURE(catch_up(&cells, &applied));
  EXPECT_EQ(applied, 0u);

  Set(table, "a", "f:", 7, "");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(catch_up(&cells, &applied));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Collections().size(), 1u);
  clock_.Set(clock_.micros() + absl::ToInt64Microseconds(absl::Minutes(2)));
  const absl::Time until = absl::Now() + absl::Seconds(20);
  while (!AllOf(table).empty() && absl::Now() < until) absl::SleepFor(absl::Milliseconds(20));
  ASSERT_NO_FATAL_FAILURE(catch_up(&cells, &applied));
  EXPECT_EQ(cells, Strings{"f:@7="});
}

// --- What is kept ---

TEST_F(GarbageCollectionTest, IsKeptForTheRetention) {
  Open();
  Table* const table = CreateTable("t", Rules(absl::Minutes(1)));
  Set(table, "a", "f:", 1, "");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "a", "f:", 2, "");
  ASSERT_OK(database_->Flush("t"));
  const std::string before = table->ReadChanges().Position();
  clock_.Set(clock_.micros() + absl::ToInt64Microseconds(absl::Seconds(30)));
  ASSERT_OK(database_->Compact("t"));
  const std::string after = table->ReadChanges().Position();
  const int64_t collected = clock_.micros();
  // The mutations go first.
  clock_.Set(collected + absl::ToInt64Microseconds(absl::Seconds(45)));
  const absl::Time until = absl::Now() + absl::Seconds(20);
  while (AllOf(table).size() > 1 && absl::Now() < until) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(AllOf(table), Strings{Cat("collected f g [, ...) as of ", collected)});
  EXPECT_EQ(Collections(From(before)).size(), 1u);
  clock_.Set(collected + absl::ToInt64Microseconds(absl::Seconds(75)));
  while (!AllOf(table).empty() && absl::Now() < until) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(AllOf(table), Strings{});
  EXPECT_EQ(Collections(From(after)), Strings{});
  for (const ReadChangesOptions& options :
       {From(before), ReadChangesOptions{.since = absl::FromUnixMicros(collected)}}) {
    ChangeStream old = table->ReadChanges(options);
    EXPECT_FALSE(old.Next());
    EXPECT_STATUS(kOutOfRange, "not kept any more", old.status());
  }
}

}  // namespace
}  // namespace bigtable
