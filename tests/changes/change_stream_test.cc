// Change streams: what is in them, in which order, and from where on.
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"

#include "changes_fixture.h"
#include "rows/change_position.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

using ChangeStreamTest = ChangesFixture;

TEST_F(ChangeStreamTest, ReturnsMutationsInTheOrderOfTheirCommits) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f", "g"}));
  ChangeStream stream = table->ReadChanges();
  Set(table, "b", "f:q", 5, "1");
  Set(table, "a", "g:", 6, "2");
  EXPECT_OK(table->Apply(RowMutation("b").Delete("f:q").DeleteCell("g:x", Timestamp(3))));
  EXPECT_OK(table->Apply(RowMutation("a").DeleteFamily("g").DeleteRow()));
  EXPECT_OK(table->Apply(
      RowMutation("c").DeleteTimeRange("f:q", Timestamp(1), Timestamp(4)).Set("f:q", "now")));

  EXPECT_EQ(Texts(&stream), (Strings{"b: set f:q@5=1", "a: set g@6=2", "b: delete f:q, cell g:x@3",
                                     "a: family g, row", "c: range f:q@1-4, set f:q@1004=now"}));
  EXPECT_EQ(Texts(&stream), Strings{});
}

TEST_F(ChangeStreamTest, NumbersAreThoseOfSnapshots) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ChangeStream stream = table->ReadChanges();
  Set(table, "a", "f:", 1, "x");
  const auto snapshot = *database_->TakeSnapshot();
  Set(table, "b", "f:", 1, "x");

  ASSERT_TRUE(stream.Next());
  EXPECT_LE(stream.change().sequence, snapshot->sequence());
  ASSERT_TRUE(stream.Next());
  EXPECT_GT(stream.change().sequence, snapshot->sequence());
  EXPECT_FALSE(stream.Next());
}

TEST_F(ChangeStreamTest, ATableWithoutAStreamIsRefused) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  ChangeStream stream = table->ReadChanges(All());
  EXPECT_FALSE(stream.Next());
  EXPECT_STATUS(kFailedPrecondition, "table t has no change stream", stream.status());
  EXPECT_EQ(stream.Position(), "");
}

TEST_F(ChangeStreamTest, BeginsWhereAPositionSays) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ChangeStream stream = table->ReadChanges(All());
  std::vector<std::string> positions = {stream.Position()};
  for (const char* row : {"a", "b", "c", "d"}) Set(table, row, "f:", 1, "");
  while (stream.Next()) positions.push_back(stream.Position());
  ASSERT_EQ(positions.size(), 5u);
  positions.push_back(stream.Position());

  EXPECT_OK(database_->Flush("t"));
  Set(table, "e", "f:", 1, "");
  const Strings all = {"a: set f@1", "b: set f@1", "c: set f@1", "d: set f@1", "e: set f@1"};
  for (size_t i = 0; i < positions.size(); ++i) {
    ChangeStream again = table->ReadChanges(From(positions[i]));
    const size_t first = std::min<size_t>(i, 4);
    EXPECT_EQ(Texts(&again), Strings(all.begin() + static_cast<ptrdiff_t>(first), all.end())) << i;
  }
}

TEST_F(ChangeStreamTest, BeginsWithTheFirstChangeOfATime) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  for (const char* row : {"a", "b", "c"}) {
    clock_.Set(clock_.micros() + 1000);
    Set(table, row, "f:", 1, "");
  }
  const auto since = [&](int64_t micros) {
    ChangeStream stream = table->ReadChanges({.since = absl::FromUnixMicros(micros)});
    return Texts(&stream);
  };
  EXPECT_EQ(since(0).size(), 3u);
  EXPECT_EQ(since(clock_.micros()), Strings{"c: set f@1"});
  EXPECT_OK(database_->Flush("t"));
  EXPECT_EQ(since(clock_.micros()), Strings{"c: set f@1"});
  EXPECT_EQ(since(clock_.micros() + 1000), Strings{});
}

