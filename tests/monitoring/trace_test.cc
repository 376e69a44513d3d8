// A trace contains the steps of a request: for a read, each file with the results of its filter
// and of the cache; for a write, the times of the queue, the log, the sync and the memtable.
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/mutex.h"
#include "monitoring/thread_calls.h"
#include "support/database_fixture.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

using Request = RequestTrace::Request;

class CapturingTraces final : public TraceSink {
 public:
  void OnTrace(const RequestTrace& trace) override {
    EXPECT_EQ(CurrentTrace(), nullptr);
    MutexLock lock(&mutex_);
    traces_.push_back(trace);
  }
  std::vector<RequestTrace> Take() {
    MutexLock lock(&mutex_);
    return std::exchange(traces_, {});
  }

 private:
  Mutex mutex_;
  std::vector<RequestTrace> traces_ ABSL_GUARDED_BY(mutex_);
};

class TraceTest : public DatabaseFixture {
 protected:
  // Some traces show the effects of the shortcuts.
  const ScopedShortcutsOn shortcuts_;

  void TearDown() override { database_.reset(); }  // before the sink
  DatabaseOptions TracingOptions(uint64_t one_of) {
    DatabaseOptions options = Options();
    options.trace_one_of = one_of;
    options.trace_sink = &sink_;
    return options;
  }
  // Creates two files whose row ranges overlap, and a memtable with the row z. The older file has
  // the rows a and c; its filter rules out b. The newer file has the rows aa and b.
  Table* MakeFiles(FileSystem::ReadMode mode, LocalityGroup group) {
    DatabaseOptions options = TracingOptions(1);
    options.read_mode = mode;
    Open(options);
    TableSchema schema;
    group.compaction = CompactionStyle::kNone;
    schema.locality_groups["default"] = group;
    schema.families["f"] = {};
    Table* const table = CreateTable("t", schema);
    Set(table, "a", "f:q", 1, "v");
    Set(table, "c", "f:q", 1, "v");
    EXPECT_OK(database_->Flush("t"));
    Set(table, "b", "f:q", 1, "v");
    Set(table, "aa", "f:q", 1, "v");
    EXPECT_OK(database_->Flush("t"));
    Set(table, "z", "f:q", 1, "v");
    sink_.Take();
    return table;
  }
  RequestTrace TakeOne() {
    const std::vector<RequestTrace> traces = sink_.Take();
    EXPECT_EQ(traces.size(), 1u);
    return traces.empty() ? RequestTrace() : traces[0];
  }

  CapturingTraces sink_;
};

TEST_F(TraceTest, APositionalReadShowsFiltersAndCacheMissesAndThenHits) {
  Table* const table = MakeFiles(FileSystem::ReadMode::kPositional, {.filter_bits = 20});

  ASSERT_OK(table->ReadRow("b"));
  const RequestTrace first = TakeOne();
  EXPECT_EQ(first.request, Request::kReadRow);
  EXPECT_EQ(first.table, "t");
  EXPECT_EQ(first.row, "b");
  EXPECT_OK(first.status);
  EXPECT_EQ(first.rows, 1u);
  EXPECT_EQ(first.cells, 1u);
  EXPECT_EQ(first.memtables, 1u);
  EXPECT_GT(first.duration, absl::ZeroDuration());
  EXPECT_EQ(first.inside, first.duration);
  ASSERT_EQ(first.files.size(), 2u);
  const FileTrace& newer = first.files[0];
  const FileTrace& older = first.files[1];
  EXPECT_GT(newer.number, older.number);
  EXPECT_FALSE(newer.filtered_out);
  EXPECT_EQ(newer.cache_misses, 1u);
  EXPECT_EQ(newer.cache_hits, 0u);
  EXPECT_GT(newer.bytes_read, 0u);
  EXPECT_GT(newer.block_time, absl::ZeroDuration());
  EXPECT_LE(newer.block_time, first.duration);
  EXPECT_TRUE(older.filtered_out);
  EXPECT_EQ(older.cache_misses + older.cache_hits + older.blocks_in_place, 0u);

  ASSERT_OK(table->ReadRow("b"));
  const RequestTrace second = TakeOne();
  ASSERT_EQ(second.files.size(), 2u);
  EXPECT_EQ(second.files[0].cache_hits, 1u);
  EXPECT_EQ(second.files[0].cache_misses, 0u);
  EXPECT_EQ(second.files[0].bytes_read, 0u);
}

TEST_F(TraceTest, AMappedBlockIsFirstTouchedAndThenInPlace) {
  Table* const table = MakeFiles(FileSystem::ReadMode::kMapped, {.filter_bits = 20});
  ASSERT_OK(table->ReadRow("a"));
  ASSERT_OK(table->ReadRow("a"));
  const std::vector<RequestTrace> traces = sink_.Take();
  ASSERT_EQ(traces.size(), 2u);
  const auto file_with_block = [](const RequestTrace& trace) {
    FileTrace found;
    for (const FileTrace& file : trace.files) {
      if (!file.filtered_out) found = file;
    }
    return found;
  };
  EXPECT_EQ(file_with_block(traces[0]).blocks_first_touched, 1u);
  EXPECT_GT(file_with_block(traces[0]).bytes_read, 0u);
  EXPECT_EQ(file_with_block(traces[1]).blocks_first_touched, 0u);
  EXPECT_EQ(file_with_block(traces[1]).blocks_in_place, 1u);
  EXPECT_EQ(file_with_block(traces[1]).bytes_read, 0u);
}

