// Rows of a mapped file that are read past the memory of the system, where little fits into it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "base/shortcuts.h"
#include "page_residency_fixture.h"
#include "support/cached_bytes.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class UncachedReadsTest : public MappedFileTest {
 protected:
  // The first rows of distant blocks, in a random order.
  std::vector<size_t> DistantRows() const {
    std::vector<size_t> rows;
    for (size_t i = 10; i < blocks(); i += 10) rows.push_back(FirstRowOf(i));
    Random random(3);
    for (size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.Below(i)]);
    return rows;
  }
  uint64_t CallsOfTheMapping() const {
    return kernel_->requests + kernel_->pages_read + kernel_->populations +
           kernel_->positional_reads + kernel_->faults;
  }
  uint64_t cached() const { return CachedBytes(*budget_); }
};

TEST_F(UncachedReadsTest, ARowIsOneReadOfItsBlockAndLeavesThePagesAlone) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    Write(compression);
    OpenScarce();
    const uint64_t before = cached();
    uint64_t bytes = 0;
    for (const size_t row : DistantRows()) {
      bool is_slice = false;
      ASSERT_OK(ReadRow(row, &is_slice));
      EXPECT_TRUE(is_slice);
      bytes += StoredSize(BlockOfRow(row));
    }
    EXPECT_EQ(kernel_->uncached_reads, DistantRows().size());
    EXPECT_EQ(kernel_->uncached_bytes, bytes);
    EXPECT_EQ(CallsOfTheMapping(), 0);
    EXPECT_FALSE(kernel_->Has(index_->handle(BlockOfRow(DistantRows()[0])).offset, 1));
    EXPECT_LT(cached() - before, DistantRows().size() * 1300) << "a row of the block's four";
    reader_.reset();
    EXPECT_EQ(cached(), 0);
  }
}

TEST_F(UncachedReadsTest, TheSecondReadOfARowMakesNoCall) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    Write(compression);
    OpenScarce();
    for (const size_t row : DistantRows()) ASSERT_OK(ReadRow(row));
    ResetCounts();
    EndEpoch();
    for (const size_t row : DistantRows()) {
      bool is_slice = false;
      ASSERT_OK(ReadRow(row, &is_slice));
      EXPECT_TRUE(is_slice);
    }
    EXPECT_EQ(calls(), 0);
  }
}

TEST_F(UncachedReadsTest, AnotherRowOfTheBlockIsReadThroughTheMappingWithinARound) {
  OpenScarce();
  std::vector<size_t> rows = DistantRows();
  rows.resize(50);  // which fit
  for (const size_t row : rows) ASSERT_OK(ReadRow(row));
  ResetCounts();
  for (const size_t row : rows) {
    bool is_slice = true;
    ASSERT_OK(ReadRow(row + 1, &is_slice));
    EXPECT_FALSE(is_slice);
  }
  EXPECT_EQ(kernel_->uncached_reads, 0);
  EXPECT_EQ(kernel_->requests, rows.size());
  EXPECT_EQ(kernel_->populations, rows.size());
  ResetCounts();
  for (const size_t row : rows) ASSERT_OK(ReadRow(row + 2));
  EXPECT_EQ(calls(), 0) << "in place";
}

TEST_F(UncachedReadsTest, AfterTwoRoundsItIsReadUncachedAgain) {
  OpenScarce();
  for (const size_t row : DistantRows()) ASSERT_OK(ReadRow(row));
  for (int k = 0; k < 2; ++k) {
    for (const uint8_t before = residency_->round(); residency_->round() == before;) {
      residency_->CountPast(1);
    }
  }
  ResetCounts();
  for (const size_t row : DistantRows()) ASSERT_OK(ReadRow(row + 1));
  EXPECT_EQ(kernel_->uncached_reads, DistantRows().size());
  EXPECT_EQ(CallsOfTheMapping(), 0);
}

TEST_F(UncachedReadsTest, RowsInOrderReadEachBlockAboutOnce) {
  OpenScarce();
  for (size_t row = 0; row < kRows; ++row) ASSERT_OK(ReadRow(row));
  EXPECT_LE(kernel_->uncached_reads, 2);
  EXPECT_LE(kernel_->requests, blocks() + 2);
  EXPECT_LT(kernel_->pages_read, 2 * blocks());
  EXPECT_EQ(kernel_->faults, 0);
}

// What is in memory stays there.
TEST_F(UncachedReadsTest, ReadsOfManyRowsDoNotDisplaceOftenReadOnes) {
  OpenScarce();
  constexpr size_t kHot = 100;  // blocks
  for (size_t i = 0; i < kHot; ++i) ASSERT_OK(Read(i));
  ResetCounts();
  for (const size_t row : DistantRows()) {
    if (BlockOfRow(row) <= kHot) continue;
    ASSERT_OK(ReadRow(row));
  }
  EXPECT_GT(kernel_->uncached_reads, 130);
  for (size_t i = 0; i < kHot; ++i) ASSERT_OK(Read(i));
  EXPECT_EQ(CallsOfTheMapping(), 0);
}

TEST_F(UncachedReadsTest, AFileThatCannotBeReadSoIsReadThroughItsMapping) {
  OpenScarce();
  kernel_->reads_uncached = false;
  for (const size_t row : DistantRows()) ASSERT_OK(ReadRow(row));
  EXPECT_EQ(kernel_->uncached_reads, 0);
  EXPECT_EQ(kernel_->requests, DistantRows().size());
  EXPECT_EQ(kernel_->populations, DistantRows().size());
}

TEST_F(UncachedReadsTest, WhileMemoryIsPlentifulNothingIsReadUncached) {
  Open(200);
  for (const size_t row : DistantRows()) ASSERT_OK(ReadRow(row));
  EXPECT_EQ(kernel_->uncached_reads, 0);
  EXPECT_LT(kernel_->requests, bytes_.size() / (100 << 10));
}

TEST_F(UncachedReadsTest, WithoutFillingTheCacheNothingIsKept) {
  OpenScarce();
  for (const size_t row : DistantRows()) {
    bool is_slice = true;
    ASSERT_OK(ReadRow(row, &is_slice, {.fill_cache = false}));
    EXPECT_FALSE(is_slice);
  }
  EXPECT_EQ(kernel_->uncached_reads, DistantRows().size());
  EXPECT_EQ(cached(), 0);
}

TEST_F(UncachedReadsTest, AnErrorIsReturnedAndNotRemembered) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    Write(compression);
    OpenScarce();
    kernel_->failure = absl::UnavailableError("t: Input/output error");
    for (const size_t row : DistantRows()) {
      EXPECT_STATUS(kUnavailable, "t: Input/output error", ReadRow(row));
    }
    kernel_->failure = absl::OkStatus();
    for (const size_t row : DistantRows()) EXPECT_OK(ReadRow(row));
  }
}

TEST_F(UncachedReadsTest, AWrongChecksumIsFound) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    Write(compression);
    OpenScarce();
    const uint64_t before = cached();
    const size_t row = DistantRows()[20];
    bytes_[index_->handle(BlockOfRow(row)).offset + 100] ^= 1;
    EXPECT_STATUS(kDataLoss, "has a wrong checksum", ReadRow(row));
    EXPECT_EQ(kernel_->uncached_reads, 1);
    EXPECT_EQ(cached(), before);
    EXPECT_OK(ReadRow(DistantRows()[21]));
  }
}

}  // namespace
}  // namespace bigtable
