#include "recovery/log_sorter.h"

#include <atomic>
#include <thread>

#include "absl/time/clock.h"

#include "bigtable/testing/faulty_file_system.h"

#include "commitlog/log_directory.h"
#include "recovery/sorted_log_test_util.h"
#include "support/read_mode.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::unique_ptr<SortedLog> OpenSorted(FileSystem* fs, const std::string& directory = "sorted") {
  auto log = SortedLog::Open(fs, directory, {.read_mode = TestReadMode()});
  EXPECT_OK(log.status());
  return log.ok() ? *std::move(log) : nullptr;
}

TEST(LogSorterTest, EveryRecordIsDeliveredOnceInOrderOfPieceRowAndSequenceNumberRandom) {
  ForEachSeed(20, [](uint64_t seed) {
    Tally("cases");
    InMemoryFileSystem fs;
    const std::vector<TestRecord> records = RandomRecords(seed, 500, 300);
    ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, records));
    const SortLogOptions options{.piece_size = 1000 + seed % 10 * 3000, .threads = 1 + seed % 3};
    ASSERT_OK(SortTestLog(&fs, options).status());
    const auto sorted = OpenSorted(&fs);
    ASSERT_NE(sorted, nullptr);
    EXPECT_GT(sorted->pieces(), 2u);
    ASSERT_NO_FATAL_FAILURE(ExpectRecords(*sorted, records));
    EXPECT_EQ(sorted->last_sequence(), records.back().sequence);
    EXPECT_EQ(sorted->log_records(), records.size());
    EXPECT_TRUE(sorted->clean());
  });
}

TEST(LogSorterTest, AnyNumberOfThreadsWritesTheSameBytes) {
  InMemoryFileSystem fs;
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, RandomRecords(1, 1000, 200)));
  ASSERT_OK(SortTestLog(&fs, {.piece_size = 5000, .threads = 1}, "serial").status());
  const std::vector<std::string> names = SortedFiles(&fs, "serial");
  EXPECT_GT(names.size(), 10u);
  for (const size_t threads : {2, 3, 8}) {
    ASSERT_OK(SortTestLog(&fs, {.piece_size = 5000, .threads = threads}, "parallel").status());
    ASSERT_EQ(SortedFiles(&fs, "parallel"), names);
    for (const std::string& name : names) {
      ASSERT_EQ(fs.Contents(Cat("parallel/", name)), fs.Contents(Cat("serial/", name))) << name;
    }
  }
}

TEST(LogSorterTest, EverySegmentIsReadOnceHoweverManyServersTakeOver) {
  InMemoryFileSystem memory;
  FaultyFileSystem fs(&memory);
  const std::vector<TestRecord> records = RandomRecords(2, 500, 300);
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, records));
  const uint64_t segments = ReplayAll(&fs).end.segments;
  EXPECT_GT(segments, 3u);
  uint64_t bytes = 0;
  for (const TestRecord& record : records) bytes += record.payload.size();

  fs.CountCalls({.kinds = {FileCall::kNewRandomAccessFile}, .path_contains = ".log"});
  auto statistics = SortTestLog(&fs, {.piece_size = 20000});
  ASSERT_OK(statistics.status());
  const auto sorted = OpenSorted(&fs);
  for (int server = 0; server < 10; ++server) ASSERT_OK(ReadEverything(*sorted).status);
  EXPECT_EQ(fs.calls(), segments);
  EXPECT_EQ(statistics->segments_read, segments);
  EXPECT_EQ(statistics->records_read, records.size());
  EXPECT_EQ(statistics->payload_bytes_read, bytes);
  EXPECT_EQ(statistics->pieces, sorted->pieces());
  uint64_t written = 0;
  for (const std::string& name : SortedFiles(&fs)) {
    written += memory.Contents(Cat("sorted/", name)).size();
  }
  EXPECT_EQ(statistics->bytes_written, written);
}

