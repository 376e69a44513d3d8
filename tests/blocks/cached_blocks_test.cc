// Blocks that are read by position, through the block cache.
#include "blocks/cached_blocks.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/memory_budget.h"

#include "base/ref_counted.h"
#include "base/shortcuts.h"
#include "blocks/block_file_fixture.h"
#include "blocks/compression.h"
#include "blocks/read_settings.h"
#include "cache/block.h"
#include "support/cached_bytes.h"
#include "support/expect_status.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class CachedBlocksTest : public BlockFileFixture {
 protected:
  void Open(bool is_mapped = false) {
    BlockFileFixture::Open(is_mapped);
    blocks_.emplace(file_.get(), budget_.get());
  }
  absl::Status Read(size_t i, const ReadSettings& settings = {}) {
    return blocks_->Read(At(i), settings, &block_, &owner_, &origin_);
  }
  uint64_t cached() const { return CachedBytes(*budget_); }

  std::optional<CachedBlocks> blocks_;
  std::string_view block_;
  Ref<Block> owner_;
  BlockOrigin origin_ = BlockOrigin::kInPlace;
};

TEST_F(CachedBlocksTest, ABlockIsReadOnceAndThenFoundInTheCache) {
  AddBlocks(5, Compression::kZstd);
  Open();
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < 5; ++i) {
      ASSERT_OK(Read(i));
      EXPECT_EQ(block_, Content(i));
      EXPECT_EQ(owner_->data().data(), block_.data()) << "the owner keeps the bytes";
      EXPECT_EQ(origin_, pass == 0 ? BlockOrigin::kCacheMiss : BlockOrigin::kCacheHit);
    }
    EXPECT_EQ(events_.reads, 5);
  }
}

// Or the file system reads a mapped file in a way that does not read ahead.
TEST_F(CachedBlocksTest, AMappedFileIsAskedForADescriptorBeforeItIsRead) {
  AddBlocks(2, Compression::kNone);
  Open(/*is_mapped=*/true);
  ASSERT_OK(Read(0));
  EXPECT_EQ(events_.reads, 1u);
  EXPECT_EQ(events_.opened_by, 0u);
}

TEST_F(CachedBlocksTest, AReaderOfEverythingOnceUsesTheCacheAndDoesNotFillIt) {
  AddBlocks(2, Compression::kNone);
  Open();
  const ReadSettings once{.fill_cache = false};
  ASSERT_OK(Read(0, once));
  EXPECT_EQ(cached(), 0);
  ASSERT_OK(Read(0));
  EXPECT_GT(cached(), 0);
  ASSERT_OK(Read(0, once));
  EXPECT_EQ(origin_, BlockOrigin::kCacheHit);
}

TEST_F(CachedBlocksTest, WithoutTheShortcutEachReadIsOfTheFile) {
  AddBlocks(1, Compression::kNone);
  Open();
  ASSERT_OK(Read(0));
  const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kBlockCache));
  ASSERT_OK(Read(0));
  EXPECT_EQ(origin_, BlockOrigin::kCacheMiss);
  EXPECT_EQ(block_, Content(0));
  EXPECT_EQ(events_.reads, 2);
}

TEST_F(CachedBlocksTest, ADamagedBlockIsNotCached) {
  AddBlocks(1, Compression::kZstd);
  Open();
  Stored(0)[3] ^= 1;
  EXPECT_STATUS(kDataLoss, "has a wrong checksum", Read(0));
  EXPECT_EQ(cached(), 0);
  Stored(0)[3] ^= 1;
  ASSERT_OK(Read(0));
  EXPECT_EQ(block_, Content(0));
}

TEST_F(CachedBlocksTest, ItsBlocksLeaveTheCacheWithItAndThoseOfOthersStay) {
  AddBlocks(3, Compression::kNone);
  Open();
  CachedBlocks other(file_.get(), budget_.get());
  ASSERT_OK(other.Read(At(0), {}, &block_, &owner_, &origin_));
  EXPECT_FALSE(blocks_->Find(At(0))) << "each has an id of its own";
  const uint64_t before = cached();
  for (size_t i = 0; i < 3; ++i) ASSERT_OK(Read(i));
  const Ref<Block> kept = owner_;
  EXPECT_GT(cached(), before);
  blocks_.reset();
  EXPECT_EQ(cached(), before);
  EXPECT_TRUE(other.Find(At(0)));
  EXPECT_EQ(kept->data(), Content(2));
}

TEST_F(CachedBlocksTest, ABlockThatWasReadInAnotherWayIsFoundAfterItWasAdded) {
  AddBlocks(2, Compression::kZstd);
  Open();
  ASSERT_OK(file_->Decode(At(1), Stored(1), nullptr, nullptr, &owner_));
  blocks_->Add(At(1), {.fill_cache = false}, owner_);
  EXPECT_FALSE(blocks_->Find(At(1)));
  blocks_->Add(At(1), {}, owner_);
  EXPECT_EQ(blocks_->Find(At(1)).get(), owner_.get());
  EXPECT_FALSE(blocks_->Find(At(0)));
}

}  // namespace
}  // namespace bigtable
