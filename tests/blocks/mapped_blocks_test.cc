// Blocks that are read in place from a mapped file.
#include "blocks/mapped_blocks.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/file_system.h"
#include "bigtable/file_system_wrapper.h"
#include "bigtable/memory_budget.h"

#include "base/entry_key.h"
#include "base/ref_counted.h"
#include "base/strings.h"
#include "blocks/block_file_fixture.h"
#include "blocks/cached_blocks.h"
#include "blocks/compression.h"
#include "blocks/overlapped_reads.h"
#include "blocks/read_settings.h"
#include "cache/block.h"
#include "support/cached_bytes.h"
#include "support/expect_status.h"
#include "support/late_reads.h"
#include "support/random.h"

namespace bigtable {
namespace {

class HasLateReads final : public FileSystemWrapper {
 public:
  HasLateReads() : FileSystemWrapper(FileSystem::Posix()) {}
  std::unique_ptr<ReadQueue> NewReadQueue() override { return std::make_unique<LateReads>(7); }
};

class MappedBlocksTest : public BlockFileFixture {
 protected:
  using Entries = std::map<std::string, std::string>;

  void Open() {
    BlockFileFixture::Open(/*is_mapped=*/true);
    if (file_->is_compressed()) cache_.emplace(file_.get(), budget_.get());
    blocks_.emplace(file_.get(), &index_, cache_.has_value() ? &*cache_ : nullptr, budget_.get(),
                    &pages_);
  }
  absl::Status Read(size_t i, const ReadSettings& settings = {}, RowInBlock* row = nullptr) {
    char* bytes = nullptr;
    owner_ = Block::New(nullptr, 0, &bytes);  // of a read before
    return blocks_->Read(i, settings, nullptr, row, &block_, &owner_, &origin_);
  }
  // Of a read of this row. `*is_slice`: its slice was returned.
  absl::Status ReadRow(size_t i, std::string_view row, bool* is_slice,
                       const ReadSettings& settings = {}) {
    const std::string prefix = RowPrefix(row);
    RowInBlock in_block{prefix};
    const absl::Status status = Read(i, settings, &in_block);
    *is_slice = in_block.is_slice;
    return status;
  }
  // For another file.
  void Clear() {
    blocks_.reset();
    cache_.reset();
    BlockFileFixture::Clear();
    events_ = {};
  }
  // Blocks of the rows r00 to r03, r10 to r13, and so on, with three cells a row.
  static std::string Row(size_t i, size_t k) { return Cat("r", i, k); }
  static Entries EntriesOf(size_t i, size_t k) {
    Entries entries;
    for (size_t q = 0; q < 3; ++q) {
      entries[KeyOf(Row(i, k), Cat("q", q), 7)] = Cat("value ", i, k, q, std::string(40, 'x'));
    }
    return entries;
  }
  static std::string RowsOf(size_t i) {
    Entries entries;
    for (size_t k = 0; k < 4; ++k) entries.merge(EntriesOf(i, k));
    return BlockOf(entries);
  }
  // A file of which nothing is in memory, which is not plentiful.
  void OpenCold(Compression compression = Compression::kNone) {
    for (size_t i = 0; i < 10; ++i) AddBlock(RowsOf(i), compression);
    Open();
    pages_.CountKnown(100'000);
    pages_.EndEpoch();
    events_.is_resident = false;
  }

  NoFaults pages_;
  std::optional<CachedBlocks> cache_;
  std::optional<MappedBlocks> blocks_;
  std::string_view block_;
  Ref<Block> owner_;
  BlockOrigin origin_ = BlockOrigin::kCacheHit;
};

TEST_F(MappedBlocksTest, AfterTheFirstTouchABlockIsReadInPlace) {
  AddBlocks(3, Compression::kNone);
  Open();
  EXPECT_FALSE(blocks_->ReadInPlace(1, &block_)) << "not verified";
  ASSERT_OK(Read(1));
  EXPECT_EQ(origin_, BlockOrigin::kFirstTouch);
  EXPECT_EQ(block_.data(), Stored(1));
  EXPECT_EQ(block_, Content(1));
  EXPECT_FALSE(owner_);
  block_ = {};
  ASSERT_TRUE(blocks_->ReadInPlace(1, &block_));
  EXPECT_EQ(block_.data(), Stored(1));
  EXPECT_EQ(block_, Content(1));
  EXPECT_FALSE(blocks_->ReadInPlace(2, &block_)) << "populated with it, but not verified";
  ASSERT_OK(Read(1));
  EXPECT_EQ(origin_, BlockOrigin::kInPlace);
  EXPECT_EQ(events_.reads, 0);
  EXPECT_EQ(events_.populations, 1);
}

TEST_F(MappedBlocksTest, ABlockIsVerifiedOnceOrEachTimeIfRequested) {
  AddBlocks(2, Compression::kNone);
  Open();
  const ReadSettings each_time{.verify_checksums = true};
  ASSERT_OK(Read(0, each_time));
  Stored(0)[5] ^= 1;
  EXPECT_OK(Read(0)) << "verified before";
  EXPECT_STATUS(kDataLoss, "t: the block at offset 0 has a wrong checksum", Read(0, each_time));
}

TEST_F(MappedBlocksTest, ADamagedBlockIsNeverInPlace) {
  AddBlocks(2, Compression::kNone);
  Open();
  Stored(1)[5] ^= 1;
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_STATUS(kDataLoss, "has a wrong checksum", Read(1));
    EXPECT_FALSE(blocks_->ReadInPlace(1, &block_));
  }
  Stored(1)[5] ^= 1;
  ASSERT_OK(Read(1));
  EXPECT_TRUE(blocks_->ReadInPlace(1, &block_));
}

TEST_F(MappedBlocksTest, WhenAnEpochEndsEachBlockIsQueriedBeforeItIsReadInPlaceAgain) {
  AddBlocks(2, Compression::kNone);
  Open();
  ASSERT_OK(Read(0));
  ASSERT_OK(Read(1));
  pages_.EndEpoch();
  EXPECT_FALSE(blocks_->ReadInPlace(0, &block_));
  events_.queries = 0;
  ASSERT_OK(Read(0));
  EXPECT_EQ(events_.queries, 1);
  EXPECT_EQ(origin_, BlockOrigin::kInPlace) << "it is not verified again";
  EXPECT_TRUE(blocks_->ReadInPlace(0, &block_));
  EXPECT_FALSE(blocks_->ReadInPlace(1, &block_)) << "not queried in this epoch";
}

TEST_F(MappedBlocksTest, ACompressedBlockIsDecodedThroughTheCache) {
  AddBlocks(2, Compression::kZstd);
  Open();
  ASSERT_OK(Read(1));
  EXPECT_EQ(origin_, BlockOrigin::kCacheMiss);
  EXPECT_EQ(block_, Content(1));
  EXPECT_EQ(block_.data(), owner_->data().data());
  const char* const cached = block_.data();
  ASSERT_OK(Read(1));
  EXPECT_EQ(origin_, BlockOrigin::kCacheHit);
  EXPECT_EQ(block_.data(), cached);
  EXPECT_FALSE(blocks_->ReadInPlace(1, &block_));
  ASSERT_OK(Read(0, {.fill_cache = false}));
  ASSERT_OK(Read(0));
  EXPECT_EQ(origin_, BlockOrigin::kCacheMiss) << "not filled before";
  EXPECT_EQ(block_, Content(0));
}

TEST_F(MappedBlocksTest, ABlockOfACompressedFileThatIsNotCompressedIsReadInPlace) {
  AddBlocks(1, Compression::kZstd);
  AddBlock(Random(1).Bytes(1000), Compression::kZstd);
  Open();
  ASSERT_OK(Read(1));
  EXPECT_EQ(block_.data(), Stored(1));
  EXPECT_FALSE(owner_);
  EXPECT_EQ(CachedBytes(*budget_), 0);
  EXPECT_TRUE(blocks_->ReadInPlace(1, &block_));
}

TEST_F(MappedBlocksTest, ARowThatIsNotInMemoryIsReadUncachedAndItsSliceIsKept) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    OpenCold(compression);
    bool is_slice = false;
    ASSERT_OK(ReadRow(5, Row(5, 2), &is_slice));
    EXPECT_TRUE(is_slice);
    EXPECT_EQ(block_, BlockOf(EntriesOf(5, 2)));
    EXPECT_EQ(block_.data(), owner_->data().data());
    EXPECT_NE(origin_, BlockOrigin::kCacheHit);
    EXPECT_EQ(events_.uncached_reads, 1);
    EXPECT_EQ(events_.last_length, StoredSize(At(5)));
    EXPECT_EQ(events_.populations + events_.requests + events_.reads, 0);
    EXPECT_FALSE(blocks_->ReadInPlace(5, &block_));
    const uint64_t cached = CachedBytes(*budget_);
    EXPECT_GT(cached, 0);
    EXPECT_LT(cached, RowsOf(5).size());
    events_.queries = 0;
    for (int pass = 0; pass < 3; ++pass) {
      ASSERT_OK(ReadRow(5, Row(5, 2), &is_slice));
      EXPECT_TRUE(is_slice);
      EXPECT_EQ(block_, BlockOf(EntriesOf(5, 2)));
      EXPECT_EQ(origin_, BlockOrigin::kCacheHit);
    }
    EXPECT_EQ(events_.uncached_reads, 1);
    EXPECT_EQ(events_.queries + events_.populations + events_.requests + events_.reads, 0);
    Clear();
    EXPECT_EQ(CachedBytes(*budget_), 0) << "nothing is left of a closed file";
  }
}

