// Stalls and failures crossed with actions: each action on a database of one server begins while
// each kind of call on each kind of file is stalled, or has failed. An ordinary run tries a sample
// of the crossings. BIGTABLE_TEST_LONG_SECONDS=N tries them one after the other, for N seconds.
#include "failures/stall_crossing.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "support/random.h"
#include "support/seeds.h"
#include "support/watchdog.h"

namespace bigtable {
namespace {

using CrossedKind = CrossedFault::Kind;

// Calls of any thread, and the action that leads to them.
struct CrossedPoint {
  std::string_view name;
  CrossedAction action;
  std::vector<FileCall> calls;
  std::string_view path_contains;
};

const std::vector<CrossedPoint>& Points() {
  static const std::vector<CrossedPoint> kPoints = {
      {"making a spare", CrossedAction::kCompact, {FileCall::kNewLogFile}, "segment.tmp"},
      {"naming a spare", CrossedAction::kCompact, {FileCall::kRenameFile}, "segment.tmp"},
      {"removing a segment", CrossedAction::kCompact, {FileCall::kRemoveFile}, "/db/log/server-"},
      {"syncing the names of segments",
       CrossedAction::kCompact,
       {FileCall::kSyncDirectory},
       "/db/log/server-"},
      {"STATE", CrossedAction::kCompact, {FileCall::kLogSync, FileCall::kLogWrite}, "STATE"},
      {"syncing a log", CrossedAction::kSyncedWrite, {FileCall::kLogSync}, "/db/log/"},
      {"writing a log", CrossedAction::kLargeWrite, {FileCall::kLogWrite}, "/db/log/"},
      {"METADATA's log",
       CrossedAction::kFlush,
       {FileCall::kLogSync, FileCall::kLogWrite},
       "/db/log/m"},
      {"creating an SSTable", CrossedAction::kFlush, {FileCall::kNewWritableFile}, ".sst"},
      {"writing an SSTable", CrossedAction::kFlush, {FileCall::kAppend}, ".sst"},
      {"syncing an SSTable", CrossedAction::kFlush, {FileCall::kSync}, ".sst"},
      {"opening an SSTable", CrossedAction::kCompact, {FileCall::kNewRandomAccessFile}, ".sst"},
      {"reading an SSTable",
       CrossedAction::kCompact,
       {FileCall::kRead, FileCall::kPopulate},
       ".sst"},
      {"removing an SSTable", CrossedAction::kCompact, {FileCall::kRemoveFile}, ".sst"},
      {"creating a file of the lock service",
       CrossedAction::kCreateTable,
       {FileCall::kNewWritableFile},
       "/db/lockservice"},
      {"naming a file of the lock service",
       CrossedAction::kCreateTable,
       {FileCall::kRenameFile},
       "/db/lockservice"},
      {"syncing a file of the lock service",
       CrossedAction::kCreateTable,
       {FileCall::kSync, FileCall::kSyncDirectory},
       "/db/lockservice"},
  };
  return kPoints;
}

class StallCrossingTest : public testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() { disk_ = StallCrossing::MakeDisk(); }
  static void TearDownTestSuite() { disk_ = nullptr; }

  void Cross(const std::string& what, CrossedAction first, const CrossedFault& fault,
             CrossedAction second, bool sync_stalls, uint64_t seed) {
    const std::string all = Cat(kCrossedNames[static_cast<size_t>(first)], ", fault in ", what,
                                "; ", kCrossedNames[static_cast<size_t>(second)],
                                sync_stalls ? "; a sync stalls" : "", ", seed ", seed);
    SCOPED_TRACE(all);
    watchdog_.Step(all);
    StallCrossing crossing(*disk_, GetParam());
    if (sync_stalls) {
      crossing.Begin(CrossedAction::kSyncedWrite,
                     {.kind = CrossedKind::kStall, .calls = {FileCall::kLogSync}});
    }
    crossing.Begin(first, fault);
    crossing.Begin(second, {});
    if (second == CrossedAction::kRead) crossing.ExpectToEnd();
    crossing.ExpectNothingLost(seed);
    crossing.Finish();
    crossing.ExpectNothingLost(seed + 1);
    crossing.ExpectToGoOn();
    crossing.ExpectNothingLost(seed);
  }