TEST(LogSorterTest, APieceEndsBeforeTheRecordThatWouldExceedItsSize) {
  const TestRecord sample = MakeRecord(0, "r", 1, 100);
  const uint64_t size = LogPiece::SizeOf(sample.payload);
  InMemoryFileSystem fs;
  std::vector<TestRecord> records;
  for (SequenceNumber s = 1; s <= 10; ++s) records.push_back(MakeRecord(0, "r", s, 100));
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, records));

  ASSERT_OK(SortTestLog(&fs, {.piece_size = 5 * size}).status());
  EXPECT_EQ(EndsOf(*OpenSorted(&fs)), (std::vector<SequenceNumber>{5, 10}));
  ASSERT_OK(SortTestLog(&fs, {.piece_size = 5 * size - 1}).status());
  EXPECT_EQ(EndsOf(*OpenSorted(&fs)), (std::vector<SequenceNumber>{4, 8, 10}));
  ASSERT_OK(SortTestLog(&fs, {.piece_size = 10 * size}).status());
  EXPECT_EQ(EndsOf(*OpenSorted(&fs)), (std::vector<SequenceNumber>{10}));
  ASSERT_OK(SortTestLog(&fs, {.piece_size = 1}).status());
  EXPECT_EQ(EndsOf(*OpenSorted(&fs)), Range(1, 10));
  ASSERT_NO_FATAL_FAILURE(ExpectRecords(*OpenSorted(&fs), records));
}

TEST(LogSorterTest, AHugeRecordIsAPieceOfItsOwnAndDoesNotAffectOthers) {
  InMemoryFileSystem fs;
  std::vector<TestRecord> records;
  for (SequenceNumber s = 1; s <= 30; ++s) {
    records.push_back(MakeRecord(s % 3, Cat("row", 30 - s), s, s == 15 ? 5 << 20 : 100));
  }
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, records));
  ASSERT_OK(SortTestLog(&fs, {.piece_size = 1 << 20}).status());
  const auto sorted = OpenSorted(&fs);
  EXPECT_EQ(EndsOf(*sorted), (std::vector<SequenceNumber>{14, 15, 30}));
  ASSERT_NO_FATAL_FAILURE(ExpectRecords(*sorted, records));
}

TEST(LogSorterTest, AnEmptyLogIsSortedIntoNoPieces) {
  InMemoryFileSystem fs;
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, {}));
  auto statistics = SortTestLog(&fs);
  ASSERT_OK(statistics.status());
  EXPECT_EQ(statistics->pieces, 0u);
  const auto sorted = OpenSorted(&fs);
  EXPECT_EQ(sorted->pieces(), 0u);
  EXPECT_TRUE(sorted->clean());
  EXPECT_THAT(ReadEverything(*sorted).records, IsEmpty());
}

TEST(LogSorterTest, AMissingLogThatNeedNotExistIsEmpty) {
  InMemoryFileSystem fs;
  ASSERT_OK(SortTestLog(&fs, {}, "sorted", {.must_exist = false}).status());
  EXPECT_EQ(OpenSorted(&fs)->pieces(), 0u);
  ASSERT_OK(RemoveSortedLog(&fs, "sorted"));
  EXPECT_EQ(SortTestLog(&fs).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(SortedFiles(&fs), IsEmpty());
}

TEST(LogSorterTest, TheSortedLogMayBeInTheLogsOwnDirectory) {
  InMemoryFileSystem fs;
  const std::vector<TestRecord> records = RandomRecords(3, 200, 300);
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, records));
  ASSERT_OK(SortTestLog(&fs, {.piece_size = 10000}, "log").status());
  ASSERT_NO_FATAL_FAILURE(ExpectRecords(*OpenSorted(&fs, "log"), records));
  EXPECT_EQ(ReplayAll(&fs).sequences.size(), records.size());
  ASSERT_OK(SortTestLog(&fs, {.piece_size = 30000}, "log").status());
  ASSERT_NO_FATAL_FAILURE(ExpectRecords(*OpenSorted(&fs, "log"), records));
  ASSERT_OK(RemoveLog(&fs, "log"));
  EXPECT_THAT(fs.AllFiles(), IsEmpty());
}

// --- The log ends where ReplayLog ends it ---