// Each read fails now and then, and the block is read again.
TEST_F(MappedBlocksTest, ARowWhoseReadWasBegunTakesItAndItsSliceIsKept) {
  HasLateReads file_system;
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    OpenCold(compression);
    OverlappedReads overlapped(&file_system, budget_);
    for (const size_t i : {5, 2, 8}) {
      EXPECT_EQ(blocks_->Request(i, 0, RowPrefix(Row(i, 2)), &overlapped), 0);
    }
    EXPECT_EQ(blocks_->Request(5, 0, RowPrefix(Row(5, 1)), &overlapped), 0) << "it was begun";
    EXPECT_EQ(events_.begun_reads, 3);
    EXPECT_EQ(events_.requests, 0);
    events_.reads = events_.uncached_reads = 0;  // those of the queue
    for (const size_t i : {2, 5, 8}) {
      bool is_slice = false;
      ASSERT_OK(ReadRow(i, Row(i, 2), &is_slice, {.overlapped = &overlapped}));
      EXPECT_TRUE(is_slice);
      EXPECT_EQ(block_, BlockOf(EntriesOf(i, 2)));
      EXPECT_NE(origin_, BlockOrigin::kCacheHit);
      ASSERT_OK(ReadRow(i, Row(i, 2), &is_slice, {.overlapped = &overlapped}));
      EXPECT_EQ(origin_, BlockOrigin::kCacheHit);
    }
    bool is_slice = false;
    ASSERT_OK(ReadRow(5, Row(5, 1), &is_slice, {.fill_cache = false, .overlapped = &overlapped}));
    EXPECT_FALSE(is_slice) << "it is not kept, so the whole block is returned";
    EXPECT_EQ(block_, RowsOf(5));
    EXPECT_TRUE(owner_) << "the memory of the read is used again";
    EXPECT_EQ(events_.reads + events_.populations, 0);
    Clear();
  }
}

