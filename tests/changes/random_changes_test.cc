// Random operations on a table with a change stream: its changes, replayed into a plain map, give
// the table at every position that is looked at, and each change comes once.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "changes_fixture.h"
#include "replayed_table.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

class RandomChangesTest : public ChangesFixture {
 protected:
  DatabaseOptions SmallOptions() {
    DatabaseOptions options = Options();
    options.tablet_servers = 2;
    options.durability = Durability::kSync;
    options.memtable_size = 64 << 10;
    return options;
  }

  static std::string RandomRow(Random& random) {
    static const char* const kRows[] = {"a", "ab", "b", "ba", "bb", "c", "ca", "d"};
    return kRows[random.Between(0, 7)];
  }
  // Two of the families have garbage.
  static ReplayedTable::Rules Rules() {
    return {{"f", GcRule::MaxVersions(2)}, {"h", GcRule::MaxAge(absl::Milliseconds(1))}};
  }
  static TableSchema SchemaWithRules() {
    TableSchema schema = SchemaWith({"f", "g", "h"});
    for (const auto& [family, rule] : Rules()) schema.families[family].gc = rule;
    return schema;
  }
  RowMutation RandomMutation(Random& random) {
    RowMutation mutation(RandomRow(random));
    const auto column = [&] { return Cat(random.OneIn(2) ? "f" : "g", ":", random.Between(0, 2)); };
    for (int64_t i = random.Between(1, 3); i > 0; --i) {
      const int64_t time = random.Between(1, 5);
      switch (random.Between(0, 11)) {
        case 10:
        case 11:
          mutation.Set("h:", Timestamp(clock_.micros() - random.Between(0, 1500)), "aging");
          break;
        case 0:
          mutation.Delete(column());
          break;
        case 1:
          mutation.DeleteCell(column(), Timestamp(time));
          break;
        case 2:
          mutation.DeleteTimeRange(column(), Timestamp(time), Timestamp(time + 2));
          break;
        case 3:
          mutation.DeleteFamily("f");
          break;
        case 4:
          if (random.OneIn(3)) mutation.DeleteRow();
          break;
        case 5:
          mutation.Set(column(), Cat("server", random.Between(0, 99)));
          break;
        default:
          mutation.Set(column(), Timestamp(time), Cat("v", random.Between(0, 99)));
      }
    }
    if (mutation.operation_count() == 0) mutation.Set("f:0", Timestamp(1), "only");
    return mutation;
  }

  // A change as it must be the same in every stream.
  static std::string Whole(const TableChange& change) {
    return Cat(change.sequence, " ", change.batch, " ", absl::ToUnixMicros(change.time), " ",
               Show(change));
  }

  void Step(Random& random) {
    Table* const table = OpenTable("t");
    clock_.Set(clock_.micros() + random.Between(0, random.OneIn(10) ? 1000 : 3));
    switch (random.Between(0, 24)) {
      case 0:
        EXPECT_OK(database_->Flush("t"));
        return;
      case 1:
      case 2:
        IgnoreIf(database_->SplitTablet("t", RandomRow(random)), absl::StatusCode::kAlreadyExists);
        return;
      case 3:
        IgnoreIf(database_->MergeTablets("t", RandomRow(random)), absl::StatusCode::kNotFound);
        return;
      case 4:
        EXPECT_OK(
            database_->MoveTablet("t", RandomRow(random), static_cast<int>(random.Between(0, 1))));
        return;
      case 5: {
        const std::string begin = RandomRow(random);
        const std::string end = RandomRow(random);
        EXPECT_OK(table->DropRowRange(RowRange::RightOpen(begin, end)));
        return;
      }
      case 6:
        EXPECT_OK(database_->Compact("t"));
        return;
      case 7:
        if (random.OneIn(3)) {
          random.OneIn(2) ? Reopen(SmallOptions()) : (Kill(), Open(SmallOptions()));
        }
        return;
      case 8: {
        WriteBatch batch;
        for (int64_t i = random.Between(1, 4); i > 0; --i) {
          batch.Apply(table, RandomMutation(random));
        }
        EXPECT_OK(database_->Apply(batch));
        return;
      }
      case 9:
        if (random.OneIn(3)) {
          EXPECT_OK(database_->ModifyFamilies(
              "t", {FamilyChange::Drop("g"), FamilyChange::Add("g", {})}));
        }
        return;
      case 10:
        ReadOn(random);
        return;
      case 11: {
        const auto snapshot = database_->TakeSnapshot();
        ASSERT_OK(snapshot);
        contents_.push_back({(*snapshot)->sequence(), clock_.Now(),
                             ReplayedTable::Show(table, {.snapshot = *snapshot})});
        return;
      }
      default: {
        std::vector<RowMutation> mutations;
        for (int64_t i = random.Between(1, 3); i > 0; --i) {
          mutations.push_back(RandomMutation(random));
        }
        for (const absl::Status& status : table->ApplyBatch(mutations)) EXPECT_OK(status);
      }
    }
  }
  static void IgnoreIf(const absl::Status& status, absl::StatusCode code) {
    if (status.code() != code) {
      EXPECT_OK(status);
    }
  }

