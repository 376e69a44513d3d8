// Blocks that are read in place from a mapped file.
#include "blocks/mapped_blocks.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/memory_budget.h"

#include "base/ref_counted.h"
#include "blocks/block_file_fixture.h"
#include "blocks/cached_blocks.h"
#include "blocks/compression.h"
#include "blocks/read_settings.h"
#include "cache/block.h"
#include "support/expect_status.h"
#include "support/random.h"

namespace bigtable {
namespace {

class MappedBlocksTest : public BlockFileFixture {
 protected:
  void Open() {
    BlockFileFixture::Open(/*is_mapped=*/true);
    if (file_->is_compressed()) cache_.emplace(file_.get(), budget_.get());
    blocks_.emplace(file_.get(), cache_.has_value() ? &*cache_ : nullptr, budget_.get(), &pages_);
  }
  absl::Status Read(size_t i, const ReadSettings& settings = {}) {
    owner_ = MakeRef<Block>(std::string_view("of a read before"));
    return blocks_->Read(i, settings, nullptr, &block_, &owner_, &origin_);
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
  EXPECT_EQ(used(MemoryBudget::Use::kBlockCache), 0);
  EXPECT_TRUE(blocks_->ReadInPlace(1, &block_));
}

TEST_F(MappedBlocksTest, WhereMemoryIsScarceAMissingBlockIsReadByPositionAndNotCached) {
  AddBlocks(2, Compression::kNone);
  Open();
  ASSERT_OK(Read(0));
  pages_.CountKnown(100'000);
  pages_.EndEpoch();
  events_.is_resident = false;
  events_.populations = 0;
  for (const size_t i : {0, 1}) {
    ASSERT_OK(Read(i));
    EXPECT_EQ(block_, Content(i));
    EXPECT_EQ(block_.data(), owner_->data().data());
    EXPECT_EQ(origin_, BlockOrigin::kFirstTouch);
    EXPECT_FALSE(blocks_->ReadInPlace(i, &block_));
  }
  EXPECT_EQ(events_.reads, 2);
  EXPECT_EQ(events_.populations, 0);
  EXPECT_EQ(used(MemoryBudget::Use::kBlockCache), 0) << "the kernel has it";
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
  EXPECT_EQ(used(MemoryBudget::Use::kIndexes), before + 6 * 2 * sizeof(uint64_t));
  blocks_.reset();
  EXPECT_EQ(used(MemoryBudget::Use::kIndexes), before);
}

}  // namespace
}  // namespace bigtable
