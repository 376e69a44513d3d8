// The statistics of calls, families, servers and tablets in Database::Statistics: counts are exact,
// and the latencies include every long wait.
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "monitoring/call_timer.h"
#include "support/database_fixture.h"

namespace bigtable {
namespace {

// --- Sampling ---

TEST(SampleGapsTest, OneOfEachGroupIsTakenAtChangingPositions) {
  SampleGaps gaps(7);
  std::vector<int> taken_at(SampleGaps::kMean);
  int64_t at = -1;
  for (int64_t group = 0; group < 16000; ++group) {
    at += gaps.Next();
    ASSERT_EQ(at / SampleGaps::kMean, group);
    ++taken_at[static_cast<size_t>(at % SampleGaps::kMean)];
  }
  for (const int taken : taken_at) EXPECT_NEAR(taken, 16000 / SampleGaps::kMean, 90);
}

void Describe(RequestTrace* /*trace*/) {}

class CallTimerTest : public testing::Test {
 protected:
  LatencyHistogram Latency() const { return monitor_.counters.Read().read_row.latency; }

  Tracer tracer_{nullptr, 0};
  TableMonitor monitor_{&tracer_, "t"};
};

TEST_F(CallTimerTest, CountsAreExactAndLatenciesRepresentAllCalls) {
  for (int i = 0; i < 1600; ++i) CallTimer(&monitor_, Call::kReadRow, Describe);
  EXPECT_EQ(monitor_.counters.Read().read_row.calls, 1600u);
  EXPECT_NEAR(static_cast<double>(Latency().count), 1600, SampleGaps::kMean);
  EXPECT_EQ(monitor_.counters.Read().apply.calls, 0u);
}

TEST_F(CallTimerTest, AThreadsFirstCallIsNotMeasuredMoreOftenThanOthers) {
  int measured = 0;
  for (int i = 0; i < 320; ++i) {
    std::thread([&] {
      const CallTimer timer(&monitor_, Call::kReadRow, Describe);
      measured += timer.sample() != nullptr ? 1 : 0;
    }).join();
  }
  EXPECT_NEAR(measured, 320 / SampleGaps::kMean, 15);
}

TEST_F(CallTimerTest, EveryCallThatWaitsLongIsRecordedOnce) {
  constexpr int kLong = 100;
  for (int i = 0; i < kLong; ++i) {
    const CallTimer timer(&monitor_, Call::kReadRow, Describe);
    thread_calls.waited += 50 * ThreadCalls::kSlowNanos;
  }
  // The calls that were also measured by the clock are recorded with their true, short duration.
  const LatencyHistogram latency = Latency();
  EXPECT_EQ(latency.count, uint64_t{kLong});
  uint64_t long_ones = 0;
  for (const LatencyHistogram::Bucket& bucket : latency.buckets) {
    if (bucket.above > absl::Milliseconds(40)) long_ones += bucket.count;
  }
  EXPECT_NEAR(static_cast<double>(long_ones), kLong - kLong / SampleGaps::kMean, 2);
}

TEST_F(CallTimerTest, AWaitBeforeACallDoesNotCountForTheCall) {
  for (int i = 0; i < 2; ++i) thread_calls.waited += 50 * ThreadCalls::kSlowNanos;
  { const CallTimer timer(&monitor_, Call::kReadRow, Describe); }
  EXPECT_LT(Latency().max, absl::Milliseconds(40));
}

TEST_F(CallTimerTest, StreamsOfAnyLengthAddEveryCall) {
  for (int length = 0; length < 40; ++length) {
    StreamCalls stream(&monitor_, Call::kNextRow, RequestTrace::Request::kReadRows);
    for (int i = 0; i < length; ++i) {
      const StreamCalls::Timer timer(&stream);
      for (int cell = 0; cell < 3; ++cell) stream.CountPart();
    }
  }
  const TableCallStatistics calls = monitor_.counters.Read();
  EXPECT_EQ(calls.streams, 40u);
  EXPECT_EQ(calls.next_row.calls, 780u);
  EXPECT_EQ(calls.stream_rows, 780u);
  EXPECT_EQ(calls.stream_cells, 2340u);
  EXPECT_NEAR(static_cast<double>(calls.next_row.latency.count), 780, 700);
}

TEST_F(CallTimerTest, StreamCallsWithoutAResultAreNotCountedAsRows) {
  for (const Call call : {Call::kNextRow, Call::kNextCell}) {
    const TableCallStatistics before = monitor_.counters.Read();
    {
      StreamCalls stream(&monitor_, call, RequestTrace::Request::kReadRows);
      for (int i = 0; i < 2500; ++i) {
        const StreamCalls::Timer timer(&stream);
        if (i % 5 == 0) {
          stream.CountNone();
          continue;
        }
        for (int part = 0; part < 3; ++part) stream.CountPart();
        if (i % 5 == 1) stream.DropParts(2);
        // The counts that other threads see may be too low, but never too high.
        const TableCallStatistics now = monitor_.counters.Read();
        EXPECT_LE(now.stream_rows - before.stream_rows, 3u * (i + 1));
        EXPECT_LE(now.stream_cells - before.stream_cells, 3u * (i + 1));
      }
      EXPECT_GE(monitor_.counters.Read().stream_cells, before.stream_cells + 1000);
    }
    const TableCallStatistics after = monitor_.counters.Read();
    const uint64_t rows = after.stream_rows - before.stream_rows;
    const uint64_t cells = after.stream_cells - before.stream_cells;
    EXPECT_EQ(call == Call::kNextRow ? rows : cells, 2000u);
    EXPECT_EQ(call == Call::kNextRow ? cells : rows, 5000u);
  }
}

// --- A database ---

class CallStatisticsTest : public DatabaseFixture {
 protected:
  TableCallStatistics Calls() { return database_->Statistics().calls.at("t"); }
};

TEST_F(CallStatisticsTest, EachCallIsCountedForItsTable) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  CreateTable("other", {"f"});
  for (int i = 0; i < 7; ++i) Set(table, absl::StrCat("row", i), "f:q", 1, "v");
  EXPECT_FALSE(table->Apply(RowMutation("r").Set("nowhere:q", "v")).ok());
  std::vector<RowMutation> batch;
  for (int i = 0; i < 3; ++i)
    batch.push_back(RowMutation(absl::StrCat("batch", i)).Set("f:q", "v"));
  batch.push_back(RowMutation("bad"));
  EXPECT_EQ(table->ApplyBatch(batch).size(), 4u);
  for (int i = 0; i < 5; ++i) ASSERT_OK(table->ReadRow("row1"));
  EXPECT_FALSE(table->ReadRow("").ok());
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::Prefix("row"))),
            "row0 row1 row2 row3 row4 row5 row6");
  {
    Scanner scanner(table);
    EXPECT_NE(ShowStream(scanner.FetchColumnFamily("f")), "");
  }

  const TableCallStatistics calls = Calls();
  EXPECT_EQ(calls.apply.calls, 8u);
  EXPECT_EQ(calls.apply.errors, 1u);
  EXPECT_EQ(calls.apply_batch.calls, 1u);
  EXPECT_EQ(calls.apply_batch.errors, 1u);
  EXPECT_EQ(calls.batch_mutations, 4u);
  EXPECT_EQ(calls.read_row.calls, 6u);
  EXPECT_EQ(calls.read_row.errors, 1u);
  EXPECT_EQ(calls.next_row.calls, 8u);  // the end included
  EXPECT_EQ(calls.next_row.errors, 0u);
  EXPECT_EQ(calls.next_cell.calls, 11u);
  EXPECT_EQ(calls.streams, 2u);
  EXPECT_EQ(calls.stream_rows, 17u);
  EXPECT_EQ(calls.stream_cells, 17u);
  EXPECT_EQ(database_->Statistics().calls.at("other").apply.calls, 0u);
}

