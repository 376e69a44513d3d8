// Which calls count after a switch, and how long calls may take.
#include "commitlog/call_turns.h"

#include <cstdint>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "commitlog/call_times.h"

namespace bigtable {
namespace {

TEST(CallTurnsTest, ACallCountsIfNoSwitchHasBegunSince) {
  CallTurns turns;
  const uint64_t flush = turns.BeginFlush({.begin = 5, .end = 9});
  const uint64_t sync = turns.BeginSync();
  EXPECT_TRUE(turns.flushing() && turns.syncing());
  EXPECT_EQ(turns.flushed_range().end, 9u);
  EXPECT_FALSE(turns.IsAbandoned(flush) || turns.IsAbandoned(sync));
  turns.EndFlush();
  turns.EndSync();
  EXPECT_FALSE(turns.flushing() || turns.syncing());
}

TEST(CallTurnsTest, ASwitchAbandonsTheCallsThatRun) {
  CallTurns turns;
  const uint64_t flush = turns.BeginFlush({});
  const uint64_t sync = turns.BeginSync();
  turns.BeginSwitch();
  EXPECT_TRUE(turns.IsAbandoned(flush) && turns.IsAbandoned(sync));
  EXPECT_FALSE(turns.flushing() || turns.syncing());
  EXPECT_EQ(turns.abandoned(), 2);
  turns.EndSwitch();
  // New calls are not mistaken for them, and run beside them.
  const uint64_t next = turns.BeginSync();
  EXPECT_FALSE(turns.IsAbandoned(next));
  EXPECT_TRUE(turns.IsAbandoned(sync));
}

TEST(CallTurnsTest, ThereIsNoOtherSwitchUntilTheAbandonedCallsHaveReturned) {
  CallTurns turns;
  turns.BeginFlush({});
  turns.BeginSync();
  EXPECT_TRUE(turns.CanSwitch());
  turns.BeginSwitch();
  EXPECT_FALSE(turns.CanSwitch());
  turns.EndSwitch();
  EXPECT_FALSE(turns.CanSwitch());
  turns.EndAbandoned(absl::OkStatus());
  EXPECT_FALSE(turns.CanSwitch());
  turns.EndAbandoned(absl::OkStatus());
  EXPECT_TRUE(turns.CanSwitch());
}

TEST(CallTurnsTest, TheErrorOfAnAbandonedCallIsKeptUntilTheNextSwitch) {
  CallTurns turns;
  turns.BeginFlush({});
  turns.BeginSync();
  turns.BeginSwitch();
  turns.EndAbandoned(absl::UnavailableError("first"));
  turns.EndAbandoned(absl::DataLossError("second"));
  turns.EndSwitch();
  EXPECT_EQ(turns.stalled_status(), absl::UnavailableError("first"));
  turns.BeginSync();
  turns.BeginSwitch();
  EXPECT_EQ(turns.stalled_status(), absl::OkStatus());
}

TEST(CallTimesTest, ACallThatTakesAsLongAsTheTimeoutIsAStall) {
  for (const bool stalls : {false, true}) {
    CallTimes times(stalls ? absl::ZeroDuration() : absl::Hours(1));
    absl::Duration took = absl::Hours(2);
    EXPECT_EQ(times.Time([] { return absl::UnavailableError("result"); }, &took),
              absl::UnavailableError("result"));
    EXPECT_EQ(times.stalls(), stalls ? 1u : 0u);
    EXPECT_GT(took, absl::Hours(2));
  }
}

TEST(CallTimesTest, TheTimeoutFollowsSlowSyncs) {
  CallTimes times(absl::Milliseconds(20));
  for (int i = 0; i < 1000; ++i) times.AddSync(absl::Milliseconds(2));
  EXPECT_EQ(times.StallTimeout(), absl::Milliseconds(20));
  for (int i = 0; i < 1000; ++i) times.AddSync(absl::Milliseconds(10));
  EXPECT_GT(times.StallTimeout(), absl::Milliseconds(79));
  EXPECT_LE(times.StallTimeout(), absl::Milliseconds(80));
}

TEST(CallTimesTest, OneStallRaisesTheTimeoutLittle) {
  CallTimes times(absl::Milliseconds(20));
  for (int i = 0; i < 1000; ++i) times.AddSync(absl::Milliseconds(10));
  const absl::Duration before = times.StallTimeout();
  times.AddSync(absl::Hours(1));
  EXPECT_GT(times.StallTimeout(), before);
  EXPECT_LT(times.StallTimeout(), 2 * before);
}

}  // namespace
}  // namespace bigtable
