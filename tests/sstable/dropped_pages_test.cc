// How blocks of a mapped file are read again after the kernel dropped their pages: the size and
// number of requests, and reads by position.
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "base/entry_key.h"
#include "base/shortcuts.h"
#include "blocks/block_reader.h"
#include "blocks/page_residency.h"
#include "page_residency_fixture.h"
#include "support/cached_bytes.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class DroppedPagesTest : public MappedFileTest {};

TEST_F(DroppedPagesTest, WhereLittleFitsADroppedBlockIsReadWithOneRequestOfItsSize) {
  for (const int percent : {12, 25, 50, 90}) {
    SCOPED_TRACE(percent);
    Open(percent);
    ReadAtRandom(40'000, 1);
    ResetCounts();
    ReadAtRandom(20'000, 2);
    EXPECT_GT(kernel_->requests, 100) << "the disk was needed";
    EXPECT_LT(kernel_->pages_read, 3 * kernel_->requests) << "a block and no more";
    EXPECT_LT(kernel_->faults, kernel_->requests / 10) << "few are read without a request";
    EXPECT_EQ(kernel_->positional_reads + kernel_->uncached_reads, 0) << "not for a row";
  }
}

// A block that was read by position has been in memory, so its absence counts.
TEST_F(DroppedPagesTest, ABlockThatWasReadByPositionCountsAsMissingWhenItIsDropped) {
  Open(200);
  EndEpoch();
  residency_->CountKnown(100'000);  // other files' blocks, so that memory is not plentiful
  const uint32_t epoch = residency_->epoch();
  const auto read_all = [&](size_t row_in_block) {
    for (size_t i = 0; i < 200; ++i) {
      const size_t row = FirstRowOf(i) + row_in_block;
      EXPECT_GT(reader_->Request(i, 0, RowPrefix(RowOf(row))), 0);
      ASSERT_OK(ReadRow(row));
    }
  };
  read_all(0);
  EXPECT_EQ(kernel_->positional_reads, 200);
  EXPECT_EQ(residency_->epoch(), epoch) << "none was there before";
  kernel_->DropAll();
  read_all(1);
  EXPECT_GT(residency_->epoch(), epoch);
}

TEST_F(DroppedPagesTest, ALongScanOfDroppedBlocksReadsByPosition) {
  Open(25);
  kernel_->readahead = 512 << 10;
  for (int pass = 0; pass < 3; ++pass) {
    SCOPED_TRACE(pass);
    kernel_->DropAll();
    ResetCounts();
    BlockReader::ReadAhead ahead;
    ASSERT_OK(Read(0));
    for (size_t i = 1; i < blocks(); ++i) {
      ASSERT_OK(Read(i, &ahead));
      if (i == 100) {
        EXPECT_EQ(kernel_->unannounced_reads, 0) << "a short scan requests more itself";
      }
    }
    EXPECT_GT(kernel_->positional_reads, blocks() - 700);
    EXPECT_LT(kernel_->populations, 20);
  }
}

TEST_F(DroppedPagesTest, ALongScanReadsByPositionOnlyAsFarAsBlocksAreMissing) {
  Open(200);
  const size_t middle = blocks() / 2;
  const uint64_t offset = index_->handle(middle).offset;
  kernel_->Read(offset, index_->handle(blocks() - 1).offset - offset + 4200);
  BlockReader::ReadAhead ahead;
  for (size_t i = 1; i < blocks(); ++i) {
    ASSERT_OK(Read(i, &ahead));
    if (i == middle - 70) {
      EXPECT_GT(kernel_->positional_reads, middle - 500);
    }
  }
  EXPECT_LE(kernel_->positional_reads, middle + 64) << "one step of the check ahead";
  EXPECT_EQ(kernel_->faults, 0);
}

TEST_F(DroppedPagesTest, CompressedBlocksOfALongScanAreReadByPositionAndCachedIfRequested) {
  Write(Compression::kZstd);
  Open(12);
  ASSERT_LT(bytes_.size(), 6000u * 800) << "it is compressed";
  const auto read = [&](size_t i, bool fill_cache, BlockReader::ReadAhead* ahead) {
    std::string_view block;
    Ref<Block> owner;
    EXPECT_OK(reader_->Read(i, {.fill_cache = fill_cache}, ahead, &block, &owner));
    return std::string(block);
  };
  std::vector<std::string> blocks_before;
  for (size_t i = 0; i < blocks(); ++i) blocks_before.push_back(read(i, false, nullptr));
  EXPECT_GT(blocks_before[0].size(), index_->handle(0).size);
  ResetCounts();
  Random random(1);
  for (int k = 0; k < 5000; ++k) {
    const size_t i = random.Below(blocks());
    EXPECT_TRUE(read(i, false, nullptr) == blocks_before[i]);
  }
  EXPECT_EQ(kernel_->positional_reads, 0);
  ResetCounts();
  BlockReader::ReadAhead ahead;
  for (size_t i = 1; i < blocks(); ++i) EXPECT_TRUE(read(i, false, &ahead) == blocks_before[i]);
  EXPECT_GT(kernel_->positional_reads, blocks() / 3);
  EXPECT_EQ(CachedBytes(*budget_), 0);
  for (size_t i = 0; i < blocks(); ++i) read(i, true, nullptr);
  ResetCounts();
  for (size_t i = 0; i < blocks(); ++i) EXPECT_TRUE(read(i, true, nullptr) == blocks_before[i]);
  EXPECT_EQ(kernel_->queries + kernel_->requests, 0);
}

TEST_F(DroppedPagesTest, AWrongChecksumIsFoundInAReadByPosition) {
  OpenScarce();
  bytes_[index_->handle(700).offset + 100] ^= 1;
  size_t found = 0;
  for (size_t i = 0; i < blocks(); i += 100) {
    EXPECT_GT(reader_->Request(i, 0), 0);
    const absl::Status status = ReadRow(FirstRowOf(i));
    found += absl::IsDataLoss(status) ? 1 : 0;
    EXPECT_EQ(status.ok(), i != 700);
  }
  EXPECT_EQ(found, 1);
  EXPECT_EQ(kernel_->positional_reads, (blocks() + 99) / 100);
}

TEST_F(DroppedPagesTest, WithoutTheShortcutNothingIsReadPastTheMapping) {
  const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kPastMapping));
  OpenScarce();
  BlockReader::ReadAhead ahead;
  for (size_t i = 1; i < blocks(); ++i) ASSERT_OK(Read(i, &ahead));
  Random random(1);
  for (int k = 0; k < 2000; ++k) {
    const size_t row = random.Below(kRows);
    if (random.OneIn(2)) (void)reader_->Request(BlockOfRow(row), 0, RowPrefix(RowOf(row)));
    bool is_slice = true;
    ASSERT_OK(ReadRow(row, &is_slice));
    EXPECT_FALSE(is_slice);
  }
  EXPECT_GT(kernel_->requests, 1000);
  EXPECT_EQ(kernel_->positional_reads + kernel_->uncached_reads, 0);
  EXPECT_EQ(CachedBytes(*budget_), 0);
}

TEST_F(DroppedPagesTest, AScanOfDroppedBlocksReadsInLargeRequests) {
  Open(50);
  kernel_->reads_by_position = false;
  for (int pass = 0; pass < 3; ++pass) {
    ResetCounts();
    BlockReader::ReadAhead ahead;
    ASSERT_OK(Read(0));
    for (size_t i = 1; i < blocks(); ++i) ASSERT_OK(Read(i, &ahead));
    EXPECT_LT(kernel_->requests, bytes_.size() / (200 << 10) + 20);
    EXPECT_LT(kernel_->faults, 2 * 256) << "until they were noticed";
    EXPECT_LT(kernel_->pages_read, 3 * bytes_.size() / kPage / 2);
  }
}

TEST_F(DroppedPagesTest, AShortScanThroughTheMappingReadsLittleMoreThanItReturns) {
  Open(12);
  kernel_->reads_uncached = false;
  ReadAtRandom(40'000, 1);
  ResetCounts();
  Random random(2);
  constexpr size_t kScans = 200;
  for (size_t k = 0; k < kScans; ++k) {
    const size_t first = random.Below(blocks() - 25);
    BlockReader::ReadAhead ahead;
    ASSERT_OK(Read(first));
    for (size_t i = first + 1; i < first + 25; ++i) ASSERT_OK(Read(i, &ahead));
  }
  EXPECT_LT(kernel_->pages_read, kScans * 48);
  EXPECT_EQ(kernel_->positional_reads + kernel_->uncached_reads, 0);
  EXPECT_LT(kernel_->requests + kernel_->faults, kScans * 6);
}

TEST_F(DroppedPagesTest, AnErrorOfReadingADroppedBlockAgainIsReturned) {
  OpenScarce();
  kernel_->failure = absl::UnavailableError("t: Input/output error");
  for (size_t i = 0; i < blocks(); ++i) {
    EXPECT_STATUS(kUnavailable, "t: Input/output error", Read(i));
  }
  kernel_->failure = absl::OkStatus();
  for (size_t i = 0; i < blocks(); ++i) EXPECT_OK(Read(i));
}

}  // namespace
}  // namespace bigtable
