// What a read will need of the disk is requested before the first of it is waited for: by GetRows,
// by streams over single rows, and by scans of several runs.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "reads/file_call_recorder.h"
#include "support/database_fixture.h"
#include "support/scoped_shortcuts.h"
#include "support/temp_directory.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

class RowRequestsTest : public testing::Test {
 protected:
  using Call = FileCallRecorder::Call;
  using Kind = FileCallRecorder::Kind;

  static constexpr size_t kValueSize = 1000;  // fills a block

  void TearDown() override { database_.reset(); }

  static std::string RowOf(int i) { return absl::StrFormat("row%05d", i); }
  // A table whose rows, 0 to `rows`, are in `runs` runs: row i in run i % `runs`. Its files are
  // open, and no block is in the cache.
  void Make(FileSystem* file_system, const std::string& path, FileSystem::ReadMode mode, int rows,
            int runs) {
    recorder_ = std::make_unique<FileCallRecorder>(file_system);
    DatabaseOptions options;
    options.memory_budget = 64 << 20;
    options.tablet_servers = 1;
    options.read_mode = mode;
    options.file_system = recorder_.get();
    options.clock = &clock_;
    auto opened = Database::Open(path, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
    TableSchema schema;
    schema.locality_groups["g"] = {
        .block_size = 1 << 10, .filter_bits = 32, .compaction = CompactionStyle::kNone};
    schema.locality_groups["none"] = {};
    schema.families["f"] = {.locality_group = "g"};
    schema.families["none"] = {.locality_group = "none"};
    schema.split.tablet_size = 0;
    ASSERT_OK(database_->CreateTable("t", schema));
    table_ = database_->OpenTable("t").value();
    for (int run = 0; run < runs; ++run) {
      for (int i = run; i < rows; i += runs) {
        ASSERT_OK(table_->Apply(
            RowMutation(RowOf(i)).Set("f:q", Timestamp(1), std::string(kValueSize, 'v'))));
      }
      ASSERT_OK(database_->Flush("t"));
    }
    for (int i = 0; i < runs; ++i) {
      ASSERT_OK(table_->ReadRow(RowOf(rows - 1 - i), Filter(), {.fill_cache = false}));
    }
    recorder_->Take();
  }
  void MakePositional(int rows, int runs = 1) {
    database_.reset();
    memory_ = std::make_unique<InMemoryFileSystem>();
    Make(memory_.get(), "/db", FileSystem::ReadMode::kPositional, rows, runs);
  }

  static std::vector<std::string> RowsOf(const std::vector<int>& numbers) {
    std::vector<std::string> rows;
    for (const int i : numbers) rows.push_back(RowOf(i));
    return rows;
  }
  // The calls of a GetRows, all of whose rows are found.
  std::vector<Call> CallsOfGetRows(const std::vector<int>& numbers, const Filter& filter = {}) {
    const std::vector<std::string> rows = RowsOf(numbers);
    recorder_->Take();
    const auto found =
        table_->GetRows(std::vector<std::string_view>(rows.begin(), rows.end()), filter);
    std::vector<Call> calls = recorder_->Take();
    for (const auto& row : found) EXPECT_OK(row);
    return calls;
  }
  // The calls of a stream, of which `expected` rows come.
  std::vector<Call> CallsOfStream(const RowSet& rows, const ReadOptions& options, int expected) {
    recorder_->Take();
    {
      RowReader reader = table_->ReadRows(rows, options);
      int count = 0;
      while (reader.Next()) ++count;
      EXPECT_OK(reader.status());
      EXPECT_EQ(count, expected);
    }
    return recorder_->Take();
  }
  static std::vector<Call> Only(Kind kind, const std::vector<Call>& calls) {
    std::vector<Call> only;
    for (const Call& call : calls) {
      if (call.kind == kind) only.push_back(call);
    }
    return only;
  }
  // The requests before the first block is read.
  static std::vector<Call> First(const std::vector<Call>& calls) {
    std::vector<Call> first;
    for (const Call& call : calls) {
      if (call.kind != Kind::kWillNeed) break;
      first.push_back(call);
    }
    return first;
  }
  static std::set<std::pair<std::string, uint64_t>> Places(const std::vector<Call>& calls) {
    std::set<std::pair<std::string, uint64_t>> places;
    for (const Call& call : calls) places.emplace(call.path, call.offset);
    return places;
  }
  static uint64_t Bytes(const std::vector<Call>& calls) {
    uint64_t bytes = 0;
    for (const Call& call : calls) bytes += call.size;
    return bytes;
  }
  static std::vector<int> Numbers(int count, int step) {
    std::vector<int> numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(i * step);
    return numbers;
  }
  static RowSet SetOf(const std::vector<int>& numbers) {
    RowSet set;
    for (const int i : numbers) set.Append(RowOf(i));
    return set;
  }

  const ScopedShortcutsOn shortcuts_;
  TestClock clock_{1000};
  std::unique_ptr<InMemoryFileSystem> memory_;
  const TempDirectory directory_{TempDirectory::Where::kMemory};
  std::unique_ptr<FileCallRecorder> recorder_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
};

TEST_F(RowRequestsTest, GetRowsRequestsTheBlocksOfAllRowsBeforeItReadsTheFirst) {
  ASSERT_NO_FATAL_FAILURE(MakePositional(100));
  const std::vector<Call> calls = CallsOfGetRows({70, 10, 30, 20, 90, 0, 50, 40, 60, 80});
  ASSERT_EQ(calls.size(), 20u);
  EXPECT_EQ(First(calls).size(), 10u);
  EXPECT_EQ(Places(First(calls)).size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(calls[10 + i].kind, Kind::kRead);
    EXPECT_EQ(calls[10 + i].offset, calls[i].offset) << i;
    EXPECT_EQ(calls[10 + i].size, calls[i].size) << i;
  }
  // They are in the cache now.
  EXPECT_TRUE(CallsOfGetRows({10, 30, 20}).empty());
}

TEST_F(RowRequestsTest, GetRowsRequestsOnlySoManyRowsAhead) {
  ASSERT_NO_FATAL_FAILURE(MakePositional(200));
  const std::vector<Call> calls = CallsOfGetRows(Numbers(199, 1));
  EXPECT_EQ(First(calls).size(), 64u);
  std::set<uint64_t> requested;
  size_t reads = 0;
  for (const Call& call : calls) {
    if (call.kind == Kind::kWillNeed) {
      EXPECT_TRUE(requested.insert(call.offset).second) << "twice";
    } else {
      EXPECT_TRUE(requested.contains(call.offset)) << "read " << reads;
      ++reads;
    }
    EXPECT_LE(requested.size(), reads + 64);
  }
  EXPECT_EQ(requested.size(), 199u);
  EXPECT_EQ(reads, 199u);
}

TEST_F(RowRequestsTest, GetRowsRequestsWhatEachRunHas) {
  ASSERT_NO_FATAL_FAILURE(MakePositional(60, 3));
  const std::vector<Call> calls = CallsOfGetRows({0, 1, 2, 30, 31, 32});
  EXPECT_EQ(First(calls).size(), 6u);
  EXPECT_EQ(Places(First(calls)).size(), 6u);
  EXPECT_EQ(Places(First(calls)), Places(Only(Kind::kRead, calls)));
}

TEST_F(RowRequestsTest, GetRowsRequestsOnlyWhatItWillRead) {
  ASSERT_NO_FATAL_FAILURE(MakePositional(100));
  EXPECT_TRUE(CallsOfGetRows({10, 20}, Filter::Family("none")).empty());
  EXPECT_TRUE(CallsOfGetRows({10, 20}, Filter::BlockAll()).empty());
  EXPECT_TRUE(CallsOfGetRows({1000, 2000}).empty());  // by the filters, absent
  const std::vector<Call> calls = CallsOfGetRows({10, 1000, 20});
  EXPECT_EQ(First(calls).size(), 2u);
  EXPECT_EQ(calls.size(), 4u);
}

TEST_F(RowRequestsTest, GetRowsRequestsPagesOfMappedFiles) {
  constexpr int kRows = 1500;
  ASSERT_NO_FATAL_FAILURE(
      Make(FileSystem::Posix(), directory_.database(), FileSystem::ReadMode::kMapped, kRows, 1));
  recorder_->SetCold(true);
  // Far enough from one another that no request includes two of them.
  const std::vector<Call> calls = CallsOfGetRows(Numbers(5, 300));
  EXPECT_GE(First(calls).size(), 5u);
  EXPECT_EQ(Places(First(calls)).size(), 5u);
  for (const Call& call : First(calls)) EXPECT_LE(call.size, 140u << 10);
}

TEST_F(RowRequestsTest, AScanOfSeveralRunsRequestsTheFirstBlockOfEach) {
  ASSERT_NO_FATAL_FAILURE(MakePositional(300, 3));
  const std::vector<Call> first = First(CallsOfStream(RowRange::All(), {}, 300));
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(Places(first).size(), 3u);
  EXPECT_LT(Bytes(first), 3u * 2 * kValueSize);
}

TEST_F(RowRequestsTest, AScanWithALimitRequestsAsMuchOfEachRunAsItsRowsTake) {
  for (const int limit : {3, 30, 90}) {
    SCOPED_TRACE(limit);
    ASSERT_NO_FATAL_FAILURE(MakePositional(600, 3));
    const std::vector<Call> calls =
        CallsOfStream(RowRange::StartingAt(RowOf(60)), {.row_limit = limit}, limit);
    const std::vector<Call> first = First(calls);
    ASSERT_EQ(first.size(), 3u);
    std::set<std::string> paths;
    for (const Call& call : first) paths.insert(call.path);
    EXPECT_EQ(paths.size(), 3u);
    EXPECT_GE(Bytes(first), static_cast<uint64_t>(limit) * kValueSize);
    EXPECT_LE(Bytes(first), static_cast<uint64_t>(limit + 6) * (kValueSize + 200));
    // What is read was requested, but for the block after the last row of each run.
    int not_requested = 0;
    for (const Call& read : Only(Kind::kRead, calls)) {
      const bool was_requested = std::any_of(first.begin(), first.end(), [&](const Call& call) {
        return call.path == read.path && call.offset <= read.offset &&
               read.offset + read.size <= call.offset + call.size;
      });
      if (!was_requested) ++not_requested;
    }
    EXPECT_LE(not_requested, 3);
  }
}

TEST_F(RowRequestsTest, AScanWithALimitRequestsPagesOfMappedFiles) {
  ASSERT_NO_FATAL_FAILURE(
      Make(FileSystem::Posix(), directory_.database(), FileSystem::ReadMode::kMapped, 600, 3));
  recorder_->SetCold(true);
  const std::vector<Call> calls =
      CallsOfStream(RowRange::StartingAt(RowOf(60)), {.row_limit = 30}, 30);
  const std::vector<Call> first = First(calls);
  ASSERT_EQ(first.size(), 3u);
  std::set<std::string> paths;
  for (const Call& call : first) paths.insert(call.path);
  EXPECT_EQ(paths.size(), 3u);
  EXPECT_GE(Bytes(first), 30 * kValueSize);
  EXPECT_LE(Bytes(first), 36 * (kValueSize + 200));
}

// The limit may be far beyond what the range has.
TEST_F(RowRequestsTest, AScanWithALimitRequestsLittleMoreThanItsRangeHas) {
  ASSERT_NO_FATAL_FAILURE(MakePositional(600, 3));
  const std::vector<Call> calls =
      CallsOfStream(RowRange::RightOpen(RowOf(60), RowOf(69)), {.row_limit = 300}, 9);
  EXPECT_EQ(First(calls).size(), 3u);
  EXPECT_LE(Bytes(Only(Kind::kWillNeed, calls)), 18 * (kValueSize + 200));
}

TEST_F(RowRequestsTest, AScanInReverseDoesNotRequestWhatIsBehindIt) {
  ASSERT_NO_FATAL_FAILURE(MakePositional(600, 3));
  const std::vector<Call> calls = CallsOfStream(RowRange::RightOpen(RowOf(0), RowOf(300)),
                                                {.reverse = true, .row_limit = 30}, 30);
  EXPECT_LE(Bytes(Only(Kind::kWillNeed, calls)), 40 * (kValueSize + 200));
}

TEST_F(RowRequestsTest, AStreamOverSingleRowsRequestsThemAhead) {
  ASSERT_NO_FATAL_FAILURE(MakePositional(200));
  const std::vector<int> numbers = Numbers(99, 2);
  const std::vector<Call> calls = CallsOfStream(SetOf(numbers), {}, 99);
  EXPECT_EQ(First(calls).size(), 64u);
  EXPECT_EQ(Places(Only(Kind::kWillNeed, calls)).size(), 99u);
  EXPECT_EQ(Only(Kind::kWillNeed, calls).size(), 99u);
  EXPECT_EQ(Places(Only(Kind::kWillNeed, calls)), Places(Only(Kind::kRead, calls)));
}

TEST_F(RowRequestsTest, AStreamOverSingleRowsRequestsNoMoreThanItsLimit) {
  ASSERT_NO_FATAL_FAILURE(MakePositional(300));
  const std::vector<Call> calls = CallsOfStream(SetOf(Numbers(100, 2)), {.row_limit = 3}, 3);
  EXPECT_EQ(First(calls).size(), 3u);
  EXPECT_EQ(Only(Kind::kWillNeed, calls).size(), 3u);
  EXPECT_EQ(Only(Kind::kRead, calls).size(), 3u);
  // Every second row is absent, so rows further on are needed.
  RowSet set;
  for (int i = 210; i < 290; i += 2) {
    set.Append(RowOf(i));
    set.Append(RowOf(i) + "x");
  }
  const std::vector<Call> others = CallsOfStream(set, {.row_limit = 3}, 3);
  EXPECT_EQ(First(others).size(), 2u);
  EXPECT_EQ(Only(Kind::kWillNeed, others).size(), 3u);
  EXPECT_EQ(Only(Kind::kRead, others).size(), 3u);
}

TEST_F(RowRequestsTest, NothingIsRequestedWithoutTheShortcut) {
  ASSERT_NO_FATAL_FAILURE(MakePositional(300, 3));
  const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kRequests));
  EXPECT_TRUE(Only(Kind::kWillNeed, CallsOfGetRows(Numbers(10, 10))).empty());
  EXPECT_TRUE(
      Only(Kind::kWillNeed, CallsOfStream(SetOf(Numbers(10, 11)), {.row_limit = 3}, 3)).empty());
  EXPECT_TRUE(
      First(CallsOfStream(RowRange::StartingAt(RowOf(150)), {.row_limit = 30}, 30)).empty());
}

}  // namespace
}  // namespace bigtable
