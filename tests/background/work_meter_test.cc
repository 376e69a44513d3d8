// What files are in memory is estimated from those that were read.
#include "background/work_meter.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

TEST(WorkMeterTest, TheExpansionIsThatOfFilesOfAMegabyteAndMore) {
  constexpr uint64_t kMegabyte = 1 << 20;
  WorkMeter meter;
  const uint64_t before = meter.BeginCompaction(1000);
  meter.RecordExpansion(kMegabyte - 1, 1000);
  meter.RecordExpansion(kMegabyte, 0);
  EXPECT_EQ(meter.BeginCompaction(1000), before);
  for (int i = 0; i < 100; ++i) meter.RecordExpansion(kMegabyte, kMegabyte / 4);
  EXPECT_NEAR(static_cast<double>(meter.BeginCompaction(1000)), 4000, 10);
}

}  // namespace
}  // namespace bigtable
