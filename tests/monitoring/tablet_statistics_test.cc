// The statistics of the tablets and servers of a split table in Database::Statistics.
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "support/database_fixture.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class NoTraces final : public TraceSink {
 public:
  void OnTrace(const RequestTrace& /*trace*/) override {}
};

class TabletStatisticsTest : public DatabaseFixture {
 protected:
  void TearDown() override { database_.reset(); }  // before the sink

  // Measures every call, since every call is traced.
  DatabaseOptions MeasuringOptions(int servers) {
    DatabaseOptions options = Options();
    options.tablet_servers = servers;
    options.trace_one_of = 1;
    options.trace_sink = &sink_;
    return options;
  }
  // Three tablets; the end rows are "h", "p" and none.
  Table* CreateSplitTable() {
    TableSchema schema;
    schema.families["f"] = {};
    EXPECT_OK(database_->CreateTable("t", schema, {.split_rows = {"h", "p"}}));
    return OpenTable("t");
  }
  // By end row, which is "" for none.
  std::map<std::string, TabletStatistics> Tablets() {
    std::map<std::string, TabletStatistics> tablets;
    for (const auto& [name, server] : database_->Statistics().servers) {
      for (const TabletStatistics& tablet : server.tablets) {
        if (tablet.table != "t") continue;
        EXPECT_TRUE(tablets.emplace(tablet.rows.end().value_or(""), tablet).second);
      }
    }
    EXPECT_EQ(tablets.size(), 3u);
    return tablets;
  }

  NoTraces sink_;
};

TEST_F(TabletStatisticsTest, TabletsHaveTheirRowRangesAndAreSpreadOverTheServers) {
  Open(MeasuringOptions(3));
  CreateSplitTable();
  std::map<std::string, TabletStatistics> tablets = Tablets();
  EXPECT_EQ(tablets["h"].rows.begin(), "");
  EXPECT_EQ(tablets["p"].rows.begin(), "h");
  EXPECT_EQ(tablets[""].rows.begin(), "p");
  EXPECT_EQ(tablets[""].rows.end(), std::nullopt);
  int with_one = 0;
  for (const auto& [name, server] : database_->Statistics().servers) {
    if (server.tablets.size() == 1 && server.tablets[0].table == "t") ++with_one;
  }
  EXPECT_EQ(with_one, 3);
}

TEST_F(TabletStatisticsTest, ACallIsMeasuredForATabletIfThatTabletAloneServesIt) {
  Open(MeasuringOptions(2));
  Table* const table = CreateSplitTable();
  for (const char* row : {"a", "b", "c", "i", "x", "z"}) Set(table, row, "f:q", 1, "v");
  for (const char* row : {"a", "i", "j", "j"}) ASSERT_OK(table->ReadRow(row));
  const auto apply = [&](std::vector<std::string> rows) {
    std::vector<RowMutation> batch;
    for (const std::string& row : rows) batch.push_back(RowMutation(row).Set("f:q", "v"));
    for (const absl::Status& status : table->ApplyBatch(batch)) EXPECT_OK(status);
  };
  apply({"a", "z", "b"});  // served by two tablets
  apply({"q"});
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "a b c i q x z");
  {
    Scanner scanner(table);
    EXPECT_NE(ShowStream(scanner.FetchColumnFamily("f")), "");
  }

  std::map<std::string, TabletStatistics> tablets = Tablets();
  EXPECT_EQ(tablets["h"].rows_written, 5u);
  EXPECT_EQ(tablets["p"].rows_written, 1u);
  EXPECT_EQ(tablets[""].rows_written, 4u);
  EXPECT_EQ(tablets["h"].apply.count, 3u);
  EXPECT_EQ(tablets["p"].apply.count, 1u);
  EXPECT_EQ(tablets[""].apply.count, 2u);
  EXPECT_EQ(tablets["h"].apply_batch.count, 0u);
  EXPECT_EQ(tablets[""].apply_batch.count, 1u);
  EXPECT_EQ(tablets["h"].read_row.count, 1u);
  EXPECT_EQ(tablets["p"].read_row.count, 3u);
  EXPECT_EQ(tablets[""].read_row.count, 0u);
  EXPECT_EQ(tablets["h"].next_row.count, 3u);
  EXPECT_EQ(tablets["p"].next_row.count, 1u);
  EXPECT_EQ(tablets[""].next_row.count, 4u);  // includes the call that finds the end
  EXPECT_EQ(tablets["h"].next_cell.count, 3u);
  EXPECT_EQ(tablets["p"].next_cell.count, 1u);
  EXPECT_EQ(tablets[""].next_cell.count, 4u);

  const DatabaseStatistics statistics = database_->Statistics();
  EXPECT_EQ(statistics.families.at("t").at("f").cells_written, 10u);
  EXPECT_EQ(statistics.calls.at("t").apply_batch.calls, 2u);
  EXPECT_EQ(statistics.calls.at("t").batch_mutations, 4u);
  EXPECT_EQ(statistics.calls.at("t").stream_rows, 14u);
}