TEST_F(TraceTest, CompressedBlocksAndBlocksInMemoryAreDistinguished) {
  Table* table = MakeFiles(FileSystem::ReadMode::kMapped,
                           {.compression = Compression::kZstd, .filter = FilterKind::kNone});
  // Long enough to be stored compressed.
  Set(table, "m", "f:q", 1, std::string(5000, 'x'));
  ASSERT_OK(database_->Flush("t"));
  sink_.Take();
  ASSERT_OK(table->ReadRow("m"));
  const RequestTrace compressed = TakeOne();
  ASSERT_FALSE(compressed.files.empty());
  EXPECT_EQ(compressed.files[0].cache_misses, 1u);
  ASSERT_OK(table->ReadRow("m"));
  EXPECT_EQ(TakeOne().files[0].cache_hits, 1u);

  TableSchema schema;
  schema.locality_groups["default"] = {.in_memory = true};
  schema.families["f"] = {};
  table = CreateTable("in_memory", schema);
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("in_memory"));
  sink_.Take();
  ASSERT_OK(table->ReadRow("r"));
  EXPECT_EQ(TakeOne().files.at(0).blocks_first_touched, 1u);
  ASSERT_OK(table->ReadRow("r"));
  EXPECT_EQ(TakeOne().files.at(0).blocks_in_place, 1u);
}

TEST_F(TraceTest, AStreamIsOneRequestWithAllItsBlocks) {
  Table* const table = MakeFiles(FileSystem::ReadMode::kPositional, {});
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "a aa b c z");
  const RequestTrace trace = TakeOne();
  EXPECT_EQ(trace.request, Request::kReadRows);
  EXPECT_EQ(trace.rows, 5u);
  EXPECT_EQ(trace.cells, 5u);
  EXPECT_EQ(trace.memtables, 1u);
  ASSERT_EQ(trace.files.size(), 2u);
  for (const FileTrace& file : trace.files) EXPECT_EQ(file.cache_misses, 1u);
  EXPECT_GT(trace.inside, absl::ZeroDuration());
  EXPECT_LE(trace.inside, trace.duration);

  {
    Scanner scanner(table);
    ShowStream(scanner.FetchColumnFamily("f"));
    EXPECT_TRUE(sink_.Take().empty()) << "the stream has not ended";
  }
  const RequestTrace scan = TakeOne();
  EXPECT_EQ(scan.request, Request::kScan);
  EXPECT_EQ(scan.cells, 5u);
  ASSERT_EQ(scan.files.size(), 2u);
  for (const FileTrace& file : scan.files) EXPECT_EQ(file.cache_hits, 1u);
}

TEST_F(TraceTest, AWriteShowsItsTimesInLogSyncAndMemtable) {
  Open(TracingOptions(1));
  Table* const table = CreateTable("t", {"f"});
  const std::string long_row(1000, 'r');
  ASSERT_OK(table->Apply(RowMutation(long_row).Set("f:q", "v"), {.durability = Durability::kSync}));
  const RequestTrace synced = TakeOne();
  EXPECT_EQ(synced.request, Request::kApply);
  EXPECT_EQ(synced.row, long_row.substr(0, RequestTrace::kMostRowBytes));
  EXPECT_EQ(synced.mutations, 1u);
  EXPECT_EQ(synced.group_size, 1u);
  EXPECT_GT(synced.log, absl::ZeroDuration());
  EXPECT_GT(synced.sync, absl::ZeroDuration());
  EXPECT_GT(synced.memtable, absl::ZeroDuration());
  EXPECT_EQ(synced.held_back, absl::ZeroDuration());
  EXPECT_LE(synced.queue + synced.log + synced.sync + synced.memtable, synced.duration);

  std::vector<RowMutation> batch;
  for (int i = 0; i < 3; ++i) batch.push_back(RowMutation(absl::StrCat("r", i)).Set("f:q", "v"));
  batch.push_back(RowMutation("bad"));
  EXPECT_EQ(table->ApplyBatch(batch).size(), 4u);
  const RequestTrace trace = TakeOne();
  EXPECT_EQ(trace.request, Request::kApplyBatch);
  EXPECT_EQ(trace.row, "r0");
  EXPECT_EQ(trace.mutations, 4u);
  EXPECT_STATUS(kInvalidArgument, "", trace.status);
}