  // Longer than a thread waits before it takes over from a stalled leader.
  static constexpr absl::Duration kCallTime = absl::Milliseconds(80);

  static inline std::unique_ptr<InMemoryFileSystem> disk_;
  Watchdog watchdog_;
};
INSTANTIATE_TEST_SUITE_P(Ways, StallCrossingTest, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Mapped" : "Written";
});

// The n-th call of an action's own thread.
TEST_P(StallCrossingTest, ActionsBesideOneThatIsStalledInOrHasFailedInAnyCall) {
  ForEachSeed(12, [&](uint64_t seed) {
    // All numbers below the product occur before one occurs again.
    constexpr uint64_t kCalls = 40;
    uint64_t rest = seed * 7919;
    const auto next = [&](uint64_t n) { return std::exchange(rest, rest / n) % n; };
    const auto first = static_cast<CrossedAction>(next(kCrossedActions));
    const auto second = static_cast<CrossedAction>(next(kCrossedActions));
    const CrossedKind kind = next(2) == 0 ? CrossedKind::kStall : CrossedKind::kFail;
    const bool sync_stalls = next(2) == 0;
    const uint64_t call = 1 + next(kCalls);
    Cross(Cat("call ", call, kind == CrossedKind::kStall ? ", a stall" : ", a failure"), first,
          {.kind = kind, .first = call}, second, sync_stalls, seed);
  });
}

// Calls of any thread, of which most are background work.
TEST_P(StallCrossingTest, ActionsWhileAKindOfCallOnAKindOfFileIsStalledOrHasFailed) {
  ForEachSeed(12, [&](uint64_t seed) {
    uint64_t rest = seed * 7919;
    const auto next = [&](uint64_t n) { return std::exchange(rest, rest / n) % n; };
    const CrossedPoint& point = Points()[next(Points().size())];
    const auto second = static_cast<CrossedAction>(next(kCrossedActions));
    const CrossedKind kind = next(2) == 0 ? CrossedKind::kStall : CrossedKind::kFail;
    Cross(Cat(point.name, kind == CrossedKind::kStall ? ", a stall" : ", a failure"), point.action,
          {.kind = kind,
           .of_own_thread = false,
           .calls = point.calls,
           .path_contains = point.path_contains},
          second, next(2) == 0, seed);
  });
}

// All calls begin at the same time, beside a stalled or failed one.
TEST_P(StallCrossingTest, EveryCallEndsAtItsDeadlineOrCancellation) {
  ForEachSeed(5, [&](uint64_t seed) {
    uint64_t rest = seed * 7919;
    const auto next = [&](uint64_t n) { return std::exchange(rest, rest / n) % n; };
    const bool is_point = next(2) == 0;
    const CrossedPoint& point = Points()[next(Points().size())];
    const CrossedAction first =
        is_point ? point.action : static_cast<CrossedAction>(next(kCrossedActions - 1));
    CrossedFault fault{.kind = next(4) == 0 ? CrossedKind::kFail : CrossedKind::kStall};
    if (is_point) {
      fault.of_own_thread = false;
      fault.calls = point.calls;
      fault.path_contains = point.path_contains;
    } else {
      fault.first = 1 + next(40);
    }
    const bool sync_stalls = next(2) == 0;
    const bool is_alone = next(3) == 0;
    const auto limit = static_cast<StallCrossing::Limit>(next(2));
    const std::string what =
        Cat(kCrossedNames[static_cast<size_t>(first)],
            fault.kind == CrossedKind::kStall ? ", stalled" : ", failed", " in ",
            is_point ? std::string(point.name) : Cat("call ", fault.first),
            sync_stalls ? "; a sync stalls" : "", ", seed ", seed);
    SCOPED_TRACE(what);
    watchdog_.Step(what);
    StallCrossing crossing(*disk_, GetParam(), 2);
    crossing.SetDeadline(absl::Seconds(5));
    if (sync_stalls) {
      crossing.Begin(CrossedAction::kSyncedWrite,
                     {.kind = CrossedKind::kStall, .calls = {FileCall::kLogSync}});
    }
    crossing.Begin(first, fault);
    const std::vector<LimitedCall>& all = LimitedCalls::All();
    if (is_alone) {
      crossing.BeginCall(all[next(all.size())], limit, kCallTime);
    } else {
      for (const LimitedCall& call : all) crossing.BeginCall(call, limit, kCallTime);
    }
    // Without a stall none is late.
    const bool stalls = sync_stalls || fault.kind == CrossedKind::kStall;
    for (const LimitedCall* const late : crossing.AwaitCalls()) {
      EXPECT_TRUE(stalls && LimitedCalls::MayBeLate(*late)) << late->name;
      std::printf("late: %s\n", std::string(late->name).c_str());
    }
    crossing.ExpectNothingLost(seed);
    crossing.Finish();
    crossing.ExpectNothingLost(seed + 1);
    crossing.ExpectToGoOn();
    crossing.ExpectNothingLost(seed);
  });
}

