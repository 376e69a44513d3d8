// Blocks of short scans of a mapped file that are read together past the memory of the system,
// where little fits into it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "blocks/block_reader.h"
#include "page_residency_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class WindowReadsTest : public MappedFileTest {
 protected:
  // Block `i`, decoded, in memory that it keeps.
  struct Kept {
    Ref<Block> owner;
    std::string_view bytes;
  };
  absl::Status ReadInScan(size_t i, BlockReader::ReadAhead* ahead, Kept* kept) {
    const ReadSettings settings{.fill_cache = false, .read_ahead = true};
    return reader_->Read(i, settings, ahead, &kept->bytes, &kept->owner);
  }
  // The blocks, as reads through the mapping return them.
  std::vector<std::string> AllBlocks() {
    std::vector<std::string> all;
    for (size_t i = 0; i < blocks(); ++i) {
      Kept kept;
      EXPECT_OK(ReadInScan(i, nullptr, &kept));
      all.emplace_back(kept.bytes);
    }
    return all;
  }
  uint64_t BytesOf(size_t first, size_t end) const {
    return index_->handle(end - 1).offset + StoredSize(end - 1) - index_->handle(first).offset;
  }
  uint64_t CallsOfTheMapping() const {
    return kernel_->requests + kernel_->pages_read + kernel_->populations +
           kernel_->positional_reads + kernel_->faults;
  }
};

TEST_F(WindowReadsTest, AScanReadsWhatItExpectsWithOneReadAndLeavesThePagesAlone) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    Write(compression);
    Open(200);
    const std::vector<std::string> all = AllBlocks();
    OpenScarce();
    uint64_t scans = 0;
    for (size_t first = 0; first + 25 <= blocks(); first += 50) {
      SCOPED_TRACE(first);
      BlockReader::ReadAhead ahead;
      ahead.expected = BytesOf(first, first + 25);
      std::vector<Kept> kept(25);
      for (size_t k = 0; k < 25; ++k) ASSERT_OK(ReadInScan(first + k, &ahead, &kept[k]));
      ahead = {};  // what was returned stays in place
      for (size_t k = 0; k < 25; ++k) ASSERT_TRUE(kept[k].bytes == all[first + k]);
      ++scans;
    }
    EXPECT_EQ(kernel_->uncached_reads, scans);
    EXPECT_LT(kernel_->uncached_bytes, scans * (BytesOf(0, 26) + 2 * kPage));
    EXPECT_EQ(CallsOfTheMapping(), 0);
  }
}

TEST_F(WindowReadsTest, WindowsGrowUntilTheScanIsLong) {
  OpenScarce();
  BlockReader::ReadAhead ahead;
  std::vector<uint64_t> reads;
  for (size_t i = 1; kernel_->positional_reads == 0; ++i) {
    ASSERT_LT(i, blocks());
    Kept kept;
    const uint64_t before = kernel_->uncached_reads;
    const uint64_t bytes = kernel_->uncached_bytes;
    ASSERT_OK(ReadInScan(i, &ahead, &kept));
    if (kernel_->uncached_reads > before) reads.push_back((kernel_->uncached_bytes - bytes) >> 10);
  }
  ASSERT_EQ(reads.size(), 5u);
  EXPECT_NEAR(static_cast<double>(reads[0]), 48, 10);
  EXPECT_NEAR(static_cast<double>(reads[1]), 96, 10);
  EXPECT_NEAR(static_cast<double>(reads[4]), 256, 10);
  EXPECT_EQ(kernel_->populations, 0);
}

TEST_F(WindowReadsTest, WhatIsScannedAgainWithinARoundIsReadThroughTheMapping) {
  OpenScarce();
  const auto scan = [&] {
    for (size_t first = 0; first < 500; first += 100) {
      BlockReader::ReadAhead ahead;
      ahead.expected = BytesOf(first, first + 10);
      for (size_t i = first; i < first + 10; ++i) ASSERT_OK(Read(i, &ahead));
    }
  };
  scan();
  EXPECT_EQ(kernel_->uncached_reads, 5);
  EXPECT_EQ(kernel_->requests, 0);
  ResetCounts();
  scan();
  EXPECT_EQ(kernel_->uncached_reads, 0);
  EXPECT_EQ(kernel_->requests, 5);
  ResetCounts();
  scan();
  EXPECT_EQ(calls(), 0) << "in place";
}

TEST_F(WindowReadsTest, TheEndOfTheFileEndsTheWindow) {
  OpenScarce();
  BlockReader::ReadAhead ahead;
  ahead.expected = 1 << 20;
  for (size_t i = blocks() - 3; i < blocks(); ++i) ASSERT_OK(Read(i, &ahead));
  EXPECT_EQ(kernel_->uncached_reads, 1);
  EXPECT_EQ(CallsOfTheMapping(), 0);
}

TEST_F(WindowReadsTest, AnErrorOfTheWindowIsNotOneOfItsBlocks) {
  OpenScarce();
  kernel_->uncached_failure = absl::UnavailableError("t: Input/output error");
  BlockReader::ReadAhead ahead;
  ahead.expected = BytesOf(10, 35);
  for (size_t i = 10; i < 35; ++i) ASSERT_OK(Read(i, &ahead));
  EXPECT_EQ(kernel_->uncached_reads, 0);
  kernel_->failure = absl::UnavailableError("t: Input/output error");
  EXPECT_STATUS(kUnavailable, "t: Input/output error", Read(100, &ahead));
  kernel_->failure = absl::OkStatus();
  EXPECT_OK(Read(100, &ahead));
}

TEST_F(WindowReadsTest, AWrongChecksumIsFoundInTheBlockThatHasIt) {
  OpenScarce();
  bytes_[index_->handle(20).offset + 100] ^= 1;
  BlockReader::ReadAhead ahead;
  ahead.expected = BytesOf(10, 35);
  for (size_t i = 10; i < 35; ++i) {
    if (i == 20) {
      EXPECT_STATUS(kDataLoss, "has a wrong checksum", Read(i, &ahead));
    } else {
      EXPECT_OK(Read(i, &ahead));
    }
  }
  EXPECT_EQ(kernel_->uncached_reads, 1);
}

TEST_F(WindowReadsTest, TheirMemoryIsChargedAndBounded) {
  OpenScarce();
  ASSERT_OK(budget_->SetLimit(8 << 20));
  constexpr uint64_t kMost = 1 << 20;  // an eighth
  std::vector<BlockReader::ReadAhead> scans(20);
  for (size_t k = 0; k < scans.size(); ++k) {
    scans[k].expected = 256 << 10;
    ASSERT_OK(Read(70 * k, &scans[k]));
    EXPECT_LE(budget_->used(MemoryBudget::Use::kReads), kMost + (300 << 10));
  }
  EXPECT_GT(budget_->used(MemoryBudget::Use::kReads), kMost);
  EXPECT_LE(kernel_->uncached_reads, 5);
  EXPECT_EQ(kernel_->requests, scans.size() - kernel_->uncached_reads) << "through the mapping";
  scans.clear();
  EXPECT_EQ(budget_->used(MemoryBudget::Use::kReads), 0);
}

TEST_F(WindowReadsTest, WhileMemoryIsPlentifulThereAreNone) {
  Open(200);
  BlockReader::ReadAhead ahead;
  ahead.expected = 100 << 10;
  for (size_t i = 0; i < 25; ++i) ASSERT_OK(Read(i, &ahead));
  EXPECT_FALSE(reader_->ReadsWindows());
  EXPECT_EQ(kernel_->uncached_reads, 0);
}

}  // namespace
}  // namespace bigtable