TEST_F(MappedBlocksTest, ADamagedBlockThatWasBegunIsAnError) {
  HasLateReads file_system;
  OpenCold();
  bytes_[index_.handle(5).offset + 20] ^= 1;
  OverlappedReads overlapped(&file_system, budget_);
  (void)blocks_->Request(5, 0, RowPrefix(Row(5, 2)), &overlapped);
  EXPECT_EQ(events_.begun_reads, 1);
  bool is_slice = false;
  EXPECT_STATUS(kDataLoss, "has a wrong checksum",
                ReadRow(5, Row(5, 2), &is_slice, {.overlapped = &overlapped}));
  EXPECT_EQ(CachedBytes(*budget_), 0);
}

TEST_F(MappedBlocksTest, ASecondRowOfABlockIsReadThroughTheMapping) {
  OpenCold();
  bool is_slice = false;
  ASSERT_OK(ReadRow(5, Row(5, 2), &is_slice));
  ASSERT_OK(ReadRow(8, Row(8, 0), &is_slice));
  ASSERT_OK(ReadRow(5, Row(5, 3), &is_slice));
  EXPECT_FALSE(is_slice);
  EXPECT_EQ(block_.data(), Stored(5));
  EXPECT_FALSE(owner_);
  EXPECT_EQ(events_.uncached_reads, 2);
  EXPECT_EQ(events_.populations, 1);
  EXPECT_TRUE(blocks_->ReadInPlace(5, &block_));
}

