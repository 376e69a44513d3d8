// What a server that takes over a tablet reads from a sorted log.
#include "recovery/sorted_log.h"

#include <thread>

#include "commitlog/log_directory.h"
#include "recovery/sorted_log_test_util.h"
#include "support/read_mode.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

using testing::IsEmpty;

class SortedLogTest : public testing::TestWithParam<FileSystem::ReadMode> {
 protected:
  // Sorts `records` and opens the result.
  void Open(std::vector<TestRecord> records, uint64_t piece_size) {
    records_ = std::move(records);
    if (fs_.FileExists("log")) {
      ASSERT_OK(RemoveLog(&fs_, "log"));
    }
    ASSERT_NO_FATAL_FAILURE(WriteLog(&fs_, records_));
    ASSERT_OK(SortTestLog(&fs_, {.piece_size = piece_size}).status());
    auto log = SortedLog::Open(&fs_, "sorted", {.read_mode = GetParam()});
    ASSERT_OK(log.status());
    log_ = *std::move(log);
  }
  std::vector<TestRecord> ExpectedOf(const SortedRange& range) const {
    return Expected(records_, EndsOf(*log_), range);
  }

  InMemoryFileSystem fs_;
  std::vector<TestRecord> records_;
  std::unique_ptr<SortedLog> log_;
};
INSTANTIATE_TEST_SUITE_P(Ways, SortedLogTest,
                         testing::Values(FileSystem::ReadMode::kMapped,
                                         FileSystem::ReadMode::kPositional),
                         [](const auto& param_info) {
                           return param_info.param == FileSystem::ReadMode::kMapped ? "Mapped"
                                                                                    : "Positional";
                         });

// Any range, with ends at rows or between rows, and any redo point.
TEST_P(SortedLogTest, ARangeHasItsRecordsAndNoOthersRandom) {
  ForEachSeed(10, [this](uint64_t seed) {
    Tally("cases");
    ASSERT_NO_FATAL_FAILURE(Open(RandomRecords(seed, 600, 3000), 200000));
    Random random(seed);
    const auto some_row = [&] { return random.Pick(records_).row; };
    size_t delivered = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string first = random.OneIn(4) ? "" : some_row();
      const std::string end = some_row() + (random.OneIn(2) ? "" : "a");
      SortedRange range{.table_id = random.Below(5), .first_row = first};
      if (!random.OneIn(4)) range.end_row = end;
      if (random.OneIn(2)) range.after = random.Below(records_.back().sequence + 2);
      const ReadRecords read = ReadRange(*log_, range);
      ASSERT_OK(read.status);
      ASSERT_EQ(read.records, ExpectedOf(range));
      delivered += read.records.size();
    }
    EXPECT_GT(delivered, 1000u);
  });
}

TEST_P(SortedLogTest, TabletsThatCoverTheTablesGetEachRecordOnce) {
  ASSERT_NO_FATAL_FAILURE(Open(RandomRecords(1, 600, 3000), 100000));
  const std::vector<std::string> splits = {"", "a", "ab", "b", "\xff"};
  size_t delivered = 0;
  for (uint64_t table_id = 0; table_id < 4; ++table_id) {
    for (size_t i = 0; i < splits.size(); ++i) {
      SortedRange range{.table_id = table_id, .first_row = splits[i]};
      if (i + 1 < splits.size()) range.end_row = splits[i + 1];
      const ReadRecords read = ReadRange(*log_, range);
      ASSERT_OK(read.status);
      delivered += read.records.size();
    }
  }
  EXPECT_EQ(delivered, records_.size());
}

TEST_P(SortedLogTest, AnEmptyRangeAndARangeOfAnUnknownTableHaveNoRecords) {
  ASSERT_NO_FATAL_FAILURE(Open(RandomRecords(2, 100, 300), 10000));
  EXPECT_THAT(ReadRange(*log_, {.table_id = 1, .first_row = "b", .end_row = "a"}).records,
              IsEmpty());
  EXPECT_THAT(ReadRange(*log_, {.table_id = 1, .first_row = "a", .end_row = "a"}).records,
              IsEmpty());
  EXPECT_THAT(ReadRange(*log_, {.table_id = 1, .end_row = ""}).records, IsEmpty());
  EXPECT_THAT(ReadRange(*log_, {.table_id = 99}).records, IsEmpty());
}

// Where a server may move its redo point.
TEST_P(SortedLogTest, AfterAPieceAllRecordsUpToItsLargestNumberWereDelivered) {
  ASSERT_NO_FATAL_FAILURE(Open(RandomRecords(3, 600, 300), 20000));
  ASSERT_GT(log_->pieces(), 3u);
  const SortedRange range{.table_id = 2};
  size_t delivered = 0;
  for (size_t i = 0; i < log_->pieces(); ++i) {
    ASSERT_OK(log_->ReadPiece(i, range, [&](const SortedRecord& record) {
      ++delivered;
      EXPECT_LE(record.sequence, log_->LargestIn(i));
      return absl::OkStatus();
    }));
    const auto through =
        std::count_if(records_.begin(), records_.end(), [&](const TestRecord& record) {
          return IsIn(record, range) && record.sequence <= log_->LargestIn(i);
        });
    ASSERT_EQ(delivered, static_cast<size_t>(through));
  }
}

