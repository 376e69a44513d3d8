// Random operations of the whole public interface, on the engine and on a model, which must return
// the same results. See tests/support/model.h for the model, model_plan.h for the operations, and
// model_writers.h for operations of several threads at the same time.
//
// A failure prints its seed, and a shortened list of the steps that lead to it. To see it again:
//
//   BIGTABLE_TEST_SEED=7 BIGTABLE_TEST_STEPS=3,17,40 bigtable_model_test
//   --gtest_filter='ModelTest.*'
#include "support/model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "model/model_plan.h"
#include "model/model_run.h"
#include "support/scoped_group_search.h"
#include "support/scoped_merge_part.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

struct Outcome {
  std::string failure;  // empty: the run was right
  std::vector<std::string> script;
  size_t steps_done = 0;
};

Outcome RunSteps(const ModelPlan& plan, const std::vector<size_t>& steps) {
  ModelRun run(plan);
  Outcome outcome;
  bool ok = run.failure().empty();
  for (size_t i = 0; ok && i < steps.size(); ++i) {
    ok = run.Do(plan.steps[steps[i]]);
    outcome.steps_done = i + 1;
  }
  if (ok) run.Finish();
  outcome.failure = run.failure();
  outcome.script = run.script();
  return outcome;
}

// Background threads affect the result, so a failing plan may need a few runs to fail.
Outcome RunUntilItFails(const ModelPlan& plan, const std::vector<size_t>& steps, int attempts) {
  Outcome outcome;
  for (int attempt = 0; attempt < attempts && outcome.failure.empty(); ++attempt) {
    outcome = RunSteps(plan, steps);
  }
  return outcome;
}

struct Failing {
  std::vector<size_t> steps;
  Outcome outcome;
};

// Leaves steps out as long as the rest still fails: first many at once, then one by one.
void Shrink(const ModelPlan& plan, absl::Time deadline, Failing* failing) {
  // If it fails each time, one attempt is enough, which leaves time for more steps.
  const int attempts = RunSteps(plan, failing->steps).failure.empty() ||
                               RunSteps(plan, failing->steps).failure.empty()
                           ? 4
                           : 1;
  for (size_t chunk = std::max<size_t>(1, failing->steps.size() / 2);; chunk /= 2) {
    for (size_t start = 0; start < failing->steps.size() && absl::Now() < deadline;) {
      const std::vector<size_t>& steps = failing->steps;
      const size_t end = std::min(start + chunk, steps.size());
      std::vector<size_t> fewer(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(start));
      fewer.insert(fewer.end(), steps.begin() + static_cast<ptrdiff_t>(end), steps.end());
      Outcome outcome = RunUntilItFails(plan, fewer, attempts);
      if (outcome.failure.empty()) {
        start += chunk;
      } else {
        fewer.resize(std::min(fewer.size(), outcome.steps_done));
        *failing = {std::move(fewer), std::move(outcome)};
      }
    }
    if (chunk <= 1) return;
  }
}

std::vector<size_t> ChosenSteps(const ModelPlan& plan) {
  std::vector<size_t> steps;
  if (const char* chosen = std::getenv("BIGTABLE_TEST_STEPS")) {
    for (const auto& text : absl::StrSplit(chosen, ',', absl::SkipEmpty())) {
      uint64_t step = 0;
      if (absl::SimpleAtoi(text, &step) && step < plan.steps.size()) steps.push_back(step);
    }
  } else {
    steps.resize(plan.steps.size());
    std::iota(steps.begin(), steps.end(), size_t{0});
  }
  return steps;
}

void CompareWithModel(int seeds, size_t step_count, const ModelSettings& settings = {}) {
  const ScopedGroupSearch together(1);
  const ScopedMergePart parts(1);
  ForEachSeed(seeds, [&](uint64_t seed) {
    const ModelPlan plan = MakeModelPlan(seed, step_count, settings);
    const std::vector<size_t> steps = ChosenSteps(plan);
    Failing failing{steps, RunSteps(plan, steps)};
    if (failing.outcome.failure.empty()) return;

    const std::string first_failure = failing.outcome.failure;
    failing.steps.resize(failing.outcome.steps_done);
    Shrink(plan, absl::Now() + absl::Seconds(120), &failing);
    ADD_FAILURE() << "Seed " << seed << ": " << first_failure << "\n\nTo see it again:\n"
                  << "BIGTABLE_TEST_SEED=" << seed
                  << " BIGTABLE_TEST_STEPS=" << absl::StrJoin(failing.steps, ",") << "\n"
                  << absl::StrJoin(failing.outcome.script, "\n") << "\n"
                  << failing.outcome.failure;
  });
}

