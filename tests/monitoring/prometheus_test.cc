// The text for Prometheus is well formed, according to a small parser of the format, and contains
// the values of the statistics.
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

#include "base/strings.h"
#include "monitoring/latency_recorder.h"
#include "support/database_fixture.h"

namespace bigtable {
namespace {

using Labels = std::map<std::string, std::string>;

// The metrics that a scraper reads from the text. A violation of the format fails the test.
class Scrape {
 public:
  explicit Scrape(const std::string& text) {
    EXPECT_TRUE(text.empty() || text.back() == '\n');
    const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
    for (const std::string& line : lines) Read(line);
    for (const auto& [name, type] : types_) {
      EXPECT_TRUE(metrics_with_lines_.contains(name)) << name << " has no line";
      EXPECT_EQ(type == "counter", name.ends_with("_total")) << name;
      if (type == "histogram") CheckHistograms(name);
    }
  }

  double Value(const std::string& name, const Labels& labels = {}) const {
    const auto found = values_.find({name, labels});
    EXPECT_NE(found, values_.end()) << name;
    return found == values_.end() ? -1 : found->second;
  }
  const std::string& type(const std::string& name) const { return types_.at(name); }

 private:
  void Read(const std::string& line) {
    if (line.starts_with("# HELP ")) {
      const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(' ', 3));
      ASSERT_EQ(parts.size(), 4u) << line;
      EXPECT_TRUE(helped_.insert(parts[2]).second) << "twice: " << line;
      current_ = parts[2];
      EXPECT_FALSE(types_.contains(current_)) << "HELP after TYPE: " << line;
    } else if (line.starts_with("# TYPE ")) {
      const std::vector<std::string> parts = absl::StrSplit(line, ' ');
      ASSERT_EQ(parts.size(), 4u) << line;
      EXPECT_EQ(parts[2], current_) << line;
      EXPECT_TRUE(std::set<std::string>({"counter", "gauge", "histogram"}).contains(parts[3]))
          << line;
      EXPECT_TRUE(types_.emplace(parts[2], parts[3]).second) << "twice: " << line;
    } else {
      ReadSample(line);
    }
  }

  void ReadSample(const std::string& line) {
    size_t at = line.find_first_of("{ ");
    ASSERT_NE(at, std::string::npos) << line;
    const std::string name = line.substr(0, at);
    EXPECT_TRUE(name.starts_with("bigtable_")) << line;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << line;
    Labels labels;
    if (line[at] == '{') {
      do {
        const size_t equals = line.find("=\"", ++at);
        ASSERT_NE(equals, std::string::npos) << line;
        const std::string label = line.substr(at, equals - at);
        EXPECT_FALSE(label.empty()) << line;
        EXPECT_EQ(label.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos)
            << line;
        std::string value;
        for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
          if (line[at] == '\\') {
            ASSERT_LT(++at, line.size()) << line;
            ASSERT_NE(std::string_view("\\\"n").find(line[at]), std::string_view::npos) << line;
            value += line[at] == 'n' ? '\n' : line[at];
          } else {
            value += line[at];
          }
        }
        ASSERT_LT(++at, line.size()) << line;
        EXPECT_TRUE(labels.emplace(label, value).second) << "twice " << label << ": " << line;
      } while (line[at] == ',');
      ASSERT_EQ(line[at++], '}') << line;
    }
    ASSERT_EQ(line[at], ' ') << line;
    double value;
    ASSERT_TRUE(absl::SimpleAtod(line.substr(at + 1), &value)) << line;
    EXPECT_TRUE(values_.emplace(std::make_pair(name, labels), value).second) << "twice: " << line;

    std::string metric = name;
    if (types_[current_] == "histogram") {
      for (const std::string_view suffix : {"_bucket", "_sum", "_count"}) {
        if (name == Cat(current_, suffix)) metric = current_;
      }
    }
    EXPECT_EQ(metric, current_) << "separate from the other lines of its metric: " << line;
    metrics_with_lines_.insert(metric);
    if (name == current_ + "_bucket") {
      double bound;
      ASSERT_TRUE(labels.contains("le")) << line;
      ASSERT_TRUE(absl::SimpleAtod(labels.at("le"), &bound)) << line;
      labels.erase("le");
      buckets_[{current_, labels}].emplace_back(bound, value);
    }
  }