TEST_F(ChangeStreamTest, MarksBatches) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  Table* const other = CreateTable("u", SchemaWith({"f"}));
  ASSERT_OK(database_->SplitTablet("t", "m"));
  Set(table, "single", "f:", 1, "");
  WriteBatch batch;
  batch.Apply(table, RowMutation("a").Set("f:", Timestamp(1), ""));
  batch.Apply(other, RowMutation("b").Set("f:", Timestamp(1), ""));
  batch.Apply(table, RowMutation("z").Set("f:", Timestamp(1), ""));
  ASSERT_OK(database_->Apply(batch));

  for (const bool is_flushed : {false, true}) {
    if (is_flushed) {
      EXPECT_OK(database_->Flush("t"));
      EXPECT_OK(database_->Flush("u"));
    }
    std::vector<uint64_t> batches;
    for (Table* const one : {table, other}) {
      ChangeStream stream = one->ReadChanges(All());
      while (stream.Next()) batches.push_back(stream.change().batch);
    }
    ASSERT_EQ(batches.size(), 4u);
    EXPECT_EQ(batches[0], 0u);
    EXPECT_NE(batches[1], 0u);
    EXPECT_EQ(batches[2], batches[1]);
    EXPECT_EQ(batches[3], batches[1]);
  }
}

TEST_F(ChangeStreamTest, ARangeHasTheChangesOfItsRows) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  for (const char* row : {"a", "m", "z"}) Set(table, row, "f:", 1, "");
  ChangeStream stream =
      table->ReadChanges({.rows = RowRange::RightOpen("b", "z"), .since = absl::InfinitePast()});
  EXPECT_EQ(Texts(&stream), Strings{"m: set f@1"});
  // The position is one of these rows only.
  ChangeStream wrong = table->ReadChanges({.positions = {stream.Position()}});
  EXPECT_FALSE(wrong.Next());
  EXPECT_STATUS(kInvalidArgument, "the positions do not have row \"\"", wrong.status());
}

TEST_F(ChangeStreamTest, BadPositionsAreRefused) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  Table* const other = CreateTable("u", SchemaWith({"f"}));
  std::string position = table->ReadChanges().Position();
  ChangeStream of_other = other->ReadChanges(From(position));
  EXPECT_FALSE(of_other.Next());
  EXPECT_STATUS(kInvalidArgument, "the position is not of table u", of_other.status());
  ++position[3];
  ChangeStream damaged = table->ReadChanges(From(position));
  EXPECT_FALSE(damaged.Next());
  EXPECT_STATUS(kInvalidArgument, "not a position", damaged.status());
  ChangeStream empty = table->ReadChanges({.rows = RowRange::RightOpen("b", "a")});
  EXPECT_FALSE(empty.Next());
  EXPECT_STATUS(kInvalidArgument, "rows is empty", empty.status());
}

// --- Tablets that change ---

TEST_F(ChangeStreamTest, GoesOnOverSplitsMergesAndMoves) {
  DatabaseOptions options = Options();
  options.tablet_servers = 2;
  Open(options);
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ChangeStream stream = table->ReadChanges();
  Set(table, "a", "f:", 1, "1");
  Set(table, "z", "f:", 1, "2");
  ASSERT_OK(database_->SplitTablet("t", "m"));
  Set(table, "z", "f:", 1, "3");
  Set(table, "a", "f:", 1, "4");
  ASSERT_OK(database_->MoveTablet("t", "z", 1));
  Set(table, "z", "f:", 1, "5");
  ASSERT_OK(database_->MoveTablet("t", "a", 1));
  ASSERT_OK(database_->MergeTablets("t", "m"));
  Set(table, "a", "f:", 1, "6");

  const Strings all = {"a: set f@1=1", "z: set f@1=2", "z: set f@1=3",
                       "a: set f@1=4", "z: set f@1=5", "a: set f@1=6"};
  EXPECT_EQ(Texts(&stream), all);
  EXPECT_EQ(AllOf(table), all);
}