TEST(ModelTest, RandomOperationsReturnTheModelsResults) { CompareWithModel(kSlow ? 3 : 12, 500); }

TEST(ModelTest, RandomOperationsAsMessagesReturnTheModelsResults) {
  CompareWithModel(kSlow ? 2 : 8, 300, {.messages = true});
}

TEST(ModelTest, RandomConcurrentWritesReturnTheModelsResults) {
  CompareWithModel(kSlow ? 2 : 5, 100, {.concurrency = true});
}

// --- Tests of the model itself ---

using Cells = std::vector<ModelColumn::Cell>;

TEST(ModelColumnTest, OverwritingReplacesTheValueForLaterReads) {
  ModelColumn column;
  column.Set({1, 0}, 5, "old");
  column.Set({2, 0}, 5, "new");

  EXPECT_EQ(column.Read(1, ModelRules(GcRule()), 0, {}), (Cells{{5, "old"}}));
  EXPECT_EQ(column.Read(2, ModelRules(GcRule()), 0, {}), (Cells{{5, "new"}}));
}

TEST(ModelColumnTest, DeletionsHideOnlyEarlierWrites) {
  ModelColumn column;
  column.Set({1, 0}, 5, "a");
  column.Delete({2, 0});
  column.Set({2, 1}, 4, "b");
  column.DeleteCell({3, 0}, 5);
  column.Set({4, 0}, 5, "c");

  EXPECT_EQ(column.Read(1, ModelRules(GcRule()), 0, {}), (Cells{{5, "a"}}));
  EXPECT_EQ(column.Read(3, ModelRules(GcRule()), 0, {}), (Cells{{4, "b"}}));
  EXPECT_EQ(column.Read(4, ModelRules(GcRule()), 0, {}), (Cells{{5, "c"}, {4, "b"}}));
  EXPECT_EQ(column.Read(4, ModelRules(GcRule()), 0, {{4, 1}}), Cells{});
}

TEST(ModelColumnTest, ContributionsAreMergedUntilTheCellBeginsAnew) {
  const Family family{.value_operator = kConcatenation};
  const auto read = [&](const ModelColumn& column, uint64_t sequence, const GcRule& rule) {
    return column.Read(sequence, ModelRules(rule), 0, {}, family);
  };
  ModelColumn column;
  column.Set({1, 0}, 5, "a");
  column.Set({2, 0}, 5, "b");
  column.Set({3, 0}, 6, "x");
  column.Set({4, 0}, 5, "c");
  column.DeleteCell({5, 0}, 6);
  column.Set({6, 0}, 5, "d");
  column.Set({7, 0}, 5, "e");

  EXPECT_EQ(read(column, 2, GcRule()), (Cells{{5, "ab"}}));
  EXPECT_EQ(read(column, 4, GcRule()), (Cells{{6, "x"}, {5, "abc"}}));
  EXPECT_EQ(read(column, 7, GcRule()), (Cells{{5, "abcde"}}));
  // The cell at 6 drops that at 5, twice.
  EXPECT_EQ(read(column, 4, GcRule::MaxVersions(1)), (Cells{{6, "x"}}));
  EXPECT_EQ(read(column, 5, GcRule::MaxVersions(1)), Cells{});
  EXPECT_EQ(read(column, 7, GcRule::MaxVersions(1)), (Cells{{5, "de"}}));
}

TEST(ModelColumnTest, MaxVersionsCountsNewerCellsThatWereDeletedLater) {
  ModelColumn column;
  column.Set({1, 0}, 1, "a");
  column.Set({2, 0}, 2, "b");
  column.DeleteCell({3, 0}, 2);

  EXPECT_EQ(column.Read(3, ModelRules(GcRule::MaxVersions(1)), 0, {}), Cells{});
  EXPECT_EQ(column.Read(3, ModelRules(GcRule::MaxVersions(2)), 0, {}), (Cells{{1, "a"}}));
  EXPECT_EQ(column.Read(1, ModelRules(GcRule::MaxVersions(1)), 0, {}), (Cells{{1, "a"}}));
}