TEST_F(CallStatisticsTest, AStreamThatIsNotReadToItsEndIsCountedToo) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 50; ++i) Set(table, absl::StrCat("row", i), "f:q", 1, "v");
  {
    RowReader reader = table->ReadRows(RowRange::All());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(reader.Next());
    EXPECT_LE(Calls().stream_rows, 20u);
  }
  EXPECT_EQ(Calls().stream_rows, 20u);
  EXPECT_EQ(Calls().next_row.calls, 20u);
}

TEST_F(CallStatisticsTest, TheResultsOfAStreamThatFailsAreCounted) {
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = Options();
  options.file_system = &faulty;
  options.read_mode = FileSystem::ReadMode::kPositional;
  absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
  ASSERT_OK(opened);
  database_ = *std::move(opened);
  Table* const table = CreateTable("t", {"f"});
  for (const char* row : {"a", "b", "c"}) {
    RowMutation mutation(row);
    for (int i = 0; i < 60; ++i) mutation.Set(absl::StrCat("f:", i), std::string(1000, 'v'));
    ASSERT_OK(table->Apply(mutation));
  }
  ASSERT_OK(database_->Flush("t"));

  bool failed = true;
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t errors = 0;
  for (uint64_t n = 1; failed; ++n) {
    faulty.CountCalls({{FileCall::kRead}, {}});
    faulty.FailCall(n, absl::UnavailableError("no"));
    {
      RowReader reader = table->ReadRows(RowRange::All(), {.fill_cache = false});
      for (const Row& row : reader) {
        ++rows;
        cells += row.cells().size();
      }
      failed = !reader.status().ok();
    }
    if (failed) ++errors;
    EXPECT_EQ(Calls().stream_rows, rows);
    EXPECT_EQ(Calls().stream_cells, cells);
    EXPECT_EQ(Calls().next_row.errors, errors);
  }
  EXPECT_GT(errors, 5u);
  database_.reset();  // before its file system
}

