// Every shortcut has a slower equivalent, and both return the same result. A random database over a
// tiny alphabet, so that neighbouring keys collide all the time, is written, flushed, compacted,
// split, merged, moved, closed and opened, and its rules are changed. Each read of a random shape
// is made in every way that must not change the result: with shortcuts of the engine
// (base/shortcuts.h) on and off, with distant limits, in reverse, at a current snapshot, verified,
// through the scan cache, past the memory of the system (tests/support/cold_file_system.h), in
// pieces, row by row, cell by cell, and, with other seeds, by message. All results are compared
// with those of the model (tests/support/model.h). Errors, too, are the same in every way
// (ways_errors.h).
//
// A failure prints its seed, and a shortened list of the steps that lead to it. To reproduce it:
//
//   BIGTABLE_TEST_SEED=7 bigtable_model_test --gtest_filter='ShortcutsTest.*'
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/steady_time.h"
#include "base/strings.h"
#include "model/ways_errors.h"
#include "model/ways_quotas.h"
#include "support/random.h"
#include "support/scoped_group_search.h"
#include "support/scoped_kept_merges.h"
#include "support/scoped_merge_part.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

struct WaysStep {
  enum class Kind {
    kWrite,
    kBatch,
    kFlush,
    kCompact,
    kSplit,
    kMerge,
    kMove,
    kNewFamily,
    kLateWrite,
    kAdvanceClock,
    kTakeSnapshot,
    kReleaseSnapshot,
    kChooseShortcuts,
    kChangeRule,
    kChangeObservers,
    kQuota,
    kReopen,
    kDamage,
    kRead,
  };
  Kind kind;
  uint64_t seed;
};

std::vector<WaysStep> MakeWaysSteps(uint64_t seed, size_t count) {
  using Kind = WaysStep::Kind;
  static const std::vector<std::pair<Kind, int>> kWeights = {
      {Kind::kWrite, 40},       {Kind::kBatch, 4},           {Kind::kFlush, 7},
      {Kind::kCompact, 2},      {Kind::kSplit, 2},           {Kind::kMerge, 1},
      {Kind::kMove, 1},         {Kind::kNewFamily, 1},       {Kind::kLateWrite, 6},
      {Kind::kAdvanceClock, 6}, {Kind::kTakeSnapshot, 2},    {Kind::kReleaseSnapshot, 2},
      {Kind::kRead, 60},        {Kind::kChooseShortcuts, 4}, {Kind::kChangeRule, 2},
      {Kind::kReopen, 1},       {Kind::kDamage, 1},          {Kind::kChangeObservers, 1},
      {Kind::kQuota, 3},
  };
  int total = 0;
  for (const auto& [kind, weight] : kWeights) total += weight;
  Random random(seed);
  std::vector<WaysStep> steps;
  while (steps.size() < count) {
    int64_t draw = random.Between(0, total - 1);
    for (const auto& [kind, weight] : kWeights) {
      draw -= weight;
      if (draw >= 0) continue;
      steps.push_back({kind, random.Next()});
      break;
    }
  }
  return steps;
}

class WaysRun : public WaysQuotas {
 public:
  using WaysQuotas::WaysQuotas;