TEST_F(TraceTest, AnErrorIsInTheTrace) {
  Open(TracingOptions(1));
  Table* const table = CreateTable("t", {"f"});
  EXPECT_FALSE(table->ReadRow("").ok());
  EXPECT_STATUS(kInvalidArgument, "empty", TakeOne().status);
  EXPECT_STATUS(kInvalidArgument, "row_limit",
                table->ReadRows(RowRange::All(), {.row_limit = -1}).status());
  EXPECT_STATUS(kInvalidArgument, "row_limit", TakeOne().status);
}

TEST_F(TraceTest, ScanCacheHitsAreMarked) {
  DatabaseOptions options = TracingOptions(1);
  options.scan_cache = true;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");
  sink_.Take();
  ASSERT_OK(table->ReadRow("r"));
  EXPECT_FALSE(TakeOne().scan_cache_hit);
  ASSERT_OK(table->ReadRow("r"));
  const RequestTrace trace = TakeOne();
  EXPECT_TRUE(trace.scan_cache_hit);
  EXPECT_EQ(trace.memtables, 0u);
  EXPECT_EQ(trace.cells, 1u);
}

TEST_F(TraceTest, OneOfEveryNRequestsIsTraced) {
  for (const int one_of : {1, 3, 63, 64, 160}) {
    Open(TracingOptions(static_cast<uint64_t>(one_of)));
    Table* const table = CreateTable(absl::StrCat("t", one_of), {"f"});
    constexpr int kReads = 4800;
    for (int i = 0; i < kReads; ++i) ASSERT_OK(table->ReadRow("r"));
    EXPECT_NEAR(static_cast<double>(sink_.Take().size()), kReads / one_of, one_of < 64 ? 1 : 2)
        << one_of;
    database_.reset();
  }
}

TEST_F(TraceTest, TracingWithoutASinkIsRejectedAndRateZeroTracesNothing) {
  DatabaseOptions options = TracingOptions(1);
  options.trace_sink = nullptr;
  options.file_system = file_system_.get();
  EXPECT_STATUS(kInvalidArgument, "trace_sink", Database::Open(kPath, options).status());

  Open(TracingOptions(0));
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 100; ++i) ASSERT_OK(table->ReadRow("r"));
  EXPECT_TRUE(sink_.Take().empty());
}

TEST_F(TraceTest, ConcurrentRequestsHaveSeparateTraces) {
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  Table* const table = MakeFiles(FileSystem::ReadMode::kPositional, {});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        EXPECT_OK(table->Apply(RowMutation(absl::StrCat("row", t)).Set("f:q", "v")));
        EXPECT_OK(table->ReadRow("b"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int writes = 0;
  for (const RequestTrace& trace : sink_.Take()) {
    if (trace.request == Request::kReadRow) {
      ASSERT_LE(trace.files.size(), 2u);
      for (const FileTrace& file : trace.files) EXPECT_LE(file.cache_hits + file.cache_misses, 1u);
    } else {
      ++writes;
      EXPECT_GE(trace.group_size, 1u);
      EXPECT_LE(trace.group_size, uint64_t{kThreads});
      EXPECT_GE(trace.queue, absl::ZeroDuration());
    }
  }
  EXPECT_EQ(writes, kThreads * kEach);
}

TEST_F(TraceTest, TheTraceOfABatchIsTheSumOfItsWritesToEachTablet) {
  DatabaseOptions options = TracingOptions(1);
  options.tablet_servers = 2;
  Open(options);
  TableSchema schema;
  schema.families["f"] = {};
  ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"h", "p"}}));
  Table* const table = OpenTable("t");
  std::vector<RowMutation> batch;
  for (const char* row : {"z", "a", "b", "i"}) batch.push_back(RowMutation(row).Set("f:q", "v"));
  for (const absl::Status& status : table->ApplyBatch(batch)) EXPECT_OK(status);
  const RequestTrace trace = TakeOne();
  EXPECT_EQ(trace.request, Request::kApplyBatch);
  EXPECT_EQ(trace.row, "z");
  EXPECT_EQ(trace.mutations, 4u);
  EXPECT_EQ(trace.group_size, 3u);
  EXPECT_GT(trace.log, absl::ZeroDuration());
  EXPECT_LE(trace.queue + trace.log + trace.sync + trace.memtable, trace.duration);
}

TEST_F(TraceTest, AStreamThroughSeveralTabletsIsOneTraceWithAllTheirFiles) {
  Open(TracingOptions(1));
  TableSchema schema;
  schema.families["f"] = {};
  ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"m"}}));
  Table* const table = OpenTable("t");
  {
    const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kSharedFiles));
    for (const char* row : {"a", "b", "x"}) Set(table, row, "f:q", 1, "v");
    ASSERT_OK(database_->Flush("t"));
  }
  sink_.Take();
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "a b x");
  const RequestTrace trace = TakeOne();
  EXPECT_EQ(trace.rows, 3u);
  EXPECT_EQ(trace.cells, 3u);
  EXPECT_EQ(trace.files.size(), 2u);
}

}  // namespace
}  // namespace bigtable
