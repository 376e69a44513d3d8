// Offsets in the index of files of more than 4 GiB. No such file has to be written, because an
// index has only keys and sizes.
#include "blocks/block_index.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/coding.h"
#include "blocks/block_builder.h"
#include "support/expect_status.h"
#include "support/random.h"

namespace bigtable {
namespace {

constexpr uint64_t kLine = uint64_t{1} << 32;  // where the lower halves wrap

std::string KeyOf(size_t block) { return absl::StrCat("key", 1'000'000 + 2 * block); }

// The index block of data blocks of these sizes, without block trailers.
std::string IndexBlock(const std::vector<uint64_t>& sizes) {
  BlockBuilder builder;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::string size;
    AppendVarint64(&size, sizes[i] * 4);
    size_t shared;
    EXPECT_TRUE(builder.Add(KeyOf(i), size, &shared));
  }
  std::string block;
  builder.FinishTo(&block);
  return block;
}

uint64_t DataSize(const std::vector<uint64_t>& sizes) {
  uint64_t data_size = 0;
  for (const uint64_t size : sizes) data_size += size + kBlockTrailerSize;
  return data_size;
}

// Each block is found, and is after the blocks before it.
void CheckHandles(const std::vector<uint64_t>& sizes) {
  ASSERT_OK_AND_ASSIGN(const BlockIndex index,
                       BlockIndex::Load(IndexBlock(sizes), DataSize(sizes)));
  ASSERT_EQ(index.size(), sizes.size());
  uint64_t offset = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const BlockHandle handle = index.handle(i);
    ASSERT_EQ(handle.offset, offset) << "block " << i << " of " << sizes.size();
    ASSERT_EQ(handle.size, sizes[i]) << "block " << i << " of " << sizes.size();
    ASSERT_EQ(index.Find(KeyOf(i)), i);
    ASSERT_EQ(index.Find(KeyOf(i) + "0"), i + 1);
    ASSERT_EQ(index.KeyOf(i), KeyOf(i));
    for (size_t size = 0; size <= KeyOf(i).size(); ++size) {
      ASSERT_TRUE(index.KeyBeginsWith(i, KeyOf(i).substr(0, size)));
      ASSERT_FALSE(index.KeyBeginsWith(i, KeyOf(i).substr(0, size) + "x"));
    }
    offset += sizes[i] + kBlockTrailerSize;
  }
}

// Sizes of blocks such that one begins at each of these ascending offsets; and one more block.
std::vector<uint64_t> BlocksAt(const std::vector<uint64_t>& offsets) {
  std::vector<uint64_t> sizes;
  uint64_t end = 0;
  for (const uint64_t offset : offsets) {
    sizes.push_back(offset - end - kBlockTrailerSize);
    end = offset;
  }
  sizes.push_back(1);
  return sizes;
}

TEST(BlockIndexTest, FindsBlocksBeforeAtAndAfterFourGibibytes) {
  for (const uint64_t line : {kLine, 2 * kLine, 5 * kLine}) {
    for (const uint64_t offset : {line - 1, line, line + 1}) {
      CheckHandles(BlocksAt({offset - 100, offset, offset + 100}));
      CheckHandles(BlocksAt({100, line / 2, offset - 1000, offset - 100, offset}));
    }
  }
}

TEST(BlockIndexTest, TheDataMayEndAtAWrap) {
  for (const uint64_t end : {kLine - 1, kLine, kLine + 1, 2 * kLine}) {
    CheckHandles({end / 2, end - end / 2 - 2 * kBlockTrailerSize});
    CheckHandles({end - kBlockTrailerSize});
  }
}

TEST(BlockIndexTest, ABlockMaySpanMoreThanOneWrap) {
  CheckHandles({3 * kLine + 5});
  CheckHandles({10, 20, 2 * kLine, 30, kLine, kLine, 40, 7 * kLine, 50});
}

TEST(BlockIndexTest, ManyBlocksSpanManyWraps) {
  Random random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<uint64_t> sizes;
    for (int64_t i = random.Between(1, 700); i > 0; --i) {
      sizes.push_back(random.Next() >> random.Between(28, 56));
    }
    ASSERT_NO_FATAL_FAILURE(CheckHandles(sizes)) << "round " << round;
  }
}

TEST(BlockIndexTest, BlocksMustBeAllOfTheDataAfterAWrapToo) {
  const std::vector<uint64_t> sizes = {kLine, 100, kLine};
  const std::string block = IndexBlock(sizes);
  const uint64_t data_size = DataSize(sizes);
  EXPECT_OK(BlockIndex::Load(block, data_size));
  EXPECT_STATUS(kDataLoss, "block 2", BlockIndex::Load(block, data_size - 1));
  EXPECT_STATUS(kDataLoss, "not all of the data", BlockIndex::Load(block, data_size + 1));
  EXPECT_STATUS(kDataLoss, "not all of the data", BlockIndex::Load(block, data_size + kLine));
  EXPECT_STATUS(kDataLoss, "block", BlockIndex::Load(block, data_size - kLine));
}

TEST(BlockIndexTest, ASizeThatIsTooLargeForAnyFileIsDamage) {
  for (const uint64_t size :
       {UINT64_MAX / 4, UINT64_MAX / 4 - kBlockTrailerSize + 1, uint64_t{1} << 61}) {
    EXPECT_STATUS(kDataLoss, "block 1",
                  BlockIndex::Load(IndexBlock({100, size, 100}), DataSize({100, 100, 100})));
  }
}

TEST(BlockIndexTest, RecordsWhichRowsContinueInTheNextBlock) {
  BlockBuilder builder;
  const std::vector<uint64_t> sizes(200, 100);
  const auto continues = [](size_t block) { return block == 1 || block == 64 || block == 65; };
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::string number;
    AppendVarint64(&number, sizes[i] * 4 + (continues(i) ? 1 : 0));
    size_t shared;
    ASSERT_TRUE(builder.Add(KeyOf(i), number, &shared));
  }
  std::string block;
  builder.FinishTo(&block);
  ASSERT_OK_AND_ASSIGN(const BlockIndex index, BlockIndex::Load(block, DataSize(sizes)));
  for (size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(index.RowContinues(i), continues(i)) << i;
}

TEST(BlockIndexTest, TheLastBlockContinuesInNoOther) {
  BlockBuilder builder;
  std::string number;
  AppendVarint64(&number, 100 * 4 + 1);
  size_t shared;
  ASSERT_TRUE(builder.Add(KeyOf(0), number, &shared));
  std::string block;
  builder.FinishTo(&block);
  EXPECT_STATUS(kDataLoss, "the last block", BlockIndex::Load(block, DataSize({100})));
  ASSERT_OK_AND_ASSIGN(const BlockIndex part, BlockIndex::LoadPart(block, 0, DataSize({100})));
  EXPECT_TRUE(part.RowContinues(0)) << "in the next part";
}

}  // namespace
}  // namespace bigtable