  // False if something was wrong.
  bool Do(const WaysStep& step) {
    random_ = Random(step.seed);
    switch (step.kind) {
      case WaysStep::Kind::kWrite:
        Write();
        break;
      case WaysStep::Kind::kBatch:
        WriteBatch();
        break;
      case WaysStep::Kind::kFlush:
        Log("Flush");
        Check(database_->Flush(kTable), "Flush");
        break;
      case WaysStep::Kind::kCompact:
        Log("Compact");
        Compact();
        break;
      case WaysStep::Kind::kSplit:
        Split();
        break;
      case WaysStep::Kind::kMerge:
        Merge();
        break;
      case WaysStep::Kind::kMove:
        Move();
        break;
      case WaysStep::Kind::kNewFamily:
        RenewFamily();
        break;
      case WaysStep::Kind::kLateWrite:
        if (!late_.joinable()) BeginLateWrite();
        break;
      case WaysStep::Kind::kAdvanceClock:
        clock_.Advance(absl::Microseconds(1));
        Log(Cat("The clock is at ", clock_.micros()));
        break;
      case WaysStep::Kind::kTakeSnapshot:
        TakeSnapshot();
        break;
      case WaysStep::Kind::kReleaseSnapshot:
        if (snapshots_.empty()) break;
        Log("Release the oldest snapshot");
        snapshots_.erase(snapshots_.begin());
        break;
      case WaysStep::Kind::kChooseShortcuts:
        ChooseShortcuts();
        break;
      case WaysStep::Kind::kChangeRule:
        ChangeRule();
        break;
      case WaysStep::Kind::kChangeObservers:
        ChangeObservers();
        break;
      case WaysStep::Kind::kQuota:
        UseQuota();
        break;
      case WaysStep::Kind::kReopen:
        Reopen();
        break;
      case WaysStep::Kind::kDamage:
        ReadDamagedCopies();
        break;
      case WaysStep::Kind::kRead:
        Read();
        break;
    }
    return failure().empty();
  }
};

struct WaysOutcome {
  std::string failure;
  std::vector<std::string> script;
  size_t done = 0;
  uint64_t reads = 0;
  uint64_t uncached_reads = 0;
};

WaysOutcome RunWays(uint64_t seed, const std::vector<WaysStep>& steps) {
  WaysRun run(seed);
  WaysOutcome outcome;
  bool ok = run.failure().empty();
  while (ok && outcome.done < steps.size()) ok = run.Do(steps[outcome.done++]);
  outcome.failure = run.failure();
  outcome.script = run.script();
  outcome.reads = run.reads();
  outcome.uncached_reads = run.uncached_reads();
  return outcome;
}

// Leaves steps out as long as the rest still fails: first many at once, then one by one.
WaysOutcome ShrinkWays(uint64_t seed, std::vector<WaysStep> steps, WaysOutcome failing) {
  const SteadyTime deadline = SteadyTime::Now() + absl::Seconds(20);
  steps.resize(failing.done);
  for (size_t chunk = std::max<size_t>(1, steps.size() / 2);; chunk /= 2) {
    for (size_t start = 0; start < steps.size() && SteadyTime::Now() < deadline;) {
      const size_t end = std::min(start + chunk, steps.size());
      std::vector<WaysStep> fewer(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(start));
      fewer.insert(fewer.end(), steps.begin() + static_cast<ptrdiff_t>(end), steps.end());
      WaysOutcome outcome = RunWays(seed, fewer);
      if (outcome.failure.empty()) {
        start += chunk;
      } else {
        fewer.resize(outcome.done);
        steps = std::move(fewer);
        failing = std::move(outcome);
      }
    }
    if (chunk <= 1) return failing;
  }
}

TEST(ShortcutsTest, RandomReadsReturnTheSameInEveryWay) {
  const ScopedGroupSearch together(1);
  const ScopedMergePart parts(1);
  const ScopedKeptMerges kept(2);
  uint64_t reads = 0;
  uint64_t uncached_reads = 0;
  ForEachSeed(kSlow ? 20 : 250, [&](uint64_t seed) {
    // In short runs the rows stay small and alike; in long runs there are many files.
    const std::vector<WaysStep> steps = MakeWaysSteps(seed, seed % 4 == 0 ? 400 : 100);
    WaysOutcome outcome = RunWays(seed, steps);
    reads += outcome.reads;
    uncached_reads += outcome.uncached_reads;
    Tally("reads", outcome.reads);
    Tally("operations", outcome.done);
    if (outcome.failure.empty()) return;
    outcome = ShrinkWays(seed, steps, std::move(outcome));
    ADD_FAILURE() << "Seed " << seed << ", after " << reads << " reads:\n"
                  << absl::StrJoin(outcome.script, "\n") << "\n"
                  << outcome.failure;
  });
  std::cout << reads << " reads compared; " << uncached_reads << " blocks read uncached\n";
  if (std::getenv("BIGTABLE_TEST_SEED") == nullptr) {
    EXPECT_GT(uncached_reads, 0);
  }
}

}  // namespace
}  // namespace bigtable
