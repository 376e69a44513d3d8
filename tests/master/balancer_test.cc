#include "master/balancer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

constexpr uint64_t kGigabyte = uint64_t{1} << 30;

TabletLoad Load(int number, size_t server, uint64_t bytes, absl::Duration call_time = {}) {
  return {.id = {1, std::string(1, static_cast<char>('a' + number))},
          .server = server,
          .bytes = bytes,
          .call_time = call_time};
}

class BalancerTest : public testing::Test {
 protected:
  // The second look, ten seconds after the first.
  std::optional<Balancer::Move> ChooseMove(const std::vector<TabletLoad>& tablets, size_t servers) {
    now_ = now_ + absl::Seconds(10);
    return balancer_.ChooseMove(tablets, servers, now_);
  }

  Balancer balancer_;
  SteadyTime now_ = SteadyTime::FromNanos(0);
};

TEST_F(BalancerTest, TheFirstLookMovesNothing) {
  const std::vector<TabletLoad> tablets = {Load(0, 0, kGigabyte), Load(1, 0, kGigabyte)};
  EXPECT_FALSE(ChooseMove(tablets, 2).has_value());
  const auto move = ChooseMove(tablets, 2);
  ASSERT_TRUE(move.has_value());
  EXPECT_EQ(move->to, 1u);
}

TEST_F(BalancerTest, MovesTheTabletThatBringsServersClosest) {
  const std::vector<TabletLoad> tablets = {Load(0, 0, 6 * kGigabyte), Load(1, 0, kGigabyte),
                                           Load(2, 0, 3 * kGigabyte), Load(3, 2, 2 * kGigabyte)};
  ChooseMove(tablets, 3);
  const auto move = ChooseMove(tablets, 3);
  ASSERT_TRUE(move.has_value());
  EXPECT_EQ(move->tablet, 0u);  // 4, 6 and 2; with tablet 3 it would be 7, 3 and 2
  EXPECT_EQ(move->to, 1u);
}

TEST_F(BalancerTest, ALargeTabletDoesNotGoBackAndForth) {
  const std::vector<TabletLoad> tablets = {Load(0, 0, 10 * kGigabyte), Load(1, 1, kGigabyte / 10)};
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(ChooseMove(tablets, 2).has_value());
}

TEST_F(BalancerTest, LeavesSmallDatabasesThatAreNotBusyAlone) {
  std::vector<TabletLoad> tablets;
  for (int i = 0; i < 10; ++i) tablets.push_back(Load(i, 0, 10 << 20));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(ChooseMove(tablets, 2).has_value());
}

TEST_F(BalancerTest, MovesABusyTabletAwayFromAnother) {
  absl::Duration busy;
  std::optional<Balancer::Move> move;
  for (int i = 0; i < 3 && !move.has_value(); ++i) {
    move =
        ChooseMove({Load(0, 0, 1 << 20, busy), Load(1, 0, 1 << 20, busy), Load(2, 1, 1 << 20)}, 2);
    busy += absl::Seconds(5);
  }
  ASSERT_TRUE(move.has_value());
  EXPECT_EQ(move->to, 1u);
  EXPECT_LE(move->tablet, 1u);
}

TEST_F(BalancerTest, OldCallTimeIsForgotten) {
  const auto look = [&] {
    return ChooseMove({Load(0, 0, 1 << 20, absl::Hours(1)), Load(1, 0, 1 << 20, absl::Hours(1))},
                      2);
  };
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(look().has_value());
}

// Each move makes the servers more alike, and the moves come to an end.
TEST_F(BalancerTest, RandomLoadsBecomeStable) {
  ForEachSeed(200, [&](uint64_t seed) {
    Random random(seed);
    const size_t servers = 1 + random.Below(6);
    std::vector<TabletLoad> tablets;
    const int count = static_cast<int>(random.Below(26));
    for (int i = 0; i < count; ++i) {
      tablets.push_back(Load(i, random.Below(servers), random.Below(4 * kGigabyte)));
    }
    const auto unevenness = [&] {
      std::vector<double> loads(servers, 0);
      for (const TabletLoad& tablet : tablets) {
        loads[tablet.server] += static_cast<double>(tablet.bytes);
      }
      double sum = 0;
      for (const double load : loads) sum += load * load;
      return sum;
    };
    Balancer balancer;
    int moves = 0;
    constexpr SteadyTime kBegin = SteadyTime::FromNanos(0);
    for (SteadyTime now = kBegin;; now = now + absl::Seconds(10)) {
      const auto move = balancer.ChooseMove(tablets, servers, now);
      if (!move.has_value() && now > kBegin) break;
      if (!move.has_value()) continue;
      const double before = unevenness();
      ASSERT_LT(move->tablet, tablets.size());
      ASSERT_LT(move->to, servers);
      tablets[move->tablet].server = move->to;
      ASSERT_LT(unevenness(), before);
      ASSERT_LT(++moves, 100);
    }
    Tally("cases");
  });
}

}  // namespace
}  // namespace bigtable
