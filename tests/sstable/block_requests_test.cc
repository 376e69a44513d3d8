// BlockReader::Request: blocks of a mapped file that are asked for before they are read.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

#include "page_residency_fixture.h"
#include "support/random.h"

namespace bigtable {
namespace {

class BlockRequestsTest : public MappedFileTest {
 protected:
  // Distant enough that no two are in the same page.
  std::vector<size_t> DistantBlocks() const {
    std::vector<size_t> all;
    for (size_t i = 10; i < blocks(); i += 100) all.push_back(i);
    return all;
  }
};

TEST_F(BlockRequestsTest, RequestedBlocksAreNotRequestedAgain) {
  for (const bool by_position : {false, true}) {
    OpenScarce();
    kernel_->reads_by_position = by_position;
    for (const size_t i : DistantBlocks()) EXPECT_EQ(reader_->Request(i, 0), i + 1);
    EXPECT_EQ(kernel_->requests, DistantBlocks().size());
    EXPECT_LE(kernel_->pages_read, 2 * DistantBlocks().size()) << "each block alone";
    EXPECT_EQ(kernel_->positional_reads + kernel_->populations, 0u) << "it does not wait";
    ResetCounts();
    for (const size_t i : DistantBlocks()) ASSERT_OK(Read(i));
    EXPECT_EQ(kernel_->requests, 0u);
    EXPECT_EQ(kernel_->faults, 0u);
    EXPECT_EQ(kernel_->positional_reads + kernel_->uncached_reads, 0u);
  }
}

TEST_F(BlockRequestsTest, RequestedRowsAreReadByPositionIfTheFileCan) {
  for (const bool by_position : {false, true}) {
    OpenScarce();
    kernel_->reads_by_position = by_position;
    for (const size_t i : DistantBlocks()) {
      EXPECT_EQ(reader_->Request(i, 0, RowPrefix(RowOf(FirstRowOf(i)))), i + 1);
    }
    EXPECT_EQ(kernel_->requests, DistantBlocks().size());
    ResetCounts();
    for (const size_t i : DistantBlocks()) {
      bool is_slice = false;
      ASSERT_OK(ReadRow(FirstRowOf(i), &is_slice));
      EXPECT_EQ(is_slice, by_position);
    }
    EXPECT_EQ(kernel_->positional_reads, by_position ? DistantBlocks().size() : 0);
    EXPECT_EQ(kernel_->populations, by_position ? 0 : DistantBlocks().size());
    EXPECT_EQ(kernel_->requests + kernel_->uncached_reads + kernel_->faults, 0u);
  }
}

TEST_F(BlockRequestsTest, ARowInTheCacheIsNotRequested) {
  OpenScarce();
  for (const size_t i : DistantBlocks()) ASSERT_OK(ReadRow(FirstRowOf(i)));
  ResetCounts();
  for (const size_t i : DistantBlocks()) {
    EXPECT_EQ(reader_->Request(i, 0, RowPrefix(RowOf(FirstRowOf(i)))), 0u);
    ASSERT_OK(ReadRow(FirstRowOf(i)));
  }
  EXPECT_EQ(calls(), 0u);
  for (const size_t i : DistantBlocks()) {
    EXPECT_EQ(reader_->Request(i, 0, RowPrefix(RowOf(FirstRowOf(i) + 1))), i + 1) << "another row";
  }
}

TEST_F(BlockRequestsTest, BlocksInMemoryAreNotRequested) {
  Open(200);
  for (size_t i = 0; i < blocks(); ++i) ASSERT_OK(Read(i));
  ResetCounts();
  for (size_t i = 0; i < blocks(); ++i) {
    EXPECT_EQ(reader_->Request(i, 0), 0u);
    EXPECT_EQ(reader_->Request(i, 64 << 10), 0u);
  }
  EXPECT_EQ(kernel_->requests, 0u);
  EXPECT_EQ(kernel_->queries, 0u);
}

// Of an epoch that has ended.
TEST_F(BlockRequestsTest, BlocksThatMayBeMissingAreQueriedOnce) {
  Open(200);
  for (size_t i = 0; i < blocks(); ++i) ASSERT_OK(Read(i));
  EndEpoch();
  ResetCounts();
  for (const size_t i : DistantBlocks()) {
    EXPECT_EQ(reader_->Request(i, 0), 0u);
    ASSERT_OK(Read(i));
  }
  EXPECT_EQ(kernel_->requests, 0u);
  EXPECT_EQ(kernel_->queries, DistantBlocks().size());
}

TEST_F(BlockRequestsTest, AScanGoesOnBehindWhatItRequested) {
  constexpr uint64_t kBytes = 100 << 10;
  for (const bool by_position : {false, true}) {
    OpenScarce();
    kernel_->reads_by_position = by_position;
    const size_t first = blocks() / 2;
    BlockReader::ReadAhead ahead;
    ahead.requested_end = reader_->Request(first, kBytes);
    const size_t end = ahead.requested_end;
    EXPECT_EQ(end, index_->EndOfStretch(first, kBytes));
    EXPECT_EQ(kernel_->requests, 1u);
    EXPECT_LE(kernel_->pages_read, kBytes / kPage + 3);
    ASSERT_OK(Read(first));
    for (size_t i = first + 1; i < end; ++i) ASSERT_OK(Read(i, &ahead));
    EXPECT_EQ(kernel_->requests, 1u) << "nothing else was needed";
    EXPECT_EQ(kernel_->faults, 0u);
    ASSERT_OK(Read(end, &ahead));
    EXPECT_EQ(kernel_->requests, 1u);
    EXPECT_EQ(kernel_->uncached_reads, 1u);
    ASSERT_OK(Read(end + 1, &ahead));
    EXPECT_EQ(kernel_->faults, 0u);
  }
}

TEST_F(BlockRequestsTest, AnErrorIsOneOfTheRead) {
  OpenScarce();
  EXPECT_EQ(reader_->Request(7, 0), 8u);
  kernel_->DropAll();
  kernel_->failure = absl::UnavailableError("the disk fails");
  EXPECT_EQ(reader_->Request(300, 0), 301u);
  EXPECT_STATUS(kUnavailable, "the disk fails", Read(7));
  kernel_->failure = absl::OkStatus();
  EXPECT_OK(Read(7));
}

TEST_F(BlockRequestsTest, TheLastBlocksEndTheRequest) {
  OpenScarce();
  EXPECT_EQ(reader_->Request(blocks() - 3, 1 << 20), blocks());
  EXPECT_EQ(kernel_->requests, 1u);
}

// What is known of the memory does not depend on whether blocks were requested.
TEST_F(BlockRequestsTest, MissingBlocksCountAsThoseOfSingleReads) {
  uint32_t epochs[2] = {};
  uint64_t pages[2] = {};
  for (const bool requests : {false, true}) {
    Open(25);
    Random random(1);
    for (int batch = 0; batch < 200; ++batch) {
      std::vector<size_t> rows(32);
      for (size_t& i : rows) i = random.Below(blocks());
      for (const size_t i : rows) {
        if (requests) (void)reader_->Request(i, 0);
      }
      for (const size_t i : rows) ASSERT_OK(Read(i));
    }
    EXPECT_LT(kernel_->faults, 2000u);
    epochs[requests] = residency_->epoch();
    pages[requests] = kernel_->pages_read;
  }
  EXPECT_GE(epochs[1], epochs[0] / 2);
  EXPECT_LE(epochs[1], epochs[0] * 2);
  EXPECT_LE(pages[1], pages[0] * 5 / 4);
}

// A scan that ends before what it requested.
TEST_F(BlockRequestsTest, WhatWasRequestedIsNotQueriedAgain) {
  Open(200);
  kernel_->Read(0, bytes_.size());
  for (int scan = 0; scan < 3; ++scan) {
    ResetCounts();
    (void)reader_->Request(100, 100 << 10);
    ASSERT_OK(Read(100));
    if (scan > 0) {
      EXPECT_EQ(kernel_->queries, 0u);
    }
  }
}

// A request for blocks that have fallen out of memory before they are read only costs time.
TEST_F(BlockRequestsTest, RequestedBlocksMayBeDropped) {
  OpenScarce();
  BlockReader::ReadAhead ahead;
  ahead.requested_end = reader_->Request(100, 100 << 10);
  kernel_->DropAll();
  ASSERT_OK(Read(100));
  for (size_t i = 101; i < 200; ++i) ASSERT_OK(Read(i, &ahead));
}

}  // namespace
}  // namespace bigtable
