// How blocks of a mapped file are read again after the kernel dropped their pages: the size and
// number of requests, and reads by position.
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "base/shortcuts.h"
#include "base/strings.h"
#include "blocks/block_reader.h"
#include "blocks/page_residency.h"
#include "page_residency_fixture.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class DroppedPagesTest : public MappedFileTest {};

TEST_F(DroppedPagesTest, WhereLittleFitsADroppedBlockIsReadWithOneRequestOfItsSize) {
  for (const bool by_position : {false, true}) {
    for (const int percent : {12, 25, 50, 90}) {
      SCOPED_TRACE(Cat(percent, by_position ? " by position" : " mapped"));
      Open(percent, by_position);
      ReadAtRandom(40'000, 1);
      ResetCounts();
      ReadAtRandom(20'000, 2);
      EXPECT_GT(kernel_->requests, 100) << "the disk was needed";
      EXPECT_LT(kernel_->pages_read, 3 * kernel_->requests) << "a block and no more";
      EXPECT_LT(kernel_->faults, kernel_->requests / 10) << "few are read without a request";
      EXPECT_EQ(kernel_->unannounced_reads, 0) << "the kernel would read more";
      if (!by_position) {
        EXPECT_EQ(kernel_->positional_reads, 0);
      } else if (percent <= 50) {
        EXPECT_GT(kernel_->positional_reads, kernel_->requests * 9 / 10);
        EXPECT_EQ(budget_->used(MemoryBudget::Use::kBlockCache), 0) << "the kernel has it";
      } else {
        EXPECT_LT(kernel_->positional_reads, kernel_->requests / 10)
            << "a block that will probably stay is worth a page table entry";
      }
    }
  }
}

// It is not put into the page table before it is read a second time.
TEST_F(DroppedPagesTest, ABlockThatWasReadByPositionIsReadInPlaceTheNextTime) {
  Open(12);
  ReadAtRandom(40'000, 1);
  kernel_->DropAll();
  ResetCounts();
  size_t dropped = 0;
  while (kernel_->positional_reads == 0) ASSERT_OK(Read(dropped++));
  const size_t block = dropped - 1;
  EXPECT_EQ(kernel_->populations, 0);
  ASSERT_OK(Read(block));
  ASSERT_OK(Read(block));
  EXPECT_EQ(kernel_->positional_reads, 1);
  EXPECT_LE(kernel_->populations, 1);
}

// A block that was read by position has been in memory, so its absence counts.
TEST_F(DroppedPagesTest, ABlockThatWasReadByPositionCountsAsMissingWhenItIsDropped) {
  Open(200);
  for (int k = 0; k < 4; ++k) residency_->CountSampleMissing();
  residency_->CountKnown(100'000);  // other files' blocks, so that memory is not plentiful
  const uint32_t epoch = residency_->epoch();
  for (size_t i = 0; i < 200; ++i) ASSERT_OK(Read(i));
  EXPECT_EQ(kernel_->positional_reads, 200);
  EXPECT_EQ(residency_->epoch(), epoch) << "none was there before";
  kernel_->DropAll();
  for (size_t i = 0; i < 200; ++i) ASSERT_OK(Read(i));
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

TEST_F(DroppedPagesTest, CompressedBlocksAreReadByPositionAndCachedIfRequested) {
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
  EXPECT_GT(kernel_->positional_reads, 1000);
  ResetCounts();
  BlockReader::ReadAhead ahead;
  for (size_t i = 1; i < blocks(); ++i) EXPECT_TRUE(read(i, false, &ahead) == blocks_before[i]);
  EXPECT_GT(kernel_->positional_reads, blocks() / 3);
  EXPECT_EQ(budget_->used(MemoryBudget::Use::kBlockCache), 0);
  for (size_t i = 0; i < blocks(); ++i) read(i, true, nullptr);
  ResetCounts();
  for (size_t i = 0; i < blocks(); ++i) EXPECT_TRUE(read(i, true, nullptr) == blocks_before[i]);
  EXPECT_EQ(kernel_->queries + kernel_->requests, 0);
}

TEST_F(DroppedPagesTest, AWrongChecksumIsFoundInAReadByPosition) {
  Open(12);
  ReadAtRandom(40'000, 1);
  bytes_[index_->handle(700).offset + 100] ^= 1;
  kernel_->DropAll();
  std::string_view block;
  Ref<Block> owner;
  size_t found = 0;
  for (size_t i = 0; i < blocks(); ++i) {
    const absl::Status status = reader_->Read(i, {}, nullptr, &block, &owner);
    found += absl::IsDataLoss(status) ? 1 : 0;
    EXPECT_EQ(status.ok(), i != 700);
  }
  EXPECT_EQ(found, 1);
}

TEST_F(DroppedPagesTest, WithoutTheShortcutNothingIsReadPastTheMapping) {
  const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kPastMapping));
  Open(12);
  ReadAtRandom(40'000, 1);
  BlockReader::ReadAhead ahead;
  for (size_t i = 1; i < blocks(); ++i) ASSERT_OK(Read(i, &ahead));
  EXPECT_EQ(kernel_->positional_reads, 0);
}

TEST_F(DroppedPagesTest, AScanOfDroppedBlocksReadsInLargeRequests) {
  Open(50, false);
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

TEST_F(DroppedPagesTest, AShortScanReadsLittleMoreThanItReturns) {
  Open(12);
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
  EXPECT_LT(kernel_->populations, kScans)
      << "a block that is soon dropped is not put into the page table";
  EXPECT_LT(kernel_->requests + kernel_->faults, kScans * 6);
}

TEST_F(DroppedPagesTest, AnErrorOfReadingADroppedBlockAgainIsReturned) {
  for (const bool by_position : {false, true}) {
    Open(12, by_position);
    ReadAtRandom(40'000, 1);
    kernel_->failure = absl::UnavailableError("t: Input/output error");
    int errors = 0;
    for (size_t i = 0; i < blocks(); ++i) errors += Read(i).ok() ? 0 : 1;
    EXPECT_GT(errors, static_cast<int>(blocks()) / 2);
    kernel_->failure = absl::OkStatus();
    for (size_t i = 0; i < blocks(); ++i) EXPECT_OK(Read(i));
  }
}

}  // namespace
}  // namespace bigtable