  void CheckHistograms(const std::string& name) {
    for (const auto& [key, buckets] : buckets_) {
      if (key.first != name) continue;
      for (size_t i = 1; i < buckets.size(); ++i) {
        EXPECT_LT(buckets[i - 1].first, buckets[i].first) << name;
        EXPECT_LE(buckets[i - 1].second, buckets[i].second) << name;
      }
      EXPECT_TRUE(std::isinf(buckets.back().first)) << name;
      EXPECT_EQ(buckets.back().second, Value(name + "_count", key.second)) << name;
      EXPECT_GE(Value(name + "_sum", key.second), 0) << name;
    }
  }

  std::string current_;
  std::set<std::string> helped_;
  std::map<std::string, std::string> types_;
  std::set<std::string> metrics_with_lines_;
  std::map<std::pair<std::string, Labels>, double> values_;
  std::map<std::pair<std::string, Labels>, std::vector<std::pair<double, double>>> buckets_;
};

TEST(PrometheusTest, EmptyStatisticsAreWellFormed) {
  const Scrape scrape(ToPrometheusText({}));
  EXPECT_EQ(scrape.Value("bigtable_background_error"), 0);
  EXPECT_EQ(scrape.Value("bigtable_write_stall", {{"reason", "memory"}}), 0);
}

TEST(PrometheusTest, HistogramsAreCumulativeInSecondsWithExactCountsAtTheirBounds) {
  LatencyRecorder recorder;
  recorder.Record(1024);     // at a bound: in its bucket
  recorder.Record(1025, 3);  // in the next
  recorder.Record(int64_t{1} << 38);
  DatabaseStatistics statistics;
  statistics.calls["t"].read_row.latency = recorder.Read();
  statistics.calls["t"].read_row.calls = 77;
  const std::string text = ToPrometheusText(statistics);
  const Scrape scrape(text);

  const std::string name = "bigtable_call_duration_seconds";
  EXPECT_EQ(scrape.type(name), "histogram");
  const auto bucket = [&](const std::string& le) {
    return scrape.Value(name + "_bucket", {{"table", "t"}, {"call", "read_row"}, {"le", le}});
  };
  EXPECT_EQ(bucket("5.12e-07"), 0);
  EXPECT_EQ(bucket("1.024e-06"), 1);
  EXPECT_EQ(bucket("2.048e-06"), 4);
  EXPECT_EQ(bucket("34.359738368"), 4);
  EXPECT_EQ(bucket("+Inf"), 5);
  const Labels labels = {{"table", "t"}, {"call", "read_row"}};
  EXPECT_EQ(scrape.Value(name + "_count", labels), 5);
  EXPECT_NEAR(scrape.Value(name + "_sum", labels), 274.877906944 + 4.099e-6, 1e-7);
  EXPECT_EQ(scrape.Value("bigtable_calls_total", labels), 77);
}

TEST(PrometheusTest, LabelsAreEscaped) {
  DatabaseStatistics statistics;
  statistics.families["quote\" back\\ line\n"]["caf\xc3\xa9"].cells_written = 3;
  const std::string text = ToPrometheusText(statistics);
  EXPECT_NE(text.find("table=\"quote\\\" back\\\\\\\\ line\\n\",family=\"caf\\\\xc3\\\\xa9\"} 3\n"),
            std::string::npos)
      << text;
  const Scrape scrape(text);
  EXPECT_EQ(scrape.Value("bigtable_family_cells_written_total",
                         {{"table", "quote\" back\\\\ line\n"}, {"family", "caf\\xc3\\xa9"}}),
            3);
}

