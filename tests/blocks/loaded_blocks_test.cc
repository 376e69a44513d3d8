// All blocks of a file, loaded into memory by the first read.
#include "blocks/loaded_blocks.h"

#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/call_options.h"
#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "base/ref_counted.h"
#include "blocks/block_file_fixture.h"
#include "blocks/compression.h"
#include "blocks/read_settings.h"
#include "cache/block.h"
#include "support/cached_bytes.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class LoadedBlocksTest : public BlockFileFixture {
 protected:
  void Open() {
    BlockFileFixture::Open();
    blocks_.emplace(file_.get(), &index_, budget_.get());
  }
  absl::Status Read(size_t i, const ReadSettings& settings = {}) {
    char* bytes = nullptr;
    owner_ = Block::New(nullptr, 0, &bytes);  // of a read before
    return blocks_->Read(i, settings, &block_, &owner_, &origin_);
  }
  uint64_t charged() const { return used(MemoryBudget::Use::kInMemoryGroups); }

  std::optional<LoadedBlocks> blocks_;
  std::string_view block_;
  Ref<Block> owner_;
  BlockOrigin origin_ = BlockOrigin::kCacheHit;
};

TEST_F(LoadedBlocksTest, TheFirstReadLoadsAllAndTheFileIsNotReadAgain) {
  for (const Compression compression :
       {Compression::kNone, Compression::kZstd, Compression::kZstdLongWindow}) {
    if (compression == Compression::kZstdLongWindow) dictionary_ = Content(0);
    AddBlocks(4, compression);
  }
  Open();
  EXPECT_FALSE(blocks_->ReadLoaded(0, &block_));
  EXPECT_EQ(blocks_->memory(), 0);
  ASSERT_OK(Read(11));
  EXPECT_EQ(origin_, BlockOrigin::kFirstTouch);
  events_.failure = absl::UnavailableError("no");
  for (size_t i = 0; i < 12; ++i) {
    ASSERT_OK(Read(i));
    EXPECT_EQ(block_, Content(i % 4));
    EXPECT_FALSE(owner_) << "they live as long as all blocks";
    EXPECT_EQ(origin_, BlockOrigin::kInPlace);
    std::string_view again;
    ASSERT_TRUE(blocks_->ReadLoaded(i, &again));
    EXPECT_EQ(again.data(), block_.data());
  }
}

TEST_F(LoadedBlocksTest, AFileWithoutCompressionIsReadOnce) {
  AddBlocks(4, Compression::kNone);
  Open();
  ASSERT_OK(Read(0));
  EXPECT_EQ(events_.reads, 4);
}

TEST_F(LoadedBlocksTest, TheirMemoryIsChargedAsLongAsTheyAreLoaded) {
  AddBlocks(4, Compression::kZstd);
  Open();
  EXPECT_EQ(charged(), 0);
  ASSERT_OK(Read(0));
  EXPECT_EQ(events_.reads, 8) << "first for the decoded sizes, which only the blocks state";
  EXPECT_GE(charged(), 4 * 1000);
  EXPECT_EQ(blocks_->memory(), charged());
  EXPECT_EQ(CachedBytes(*budget_), 0);
  blocks_.reset();
  EXPECT_EQ(charged(), 0);
}

TEST_F(LoadedBlocksTest, AFailedLoadLeavesNothingAndTheNextReadTriesAgain) {
  AddBlocks(4, Compression::kNone);
  Open();
  Stored(3)[10] ^= 1;
  EXPECT_STATUS(kDataLoss, "t: the block at offset 3027 has a wrong checksum", Read(0));
  EXPECT_EQ(charged(), 0);
  EXPECT_FALSE(blocks_->ReadLoaded(0, &block_)) << "not even the sound ones";
  Stored(3)[10] ^= 1;
  ASSERT_OK(Read(0));
  EXPECT_EQ(block_, Content(0));
}

TEST_F(LoadedBlocksTest, ThreadsThatWaitEndByTheirLimitsAndOneThreadLoads) {
  AddBlocks(2, Compression::kNone);
  Open();
  Cancellation cancellation;
  cancellation.Cancel();
  const CallLimits cancelled{.cancellation = &cancellation};
  std::thread waiter;
  std::string_view waiters_block;
  events_.on_access = [&] {
    events_.on_access = nullptr;
    std::thread limited([&] {
      std::string_view block;
      Ref<Block> owner;
      BlockOrigin origin;
      EXPECT_STATUS(kCancelled, "the read",
                    blocks_->Read(0, {.limits = &cancelled}, &block, &owner, &origin));
    });
    limited.join();
    waiter = std::thread([&] {
      Ref<Block> owner;
      BlockOrigin origin;
      EXPECT_OK(blocks_->Read(1, {}, &waiters_block, &owner, &origin));
    });
  };
  ASSERT_OK(Read(0, {.limits = &cancelled})) << "it was the first";
  waiter.join();
  EXPECT_EQ(waiters_block, Content(1));
  EXPECT_EQ(events_.reads, 2);
}

}  // namespace
}  // namespace bigtable
