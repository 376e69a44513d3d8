#include "server/monitor/heat_map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "server/monitor/row_sampler.h"

namespace bigtable::server {
namespace {

constexpr int64_t kBegin = 1'000'000;  // a second in which a column begins

std::string HeatKey(uint64_t number) {
  std::string digits = std::to_string(number);
  return "r" + std::string(6 - digits.size(), '0') + digits;
}

double SumOf(const TableHeat& heat, RowAccess access) {
  double sum = 0;
  for (const TableHeat::Column& column : heat.columns) {
    for (const TableHeat::Cell& cell : column.cells) {
      sum += static_cast<double>(access == RowAccess::kRead ? cell.reads : cell.writes);
    }
  }
  return sum;
}

// Of the last column, by the range that has the row.
double HeatOf(const TableHeat& heat, const std::string& row) {
  size_t range = 0;
  while (range + 1 < heat.begins.size() && heat.begins[range + 1] <= row) ++range;
  return static_cast<double>(heat.columns.back().cells[range].reads);
}

class HeatMapTest : public testing::Test {
 protected:
  HeatMapTest() { Second(0); }
  void Second(int64_t second) { map_.Tick(absl::FromUnixSeconds(kBegin + second)); }
  TableHeat Read(const std::string& table = "t") const {
    std::optional<TableHeat> heat = map_.Read(table, 0, 0);
    return heat.has_value() ? *heat : TableHeat();
  }