// The first action is stalled while the others begin, and goes on beside them.
TEST_P(StallCrossingTest, ThreeActionsAreStalledOneAfterTheOtherAndGoOnInAnyOrder) {
  ForEachSeed(6, [&](uint64_t seed) {
    Random random(seed);
    StallCrossing crossing(*disk_, GetParam());
    crossing.SetDeadline(absl::Seconds(20));
    std::string what;
    for (int i = 0; i < 3; ++i) {
      const auto action = static_cast<CrossedAction>(random.Below(kCrossedActions));
      const CrossedFault fault{.kind = CrossedKind::kStall, .first = 1 + random.Below(30)};
      what +=
          Cat(kCrossedNames[static_cast<size_t>(action)], " stalled in call ", fault.first, "; ");
      watchdog_.Step(what);
      crossing.Begin(action, fault);
    }
    SCOPED_TRACE(what);
    const uint64_t begin = random.Below(3);
    for (uint64_t i = 0; i < 2; ++i) {
      crossing.Release((begin + i) % 3);
      crossing.ExpectNothingLost(seed + i);
    }
    crossing.Finish();
    crossing.ExpectToGoOn();
    crossing.ExpectNothingLost(seed);
  });
}

// A writer takes over from one whose sync stalls, and is stalled itself while it writes the copies
// or the switch record. Meanwhile a compaction, which began before, comes to the erasing of the
// log.
TEST_P(StallCrossingTest, ALogIsErasedWhileASwitchIsStalled) {
  if (GetParam()) return;  // the switch of a mapped log makes no calls
  for (const uint64_t write : {1, 2}) {
    SCOPED_TRACE(write);
    watchdog_.Step("a log is erased while a switch is stalled");
    StallCrossing crossing(*disk_, GetParam());
    // Without a deadline, a writer takes over on its own thread, whose calls are chosen here.
    crossing.SetDeadline(absl::InfiniteDuration());
    const auto begin = [&](CrossedAction action, FileCall call, uint64_t first) {
      return crossing.Begin(action, {.kind = CrossedKind::kStall, .calls = {call}, .first = first});
    };
    EXPECT_TRUE(begin(CrossedAction::kCompact, FileCall::kNewWritableFile, 1));
    EXPECT_TRUE(begin(CrossedAction::kSyncedWrite, FileCall::kLogSync, 1));
    EXPECT_TRUE(begin(CrossedAction::kSyncedWrite, FileCall::kLogWrite, write));
    crossing.Release(0);
    crossing.ExpectNothingLost(write);
    crossing.Finish();
    crossing.ExpectNothingLost(write + 1);
    crossing.ExpectToGoOn();
    crossing.ExpectNothingLost(write);
  }
}

}  // namespace
}  // namespace bigtable