TEST_P(SortedLogTest, OnlyBlocksOfTheRangeAndOneMoreOfEachPieceAreRead) {
  std::vector<TestRecord> records;
  for (SequenceNumber s = 1; s <= 4000; ++s) {
    records.push_back(MakeRecord(s % 4, Cat("row", 10000 + s * 7 % 4000), s, 1000));
  }
  ASSERT_NO_FATAL_FAILURE(Open(std::move(records), 2 << 20));
  ASSERT_EQ(log_->pieces(), 3u);
  EXPECT_GT(log_->bytes_verified(), 4000u * 1000);
  EXPECT_EQ(log_->bytes_read(), 0u);
  constexpr uint64_t kBlock = kSortedBlockSize + 2000;

  const SortedRange range{.table_id = 2, .first_row = "row11", .end_row = "row12"};
  const ReadRecords read = ReadRange(*log_, range);
  EXPECT_EQ(read.records.size(), 250u);
  EXPECT_GE(log_->bytes_read(), 250u * 1000);
  EXPECT_LE(log_->bytes_read(), 250u * 1100 + 3 * 2 * kBlock);

  const uint64_t before = log_->bytes_read();
  EXPECT_THAT(ReadRange(*log_, {.table_id = 2, .first_row = "s"}).records, IsEmpty());
  EXPECT_LE(log_->bytes_read(), before + 3 * kBlock);

  // Pieces that are older than the redo point are not read at all.
  const uint64_t between = log_->bytes_read();
  const SortedRange newest{.table_id = 2, .after = log_->LargestIn(1)};
  const ReadRecords last = ReadRange(*log_, newest);
  EXPECT_EQ(last.records, ExpectedOf(newest));
  EXPECT_LE(log_->bytes_read(), between + last.records.size() * 1100 + 2 * kBlock);
}

TEST_P(SortedLogTest, AnErrorOfTheCallbackEndsTheReading) {
  ASSERT_NO_FATAL_FAILURE(Open(RandomRecords(4, 100, 300), 5000));
  int calls = 0;
  EXPECT_EQ(log_->Read({.table_id = 1},
                       [&](const SortedRecord&) {
                         return ++calls < 3 ? absl::OkStatus() : absl::AbortedError("enough");
                       }),
            absl::AbortedError("enough"));
  EXPECT_EQ(calls, 3);
}

TEST_P(SortedLogTest, ManyServersReadAtTheSameTime) {
  ASSERT_NO_FATAL_FAILURE(Open(RandomRecords(5, 1000, 1000), 100000));
  std::vector<std::thread> servers;
  for (uint64_t server = 0; server < 8; ++server) {
    servers.emplace_back([&, server] {
      const SortedRange range{.table_id = server % 4};
      const ReadRecords read = ReadRange(*log_, range);
      EXPECT_OK(read.status);
      EXPECT_EQ(read.records, ExpectedOf(range));
    });
  }
  for (std::thread& server : servers) server.join();
}

TEST_P(SortedLogTest, RemovingItAffectsNeitherTheLogNorOpenReaders) {
  ASSERT_NO_FATAL_FAILURE(Open(RandomRecords(6, 100, 300), 5000));
  ASSERT_OK(SortTestLog(&fs_, {.piece_size = 5000}, "log").status());
  ASSERT_OK(RemoveSortedLog(&fs_, "sorted"));
  ASSERT_OK(RemoveSortedLog(&fs_, "log"));
  EXPECT_THAT(SortedFiles(&fs_), IsEmpty());
  EXPECT_THAT(SortedFiles(&fs_, "log"), IsEmpty());
  EXPECT_EQ(ReplayAll(&fs_).sequences.size(), records_.size());
  EXPECT_EQ(SortedLog::Open(&fs_, "sorted", {.read_mode = TestReadMode()}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_NO_FATAL_FAILURE(ExpectRecords(*log_, records_));
  EXPECT_OK(RemoveSortedLog(&fs_, "sorted"));
  EXPECT_OK(RemoveSortedLog(&fs_, "never"));
}

TEST_P(SortedLogTest, TheSortedLogHasTheFiguresOfTheLog) {
  auto log = NewLog(&fs_);
  for (SequenceNumber s = 1; s <= 20; ++s) {
    ASSERT_OK(Add(log.get(), s, MakeRecord(0, "r", s, 3000).payload));
  }
  log->ReleaseThrough(20);
  ASSERT_OK(log->PrepareSpare());
  ASSERT_OK(log->Close());
  const LogEnd end = ReplayAll(&fs_).end;
  ASSERT_OK(SortTestLog(&fs_).status());
  auto sorted = SortedLog::Open(&fs_, "sorted", {.read_mode = GetParam()});
  ASSERT_OK(sorted.status());
  EXPECT_EQ((*sorted)->last_sequence(), 20u);
  EXPECT_EQ((*sorted)->log_records(), end.records);
  EXPECT_LT((*sorted)->log_records(), 20u);  // released segments are not read
  EXPECT_EQ((*sorted)->log_segments(), end.segments);
  EXPECT_TRUE((*sorted)->clean());
}

}  // namespace
}  // namespace bigtable