TEST(ModelColumnTest, MaxVersionsDoesNotCountCellsDeletedBeforeTheWrite) {
  ModelColumn column;
  column.Set({1, 0}, 2, "b");
  column.DeleteCell({2, 0}, 2);
  column.Set({3, 0}, 1, "a");

  EXPECT_EQ(column.Read(3, ModelRules(GcRule::MaxVersions(1)), 0, {}), (Cells{{1, "a"}}));
}

TEST(ModelColumnTest, MaxVersionsCountsATimestampOnce) {
  ModelColumn column;
  column.Set({1, 0}, 1, "a");
  column.Set({2, 0}, 2, "b");
  column.DeleteCell({3, 0}, 2);
  column.Set({4, 0}, 2, "b again");
  column.Set({5, 0}, 2, "b once more");

  EXPECT_EQ(column.Read(5, ModelRules(GcRule::MaxVersions(2)), 0, {}),
            (Cells{{2, "b once more"}, {1, "a"}}));
}

TEST(ModelColumnTest, MaxVersionsCountsAnOverwrittenCellAsNew) {
  ModelColumn column;
  column.Set({1, 0}, 1, "a");
  column.Set({2, 0}, 2, "b");
  column.DeleteCell({3, 0}, 2);
  column.Set({4, 0}, 1, "a again");

  EXPECT_EQ(column.Read(3, ModelRules(GcRule::MaxVersions(1)), 0, {}), Cells{});
  EXPECT_EQ(column.Read(4, ModelRules(GcRule::MaxVersions(1)), 0, {}), (Cells{{1, "a again"}}));
}

TEST(ModelColumnTest, MaxAgeKeepsACellOfExactlyThatAge) {
  ModelColumn column;
  column.Set({1, 0}, 3999, "expired");
  column.Set({2, 0}, 4000, "kept");

  EXPECT_EQ(column.Read(2, ModelRules(GcRule::MaxAge(absl::Milliseconds(1))), 5000, {}),
            (Cells{{4000, "kept"}}));
}

// --- Rules that change ---

TEST(ModelColumnTest, CollectedCellsDoNotComeBack) {
  ModelColumn column;
  column.Set({1, 0}, 1, "gone");
  column.Set({2, 0}, 2, "here");
  ModelRules rules(GcRule::MaxVersions(1));
  rules.Change(GcRule::MaxVersions(3), 3, 0);
  column.Set({4, 0}, 3, "new");

  EXPECT_EQ(column.Read(4, rules, 0, {}), (Cells{{3, "new"}, {2, "here"}}));
  EXPECT_EQ(column.Read(1, rules, 0, {}), (Cells{{1, "gone"}}));
}

TEST(ModelColumnTest, CountingRestartsWithTheCellsThatExistAtAChange) {
  ModelColumn column;
  column.Set({1, 0}, 5, "five");
  column.Set({2, 0}, 6, "deleted");
  column.DeleteCell({3, 0}, 6);
  ModelRules rules(GcRule::MaxVersions(2));
  rules.Change(GcRule::MaxVersions(1), 4, 0);

  EXPECT_EQ(column.Read(4, rules, 0, {}), (Cells{{5, "five"}}));
  column.Set({5, 0}, 7, "seven");
  EXPECT_EQ(column.Read(5, rules, 0, {}), (Cells{{7, "seven"}}));
}

TEST(ModelColumnTest, AnEarlierSnapshotSeesCellsThatTheLaterRuleKeeps) {
  ModelColumn column;
  for (const int64_t i : {1, 2, 3}) column.Set({static_cast<uint64_t>(i), 0}, i, "v");
  column.Delete({4, 0});
  ModelRules rules((GcRule()));
  rules.Change(GcRule::MaxVersions(2), 5, 0);

  EXPECT_EQ(column.Read(3, rules, 0, {}), (Cells{{3, "v"}, {2, "v"}}));
  EXPECT_EQ(column.Read(4, rules, 0, {}), Cells{});
}

TEST(ModelColumnTest, ALongerAgeDoesNotBringCellsBack) {
  ModelColumn column;
  column.Set({1, 0}, 3999, "expired");
  ModelRules rules(GcRule::MaxAge(absl::Milliseconds(1)));
  rules.Change(GcRule(), 2, 5000);
  column.Set({3, 0}, 3998, "as old");

  EXPECT_EQ(column.Read(3, rules, 5000, {}), (Cells{{3998, "as old"}}));
}

}  // namespace
}  // namespace bigtable