TEST_F(ChangeStreamTest, EndsWithItsTabletIfThatIsAskedFor) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ChangeStream stream = table->ReadChanges({.ends_with_tablets = true});
  Set(table, "a", "f:", 1, "1");
  EXPECT_EQ(Texts(&stream), Strings{"a: set f@1=1"});
  EXPECT_FALSE(stream.ended());
  ASSERT_OK(database_->SplitTablet("t", "m"));
  Set(table, "b", "f:", 1, "2");
  Set(table, "x", "f:", 1, "3");

  EXPECT_FALSE(stream.Next());
  ASSERT_OK(stream.status());
  ASSERT_TRUE(stream.ended());
  const std::vector<ChangePartition> halves = stream.successors();
  ASSERT_EQ(halves.size(), 2u);
  std::vector<ChangeStream> streams;
  for (const ChangePartition& half : halves) {
    streams.push_back(table->ReadChanges(
        {.rows = half.rows, .positions = {half.position}, .ends_with_tablets = true}));
  }
  EXPECT_EQ(Texts(&streams[0]), Strings{"b: set f@1=2"});
  ASSERT_OK(database_->MergeTablets("t", "m"));
  Set(table, "c", "f:", 1, "4");
  std::vector<std::string> positions;
  for (ChangeStream& half : streams) {
    EXPECT_FALSE(half.Next());
    ASSERT_TRUE(half.ended());
    ASSERT_EQ(half.successors().size(), 1u);
    EXPECT_EQ(half.successors()[0].rows, RowRange::All());
    positions.push_back(half.successors()[0].position);
  }
  // The right half has not returned its change yet.
  ChangeStream merged = table->ReadChanges({.positions = positions, .ends_with_tablets = true});
  EXPECT_EQ(Texts(&merged), (Strings{"x: set f@1=3", "c: set f@1=4"}));
}

TEST_F(ChangeStreamTest, HasDroppedRows) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ChangeStream stream = table->ReadChanges();
  for (const char* row : {"a", "b", "c"}) Set(table, row, "f:", 1, "");
  ASSERT_OK(table->DropRowRange(RowRange::RightOpen("b", "c")));
  Set(table, "b", "f:", 2, "");
  const Strings all = {"a: set f@1", "b: set f@1", "c: set f@1", "drop [b, c)", "b: set f@2"};
  EXPECT_EQ(Texts(&stream), all);
  EXPECT_EQ(AllOf(table), all);
  ASSERT_OK(database_->SplitTablet("t", "bb"));
  ASSERT_OK(database_->Flush("t"));
  Reopen();
  EXPECT_EQ(AllOf(OpenTable("t")), all);
  ChangeStream left = OpenTable("t")->ReadChanges(
      {.rows = RowRange::RightOpen("", "bb"), .since = absl::InfinitePast()});
  EXPECT_EQ(Texts(&left)[2], "drop [b, bb)");
}