TEST_F(CallStatisticsTest, ATableThatWasDeletedAndCreatedAgainStartsAtZero) {
  Open();
  Set(CreateTable("t", {"f"}), "r", "f:q", 1, "v");
  EXPECT_EQ(Calls().apply.calls, 1u);
  ASSERT_OK(database_->DeleteTable("t"));
  EXPECT_FALSE(database_->Statistics().calls.contains("t"));
  CreateTable("t", {"f"});
  EXPECT_EQ(Calls().apply.calls, 0u);
}

TEST_F(CallStatisticsTest, ConcurrentCallsAreAllCounted) {
  constexpr int kThreads = 6;
  constexpr int kEach = 500;
  Open();
  Table* const table = CreateTable("t", {"f"});
  const DatabaseStatistics before = database_->Statistics();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        EXPECT_OK(table->Apply(RowMutation(absl::StrCat("row", t)).Set("f:q", "value")));
        EXPECT_OK(table->ReadRow(absl::StrCat("row", t)));
        RowReader reader = table->ReadRows(RowRange::Single(absl::StrCat("row", t)));
        EXPECT_TRUE(reader.Next());
      }
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_LE(Calls().read_row.calls, uint64_t{kThreads} * kEach);
  for (std::thread& thread : threads) thread.join();

  const DatabaseStatistics after = database_->Statistics();
  const TableCallStatistics& calls = after.calls.at("t");
  EXPECT_EQ(calls.apply.calls, uint64_t{kThreads} * kEach);
  EXPECT_EQ(calls.read_row.calls, uint64_t{kThreads} * kEach);
  EXPECT_EQ(calls.next_row.calls, uint64_t{kThreads} * kEach);
  EXPECT_EQ(calls.stream_rows, uint64_t{kThreads} * kEach);
  const FamilyStatistics& family = after.families.at("t").at("f");
  EXPECT_EQ(family.cells_written, uint64_t{kThreads} * kEach);
  EXPECT_EQ(family.bytes_written, uint64_t{kThreads} * kEach * 6);
  // A sampled call represents several calls; a call with a long wait represents itself.
  const auto measured = static_cast<double>(calls.read_row.latency.count);
  EXPECT_NEAR(measured, kThreads * kEach, kThreads * kEach / 1.5);
}

