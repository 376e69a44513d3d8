// A test with a database whose compaction policy does what the test wants.
#ifndef BIGTABLE_TESTS_SUPPORT_POLICY_FIXTURE_H_
#define BIGTABLE_TESTS_SUPPORT_POLICY_FIXTURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/mutex.h"
#include "compaction/policies.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/expect_status.h"

namespace bigtable {

using Picker = std::function<std::optional<CompactionPick>(const GroupSummary&)>;

// Does what the test wants, by numbered objects.
class TestPolicy final : public CompactionPolicy {
 public:
  // The test's, for all objects.
  struct Shared {
    Mutex mutex;
    Picker picker ABSL_GUARDED_BY(mutex);
    CompactionOutput flush_output ABSL_GUARDED_BY(mutex);
    int objects ABSL_GUARDED_BY(mutex) = 0;
    std::set<int> asked ABSL_GUARDED_BY(mutex);  // the numbers of objects
    int picks ABSL_GUARDED_BY(mutex) = 0;        // calls
    int most_compactions ABSL_GUARDED_BY(mutex) = 1;
  };

  explicit TestPolicy(Shared* shared) : shared_(shared) {
    MutexLock lock(&shared_->mutex);
    number_ = ++shared_->objects;
  }
  std::optional<CompactionPick> Pick(const GroupSummary& group) override {
    MutexLock lock(&shared_->mutex);
    shared_->asked.insert(number_);
    ++shared_->picks;
    return shared_->picker ? shared_->picker(group) : std::nullopt;
  }
  CompactionOutput FlushOutput(const GroupSummary&) override {
    MutexLock lock(&shared_->mutex);
    return shared_->flush_output;
  }
  bool BoundsRuns() const override { return false; }
  int MostCompactions() const override {
    MutexLock lock(&shared_->mutex);
    return shared_->most_compactions;
  }

 private:
  Shared* const shared_;
  int number_ = 0;
};

class Reasons final : public EventListener {
 public:
  void OnCompactionEnded(const CompactionEvent& event) override {
    MutexLock lock(&mutex_);
    reasons_.push_back(event.policy_reason);
    changed_.Signal();
  }
  // Those of `n` compactions. They are reported a little after these have ended.
  std::vector<std::string> Take(size_t n) {
    const absl::Time end = absl::Now() + absl::Seconds(10);
    MutexLock lock(&mutex_);
    while (reasons_.size() < n && absl::Now() < end) {
      changed_.WaitFor(&mutex_, absl::Milliseconds(100));
    }
    return std::exchange(reasons_, {});
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> reasons_ ABSL_GUARDED_BY(mutex_);
};

// Has a table with a group whose policy is the test's.
class PolicyFixture : public DatabaseFixture {
 protected:
  ~PolicyFixture() override {
    database_.reset();
    ForgetPolicy("test");
  }
  void SetUp() override {
    ASSERT_OK(RegisterCompactionPolicy(
        "test", [this](const LocalityGroup&) { return std::make_unique<TestPolicy>(&shared_); }));
    OpenIt();
    TableSchema schema;
    schema.locality_groups["g"] = {.compaction_policy = "test"};
    schema.families["f"] = {
        .locality_group = "g", .gc = GcRule::MaxVersions(1), .compaction_filter = filter_};
    table_ = CreateTable("t", schema);
  }
  void OpenIt() {
    DatabaseOptions options = Options();
    options.compaction_threads = compaction_threads_;
    options.event_listener = &reasons_;
    Open(options);
  }
  void ReopenIt() {
    ASSERT_OK(database_->Close());
    database_.reset();
    OpenIt();
    table_ = OpenTable("t");
  }
  // What the policy picks from here on. It may be asked twice before a pick has taken effect.
  void UsePicker(const Picker& picker) {
    MutexLock lock(&shared_.mutex);
    shared_.picker = picker;
  }
  void UseFlushOutput(const CompactionOutput& output) {
    MutexLock lock(&shared_.mutex);
    shared_.flush_output = output;
  }
  // A run with rows of `prefix` from `first` on, `count` of them, of a kilobyte each.
  void WriteRun(std::string_view prefix, int first, int count, std::string_view value = "v") {
    for (int i = first; i < first + count; ++i) {
      Set(table_, absl::StrCat(ToAbsl(prefix), absl::Dec(i, absl::kZeroPad4)), "f:q", 1,
          std::string(1000, value[0]));
    }
    ASSERT_OK(database_->Flush("t"));
    ASSERT_OK(database_->WaitUntilQuiet());
  }
  std::shared_ptr<Tablet> TheTablet() {
    return DatabasePeer(database_.get()).Servers()[0]->tablets().All()[0];
  }
  size_t TheGroup() { return TheTablet()->Layout()->groups[0].name == "g" ? 0 : 1; }
  std::vector<SortedRun> Runs() { return TheTablet()->Version()->groups()[TheGroup()].runs; }
  std::string StateOf(const Tablet& tablet) {
    return tablet.Version()->groups()[TheGroup()].files->policy_state();
  }
  // What the policy was shown last.
  GroupSummary Shown() {
    GroupSummary shown;
    UsePicker([&](const GroupSummary& group) {
      shown = group;
      return std::nullopt;
    });
    EXPECT_OK(database_->WaitUntilQuiet());
    UsePicker(nullptr);
    return shown;
  }
  uint64_t Count() {
    uint64_t rows = 0;
    for (RowReader reader = table_->ReadRows(RowRange()); reader.Next();) ++rows;
    return rows;
  }

  // Set before SetUp.
  int compaction_threads_ = 1;
  std::string filter_;

  TestPolicy::Shared shared_;
  Reasons reasons_;
  Table* table_ = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_POLICY_FIXTURE_H_