TEST_F(MappedBlocksTest, AReadOfTheBlockNeverReturnsASlice) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    OpenCold(compression);
    bool is_slice = false;
    ASSERT_OK(ReadRow(5, Row(5, 2), &is_slice));
    ASSERT_TRUE(is_slice);
    ASSERT_OK(Read(5));
    EXPECT_EQ(block_, RowsOf(5));
    ASSERT_OK(ReadRow(5, Row(5, 1), &is_slice));
    EXPECT_EQ(block_, RowsOf(5)) << "in memory now, or decoded";
    Clear();
  }
}

TEST_F(MappedBlocksTest, ARowThatIsAbsentIsReadFromTheWholeBlock) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    OpenCold(compression);
    bool is_slice = true;
    ASSERT_OK(ReadRow(5, "r515", &is_slice));
    EXPECT_FALSE(is_slice);
    EXPECT_EQ(events_.uncached_reads, 1);
    EXPECT_EQ(block_, RowsOf(5));
    EXPECT_EQ(block_.data(), owner_->data().data());
    Clear();
  }
}

TEST_F(MappedBlocksTest, WithoutFillingTheCacheNoSliceIsKept) {
  OpenCold();
  bool is_slice = true;
  ASSERT_OK(ReadRow(5, Row(5, 2), &is_slice, {.fill_cache = false}));
  EXPECT_FALSE(is_slice);
  EXPECT_EQ(block_, RowsOf(5));
  EXPECT_EQ(CachedBytes(*budget_), 0);
}

TEST_F(MappedBlocksTest, ARequestedRowIsReadByPositionAndSlicedAndNotRequestedAgain) {
  OpenCold();
  const std::string prefix = RowPrefix(Row(5, 2));
  EXPECT_EQ(blocks_->Request(5, 0, prefix, nullptr), 6);
  EXPECT_EQ(events_.requests, 1);
  bool is_slice = false;
  ASSERT_OK(ReadRow(5, Row(5, 2), &is_slice));
  EXPECT_TRUE(is_slice);
  EXPECT_EQ(block_, BlockOf(EntriesOf(5, 2)));
  EXPECT_EQ(events_.reads, 1);
  EXPECT_EQ(events_.uncached_reads + events_.populations, 0);
  events_.queries = 0;
  EXPECT_EQ(blocks_->Request(5, 0, prefix, nullptr), 0);
  EXPECT_EQ(events_.queries, 0);
  EXPECT_EQ(blocks_->Request(5, 0, RowPrefix(Row(5, 1)), nullptr), 6) << "of another row";
  EXPECT_EQ(events_.requests, 2);
}

TEST_F(MappedBlocksTest, AnUncachedReadIsVerifiedAndItsErrorIsNotRemembered) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    OpenCold(compression);
    Stored(5)[5] ^= 1;
    bool is_slice = false;
    EXPECT_STATUS(kDataLoss, "has a wrong checksum", ReadRow(5, Row(5, 2), &is_slice));
    EXPECT_EQ(events_.uncached_reads, 1);
    Stored(5)[5] ^= 1;
    events_.failure = absl::UnavailableError("t: Input/output error");
    EXPECT_STATUS(kUnavailable, "t: Input/output error", ReadRow(8, Row(8, 2), &is_slice));
    EXPECT_EQ(events_.uncached_reads, 2);
    events_.failure = absl::OkStatus();
    EXPECT_EQ(CachedBytes(*budget_), 0);
    for (const size_t i : {5, 8}) {
      ASSERT_OK(ReadRow(i, Row(i, 2), &is_slice));
      EXPECT_EQ(block_, is_slice ? BlockOf(EntriesOf(i, 2)) : RowsOf(i));
    }
    Clear();
  }
}

TEST_F(MappedBlocksTest, AnErrorOfBringingABlockInIsReturned) {
  AddBlocks(2, Compression::kNone);
  Open();
  events_.failure = absl::UnavailableError("t: Input/output error");
  EXPECT_STATUS(kUnavailable, "t: Input/output error", Read(0));
  EXPECT_FALSE(blocks_->ReadInPlace(0, &block_));
  events_.failure = absl::OkStatus();
  EXPECT_OK(Read(0));
}

TEST_F(MappedBlocksTest, ItsBitsAreCharged) {
  const uint64_t before = used(MemoryBudget::Use::kIndexes);
  AddBlocks(65, Compression::kNone);
  Open();
  EXPECT_EQ(used(MemoryBudget::Use::kIndexes), before + 6 * 2 * sizeof(uint64_t) + 65);
  blocks_.reset();
  EXPECT_EQ(used(MemoryBudget::Use::kIndexes), before);
}

}  // namespace
}  // namespace bigtable
