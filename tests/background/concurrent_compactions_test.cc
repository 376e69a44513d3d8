// Several compactions of one locality group at a time, on a whole database. A compaction filter
// holds each of them until the test lets it go on.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/mutex.h"
#include "compaction/filters.h"
#include "support/expect_status.h"
#include "support/policy_fixture.h"

namespace bigtable {
namespace {

// Compactions by the first letter of a row that they are at. All waits end after ten seconds.
class Gate {
 public:
  void Hold(const std::set<char>& letters) {
    MutexLock lock(&mutex_);
    held_ = letters;
    changed_.SignalAll();
  }
  void Fail(const std::set<char>& letters) {
    MutexLock lock(&mutex_);
    failing_ = letters;
  }
  // A compaction is at this letter.
  void Pass(char letter) {
    MutexLock lock(&mutex_);
    const auto inside = inside_.insert(letter);
    most_inside_ = std::max(most_inside_, inside_.size());
    changed_.SignalAll();
    Await([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !held_.contains(letter); });
    inside_.erase(inside);
    if (failing_.contains(letter)) throw std::runtime_error("not this one");
  }
  // Waits until these are held, and returns those that are.
  std::multiset<char> AwaitInside(const std::multiset<char>& letters) {
    MutexLock lock(&mutex_);
    Await([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return inside_ == letters; });
    return inside_;
  }
  std::multiset<char> inside() {
    MutexLock lock(&mutex_);
    return inside_;
  }
  size_t TakeMostInside() {
    MutexLock lock(&mutex_);
    return std::exchange(most_inside_, inside_.size());
  }

 private:
  void Await(const std::function<bool()>& is_true) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const absl::Time end = absl::Now() + absl::Seconds(10);
    while (!is_true() && absl::Now() < end) changed_.WaitFor(&mutex_, absl::Milliseconds(100));
  }

  Mutex mutex_;
  CondVar changed_;
  std::set<char> held_ ABSL_GUARDED_BY(mutex_);
  std::set<char> failing_ ABSL_GUARDED_BY(mutex_);
  std::multiset<char> inside_ ABSL_GUARDED_BY(mutex_);
  size_t most_inside_ ABSL_GUARDED_BY(mutex_) = 0;
};

class GateFilter final : public CompactionFilter {
 public:
  explicit GateFilter(Gate* gate) : gate_(gate) {}
  Decision Filter(const CompactedCell& cell, std::string*) const override {
    gate_->Pass(cell.row.front());
    return Decision::kKeep;
  }

 private:
  Gate* const gate_;
};

// Two runs, each with a file for the rows of a, of b, and of c.
class ConcurrentCompactionsTest : public PolicyFixture {
 protected:
  ~ConcurrentCompactionsTest() override { ForgetCompactionFilter("gate"); }
  void SetUp() override {
    compaction_threads_ = 3;
    filter_ = "gate";
    ASSERT_OK(RegisterCompactionFilter("gate", std::make_unique<GateFilter>(&gate_)));
    ASSERT_NO_FATAL_FAILURE(PolicyFixture::SetUp());
    ASSERT_NO_FATAL_FAILURE(WriteRuns());
  }
  void TearDown() override {
    gate_.Hold({});
    gate_.Fail({});
  }
  void WriteRuns() {
    for (const char* const value : {"old", "new"}) {
      for (const char* const letter : {"a", "b", "c"}) WriteRun(letter, 0, 3, value);
    }
    ASSERT_EQ(Runs().size(), 2u);
    ASSERT_EQ(Runs()[0].files.size(), 3u);
  }
  void UseMost(int compactions) {
    MutexLock lock(&shared_.mutex);
    shared_.most_compactions = compactions;
  }
  // The threads hear of the picker.
  std::thread Begin(const Picker& picker) {
    UsePicker(picker);
    return std::thread([this] { quiet_ = database_->WaitUntilQuiet(); });
  }
  std::vector<FailingWork> Failing() { return database_->Statistics().failing_work; }