  static bool IsCollection(const std::string& change) {
    return change.find(" collected ") != std::string::npos;
  }
  static std::string NumberOf(const std::string& change) {
    return change.substr(0, change.find(' '));
  }
  // Whether a stream has what another one had before it: the same changes, and of the garbage
  // collections some, since later ones stand for others.
  static void ExpectReadAgain(const std::vector<std::string>& again,
                              const std::vector<std::string>& before) {
    const auto others = [](const std::vector<std::string>& changes) {
      std::vector<std::string> some;
      std::copy_if(changes.begin(), changes.end(), std::back_inserter(some),
                   [](const auto& change) { return !IsCollection(change); });
      return some;
    };
    ASSERT_EQ(others(again), others(before));
    std::set<std::string> numbers;
    for (const std::string& change : before) {
      if (IsCollection(change)) numbers.insert(NumberOf(change));
    }
    for (const std::string& change : again) {
      ASSERT_TRUE(!IsCollection(change) || numbers.contains(NumberOf(change))) << change;
    }
  }

  // Goes on from where it was, perhaps in another opening.
  void ReadOn(Random& random) {
    ChangeStream stream = OpenTable("t")->ReadChanges(From(position_));
    for (int64_t most = random.OneIn(2) ? 1000 : random.Between(0, 5); most > 0; --most) {
      if (!stream.Next()) {
        ASSERT_OK(stream.status());
        EXPECT_EQ(replayed_.Show(clock_.Now()), ReplayedTable::Show(OpenTable("t")));
        break;
      }
      replayed_.Apply(stream.change());
      read_.push_back(Whole(stream.change()));
    }
    position_ = stream.Position();
    positions_.emplace_back(read_.size(), position_);
  }

  void CheckAll() {
    ASSERT_OK(database_->WaitUntilQuiet());  // compactions make changes, too
    Random random(1);
    while (true) {
      const size_t before = read_.size();
      ReadOn(random);
      if (HasFailure()) return;
      const std::string replayed = replayed_.Show(clock_.Now());
      if (read_.size() == before && replayed == ReplayedTable::Show(OpenTable("t"))) break;
    }
    for (const auto& [count, position] : positions_) {
      ChangeStream stream = OpenTable("t")->ReadChanges(From(position));
      std::vector<std::string> rest;
      while (stream.Next()) rest.push_back(Whole(stream.change()));
      ASSERT_OK(stream.status());
      ExpectReadAgain(rest, {read_.begin() + static_cast<ptrdiff_t>(count), read_.end()});
      if (HasFatalFailure()) return;
    }
    // The table at each snapshot.
    ReplayedTable table(Rules());
    ChangeStream stream = OpenTable("t")->ReadChanges(All());
    bool has_more = stream.Next();
    for (const Content& at : contents_) {
      while (has_more && stream.change().sequence <= at.sequence) {
        table.Apply(stream.change());
        has_more = stream.Next();
      }
      ASSERT_EQ(table.Show(at.time), at.content) << "at " << at.sequence;
    }
    CheckPartitions();
  }
  // The tablets, each with a stream of its own, have together what the whole table has.
  void CheckPartitions() {
    std::vector<std::pair<uint64_t, std::string>> all;
    const auto tablets = database_->ListTablets("t");
    ASSERT_OK(tablets);
    for (const TabletInfo& tablet : *tablets) {
      ChangeStream stream =
          OpenTable("t")->ReadChanges({.rows = tablet.rows, .since = absl::InfinitePast()});
      while (stream.Next()) {
        if (stream.change().kind != TableChange::Kind::kMutation) continue;
        all.emplace_back(stream.change().sequence, Whole(stream.change()));
      }
      ASSERT_OK(stream.status());
    }
    std::sort(all.begin(), all.end());
    std::vector<std::string> mutations;
    for (const auto& [_, text] : all) mutations.push_back(text);
    std::vector<std::string> expected;
    std::copy_if(read_.begin(), read_.end(), std::back_inserter(expected), [](const auto& text) {
      return text.find(" drop [") == std::string::npos &&
             text.find(" families ") == std::string::npos && !IsCollection(text);
    });
    EXPECT_EQ(mutations, expected);
  }