TEST(LogSorterTest, DataLossInTheLogLeavesNoSortedLog) {
  InMemoryFileSystem fs;
  const std::vector<TestRecord> records = RandomRecords(4, 500, 300);
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, records));
  std::string segment = fs.Contents(SegmentPath(3));
  segment[5000] ^= 1;
  fs.SetContents(SegmentPath(3), segment);
  const absl::Status replayed = ReplayAll(&fs).status;
  EXPECT_EQ(replayed.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(SortTestLog(&fs, {.piece_size = 5000}).status(), replayed);
  EXPECT_EQ(SortedLog::Open(&fs, "sorted", {.read_mode = TestReadMode()}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(SortedFiles(&fs), IsEmpty());
}

TEST(LogSorterTest, ALogThatEndsBeforeMustReachIsNotSorted) {
  InMemoryFileSystem fs;
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, {MakeRecord(0, "r", 5, 10)}));
  EXPECT_OK(SortTestLog(&fs, {}, "sorted", {.must_reach = 5}).status());
  EXPECT_EQ(SortTestLog(&fs, {}, "sorted", {.must_reach = 6}).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_THAT(SortedFiles(&fs), IsEmpty());
}

TEST(LogSorterTest, ATornRecordIsTheEndOfTheLog) {
  InMemoryFileSystem fs;
  std::vector<TestRecord> records;
  for (SequenceNumber s = 1; s <= 7; ++s) records.push_back(MakeRecord(1, Cat("r", 9 - s), s, 50));
  auto log = NewLog(&fs);
  uint64_t last_begins = 0;
  for (const TestRecord& record : records) {
    last_begins = log->end_offset() - LogOffset(1, 0);
    ASSERT_OK(Add(log.get(), record.sequence, record.payload));
  }
  std::string segment = fs.Contents(SegmentPath(1));
  segment[last_begins + 40] ^= 1;
  fs.SetContents(SegmentPath(1), segment);
  records.pop_back();
  ASSERT_OK(SortTestLog(&fs).status());
  const auto sorted = OpenSorted(&fs);
  ASSERT_NO_FATAL_FAILURE(ExpectRecords(*sorted, records));
  EXPECT_FALSE(sorted->clean());
  EXPECT_EQ(sorted->last_sequence(), 6u);
}

// --- Keys ---

TEST(LogSorterTest, ARecordWithoutAKeyEndsTheSortAndIsNamed) {
  InMemoryFileSystem fs;
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, RandomRecords(5, 100, 300)));
  const auto no_key = [](RecordType, std::string_view, RecordKey*) {
    return absl::DataLossError("no mutation");
  };
  const absl::Status status = SortLog(&fs, "log", {}, no_key, "sorted", {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.ToString(), HasSubstr("no mutation"));
  EXPECT_THAT(status.ToString(), HasSubstr("sequence number "));
  EXPECT_THAT(SortedFiles(&fs), IsEmpty());
}