// A reader of the middle tablet has the drop already, and what was written there after it.
TEST_F(ChangeStreamTest, ADropComesForEachRangeThatHasNotHadIt) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  for (const char* row : {"a", "c", "e"}) Set(table, row, "f:", 1, "");
  ASSERT_OK(database_->Flush("t"));
  ChangeStream before = table->ReadChanges();
  const std::string begin = before.Position();
  ASSERT_OK(table->DropRowRange(RowRange::All()));
  ASSERT_OK(database_->SplitTablet("t", "b"));
  ASSERT_OK(database_->SplitTablet("t", "d"));
  Set(table, "c", "f:", 2, "");
  const auto of = [&](const RowRange& rows) {
    return table->ReadChanges({.rows = rows, .positions = {begin}});
  };
  ChangeStream left = of(RowRange::RightOpen("", "b"));
  ChangeStream middle = of(RowRange::RightOpen("b", "d"));
  ChangeStream right = of(RowRange::StartingAt("d"));
  EXPECT_EQ(Texts(&middle), (Strings{"drop [b, d)", "c: set f@2"}));
  ASSERT_OK(database_->MergeTablets("t", "b"));
  ASSERT_OK(database_->MergeTablets("t", "d"));
  Set(table, "a", "f:", 3, "");
  const std::vector<std::string> positions = {left.Position(), middle.Position(), right.Position()};
  ChangeStream merged = table->ReadChanges({.positions = positions});
  ASSERT_TRUE(merged.Next());
  EXPECT_EQ(Show(merged.change()), "drop [, b)");
  const uint64_t number = merged.change().sequence;
  const std::string between = merged.Position();
  ASSERT_TRUE(merged.Next());
  EXPECT_EQ(Show(merged.change()), "drop [d, ...)");
  EXPECT_EQ(merged.change().sequence, number);
  const std::string behind = merged.Position();
  EXPECT_EQ(Texts(&merged), Strings{"a: set f@3"});
  ChangeStream again = table->ReadChanges(From(between));
  EXPECT_EQ(Texts(&again), (Strings{"drop [d, ...)", "a: set f@3"}));
  again = table->ReadChanges(From(behind));
  EXPECT_EQ(Texts(&again), Strings{"a: set f@3"});
}

// What was dropped already is not dropped again with the tablet that it was merged into.
TEST_F(ChangeStreamTest, EachRowIsDroppedOnceWhileTabletsAreMergedConcurrently) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  const Strings rows = {"b", "c", "d", "e"};
  ChangeStream stream = table->ReadChanges();
  std::atomic<bool> ends{false};
  std::thread merger([&] {
    for (size_t i = 0; !ends; ++i) (void)database_->MergeTablets("t", rows[i % rows.size()]);
  });
  constexpr int kDrops = 40;
  absl::Status dropped;
  for (int i = 0; i < kDrops && dropped.ok(); ++i) {
    for (const std::string& row : rows) (void)database_->SplitTablet("t", row);
    dropped = table->DropRowRange(RowRange::All());
  }
  ends = true;
  merger.join();
  ASSERT_OK(dropped);
  std::map<std::string, int> drops;
  while (stream.Next()) {
    ASSERT_EQ(stream.change().kind, TableChange::Kind::kDropRows);
    for (const std::string& row : rows) drops[row] += stream.change().rows.Contains(row);
  }
  EXPECT_OK(stream.status());
  for (const std::string& row : rows) EXPECT_EQ(drops[row], kDrops) << row;
}

// The memtable of the first group has all changes, also those of rows that it has no cells of.
TEST_F(ChangeStreamTest, ASplitKeepsChangesOfEachGroup) {
  Open();
  for (const char* family : {"f", "g"}) {
    TableSchema schema = SchemaWith({"f", "g"});
    schema.locality_groups["one"] = schema.locality_groups["two"] = {};
    schema.families["f"].locality_group = "one";
    schema.families["g"].locality_group = "two";
    const std::string name = Cat("of-", family);
    Table* const table = CreateTable(name, schema);
    for (const char* row : {"a", "z"}) Set(table, row, Cat(family, ":"), 1, "");
    ASSERT_OK(database_->SplitTablet(name, "m"));
    const Strings all = {Cat("a: set ", family, "@1"), Cat("z: set ", family, "@1")};
    EXPECT_EQ(AllOf(table), all);
    ASSERT_OK(database_->Flush(name));
    EXPECT_EQ(AllOf(table), all);
  }
}