  HeatMap map_;
  std::mt19937 random_{301};
};

TEST_F(HeatMapTest, CountsRowsInColumnsOfFiveSeconds) {
  map_.Add("t", "a", RowAccess::kRead, 1);
  map_.Add("t", "b", RowAccess::kWrite, 3);
  Second(4);
  map_.Add("t", "a", RowAccess::kRead, 1);
  Second(5);
  map_.Add("t", "a", RowAccess::kRead, 5);
  const TableHeat heat = Read();
  ASSERT_EQ(heat.columns.size(), 2u);
  EXPECT_EQ(heat.columns[0].number, kBegin / HeatMap::kColumnSeconds);
  EXPECT_EQ(heat.columns[0].cells[0].reads, 2);
  EXPECT_EQ(heat.columns[0].cells[0].writes, 3);
  EXPECT_EQ(heat.columns[1].number, heat.columns[0].number + 1);
  EXPECT_EQ(heat.columns[1].cells[0].reads, 5);
  EXPECT_FALSE(map_.Read("other", 0, 0).has_value());
}

TEST_F(HeatMapTest, AHotRowHasARangeOfItsOwn) {
  for (int second = 0; second < 30; ++second) {
    for (uint64_t i = 0; i < 1000; ++i) {
      map_.Add("t", i % 2 == 0 ? "r500000" : HeatKey(random_() % 1'000'000), RowAccess::kRead, 1);
    }
    Second(second + 1);
  }
  for (int i = 0; i < 100; ++i) map_.Add("t", "r500000", RowAccess::kRead, 1);
  const TableHeat heat = Read();
  EXPECT_EQ(HeatOf(heat, "r500000"), 100);
  EXPECT_EQ(HeatOf(heat, "r450000"), 0);
  EXPECT_EQ(HeatOf(heat, "r550000"), 0);
}

// Also in the columns in which its range was divided, and in those before.
TEST_F(HeatMapTest, AHotRowStandsOutAmongItsNeighbours) {
  for (int second = 0; second < 20; ++second) {
    for (uint64_t i = 0; i < 1000; ++i) {
      map_.Add("t", i % 10 != 0 ? "r500000" : HeatKey(random_() % 1'000'000), RowAccess::kRead, 1);
    }
    Second(second + 1);
  }
  const TableHeat heat = Read();
  const auto hot =
      static_cast<size_t>(std::upper_bound(heat.begins.begin(), heat.begins.end(), "r500000") -
                          heat.begins.begin() - 1);
  ASSERT_GT(hot, 0u);
  ASSERT_LT(hot + 1, heat.begins.size());
  ASSERT_EQ(heat.columns.size(), 4u);
  for (const TableHeat::Column& column : heat.columns) {
    EXPECT_NEAR(column.cells[hot].reads, 4500, 900);
    EXPECT_LT(column.cells[hot - 1].reads, 900);
    EXPECT_LT(column.cells[hot + 1].reads, 900);
  }
}

TEST_F(HeatMapTest, NothingIsLostWhenRangesAreSplitAndMerged) {
  double reads = 0;
  double writes = 0;
  uint64_t changes = 0;
  uint64_t epoch = 0;
  // The place that is hot moves, so that ranges are merged too.
  for (int second = 0; second < 300; ++second) {
    for (uint64_t i = 0; i < 200; ++i) {
      const std::string key = HeatKey(static_cast<uint64_t>(second) * 3000 + random_() % 3000);
      map_.Add("t", key, i % 4 == 0 ? RowAccess::kWrite : RowAccess::kRead, 2);
      (i % 4 == 0 ? writes : reads) += 2;
    }
    Second(second + 1);
    const TableHeat heat = Read();
    ASSERT_LE(heat.begins.size(), HeatMap::kMostRanges);
    ASSERT_EQ(heat.begins.front(), "");
    for (size_t i = 1; i < heat.begins.size(); ++i) ASSERT_LT(heat.begins[i - 1], heat.begins[i]);
    if (heat.epoch != epoch) ++changes;
    epoch = heat.epoch;
  }
  EXPECT_NEAR(SumOf(Read(), RowAccess::kRead), reads, reads / 1e5);
  EXPECT_NEAR(SumOf(Read(), RowAccess::kWrite), writes, writes / 1e5);
  EXPECT_GE(Read().begins.size(), HeatMap::kMostRanges - 1);
  EXPECT_GT(changes, HeatMap::kMostRanges);
}

TEST_F(HeatMapTest, ColumnsOlderThanHalfAnHourAreForgotten) {
  map_.Add("t", "a", RowAccess::kRead, 1);
  constexpr auto kColumns = static_cast<int64_t>(HeatMap::kColumns);
  Second((kColumns - 1) * HeatMap::kColumnSeconds);
  EXPECT_EQ(Read().columns.size(), 1u);
  Second(kColumns * HeatMap::kColumnSeconds);
  EXPECT_EQ(Read().columns.size(), 0u);
  // The new column is where the old one was.
  map_.Add("t", "a", RowAccess::kRead, 7);
  EXPECT_EQ(SumOf(Read(), RowAccess::kRead), 7);
}

TEST_F(HeatMapTest, OnlyWhatIsNewIsReadWhileTheRangesAreTheSame) {
  map_.Add("t", "a", RowAccess::kRead, 1);
  Second(5);
  map_.Add("t", "a", RowAccess::kRead, 1);
  const TableHeat heat = Read();
  const int64_t last = heat.columns.back().number;
  EXPECT_EQ(map_.Read("t", heat.epoch, last)->columns.size(), 1u);
  EXPECT_EQ(map_.Read("t", heat.epoch + 1, last)->columns.size(), 2u);
  map_.SetTablets("t", {"", "m"});
  EXPECT_EQ(map_.Read("t", heat.epoch, last)->columns.size(), 2u);
}

TEST_F(HeatMapTest, RangesBeginWhereTabletsDo) {
  map_.Add("t", "a", RowAccess::kRead, 4);
  map_.SetTablets("t", {"", "g", "p"});
  const TableHeat heat = Read();
  EXPECT_EQ(heat.begins, std::vector<std::string>({"", "g", "p"}));
  EXPECT_EQ(SumOf(heat, RowAccess::kRead), 4);
  const uint64_t epoch = heat.epoch;
  map_.SetTablets("t", {"", "g", "p"});
  EXPECT_EQ(Read().epoch, epoch);
}

TEST_F(HeatMapTest, RangesAreOfAboutTheSameSize) {
  map_.Add("t", "a", RowAccess::kRead, 1);
  std::vector<RowKeySample> samples;
  for (uint64_t i = 1; i < 200; ++i) samples.push_back({HeatKey(i), i * 1000});
  samples.push_back({"", 200'000});
  map_.SetSizes("t", samples);
  const std::vector<std::string> begins = Read().begins;
  EXPECT_GT(begins.size(), 24u);
  EXPECT_LE(begins.size(), HeatMap::kMostSizedRanges);
  for (size_t i = 2; i < begins.size(); ++i) {
    const int rows = std::stoi(begins[i].substr(1)) - std::stoi(begins[i - 1].substr(1));
    EXPECT_LE(rows, 2 * 200 / 48 + 1) << begins[i];
  }
}

TEST_F(HeatMapTest, TheTableThatIsIdleForLongestMakesRoom) {
  for (size_t i = 0; i < HeatMap::kMostTables; ++i) {
    map_.Add(HeatKey(i), "a", RowAccess::kRead, 1);
    Second(static_cast<int64_t>(i + 1) * HeatMap::kColumnSeconds);
  }
  map_.Add(HeatKey(0), "a", RowAccess::kRead, 1);
  map_.Add("new", "a", RowAccess::kRead, 1);
  EXPECT_EQ(map_.Tables().size(), HeatMap::kMostTables);
  EXPECT_TRUE(map_.Read(HeatKey(0), 0, 0).has_value());
  EXPECT_FALSE(map_.Read(HeatKey(1), 0, 0).has_value());
  EXPECT_TRUE(map_.Read("new", 0, 0).has_value());
}

TEST_F(HeatMapTest, FewRowsAreAllCounted) {
  RowSampler sampler(&map_);
  for (int second = 0; second < 5; ++second) {
    for (int i = 0; i < 500; ++i) sampler.Count("t", "a", RowAccess::kRead);
    sampler.Tick();
  }
  EXPECT_EQ(sampler.period(), 1u);
  EXPECT_EQ(SumOf(Read(), RowAccess::kRead), 2500);
}

TEST_F(HeatMapTest, OfManyRowsASampleStandsForAll) {
  RowSampler sampler(&map_);
  constexpr double kRows = 3'000'000;
  for (int i = 0; i < static_cast<int>(kRows); ++i) {
    sampler.Count("t", i % 4 == 0 ? "a" : "b", RowAccess::kWrite);
    if (i % 1'000'000 == 0) sampler.Tick();
  }
  EXPECT_GT(sampler.period(), 100u);
  // Some thousand rows were chosen, so this is many standard deviations.
  EXPECT_NEAR(SumOf(Read(), RowAccess::kWrite), kRows, kRows / 8);
  // The period falls as soon as the rate has.
  sampler.Tick();
  sampler.Tick();
  EXPECT_EQ(sampler.period(), 1u);
  const double before = SumOf(Read(), RowAccess::kRead);
  for (int i = 0; i < 10; ++i) sampler.Count("t", "a", RowAccess::kRead);
  EXPECT_EQ(SumOf(Read(), RowAccess::kRead), before + 10);
}

}  // namespace
}  // namespace bigtable::server