  struct Content {
    uint64_t sequence;
    absl::Time time;
    std::string content;
  };

  ReplayedTable replayed_{Rules()};
  std::string position_;
  std::vector<std::string> read_;
  std::vector<std::pair<size_t, std::string>> positions_;  // after so many changes
  std::vector<Content> contents_;                          // of the table at snapshots
};

TEST_F(RandomChangesTest, ReplayedChangesGiveTheTable) {
  int64_t collections = 0;
  ForEachSeed(kSlow ? 5 : 25, [&](uint64_t seed) {
    Random random(seed);
    file_system_ = std::make_unique<InMemoryFileSystem>();
    replayed_ = ReplayedTable(Rules());
    read_.clear();
    positions_.clear();
    contents_.clear();
    clock_.Set(10'000);
    Open(SmallOptions());
    ASSERT_OK(database_->CreateTable("t", SchemaWithRules()));
    position_ = OpenTable("t")->ReadChanges(All()).Position();
    for (int i = 0; i < 150 && !HasFailure(); ++i) Step(random);
    if (!HasFailure()) CheckAll();
    collections += std::count_if(read_.begin(), read_.end(), IsCollection);
    database_.reset();
  });
  EXPECT_GT(collections, 0);
}

TEST_F(RandomChangesTest, ConcurrentWritersAreReadOnceAndInOrder) {
  DatabaseOptions options = SmallOptions();
  options.durability = Durability::kBuffered;
  clock_.Set(10'000);
  Open(options);
  ASSERT_OK(database_->CreateTable("t", SchemaWithRules()));
  Table* const table = OpenTable("t");
  ChangeStream stream = table->ReadChanges();
  const int writes = kSlow ? 300 : 2000;
  constexpr int kWriters = 3;
  std::atomic<int> writing{kWriters};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kWriters; ++thread) {
    threads.emplace_back([&, thread] {
      Random random(static_cast<uint64_t>(thread) + 1);
      for (int i = 0; i < writes; ++i) {
        if (random.OneIn(10)) {
          WriteBatch batch;
          for (int k = 0; k < 3; ++k) batch.Apply(table, RandomMutation(random));
          EXPECT_OK(database_->Apply(batch));
        } else {
          EXPECT_OK(table->Apply(RandomMutation(random)));
        }
      }
      --writing;
    });
  }
  threads.emplace_back([&] {
    Random random(9);
    while (writing > 0) {
      switch (random.Between(0, 4)) {
        case 0:
          IgnoreIf(database_->SplitTablet("t", RandomRow(random)),
                   absl::StatusCode::kAlreadyExists);
          break;
        case 1:
          IgnoreIf(database_->MergeTablets("t", RandomRow(random)), absl::StatusCode::kNotFound);
          break;
        case 2:
          EXPECT_OK(database_->MoveTablet("t", RandomRow(random),
                                          static_cast<int>(random.Between(0, 1))));
          break;
        case 3:
          EXPECT_OK(table->DropRowRange(RowRange::RightOpen("ab", "b")));
          break;
        default:
          EXPECT_OK(database_->Flush("t"));
      }
    }
  });
  ReplayedTable replayed(Rules());
  std::vector<std::string> read;
  uint64_t last = 0;
  while (writing > 0 && stream.status().ok()) {
    while (stream.Next(absl::Milliseconds(1))) {
      EXPECT_GT(stream.change().sequence, last);
      last = stream.change().sequence;
      replayed.Apply(stream.change());
      read.push_back(Whole(stream.change()));
    }
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(database_->WaitUntilQuiet());  // compactions make changes, too
  while (stream.Next()) {
    replayed.Apply(stream.change());
    read.push_back(Whole(stream.change()));
  }
  ASSERT_OK(stream.status());
  EXPECT_EQ(replayed.Show(clock_.Now()), ReplayedTable::Show(table));
  ChangeStream again = table->ReadChanges(All());
  std::vector<std::string> read_again;
  while (again.Next()) read_again.push_back(Whole(again.change()));
  ASSERT_OK(again.status());
  ExpectReadAgain(read_again, read);
}

}  // namespace
}  // namespace bigtable