TEST_F(ChangeStreamTest, HasChangesOfFamilies) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  Set(table, "a", "f:", 1, "");
  ASSERT_OK(database_->AddFamily("t", "g", {}));
  Set(table, "a", "g:", 1, "");
  ASSERT_OK(database_->UpdateFamily("t", "g", {.gc = GcRule::MaxVersions(3)}));
  ASSERT_OK(database_->DropFamily("t", "f"));
  Set(table, "b", "g:", 1, "");
  const Strings all = {"a: set f@1",   "families f g", "a: set g@1",
                       "families f g", "families g",   "b: set g@1"};
  EXPECT_EQ(AllOf(table), all);
  Reopen();
  EXPECT_EQ(AllOf(OpenTable("t")), all);
  ChangeStream stream = OpenTable("t")->ReadChanges(All());
  std::vector<GcRule> rules;
  while (stream.Next()) {
    if (stream.change().schema != nullptr && stream.change().schema->families.contains("g")) {
      rules.push_back(stream.change().schema->families.at("g").gc);
    }
  }
  EXPECT_EQ(rules, (std::vector{GcRule(), GcRule::MaxVersions(3), GcRule::MaxVersions(3)}));
}

// A change gets its number before it takes effect. A reader that looks between the two must not
// take it for one that it has.
TEST_F(ChangeStreamTest, WaitsForChangesThatHaveNumbersInAThread) {
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = Options();
  options.file_system = &faulty;
  database_ = Database::Open(kPath, options).value();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  Set(table, "a", "f:", 1, "");
  ASSERT_OK(database_->Flush("t"));
  ChangeStream stream = table->ReadChanges();
  const auto look_during = [&](const FileCallFilter& stalled, const std::function<void()>& call) {
    faulty.StallCalls(stalled);
    std::thread caller(call);
    EXPECT_TRUE(faulty.WaitUntilStalled(1));
    Strings texts;
    std::thread reader([&] { texts = Texts(&stream); });
    absl::SleepFor(absl::Milliseconds(100));
    faulty.ReleaseCalls();
    caller.join();
    reader.join();
    const Strings rest = Texts(&stream);
    texts.insert(texts.end(), rest.begin(), rest.end());
    return texts;
  };
  EXPECT_EQ(look_during({{FileCall::kLogSync}, "/log/metadata-"},
                        [&] { EXPECT_OK(table->DropRowRange(RowRange::All())); }),
            Strings{"drop [, ...)"});
  EXPECT_EQ(look_during({{FileCall::kRenameFile}, "/lockservice/schema/"},
                        [&] { EXPECT_OK(database_->AddFamily("t", "g", {})); }),
            Strings{"families f g"});
  database_.reset();
}

// --- What is kept ---

TEST_F(ChangeStreamTest, SurvivesReopeningAndDeath) {
  Open();
  Table* table = CreateTable("t", SchemaWith({"f", "g"}));
  const std::string begin = table->ReadChanges().Position();
  Set(table, "a", "f:", 1, "1");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "b", "f:", 1, "2");
  Reopen();
  table = OpenTable("t");
  Set(table, "a", "g:", 1, "3");
  Kill();
  Open();
  table = OpenTable("t");
  Set(table, "c", "f:", 1, "4");
  ChangeStream stream = table->ReadChanges(From(begin));
  EXPECT_EQ(Texts(&stream),
            (Strings{"a: set f@1=1", "b: set f@1=2", "a: set g@1=3", "c: set f@1=4"}));
}

// What was lost had numbers, which later changes must not get: a reader that has seen it would take
// them for changes that it has.
TEST_F(ChangeStreamTest, NothingIsMissedAfterALossOfPower) {
  DatabaseOptions options = Options();
  options.durability = Durability::kBuffered;
  Open(options);
  Table* table = CreateTable("t", SchemaWith({"f"}));
  Set(table, "a", "f:", 1, "kept");
  ASSERT_OK(database_->Flush("t"));
  ChangeStream stream = table->ReadChanges(All());
  for (int i = 0; i < 10; ++i) Set(table, "b", "f:", i, "lost");
  EXPECT_EQ(Texts(&stream).size(), 11u);
  std::unique_ptr<InMemoryFileSystem> clone = file_system_->CrashClone(1, Unsynced::kNothing);
  database_.reset();
  file_system_ = std::move(clone);
  Open(options);
  table = OpenTable("t");
  EXPECT_EQ(AllOf(table), Strings{"a: set f@1=kept"});
  Set(table, "c", "f:", 1, "new");
  ChangeStream on = table->ReadChanges(From(stream.Position()));
  EXPECT_EQ(Texts(&on), Strings{"c: set f@1=new"});
}