TEST_F(CallStatisticsTest, FamiliesCountCellsDeletionsAndBytesAcrossAChangeOfTheSchema) {
  Open();
  TableSchema schema;
  schema.locality_groups["other"] = {};
  schema.families["b"] = {};
  schema.families["c"] = {.locality_group = "other"};
  Table* const table = CreateTable("t", schema);
  ASSERT_OK(table->Apply(RowMutation("r").Set("b:qq", "val").Set("c:", "value").Delete("c:qqqq")));
  ASSERT_OK(database_->AddFamily("t", "a", {}));  // sorts before the others
  ASSERT_OK(table->Apply(RowMutation("r").Set("a:q", "v").Set("b:q", "v").DeleteFamily("c")));
  ASSERT_OK(table->Apply(RowMutation("r").DeleteRow()));
  ASSERT_OK(database_->Flush("t"));

  const auto families = database_->Statistics().families.at("t");
  EXPECT_EQ(families.at("a").cells_written, 1u);
  EXPECT_EQ(families.at("a").bytes_written, 2u);
  EXPECT_EQ(families.at("b").cells_written, 2u);
  EXPECT_EQ(families.at("b").bytes_written, 7u);
  EXPECT_EQ(families.at("b").deletions_written, 0u);
  EXPECT_EQ(families.at("c").cells_written, 1u);
  EXPECT_EQ(families.at("c").deletions_written, 2u);
  EXPECT_EQ(families.at("c").bytes_written, 9u);

  // A replayed write is not counted again.
  Set(table, "r", "a:q", 1, "v");
  Kill();
  Open();
  EXPECT_EQ(database_->Statistics().families.at("t").at("a").cells_written, 0u);
}

TEST_F(CallStatisticsTest, ServersAndTabletsCountTheirWritesAndCompactions) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  const auto user_server = [&] {
    for (const auto& [name, server] : database_->Statistics().servers) {
      if (server.tablets.size() == 1 && server.tablets[0].table == "t") return server;
    }
    ADD_FAILURE() << "no server has the table";
    return TabletServerStatistics();
  };
  const TabletServerStatistics before = user_server();
  for (int i = 0; i < 320; ++i) Set(table, absl::StrCat("row", i), "f:q", 1, "v");
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(table->Apply(RowMutation("s").Set("f:q", "v"), {.durability = Durability::kSync}));
  }
  ASSERT_OK(database_->Flush("t"));
  Set(table, "row", "f:q", 1, "v");
  ASSERT_OK(database_->Compact("t"));

  const TabletServerStatistics server = user_server();
  EXPECT_EQ(server.rows_written - before.rows_written, 324u);
  EXPECT_EQ(server.writes - before.writes, 324u);
  EXPECT_EQ(server.write_groups - before.write_groups, 324u);
  EXPECT_EQ(server.log_records - before.log_records, 324u);
  EXPECT_EQ(server.log_sync.count, 3u);
  EXPECT_NEAR(static_cast<double>(server.log_append.count), 324, 2 * SampleGaps::kMean);
  EXPECT_EQ(server.memtable_apply.count, server.log_append.count);
  EXPECT_NEAR(static_cast<double>(server.queue_wait.count), 324, 2 * SampleGaps::kMean);
  EXPECT_EQ(server.minor.finished, 2u);
  EXPECT_EQ(server.minor_compaction.count, 2u);
  EXPECT_EQ(server.merging.finished, 1u);
  EXPECT_EQ(server.merging_compaction.count, 1u);
  EXPECT_GT(server.merging.bytes_read, 0u);
  EXPECT_GT(server.merging.time, absl::ZeroDuration());
  EXPECT_EQ(server.tablets[0].minor.finished, 2u);
  EXPECT_EQ(server.tablets[0].minor.bytes_written, server.minor.bytes_written);
  EXPECT_EQ(server.tablets[0].merging.bytes_read, server.merging.bytes_read);
}

TEST_F(CallStatisticsTest, TheHistogramContainsEveryReadThatWaitsForItsFile) {
  FaultyFileSystem slow(file_system_.get());
  DatabaseOptions options = Options();
  options.file_system = &slow;
  options.read_mode = FileSystem::ReadMode::kPositional;
  absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
  ASSERT_OK(opened);
  database_ = *std::move(opened);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));

  slow.DelayCalls({{FileCall::kRead}, {}}, absl::Milliseconds(5));
  for (int i = 0; i < 40; ++i) ASSERT_OK(table->ReadRow("r", {}, {.fill_cache = false}));
  slow.DelayCalls({}, absl::ZeroDuration());

  const LatencyHistogram latency = Calls().read_row.latency;
  EXPECT_EQ(latency.count, 40u);
  EXPECT_GE(latency.min, absl::Milliseconds(5));
  EXPECT_GE(latency.Percentile(1), absl::Milliseconds(4.9));
  database_.reset();  // before its file system
}

}  // namespace
}  // namespace bigtable
