// The speed of work, at times that the test sets.
#include "background/work_speed.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

constexpr uint64_t kPiece = 100'000'000;

class WorkSpeedTest : public testing::Test {
 protected:
  static SteadyTime At(double seconds) { return SteadyTime::FromNanos(0) + absl::Seconds(seconds); }
  void Work(double from, double to, uint64_t bytes = kPiece) {
    speed_.Begin(bytes, At(from));
    speed_.End(bytes, bytes, At(to));
  }
  // In megabytes a second.
  double Speed(double at) const { return speed_.Now(At(at)) / 1e6; }

  WorkSpeed speed_;
};

TEST_F(WorkSpeedTest, IsTheBytesOverTheTimeOfTheWork) {
  EXPECT_EQ(Speed(0), WorkSpeed::kAssumed / 1e6);
  for (int i = 0; i < 20; ++i) Work(i, i + 0.5);  // with half a second without work each time
  EXPECT_NEAR(Speed(30), 200, 1);
  for (int i = 40; i < 60; ++i) Work(i, i + 1);
  EXPECT_NEAR(Speed(99), 100, 1);
}

TEST_F(WorkSpeedTest, AChangeOfSpeedShowsSoon) {
  for (int i = 0; i < 20; ++i) Work(i, i + 0.1);  // 1000 MB/s
  Work(20, 30);                                   // 10 MB/s
  EXPECT_LT(Speed(30), 250);
  Work(30, 40);
  EXPECT_LT(Speed(40), 60);
  for (int i = 40; i < 60; ++i) Work(i, i + 0.1);
  EXPECT_GT(Speed(60), 500);
}

TEST_F(WorkSpeedTest, WorkThatStallsShowsBeforeItHasEnded) {
  for (int i = 0; i < 20; ++i) Work(i, i + 0.5);  // 200 MB/s
  speed_.Begin(kPiece, At(20));
  EXPECT_NEAR(Speed(20.5), 200, 1);  // as long as the others
  EXPECT_LT(Speed(30), 50);
  EXPECT_LT(Speed(120), 6);
  EXPECT_EQ(Speed(1e6), WorkSpeed::kLeast / 1e6);
  speed_.End(kPiece, 0, At(1e6));  // it has failed
  EXPECT_NEAR(Speed(1e6), 200, 1);
}

TEST_F(WorkSpeedTest, OverlappingWorkAddsUp) {
  for (int i = 0; i < 20; ++i) {
    speed_.Begin(kPiece, At(i));
    speed_.Begin(kPiece, At(i));
    speed_.End(kPiece, kPiece, At(i + 0.9));
    speed_.End(kPiece, kPiece, At(i + 1));
  }
  EXPECT_NEAR(Speed(20), 200, 40);
}

TEST_F(WorkSpeedTest, SmallPiecesCountLittle) {
  for (int i = 0; i < 1000; ++i) Work(i, i + 0.002, 1000);  // 0.5 MB/s
  EXPECT_GT(Speed(1000), 150);
}

}  // namespace
}  // namespace bigtable