TEST(PrometheusTest, TabletsWithDifferentEndsHaveDifferentLabels) {
  const std::string long_key(60'000, 'k');
  const std::vector<std::string> ends = {"\xe9",
                                         "\\xe9",
                                         "\\\\xe9",
                                         "\\",
                                         "\\\\",
                                         "\n",
                                         "\\n",
                                         "\"",
                                         "\\\"",
                                         "a,table=\"",
                                         long_key + "one",
                                         long_key,
                                         long_key + "two",
                                         std::string(128, 'k'),
                                         std::string("\0", 1)};
  DatabaseStatistics statistics;
  TabletServerStatistics& server = statistics.servers["s"];
  for (size_t i = 0; i < ends.size(); ++i) {
    TabletStatistics& tablet = server.tablets.emplace_back();
    tablet.table = "t";
    tablet.rows = RowRange::RightOpen("", ends[i]);
    tablet.rows_written = i + 1;
  }
  server.tablets.emplace_back().table = "t";
  // Fails if a line occurs twice or cannot be parsed.
  const Scrape scrape(ToPrometheusText(statistics));
  const auto rows_of = [&](const std::string& label) {
    return scrape.Value("bigtable_tablet_rows_written_total",
                        {{"server", "s"}, {"table", "t"}, {"end_row", label}});
  };
  EXPECT_EQ(rows_of(""), 0);
  EXPECT_EQ(rows_of("\\xe9"), 1);
  EXPECT_EQ(rows_of("\\\\xe9"), 2);
  EXPECT_EQ(rows_of(std::string(128, 'k')), 14);
  EXPECT_EQ(rows_of("\\x00"), 15);
}

TEST(PrometheusTest, OnlyTheCallsThatATabletHadHaveAHistogram) {
  LatencyRecorder recorder;
  recorder.Record(1024, 64);
  DatabaseStatistics statistics;
  TabletServerStatistics& server = statistics.servers["s"];
  server.stall_reason = StallReason::kMemory;
  server.write_delay = absl::Seconds(2);
  server.log_bytes_live = 77;
  TabletStatistics& tablet = server.tablets.emplace_back();
  tablet.table = "t";
  tablet.rows = RowRange::RightOpen("", "m");
  tablet.apply = recorder.Read();
  tablet.size.file_bytes = 5;
  const std::string text = ToPrometheusText(statistics);
  const Scrape scrape(text);
  Labels labels = {{"server", "s"}, {"table", "t"}, {"end_row", "m"}};
  EXPECT_EQ(scrape.Value("bigtable_tablet_file_bytes", labels), 5);
  labels["call"] = "apply";
  EXPECT_EQ(scrape.Value("bigtable_tablet_call_duration_seconds_count", labels), 64);
  EXPECT_EQ(text.find("call=\"read_row\""), std::string::npos);
  EXPECT_EQ(scrape.Value("bigtable_server_write_stall", {{"server", "s"}, {"reason", "memory"}}),
            1);
  EXPECT_EQ(scrape.Value("bigtable_server_current_write_delay_seconds", {{"server", "s"}}), 2);
  EXPECT_EQ(scrape.Value("bigtable_server_log_live_bytes", {{"server", "s"}}), 77);
}

TEST(PrometheusTest, StallsAndErrorsAreGauges) {
  DatabaseStatistics statistics;
  statistics.stall_reason = StallReason::kSortedRuns;
  statistics.write_delay = absl::Milliseconds(2);
  statistics.total_write_delay = absl::Seconds(3);
  statistics.background_error = absl::DataLossError("gone");
  const Scrape scrape(ToPrometheusText(statistics));
  EXPECT_EQ(scrape.Value("bigtable_write_stall", {{"reason", "memory"}}), 0);
  EXPECT_EQ(scrape.Value("bigtable_write_stall", {{"reason", "sorted_runs"}}), 1);
  EXPECT_EQ(scrape.Value("bigtable_current_write_delay_seconds"), 0.002);
  EXPECT_EQ(scrape.Value("bigtable_write_delay_seconds_total"), 3);
  EXPECT_EQ(scrape.Value("bigtable_background_error"), 1);
}

TEST(PrometheusTest, FailingWorkQuarantinedFilesAndUnservedTabletsAreCounted) {
  DatabaseStatistics statistics;
  statistics.failing_work.resize(3);
  statistics.failing_work[1].kind = FailingWork::Kind::kCompaction;
  statistics.quarantined_files.resize(2);
  statistics.unserved_tablets.resize(4);
  const Scrape scrape(ToPrometheusText(statistics));
  EXPECT_EQ(scrape.Value("bigtable_failing_work", {{"kind", "flush"}}), 2);
  EXPECT_EQ(scrape.Value("bigtable_failing_work", {{"kind", "compaction"}}), 1);
  EXPECT_EQ(scrape.Value("bigtable_quarantined_files"), 2);
  EXPECT_EQ(scrape.Value("bigtable_unserved_tablets"), 4);
}

using PrometheusDatabaseTest = DatabaseFixture;

TEST_F(PrometheusDatabaseTest, TheTextOfADatabaseIsWellFormedAndMatchesItsStatistics) {
  Open();
  Table* const table = CreateTable("t", {"f", "g"});
  CreateTable("other-table_2", {"f"});
  for (int i = 0; i < 100; ++i) Set(table, absl::StrCat("row", i), "f:q", 1, "value");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(table->ReadRow("row1"));

  const DatabaseStatistics statistics = database_->Statistics();
  const Scrape scrape(ToPrometheusText(statistics));
  EXPECT_EQ(scrape.Value("bigtable_calls_total", {{"table", "t"}, {"call", "apply"}}), 100);
  EXPECT_EQ(scrape.Value("bigtable_calls_total", {{"table", "t"}, {"call", "read_row"}}), 1);
  EXPECT_EQ(
      scrape.Value("bigtable_calls_total", {{"table", "other-table_2"}, {"call", "read_row"}}), 0);
  EXPECT_EQ(scrape.Value("bigtable_family_cells_written_total", {{"table", "t"}, {"family", "f"}}),
            100);
  EXPECT_EQ(scrape.Value("bigtable_family_written_bytes_total", {{"table", "t"}, {"family", "f"}}),
            600);
  EXPECT_EQ(scrape.Value("bigtable_group_files", {{"table", "t"}, {"group", "default"}}), 1);
  EXPECT_EQ(scrape.Value("bigtable_memory_limit_bytes"), 32 << 20);
  const LocationStatistics& locations = statistics.locations;
  EXPECT_EQ(scrape.Value("bigtable_location_lookups_total", {{"level", "metadata"}}),
            static_cast<double>(locations.lookups));
  EXPECT_EQ(scrape.Value("bigtable_location_lookups_total", {{"level", "root_tablet"}}),
            static_cast<double>(locations.root_tablet_lookups));
  EXPECT_EQ(scrape.Value("bigtable_location_lookups_total", {{"level", "root_file"}}),
            static_cast<double>(locations.root_file_lookups));
  for (const auto& [name, server] : statistics.servers) {
    const std::string kinds[] = {"minor", "merging"};
    EXPECT_EQ(scrape.Value("bigtable_server_rows_written_total", {{"server", name}}),
              static_cast<double>(server.rows_written));
    EXPECT_EQ(
        scrape.Value("bigtable_server_compactions_total", {{"server", name}, {"kind", kinds[0]}}),
        static_cast<double>(server.minor.finished));
    if (name == "root") continue;  // its tablet's end row is not text
    for (const TabletStatistics& tablet : server.tablets) {
      const Labels labels = {{"server", name},
                             {"table", tablet.table},
                             {"end_row", tablet.rows.end().value_or("")},
                             {"kind", kinds[1]}};
      EXPECT_EQ(scrape.Value("bigtable_tablet_compaction_read_bytes_total", labels),
                static_cast<double>(tablet.merging.bytes_read));
    }
  }
}

}  // namespace
}  // namespace bigtable