TEST(LogSorterTest, ARowOutsideThePayloadIsRefused) {
  InMemoryFileSystem fs;
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, RandomRecords(6, 10, 300)));
  for (const int side : {-1, 1}) {
    const auto key_of = [&](RecordType, std::string_view payload, RecordKey* key) {
      key->row = {payload.data() + side, payload.size()};
      return absl::OkStatus();
    };
    EXPECT_EQ(SortLog(&fs, "log", {}, key_of, "sorted", {}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(LogSorterTest, TheTypeOfARecordIsKeptAndItsRowMayBeEmpty) {
  InMemoryFileSystem fs;
  auto log = NewLog(&fs);
  const std::string_view payload = "x";
  ASSERT_OK(log->Append(RecordType::kBatch, 1, {&payload, 1}, nullptr));
  ASSERT_OK(log->Close());
  const auto key_of = [](RecordType type, std::string_view, RecordKey* key) {
    EXPECT_EQ(type, RecordType::kBatch);
    key->table_id = 3;
    return absl::OkStatus();
  };
  ASSERT_OK(SortLog(&fs, "log", {}, key_of, "sorted", {}).status());
  int delivered = 0;
  ASSERT_OK(OpenSorted(&fs)->Read({.table_id = 3}, [&](const SortedRecord& record) {
    ++delivered;
    EXPECT_EQ(record.type, RecordType::kBatch);
    EXPECT_EQ(record.row, "");
    EXPECT_EQ(record.payload, "x");
    return absl::OkStatus();
  }));
  EXPECT_EQ(delivered, 1);
}

TEST(LogSorterTest, OptionsOutOfRangeAreRefusedFirst) {
  InMemoryFileSystem fs;
  for (const SortLogOptions& options :
       {SortLogOptions{.threads = 0}, SortLogOptions{.piece_size = 0},
        SortLogOptions{.piece_size = UINT64_MAX}}) {
    EXPECT_EQ(SortTestLog(&fs, options).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(fs.FileExists("sorted"));
}

// --- Sequence numbers ---

TEST(LogSorterTest, ANumberThatIsNotLargerThanTheOneBeforeIsDataLoss) {
  InMemoryFileSystem fs;
  ASSERT_OK(fs.CreateDirectory("sorted"));
  for (const SequenceNumber sequence : {SequenceNumber{7}, SequenceNumber{6}, SequenceNumber{0}}) {
    LogSorter sorter(&fs, "sorted", KeyOf, {.piece_size = 1000, .threads = 2});
    const auto add = [&](const TestRecord& record) {
      return sorter.Add(RecordType::kMutation, record.sequence, record.payload);
    };
    ASSERT_OK(add(MakeRecord(0, "a", 5, 10)));
    ASSERT_OK(add(MakeRecord(0, "b", 7, 10)));
    const absl::Status status = add(MakeRecord(0, "c", sequence, 10));
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(status.ToString(), HasSubstr(Cat(sequence, " follows 7")));
  }
}

// --- Threads ---

TEST(LogSorterTest, AddWaitsWhenTheThreadsCannotKeepUp) {
  constexpr size_t kThreads = 2;
  constexpr uint64_t kRecordsInAPiece = 10;
  InMemoryFileSystem memory;
  FaultyFileSystem fs(&memory);
  ASSERT_OK(fs.CreateDirectory("sorted"));
  std::vector<TestRecord> records;
  for (SequenceNumber s = 1; s <= 100; ++s) records.push_back(MakeRecord(0, "r", s, 50));
  LogSorter sorter(
      &fs, "sorted", KeyOf,
      {.piece_size = kRecordsInAPiece * LogPiece::SizeOf(records[0].payload), .threads = kThreads});
  std::atomic<uint64_t> added{0};
  fs.StallCalls({.kinds = {FileCall::kAppend}, .path_contains = "sorted-"});
  std::thread adder([&] {
    for (const TestRecord& record : records) {
      EXPECT_OK(sorter.Add(RecordType::kMutation, record.sequence, record.payload));
      ++added;
    }
  });
  EXPECT_TRUE(fs.WaitUntilStalled(kThreads));
  while (added < kRecordsInAPiece * (kThreads + 1)) absl::SleepFor(absl::Milliseconds(1));
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_EQ(added, kRecordsInAPiece * (kThreads + 1));
  fs.ReleaseCalls();
  adder.join();
  ASSERT_OK(sorter.Finish({}).status());
  ASSERT_NO_FATAL_FAILURE(ExpectRecords(*OpenSorted(&fs), records));
}

TEST(LogSorterTest, AFailureOfOneThreadEndsTheSort) {
  InMemoryFileSystem memory;
  FaultyFileSystem fs(&memory);
  ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, RandomRecords(7, 1000, 300)));
  fs.CountCalls({.kinds = {FileCall::kNewWritableFile}, .path_contains = "sorted-"});
  fs.FailCalls({.kinds = {FileCall::kAppend}, .path_contains = "sorted-00000002"},
               absl::ResourceExhaustedError("full"));
  const absl::Status status = SortTestLog(&fs, {.piece_size = 2000, .threads = 3}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), HasSubstr("sorted-00000002"));
  EXPECT_LT(fs.calls(), 50u);  // of about 150 pieces
  EXPECT_THAT(SortedFiles(&fs), IsEmpty());
}

TEST(LogSorterTest, ASorterWithoutFinishLeavesNoManifest) {
  InMemoryFileSystem fs;
  ASSERT_OK(fs.CreateDirectory("sorted"));
  {
    LogSorter sorter(&fs, "sorted", KeyOf, {.piece_size = 500, .threads = 2});
    for (const TestRecord& record : RandomRecords(8, 100, 300)) {
      ASSERT_OK(sorter.Add(RecordType::kMutation, record.sequence, record.payload));
    }
  }
  EXPECT_FALSE(SortedFiles(&fs).empty());
  EXPECT_EQ(SortedLog::Open(&fs, "sorted", {.read_mode = TestReadMode()}).status().code(),
            absl::StatusCode::kNotFound);
  ASSERT_OK(RemoveSortedLog(&fs, "sorted"));
  EXPECT_THAT(SortedFiles(&fs), IsEmpty());
}

}  // namespace
}  // namespace bigtable
