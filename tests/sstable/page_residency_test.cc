// How a reader of a mapped file learns whether pages are in memory: epochs, trust, and page faults.
#include "blocks/page_residency.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "base/shortcuts.h"
#include "base/strings.h"
#include "page_residency_fixture.h"
#include "support/expect_status.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class PageResidencyTest : public MappedFileTest {};

TEST_F(PageResidencyTest, WhereEverythingFitsTheKernelIsNotQueriedAgain) {
  Open(200);
  ReadAtRandom(20'000, 1);
  EXPECT_LT(kernel_->requests, bytes_.size() / (100 << 10)) << "warm after few large requests";
  ResetCounts();
  ReadAtRandom(20'000, 2);
  EXPECT_EQ(kernel_->queries, 0);
  EXPECT_EQ(kernel_->faults, 0);
  EXPECT_EQ(residency_->epoch(), 0);
}

// Before that, each read from the disk brings 128 KiB: 32 blocks of 4 KiB.
TEST_F(PageResidencyTest, ThatLittleFitsIsDetectedSoon) {
  Open(12);
  const uint64_t memory = bytes_.size() / kPage * 12 / 100;
  ReadAtRandom(400, 1);
  EXPECT_GT(residency_->epoch(), 0);
  EXPECT_LT(kernel_->pages_read, 3 * memory + 3 * 400);
}

TEST_F(PageResidencyTest, TheKernelIsNotQueriedForAFileThatWasInMemorySoFar) {
  const auto read_all = [this](bool in_order) {
    Open(200);
    kernel_->Read(0, bytes_.size());
    ResetCounts();
    if (in_order) {
      for (size_t i = 0; i < blocks(); ++i) ASSERT_OK(Read(i));
    } else {
      ReadAtRandom(20'000, 1);
    }
    EXPECT_EQ(kernel_->faults + kernel_->requests, 0);
    EXPECT_GT(kernel_->populations, 40);
  };
  for (const bool in_order : {true, false}) {
    read_all(in_order);
    EXPECT_EQ(kernel_->queries, 4);
    const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kResidencyTrust));
    read_all(in_order);
    EXPECT_EQ(kernel_->queries, kernel_->populations);
  }
}

// Ranges of 128 KiB have 32 pages.
TEST_F(PageResidencyTest, AFileThatWasTrustedWronglyIsQueriedAgain) {
  Open(200);
  kernel_->Read(0, bytes_.size() / 2);
  for (size_t i = 0; i < blocks(); ++i) ASSERT_OK(Read(i));
  EXPECT_GT(kernel_->faults, 0);
  EXPECT_LE(kernel_->faults, 33);
  EXPECT_GT(kernel_->requests, bytes_.size() / 2 / (128 << 10) - 2);
}

TEST_F(PageResidencyTest, AFileThatIsPartlyInMemoryIsTrustedLessAndLess) {
  for (const bool in_order : {true, false}) {
    for (const uint64_t piece : {300 << 10, 700 << 10, 1 << 20}) {
      SCOPED_TRACE(Cat(piece, in_order ? " in order" : " at random"));
      Open(200);
      for (uint64_t at = 0; at + piece < bytes_.size(); at += 2 * piece) kernel_->Read(at, piece);
      ResetCounts();
      for (size_t i = 0; in_order && i < blocks(); ++i) ASSERT_OK(Read(i));
      if (!in_order) ReadAtRandom(20'000, 1);
      EXPECT_LE(kernel_->faults, 2 * 33);
      EXPECT_GE(kernel_->requests, bytes_.size() / 2 / (128 << 10) - 3);
    }
  }
}

TEST_F(PageResidencyTest, AScanTrustsAFileUntilAPageIsMissing) {
  Open(200);
  kernel_->Read(0, bytes_.size() / 2);
  ResetCounts();
  BlockReader::ReadAhead ahead;
  for (size_t i = 0; i < blocks() / 3; ++i) ASSERT_OK(Read(i, &ahead));
  EXPECT_LE(kernel_->queries, 5);
  for (size_t i = blocks() / 3; i < blocks(); ++i) ASSERT_OK(Read(i, &ahead));
  EXPECT_LE(kernel_->faults, 65) << "a window of 256 KiB";
}

TEST_F(PageResidencyTest, PagesEvictedByOtherProcessesAreDetectedByPageFaults) {
  Open(200);
  ReadAtRandom(20'000, 1);
  kernel_->DropAll();
  ResetCounts();
  ReadAtRandom(600, 2);
  EXPECT_GT(residency_->epoch(), 0);
  EXPECT_LT(kernel_->faults, 3 * 256u * 2);
  ResetCounts();
  ReadAtRandom(5000, 3);
  EXPECT_LT(kernel_->faults, 10);
}

TEST_F(PageResidencyTest, FaultsOfTheReaderDoNotCountAsFaultsOfTouches) {
  Open(200);
  ReadAtRandom(1000, 1);
  for (int k = 0; k < 100; ++k) {
    const PageResidency::Reading reading(residency_.get());
    major_faults += 100;
  }
  ReadAtRandom(10'000, 2);
  EXPECT_EQ(residency_->epoch(), 0);
}

TEST_F(PageResidencyTest, TheBitsOfTheReaderAreCharged) {
  const uint64_t before = budget_->used(MemoryBudget::Use::kIndexes);
  Open(12);
  EXPECT_GE(budget_->used(MemoryBudget::Use::kIndexes), before + 5 * blocks() / 8);
  reader_.reset();
  EXPECT_EQ(budget_->used(MemoryBudget::Use::kIndexes), before);
}

}  // namespace
}  // namespace bigtable
