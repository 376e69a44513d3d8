// Every action on a commit log begins while every other one is stalled in, or has failed in, each
// of its calls of the file system. An ordinary run leaves out most calls of most pairs. With
// BIGTABLE_TEST_LONG_SECONDS=N it leaves out none, and crosses three random actions for N seconds.
#include "commitlog/log_crossing.h"

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

#include "support/random.h"
#include "support/seeds.h"
#include "support/watchdog.h"

namespace bigtable {
namespace {

using Fault = LogCrossing::Fault;

bool MayRunTogether(LogAction first, LogAction second) {
  if (IsOfAppendingThread(first)) return !IsOfAppendingThread(second);
  return first != LogAction::kSwitch || (second != first && !IsOfAppendingThread(second));
}

class LogCrossingConcurrencyTest : public testing::TestWithParam<bool> {
 protected:
  // Begins `second` while `first` is stalled or has failed. False if `first` makes fewer calls.
  bool Cross(LogAction first, const Fault& fault, LogAction second, bool sync_stalls) {
    const std::string what =
        Cat(NameOf(first), fault.kind == Fault::Kind::kStall ? ", stalled in" : ", fails in",
            " call ", fault.call, "; ", NameOf(second), sync_stalls ? "; a sync stalls" : "");
    SCOPED_TRACE(what);
    watchdog_.Step(what);
    LogCrossing crossing(GetParam(), sync_stalls);
    const bool is_reached = crossing.Begin(first, fault);
    crossing.Begin(second, {});
    crossing.ExpectNothingLost();
    crossing.Finish(false);
    crossing.ExpectToGoOn();
    ++runs_;
    return is_reached && !HasFailure();
  }
  // An ordinary run tries one of so many calls of each pair, and only half of the pairs. But it
  // tries all calls of a switch, and all beside which a switch is due.
  uint64_t StrideOf(const Fault& kind, LogAction first, LogAction second, bool sync_stalls) {
    if (std::getenv("BIGTABLE_TEST_LONG_SECONDS") != nullptr) return 1;
    const bool is_switch = first == LogAction::kSwitch || second == LogAction::kSwitch;
    if (is_switch && sync_stalls) return kind.kind == Fault::Kind::kStall ? 1 : 4;
    return ++pairs_ % 2 == (GetParam() ? 0 : 1) ? 9 : 0;
  }
  void TearDown() override { RecordProperty("runs", static_cast<int>(runs_)); }
  void CrossAll(const Fault& kind, bool sync_stalls) {
    for (const LogAction first : kLogActions) {
      for (const LogAction second : kLogActions) {
        if (!MayRunTogether(first, second)) continue;
        const uint64_t stride = StrideOf(kind, first, second, sync_stalls);
        if (stride == 0) continue;
        Fault fault = kind;
        fault.call = 1 + runs_ % stride;
        for (; Cross(first, fault, second, sync_stalls); fault.call += stride) {
        }
        if (HasFailure()) return;
      }
    }
  }

  Watchdog watchdog_{absl::Seconds(60)};
  uint64_t runs_ = 0;
  uint64_t pairs_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Ways, LogCrossingConcurrencyTest, testing::Bool(),
                         [](const auto& param_info) {
                           return param_info.param ? "Mapped" : "Written";
                         });

TEST_P(LogCrossingConcurrencyTest, EveryActionBesideOneThatIsStalled) {
  CrossAll({Fault::Kind::kStall}, false);
}

TEST_P(LogCrossingConcurrencyTest, EveryActionBesideOneThatIsStalledWhileASyncIs) {
  CrossAll({Fault::Kind::kStall}, true);
}

TEST_P(LogCrossingConcurrencyTest, EveryActionAfterOneThatHasFailed) {
  CrossAll({Fault::Kind::kFail}, false);
}

TEST_P(LogCrossingConcurrencyTest, EveryActionAfterOneThatHasFailedWhileASyncStalls) {
  CrossAll({Fault::Kind::kFail}, true);
}

TEST_P(LogCrossingConcurrencyTest, ThreeRandomActions) {
  ForEachSeed(25, [&](uint64_t seed) {
    Random random(seed);
    const bool sync_stalls = random.OneIn(2);
    LogCrossing crossing(GetParam(), sync_stalls);
    std::string what = sync_stalls ? "a sync stalls" : "";
    bool is_led = false;
    bool is_switched = false;
    for (int i = 0; i < 3; ++i) {
      const LogAction action = kLogActions[random.Below(std::size(kLogActions))];
      if (IsOfAppendingThread(action) && (is_led || is_switched)) continue;
      if (action == LogAction::kSwitch && is_switched) continue;
      is_led |= IsOfAppendingThread(action);
      is_switched |= action == LogAction::kSwitch;
      Fault fault;
      fault.kind = static_cast<Fault::Kind>(random.Below(3));
      fault.call = 1 + random.Below(10);
      fault.done = static_cast<FaultyFileSystem::Done>(random.Below(3));
      what += Cat("; ", NameOf(action), " with fault ", static_cast<int>(fault.kind), " in call ",
                  fault.call, ", done ", static_cast<int>(fault.done));
      SCOPED_TRACE(what);
      watchdog_.Step(what);
      crossing.Begin(action, fault);
      crossing.ExpectNothingLost();
    }
    SCOPED_TRACE(what);
    crossing.Finish(random.OneIn(2));
    crossing.ExpectToGoOn();
  });
}

}  // namespace
}  // namespace bigtable