uint64_t NumberOf(const std::string& position) {
  return ChangePosition::Decode(position).value().Smallest();
}

// Several openings in which nothing is written: a position of one of them is no reason to skip what
// is written after the next.
TEST_F(ChangeStreamTest, NothingIsMissedAfterOpeningsWithoutWrites) {
  DatabaseOptions options = Options();
  options.durability = Durability::kBuffered;
  Open(options);
  Table* table = CreateTable("t", SchemaWith({"f"}));
  Set(table, "a", "f:", 1, "");
  std::string position = table->ReadChanges().Position();
  for (const Unsynced unsynced : {Unsynced::kEverything, Unsynced::kNothing}) {
    for (const bool is_closed : {false, true}) {
      for (int opening = 0; opening < 3; ++opening) {
        SCOPED_TRACE(Cat(unsynced == Unsynced::kNothing, " ", is_closed, " ", opening));
        if (is_closed) {
          ASSERT_OK(database_->Close());
        }
        std::unique_ptr<InMemoryFileSystem> clone = file_system_->CrashClone(1, unsynced);
        database_.reset();
        file_system_ = std::move(clone);
        Open(options);
        table = OpenTable("t");
        const std::string before = std::exchange(position, table->ReadChanges().Position());
        // Each opening leaves out more numbers than all that another one may have given.
        EXPECT_GE(NumberOf(position), NumberOf(before) + (uint64_t{1} << 32));
        ChangeStream rest = table->ReadChanges(From(before));
        EXPECT_EQ(Texts(&rest), Strings{});
        if (opening < 2) continue;
        Set(table, "b", "f:", 1, "");
        for (const std::string& from : {before, position}) {
          ChangeStream on = table->ReadChanges(From(from));
          EXPECT_EQ(Texts(&on), Strings{"b: set f@1"});
        }
        position = table->ReadChanges().Position();
        ASSERT_OK(database_->Flush("t"));
      }
    }
  }
}

TEST_F(ChangeStreamTest, OpensAndClosesForATableThatExists) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  Set(table, "a", "f:", 1, "before");
  ASSERT_OK(database_->SetChangeStream("t", {.retention = absl::Hours(1)}));
  Set(table, "b", "f:", 1, "1");
  EXPECT_EQ(AllOf(table), Strings{"b: set f@1=1"});
  const std::string position = table->ReadChanges().Position();
  ASSERT_OK(database_->SetChangeStream("t", {}));
  Set(table, "c", "f:", 1, "between");
  ChangeStream closed = table->ReadChanges(From(position));
  EXPECT_FALSE(closed.Next());
  EXPECT_STATUS(kFailedPrecondition, "no change stream", closed.status());
  ASSERT_OK(database_->SetChangeStream("t", {.retention = absl::Hours(1)}));
  Set(table, "d", "f:", 1, "2");
  EXPECT_EQ(AllOf(table), Strings{"d: set f@1=2"});
  ChangeStream reopened = table->ReadChanges(From(position));
  EXPECT_FALSE(reopened.Next());
  EXPECT_STATUS(kOutOfRange, "not kept any more", reopened.status());
}

