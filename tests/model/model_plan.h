// The plan of a model test: a list of steps. Each has a seed of its own, so that any part of the
// list can be run again alone.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_PLAN_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/random.h"

namespace bigtable {

enum class StepKind {
  kApply,
  kApplyBatch,
  kApplyWriteBatch,
  kApplyLarge,
  kApplyInvalid,
  kFill,
  kIngest,
  kWriteConcurrently,
  kReadModifyWrite,
  kCheckAndMutate,
  kMutateAtomically,
  kReadRow,
  kReadRows,
  kScan,
  kOpenReader,
  kOpenScan,
  kAdvanceCursor,
  kTakeSnapshot,
  kReleaseSnapshot,
  kCompareAll,
  kAdvanceClock,
  kJumpBack,
  kFlush,
  kCompact,
  kWaitUntilQuiet,
  kPauseOrContinue,
  kSplitTablet,
  kMergeTablets,
  kMoveTablet,
  kDropRowRange,
  kCreateTable,
  kDeleteTable,
  kAddFamily,
  kDropFamily,
  kUpdateFamily,
  kSetLocalityGroup,
  kSetSplitRule,
  kSetObservers,
  kSetChangeStream,
  kReadChanges,
  kFollow,
  kSetQuota,
  kExhaustRate,
  kExhaustStorage,
  kReopen,
  kReopenReadOnly,
  kContinueWithCopy,
  kCrash,
};

struct ModelStep {
  StepKind kind;
  uint64_t seed;
};

// Settings that hold for all steps of a run.
struct ModelSettings {
  enum class Crashes {
    kNever,    // the machine's file system; some writes are not logged
    kProcess,  // everything acknowledged survives
    kMachine,  // every write is synced and survives
  };
  Crashes crashes = Crashes::kNever;
  // Either families expire by age, or the clock jumps back, never both: a compaction may have
  // dropped expired cells when the clock returns to a time at which they had not expired.
  bool expiry = false;
  // Reads and writes are messages through a network that loses and repeats them.
  bool messages = false;
  // Most steps are writes by several threads.
  bool concurrency = false;
  // Families have compaction filters.
  bool filters = false;
  // Tables have observers.
  bool observers = false;
  // Tables and callers have quotas.
  bool quotas = false;
  // Tables have change streams.
  bool changes = false;
  // A follower keeps a copy of the tables with change streams.
  bool follower = false;
};

struct ModelPlan {
  uint64_t seed = 0;
  ModelSettings settings;
  std::vector<ModelStep> steps;
};

// `settings` gives the values that are not chosen at random here.
inline ModelPlan MakeModelPlan(uint64_t seed, size_t step_count, ModelSettings settings = {}) {
  // The approximate number of steps of each kind, out of 1000.
  static const std::vector<std::pair<StepKind, int>> kWeights = {
      {StepKind::kApply, 320},
      {StepKind::kApplyBatch, 60},
      {StepKind::kApplyWriteBatch, 40},
      {StepKind::kApplyLarge, 1},
      {StepKind::kApplyInvalid, 8},
      {StepKind::kFill, 30},
      {StepKind::kIngest, 15},
      {StepKind::kWriteConcurrently, 2},
      {StepKind::kReadModifyWrite, 30},
      {StepKind::kCheckAndMutate, 25},
      {StepKind::kMutateAtomically, 15},
      {StepKind::kReadRow, 160},
      {StepKind::kReadRows, 90},
      {StepKind::kScan, 70},
      {StepKind::kOpenReader, 8},
      {StepKind::kOpenScan, 8},
      {StepKind::kAdvanceCursor, 40},
      {StepKind::kTakeSnapshot, 25},
      {StepKind::kReleaseSnapshot, 22},
      {StepKind::kCompareAll, 5},
      {StepKind::kAdvanceClock, 50},
      {StepKind::kJumpBack, 8},
      {StepKind::kFlush, 22},
      {StepKind::kCompact, 10},
      {StepKind::kWaitUntilQuiet, 5},
      {StepKind::kPauseOrContinue, 6},
      {StepKind::kSplitTablet, 8},
      {StepKind::kMergeTablets, 8},
      {StepKind::kMoveTablet, 6},
      {StepKind::kDropRowRange, 8},
      {StepKind::kCreateTable, 5},
      {StepKind::kDeleteTable, 3},
      {StepKind::kAddFamily, 8},
      {StepKind::kDropFamily, 5},
      {StepKind::kUpdateFamily, 25},
      {StepKind::kSetLocalityGroup, 8},
      {StepKind::kSetSplitRule, 3},
      {StepKind::kSetObservers, 12},
      {StepKind::kSetChangeStream, 8},
      {StepKind::kReadChanges, 40},
      {StepKind::kFollow, 15},
      {StepKind::kSetQuota, 20},
      {StepKind::kExhaustRate, 12},
      {StepKind::kExhaustStorage, 12},
      {StepKind::kReopen, 10},
      {StepKind::kReopenReadOnly, 4},
      {StepKind::kContinueWithCopy, 4},
      {StepKind::kCrash, 10},
  };
  Random random(seed);
  ModelPlan plan;
  plan.seed = seed;
  plan.settings = settings;
  switch (random.Below(4)) {
    case 0:
      plan.settings.crashes = ModelSettings::Crashes::kNever;
      break;
    case 1:
      plan.settings.crashes = ModelSettings::Crashes::kProcess;
      break;
    default:
      plan.settings.crashes = ModelSettings::Crashes::kMachine;
      break;
  }
  plan.settings.expiry = random.OneIn(2);
  plan.settings.filters = random.OneIn(2) && !settings.concurrency;
  // Messages carry no observed writes.
  plan.settings.observers = random.OneIn(2) && !settings.concurrency && !settings.messages;
  plan.settings.quotas = random.OneIn(2);
  Random streams(~seed);
  // Changes are not read by messages.
  plan.settings.changes = streams.OneIn(3) && !settings.messages;
  plan.settings.follower = plan.settings.changes && streams.OneIn(2);
  const auto weight_of = [&plan](const std::pair<StepKind, int>& kind) {
    switch (kind.first) {
      case StepKind::kWriteConcurrently:
        return plan.settings.concurrency ? 400 : kind.second;
      case StepKind::kSetChangeStream:
      case StepKind::kReadChanges:
        return plan.settings.changes ? kind.second : 0;
      case StepKind::kFollow:
        return plan.settings.follower ? kind.second : 0;
      default:
        return kind.second;
    }
  };
  int total = 0;
  for (const auto& kind : kWeights) total += weight_of(kind);
  // The number of large writes, each of which takes as long as hundreds of other steps.
  int large = 2;
  for (size_t i = 0; i < step_count; ++i) {
    int64_t draw = random.Between(0, total - 1);
    for (const auto& kind : kWeights) {
      draw -= weight_of(kind);
      if (draw < 0) {
        const bool too_many = kind.first == StepKind::kApplyLarge && --large < 0;
        plan.steps.push_back({too_many ? StepKind::kApply : kind.first, random.Next()});
        break;
      }
    }
  }
  return plan;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_PLAN_H_
