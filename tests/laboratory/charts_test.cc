// What the charts of the comparison of policies are drawn of (bench/compaction/charts/,
// read_csv.h).
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compaction/charts/axis.h"
#include "compaction/charts/repeats.h"
#include "compaction/charts/series.h"
#include "compaction/read_csv.h"

namespace bench {
namespace {

std::string PathOf(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) / name).string();
}

absl::StatusOr<std::vector<RunResult>> Read(const std::string& text) {
  const std::string path = PathOf("runs.csv");
  std::ofstream(path) << text;
  return ReadCsv(path);
}

TEST(ReadCsvTest, ReadsWhatIsWritten) {
  const Policy policy{.style = "fluid(K=2/Z=1)", .factor = 4};
  Sample first;
  first.operations = 10;
  first.write_amplification = 2.5;
  Sample last = first;
  last.read_p99_us = 7;
  const Repeat repeat{.number = 2, .seed = 3};
  const absl::StatusOr<std::vector<RunResult>> runs =
      Read(CsvHeader() + CsvLine("overwrite", policy, repeat, first) +
           CsvLine("overwrite", policy, repeat, last));
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->size(), 1u);
  const RunResult& run = runs->front();
  EXPECT_EQ(run.workload, "overwrite");
  EXPECT_EQ(run.policy.Name(), "fluid(K=2/Z=1):4");
  EXPECT_EQ(run.repeat.number, 2u);
  EXPECT_EQ(run.repeat.seed, 3u);
  ASSERT_EQ(run.samples.size(), 2u);
  EXPECT_EQ(run.samples[0].write_amplification, 2.5);
  EXPECT_TRUE(std::isnan(run.samples[0].read_p99_us));
  EXPECT_EQ(run.samples[1].read_p99_us, 7);
}

TEST(ReadCsvTest, RepeatsAreThoseThatDifferByTheSeedAlone) {
  std::string text = CsvHeader();
  for (const int factor : {4, 5}) {
    for (const uint64_t seed : {1u, 2u, 3u}) {
      Sample sample;
      sample.write_amplification = static_cast<double>(seed) * factor;
      text += CsvLine("overwrite", {.style = "leveled", .factor = factor}, {.seed = seed}, sample);
    }
  }
  const absl::StatusOr<std::vector<RunResult>> runs = Read(text);
  ASSERT_TRUE(runs.ok()) << runs.status();
  const std::vector<Repeats> groups = GroupRepeats(*runs);
  ASSERT_EQ(groups.size(), 2u);
  const Spread spread = SpreadOver(
      groups[0], [](const RunResult& r) { return r.samples.back().write_amplification; });
  EXPECT_DOUBLE_EQ(spread.mean, 8);
  EXPECT_DOUBLE_EQ(spread.deviation, 4);
}

TEST(ReadCsvTest, ErrorsNameTheLine) {
  const std::string path = PathOf("runs.csv");
  const std::string header = "workload,style,factor,seed,repeat,operations\n";
  EXPECT_EQ(Read(header + "a,b,0,1,1,x\n").status().message(),
            path + ", line 2: operations must be a number, not \"x\"");
  EXPECT_EQ(Read(header + "a,b,0,1,1\n").status().message(),
            path + ", line 2: 5 columns, but the header has 6");
  EXPECT_EQ(Read(header + "a,b,z,1,1,5\n").status().message(),
            path + ", line 2: factor, seed and repeat must be whole numbers");
  EXPECT_EQ(Read("workload,style\na,b\n").status().message(),
            path + ": has no column factor, which --csv writes");
  EXPECT_EQ(Read(header).status().message(), path + ": has no line of a sample");
}

TEST(SeriesTest, FifteenDifferByTheirMarkersAndAHundredSomehow) {
  std::set<int> markers;
  std::set<std::tuple<std::string_view, int, int>> styles;
  for (size_t i = 0; i < 105; ++i) {
    const SeriesStyle style = StyleOf(i);
    if (i < 15) markers.insert(style.marker);
    styles.insert({style.color, style.marker, style.dash});
  }
  EXPECT_EQ(markers.size(), 15u);
  EXPECT_EQ(styles.size(), 105u);
}

TEST(LegendTest, HasRoomForEachName) {
  for (const size_t count : {1u, 7u, 40u}) {
    ChartPage page{.panels = 6};
    const Legend legend(std::vector<std::string>(count, std::string(40, 'x')), &page);
    // Forty characters of at least six pixels, and the line before them.
    const int columns = page.width() / (40 * 6 + 40);
    ASSERT_GE(columns, 1);
    EXPECT_GE(page.legend_height * columns, 16 * static_cast<int>(count));
    const std::string script = legend.Script(page);
    size_t labels = 0;
    for (size_t at = script.find("xxxx\""); at != std::string::npos;
         at = script.find("xxxx\"", at + 1)) {
      ++labels;
    }
    EXPECT_EQ(labels, count);
  }
}

TEST(AxisTest, IsLogarithmicIfALineWouldBeFlat) {
  Axis axis;
  EXPECT_TRUE(axis.is_empty());
  axis.Add(0);
  axis.Add(std::nan(""));
  EXPECT_TRUE(axis.is_empty());
  axis.Add(10);
  axis.Add(199);
  EXPECT_FALSE(axis.is_logarithmic());
  EXPECT_NE(axis.Script('y').find("set yrange [0:"), std::string::npos);
  axis.Add(201);
  EXPECT_TRUE(axis.is_logarithmic());
  EXPECT_NE(axis.Script('y').find("set logscale y"), std::string::npos);
}

}  // namespace
}  // namespace bench