TEST_F(ChangeStreamTest, DropsWhatIsOlderThanTheRetention) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}, absl::Minutes(1)));
  const std::string begin = table->ReadChanges().Position();
  Set(table, "a", "f:", 1, "old");
  ASSERT_OK(table->DropRowRange(RowRange::RightOpen("x", "y")));
  ASSERT_OK(database_->Flush("t"));
  const std::string middle = table->ReadChanges().Position();
  clock_.Set(clock_.micros() + absl::ToInt64Microseconds(absl::Minutes(2)));
  Set(table, "b", "f:", 1, "new");
  ASSERT_OK(database_->Flush("t"));
  const absl::Time until = absl::Now() + absl::Seconds(20);
  while (AllOf(table).size() > 1 && absl::Now() < until) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(AllOf(table), Strings{"b: set f@1=new"});
  ChangeStream stream = table->ReadChanges(From(middle));
  EXPECT_EQ(Texts(&stream), Strings{"b: set f@1=new"});
  for (const ReadChangesOptions& options :
       {From(begin), ReadChangesOptions{.since = absl::FromUnixMicros(1000)}}) {
    ChangeStream old = table->ReadChanges(options);
    EXPECT_FALSE(old.Next());
    EXPECT_STATUS(kOutOfRange, "not kept any more", old.status());
  }
}

TEST_F(ChangeStreamTest, DropsTheOldestBeyondTheSpace) {
  Open();
  TableSchema schema = SchemaWith({"f"});
  schema.changes.max_bytes = 1 << 20;
  Table* const table = CreateTable("t", schema);
  const std::string begin = table->ReadChanges().Position();
  for (int i = 0; i < 5; ++i) {
    Set(table, Cat("r", i), "f:", 1, std::string(300 << 10, static_cast<char>('a' + i)));
    ASSERT_OK(database_->Flush("t"));
  }
  const absl::Time until = absl::Now() + absl::Seconds(20);
  while (AllOf(table).size() > 3 && absl::Now() < until) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(AllOf(table).size(), 3u);
  ChangeStream old = table->ReadChanges(From(begin));
  EXPECT_FALSE(old.Next());
  EXPECT_STATUS(kOutOfRange, "not kept any more", old.status());
}

TEST_F(ChangeStreamTest, KeepsWhatARegisteredReaderHasNotRead) {
  Open();
  Table* table = CreateTable("t", SchemaWith({"f"}, absl::Minutes(1)));
  const std::string begin = table->ReadChanges().Position();
  ASSERT_OK(table->SetChangeReader("index", begin));
  Set(table, "a", "f:", 1, "old");
  ASSERT_OK(database_->Flush("t"));
  Reopen();
  table = OpenTable("t");
  clock_.Set(clock_.micros() + absl::ToInt64Microseconds(absl::Minutes(2)));
  Set(table, "b", "f:", 1, "new");
  ASSERT_OK(database_->Flush("t"));
  absl::SleepFor(absl::Milliseconds(1200));  // upkeep looks twice a second
  ChangeStream stream = table->ReadChanges(From(begin));
  EXPECT_EQ(Texts(&stream), (Strings{"a: set f@1=old", "b: set f@1=new"}));
  const auto statistics = [&] { return database_->Statistics().change_streams.at("t"); };
  EXPECT_EQ(statistics().files, 2u);
  EXPECT_EQ(statistics().oldest, absl::FromUnixMicros(1000));
  EXPECT_EQ(statistics().retention, absl::Minutes(1));
  EXPECT_EQ(statistics().unread_bytes.at("index"), statistics().bytes);

  ASSERT_OK(table->SetChangeReader("index", stream.Position()));
  EXPECT_EQ(statistics().unread_bytes.at("index"), 0u);
  const absl::Time until = absl::Now() + absl::Seconds(20);
  while (AllOf(table).size() > 1 && absl::Now() < until) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(AllOf(table), Strings{"b: set f@1=new"});
  ASSERT_OK(table->RemoveChangeReader("index"));
  EXPECT_TRUE(statistics().unread_bytes.empty());
  EXPECT_STATUS(kNotFound, "no reader \"index\"", table->RemoveChangeReader("index"));
  EXPECT_STATUS(kInvalidArgument, "1 to 64 printable", table->SetChangeReader("a b", begin));
  EXPECT_STATUS(kInvalidArgument, "not a position", table->SetChangeReader("a", "x"));
}