TEST_F(TabletStatisticsTest, SizesAreThoseOfTheTablet) {
  const ScopedShortcutsOn shortcuts;
  Open(MeasuringOptions(1));
  Table* const table = CreateSplitTable();
  Set(table, "a", "f:q", 1, std::string(1000, 'v'));
  EXPECT_GT(Tablets()["h"].size.memtable_bytes, Tablets()["p"].size.memtable_bytes + 999);
  ASSERT_OK(database_->Flush("t"));
  Set(table, "b", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  std::map<std::string, TabletStatistics> tablets = Tablets();
  EXPECT_GE(tablets["h"].size.files, 1u);
  EXPECT_GT(tablets["h"].size.file_bytes, 0u);
  EXPECT_EQ(tablets["h"].minor.finished, 2u);
  EXPECT_EQ(tablets["p"].size.files, 0u);
  EXPECT_EQ(tablets["p"].minor.finished, 0u);
}

TEST_F(TabletStatisticsTest, ServersHaveTheSameLabelsInEachOpening) {
  Open(MeasuringOptions(3));
  Set(CreateTable("t", {"f"}), "r", "f:q", 1, "v");
  {
    const auto servers = database_->Statistics().servers;
    EXPECT_EQ(servers.size(), 5u);             // includes the two of METADATA
    EXPECT_NE(servers.at("user-0").name, "");  // it has the tablet
    EXPECT_EQ(servers.at("user-1").name, "");
    EXPECT_EQ(servers.at("user-2").name, "");
    uint64_t log_bytes = 0;
    for (const auto& [name, server] : servers) {
      if (!server.tablets.empty() && server.tablets[0].table == "t") {
        log_bytes = server.log_bytes_live;
      }
    }
    EXPECT_GT(log_bytes, 0u);
  }
  ASSERT_OK(database_->Close());
  database_.reset();
  DatabaseOptions options = MeasuringOptions(2);
  options.read_only = true;
  Open(options);
  const auto servers = database_->Statistics().servers;
  EXPECT_TRUE(servers.contains("metadata"));
  EXPECT_TRUE(servers.contains("user-0"));
  EXPECT_TRUE(servers.contains("user-1"));
}

TEST_F(TabletStatisticsTest, WriteCountsSurviveSplitsMovesAndMergesOfTablets) {
  Open(MeasuringOptions(2));
  Table* const table = CreateTable("t", {"f"});
  for (const char* row : {"a", "b", "x"}) Set(table, row, "f:q", 1, "v");
  const auto rows_by_end = [&] {
    std::map<std::string, uint64_t> rows;
    for (const auto& [name, server] : database_->Statistics().servers) {
      for (const TabletStatistics& tablet : server.tablets) {
        if (tablet.table == "t") rows[tablet.rows.end().value_or("")] = tablet.rows_written;
      }
    }
    EXPECT_EQ(database_->Statistics().families.at("t").at("f").cells_written,
              database_->Statistics().calls.at("t").apply.calls);
    return rows;
  };
  using Rows = std::map<std::string, uint64_t>;
  ASSERT_OK(database_->SplitTablet("t", "m"));
  EXPECT_EQ(rows_by_end(), (Rows{{"m", 3}, {"", 0}}));
  Set(table, "z", "f:q", 1, "v");
  EXPECT_EQ(rows_by_end(), (Rows{{"m", 3}, {"", 1}}));
  for (const int server : {0, 1}) ASSERT_OK(database_->MoveTablet("t", "a", server));
  EXPECT_EQ(rows_by_end(), (Rows{{"m", 3}, {"", 1}}));
  Set(table, "c", "f:q", 1, "v");
  ASSERT_OK(database_->MergeTablets("t", "m"));
  EXPECT_EQ(rows_by_end(), (Rows{{"", 5}}));
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "a b c x z");
}

TEST_F(TabletStatisticsTest, CallsAreCountedOnceWhileTheirTabletsAreSplitAndMerged) {
  constexpr uint64_t kEach = 400;
  Open(MeasuringOptions(2));
  Table* const table = CreateTable("t", {"f"});
  std::vector<std::thread> threads;
  for (const char* row : {"a", "z"}) {
    threads.emplace_back([&, row] {
      for (uint64_t i = 0; i < kEach; ++i) {
        Set(table, row, "f:q", 1, "v");
        EXPECT_OK(table->ReadRow(row));
        RowReader reader = table->ReadRows(RowRange::All());
        EXPECT_TRUE(reader.Next());
      }
    });
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_OK(database_->SplitTablet("t", "m"));
    EXPECT_LE(database_->Statistics().families.at("t")["f"].cells_written, 2 * kEach);
    EXPECT_OK(database_->MoveTablet("t", "a", i % 2));
    EXPECT_OK(database_->MergeTablets("t", "m"));
  }
  for (std::thread& thread : threads) thread.join();
  DatabaseStatistics statistics = database_->Statistics();
  EXPECT_EQ(statistics.families["t"]["f"].cells_written, 2 * kEach);
  EXPECT_EQ(statistics.calls["t"].apply.calls, 2 * kEach);
  EXPECT_EQ(statistics.calls["t"].apply.errors, 0u);
  EXPECT_EQ(statistics.calls["t"].read_row.calls, 2 * kEach);
  EXPECT_EQ(statistics.calls["t"].stream_rows, 2 * kEach);
}

// For the sanitizers: a call keeps its counters alive when its tablet is superseded or deleted.
TEST_F(TabletStatisticsTest, StatisticsMayBeReadWhileTablesAreCreatedUsedAndDeleted) {
  Open(MeasuringOptions(2));
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      const std::string name = absl::StrCat("t", t);
      for (int i = 0; i < 10; ++i) {
        TableSchema schema;
        schema.families["f"] = {};
        EXPECT_OK(database_->CreateTable(name, schema, {.split_rows = {"m"}}));
        Table* const table = OpenTable(name);
        Set(table, "a", "f:q", 1, "v");
        Set(table, "z", "f:q", 1, "v");
        RowReader reader = table->ReadRows(RowRange::All());
        EXPECT_TRUE(reader.Next());
        EXPECT_OK(database_->DeleteTable(name));
        while (reader.Next()) {
        }
        EXPECT_STATUS(kNotFound, "deleted", reader.status());
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    for (const auto& [name, server] : database_->Statistics().servers) {
      for (const TabletStatistics& tablet : server.tablets) EXPECT_LE(tablet.apply.count, 100u);
    }
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace bigtable