  Gate gate_;
  absl::Status quiet_;
};

// A merge of the file of the newer run with this smallest letter with what is below it.
CompactionPick MergeOf(const FileSummary& file) {
  return {
      .count = 2, .files = {file.number}, .reason = std::string(file.smallest_key.substr(0, 1))};
}

// The first file that no compaction has.
std::optional<CompactionPick> PickFree(const GroupSummary& group) {
  if (group.runs.size() < 2) return std::nullopt;
  for (const FileSummary& file : group.runs[0].files) {
    if (!file.is_compacting) return MergeOf(file);
  }
  return std::nullopt;
}

TEST_F(ConcurrentCompactionsTest, AsManyRunTogetherAsThePolicyWants) {
  gate_.Hold({'a', 'b', 'c'});
  UseMost(2);
  std::thread quiet = Begin(PickFree);
  EXPECT_EQ(gate_.AwaitInside({'a', 'b'}), (std::multiset<char>{'a', 'b'}));
  gate_.Hold({'b', 'c'});
  EXPECT_EQ(gate_.AwaitInside({'b', 'c'}), (std::multiset<char>{'b', 'c'}));
  gate_.Hold({});
  quiet.join();
  EXPECT_OK(quiet_);
  EXPECT_EQ(gate_.TakeMostInside(), 2u);
  const std::vector<std::string> reasons = reasons_.Take(3);
  ASSERT_EQ(reasons.size(), 3u);
  EXPECT_EQ(reasons[0], "a");
  ASSERT_EQ(Runs().size(), 1u);
  EXPECT_EQ(Runs()[0].entries(), 9u);
  EXPECT_EQ(Count(), 9u);
  ReopenIt();
  EXPECT_EQ(Runs().size(), 1u);
  EXPECT_EQ(Count(), 9u);
}

TEST_F(ConcurrentCompactionsTest, OneRunsAtATimeUnlessThePolicyWantsMore) {
  gate_.Hold({'a'});
  std::thread quiet = Begin(PickFree);
  EXPECT_EQ(gate_.AwaitInside({'a'}), (std::multiset<char>{'a'}));
  gate_.Hold({});
  quiet.join();
  EXPECT_OK(quiet_);
  EXPECT_EQ(gate_.TakeMostInside(), 1u);
  EXPECT_EQ(reasons_.Take(3), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(ConcurrentCompactionsTest, APickOfFilesThatOneHasWaitsForIt) {
  gate_.Hold({'a'});
  UseMost(3);
  std::set<std::string> compacting;  // as the policy is shown; of shared_.mutex
  const auto was_shown = [&](const std::string& letter) {
    MutexLock lock(&shared_.mutex);
    return compacting.contains(letter);
  };
  // Always the first one, and nothing else.
  std::thread quiet = Begin([&](const GroupSummary& group) -> std::optional<CompactionPick> {
    for (const RunSummary& run : group.runs) {
      for (const FileSummary& file : run.files) {
        if (file.is_compacting) compacting.insert(std::string(file.smallest_key.substr(0, 1)));
      }
    }
    if (group.runs.size() < 2) return std::nullopt;
    return MergeOf(group.runs[0].files[0]);
  });
  EXPECT_EQ(gate_.AwaitInside({'a'}), (std::multiset<char>{'a'}));
  for (int i = 0; i < 1000 && !was_shown("a"); ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_TRUE(was_shown("a"));
  EXPECT_EQ(gate_.inside(), (std::multiset<char>{'a'}));
  gate_.Hold({});
  quiet.join();
  EXPECT_OK(quiet_);
  EXPECT_EQ(gate_.TakeMostInside(), 1u);
  EXPECT_EQ(reasons_.Take(3), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(Failing().empty());
}

// With its default of at most one this is so by itself. Compact may be late, so this tries again.
TEST_F(ConcurrentCompactionsTest, ARequestedCompactionIsNotHeldUpByOthersThatBeginMeanwhile) {
  UseMost(2);
  bool was_in_time = false;
  for (int tries = 1; tries <= 5 && !was_in_time; ++tries) {
    gate_.Hold({'a'});
    std::thread quiet = Begin([](const GroupSummary& group) -> std::optional<CompactionPick> {
      if (group.runs.size() < 2 || group.runs[0].files[0].is_compacting) return std::nullopt;
      return MergeOf(group.runs[0].files[0]);
    });
    ASSERT_EQ(gate_.AwaitInside({'a'}), (std::multiset<char>{'a'}));
    std::thread compact([&] { EXPECT_OK(database_->Compact("t")); });
    absl::SleepFor(tries * absl::Milliseconds(100));
    UsePicker(PickFree);
    Set(table_, "d", "f:q", 1, "v");
    ASSERT_OK(database_->Flush("t"));        // the threads look for work
    absl::SleepFor(absl::Milliseconds(50));  // in which b would begin
    gate_.Hold({});
    compact.join();
    UsePicker(nullptr);
    quiet.join();
    EXPECT_OK(quiet_);
    EXPECT_EQ(Runs().size(), 1u);
    const std::vector<std::string> reasons = reasons_.Take(2);
    was_in_time = reasons == std::vector<std::string>{"a", ""};
    if (!was_in_time) {
      ASSERT_OK(table_->DropRowRange(RowRange()));
      ASSERT_OK(database_->Compact("t"));
      ASSERT_NO_FATAL_FAILURE(WriteRuns());
      reasons_.Take(0);
    }
  }
  EXPECT_TRUE(was_in_time);
}

TEST_F(ConcurrentCompactionsTest, AfterAFailureTheyRunOneAtATimeUntilOneSucceeds) {
  gate_.Hold({'a', 'b', 'c'});
  gate_.Fail({'a'});
  UseMost(2);
  std::thread quiet = Begin(PickFree);
  EXPECT_EQ(gate_.AwaitInside({'a', 'b'}), (std::multiset<char>{'a', 'b'}));
  gate_.Hold({'b', 'c'});
  quiet.join();
  EXPECT_STATUS(kUnknown, "not this one", quiet_);
  ASSERT_EQ(Failing().size(), 1u);
  const FailingWork first = Failing()[0];
  EXPECT_EQ(gate_.TakeMostInside(), 2u);
  absl::SleepFor(absl::Milliseconds(200));  // the pause is over
  EXPECT_EQ(gate_.inside(), (std::multiset<char>{'b'}));
  gate_.TakeMostInside();
  // The success of b, which had begun before, says nothing of a.
  gate_.Hold({'c'});
  for (int i = 0; i < 1000 && Failing()[0].failures < 2; ++i) {
    ASSERT_EQ(Failing().size(), 1u);
    EXPECT_EQ(Failing()[0].since, first.since);
    absl::SleepFor(absl::Milliseconds(10));
  }
  gate_.Fail({});
  EXPECT_EQ(gate_.AwaitInside({'c'}), (std::multiset<char>{'c'}));
  EXPECT_EQ(gate_.TakeMostInside(), 1u);
  EXPECT_TRUE(Failing().empty());
  gate_.Hold({});
  EXPECT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Runs().size(), 1u);
  EXPECT_EQ(Count(), 9u);
}

// All calls of it are cancelled, and the runs are as they were.
TEST_F(ConcurrentCompactionsTest, CloseEndsAllOfThem) {
  gate_.Hold({'a', 'b', 'c'});
  UseMost(3);
  std::thread quiet = Begin(PickFree);
  EXPECT_EQ(gate_.AwaitInside({'a', 'b', 'c'}), (std::multiset<char>{'a', 'b', 'c'}));
  std::thread close([&] { EXPECT_OK(database_->Close()); });
  quiet.join();
  EXPECT_STATUS(kFailedPrecondition, "clos", quiet_);
  gate_.Hold({});
  close.join();
  database_.reset();
  UsePicker(nullptr);
  OpenIt();
  table_ = OpenTable("t");
  EXPECT_EQ(Count(), 9u);
}

}  // namespace
}  // namespace bigtable