// A change of families is dropped when the next one comes. That one must not be taken for the
// first.
TEST_F(ChangeStreamTest, DropsChangesOfFamiliesThatAreOlderThanTheRetention) {
  Open();
  for (const bool is_registered : {false, true}) {
    SCOPED_TRACE(is_registered);
    const std::string name = is_registered ? "registered" : "plain";
    Table* const table = CreateTable(name, SchemaWith({"f"}, absl::Minutes(1)));
    const std::string begin = table->ReadChanges().Position();
    if (is_registered) {
      ASSERT_OK(table->SetChangeReader("reader", begin));
    }
    ASSERT_OK(database_->AddFamily(name, "g", {}));
    ChangeStream stream = table->ReadChanges(From(begin));
    EXPECT_EQ(Texts(&stream), Strings{"families f g"});
    const std::string with_g = stream.Position();
    clock_.Set(clock_.micros() + absl::ToInt64Microseconds(absl::Minutes(2)));
    ASSERT_OK(database_->AddFamily(name, "h", {}));
    ASSERT_TRUE(stream.Next());
    EXPECT_EQ(stream.change().new_families, Strings{"h"});
    ChangeStream again = table->ReadChanges(From(with_g));
    EXPECT_EQ(Texts(&again), Strings{"families f g h"});
    if (is_registered) {
      EXPECT_EQ(AllOf(table), (Strings{"families f g", "families f g h"}));
      continue;
    }
    EXPECT_EQ(AllOf(table), Strings{"families f g h"});
    for (const ReadChangesOptions& options :
         {From(begin), ReadChangesOptions{.since = absl::FromUnixMicros(1000)}}) {
      ChangeStream old = table->ReadChanges(options);
      EXPECT_FALSE(old.Next());
      EXPECT_STATUS(kOutOfRange, "not kept any more", old.status());
    }
  }
}

TEST_F(ChangeStreamTest, WaitsForTheNextChangeInAThread) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ChangeStream stream = table->ReadChanges();
  EXPECT_FALSE(stream.Next(absl::Milliseconds(20)));
  EXPECT_OK(stream.status());
  std::thread writer([&] {
    absl::SleepFor(absl::Milliseconds(50));
    Set(table, "a", "f:", 1, "");
  });
  EXPECT_TRUE(stream.Next(absl::Seconds(60)));
  writer.join();
  EXPECT_EQ(stream.CompleteThrough(), absl::FromUnixMicros(clock_.micros()));
}

TEST_F(ChangeStreamTest, IsCompleteOnlyThroughWhatItHasReturned) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  ChangeStream stream = table->ReadChanges();
  const absl::Time begin = stream.CompleteThrough();
  EXPECT_EQ(begin, absl::FromUnixMicros(clock_.micros()));
  for (const char* row : {"a", "b"}) {
    clock_.Set(clock_.micros() + 1000);
    Set(table, row, "f:", 1, "");
  }
  clock_.Set(clock_.micros() + 1000);
  ASSERT_TRUE(stream.Next());
  EXPECT_EQ(stream.CompleteThrough(), begin);
  ASSERT_TRUE(stream.Next());
  EXPECT_EQ(stream.CompleteThrough(), absl::FromUnixMicros(clock_.micros()));
}

TEST_F(ChangeStreamTest, HearsDeadlinesAndCancellation) {
  Open();
  Table* const table = CreateTable("t", SchemaWith({"f"}));
  Cancellation cancellation;
  ChangeStream stream = table->ReadChanges({.cancellation = &cancellation});
  EXPECT_FALSE(stream.Next());
  cancellation.Cancel();
  EXPECT_FALSE(stream.Next(absl::Hours(1)));
  EXPECT_STATUS(kCancelled, "", stream.status());
  ChangeStream late = table->ReadChanges({.deadline = absl::Now() - absl::Seconds(1)});
  EXPECT_FALSE(late.Next());
  EXPECT_STATUS(kDeadlineExceeded, "", late.status());
}

}  // namespace
}  // namespace bigtable
