// Data blocks as they are stored in a file: verified, decoded, read by position.
#include "blocks/block_file.h"

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "base/ref_counted.h"
#include "base/status.h"
#include "blocks/block_file_fixture.h"
#include "blocks/compression.h"
#include "blocks/stored_block.h"
#include "cache/block.h"
#include "support/expect_status.h"
#include "support/random.h"

namespace bigtable {
namespace {

class BlockFileTest : public BlockFileFixture {
 protected:
  absl::Status Read(size_t i) {
    Ref<Block> owner;
    BT_RETURN_IF_ERROR(file_->Read(At(i), nullptr, nullptr, &owner));
    content_ = owner->data();
    return absl::OkStatus();
  }

  std::string content_;
};

TEST_F(BlockFileTest, BlocksOfEachEncodingAreReadByPositionAndDecoded) {
  dictionary_ = Content(2) + Content(3);
  AddBlock(Content(0), Compression::kNone);
  AddBlock(Content(1), Compression::kZstd);
  AddBlock(Content(2), Compression::kZstdLongWindow);
  AddBlock(Random(1).Bytes(1000), Compression::kZstd);  // zstd cannot compress it
  Open();
  for (const size_t i : {0, 1, 2}) {
    ASSERT_OK(Read(i));
    EXPECT_EQ(content_, Content(i));
  }
  ASSERT_OK(Read(3));
  EXPECT_EQ(content_, Random(1).Bytes(1000));
  EXPECT_EQ(events_.reads, 4 + 1) << "and the dictionary once";
  EXPECT_TRUE(file_->IsRaw(At(0), Stored(0)));
  EXPECT_FALSE(file_->IsRaw(At(1), Stored(1)));
  EXPECT_FALSE(file_->IsRaw(At(2), Stored(2)));
  EXPECT_TRUE(file_->IsRaw(At(3), Stored(3)));
}

TEST_F(BlockFileTest, ABlockHasMemoryOfItsOwn) {
  AddBlocks(2, Compression::kZstd);
  Open();
  Ref<Block> first;
  Ref<Block> second;
  ASSERT_OK(file_->Read(At(0), nullptr, nullptr, &first));
  ASSERT_OK(file_->Read(At(1), nullptr, nullptr, &second));
  EXPECT_EQ(first->data(), Content(0)) << "not the thread's buffer";
  EXPECT_EQ(second->data(), Content(1));
  EXPECT_GE(first->charge(), first->data().size());
}

TEST_F(BlockFileTest, AChangedBitIsFoundInEachByteOfABlockAndItsTrailer) {
  AddBlocks(3, Compression::kZstd);
  Open();
  for (size_t k = 0; k < StoredSize(At(1)); ++k) {
    Stored(1)[k] ^= 4;
    EXPECT_STATUS(kDataLoss, " has a wrong checksum", file_->Verify(At(1), Stored(1)));
    EXPECT_STATUS(kDataLoss, "has a wrong checksum", Read(1));
    Stored(1)[k] ^= 4;
  }
  EXPECT_OK(Read(1));
}

// Their checksums are seeded with the offset.
TEST_F(BlockFileTest, ABlockFromAnotherPlaceDoesNotVerify) {
  AddBlock(Content(0), Compression::kNone);
  AddBlock(Content(1), Compression::kNone);
  Open();
  EXPECT_OK(file_->Verify(At(0), Stored(0)));
  EXPECT_STATUS(kDataLoss, "t: the block at offset 1009 ", file_->Verify(At(1), Stored(0)));
}

TEST_F(BlockFileTest, ADecodedSizeThatCannotBeIsRefusedBeforeMemoryIsAllocated) {
  AddBlocks(1, Compression::kZstd);  // the largest block has 1,000 bytes
  std::string larger;
  ASSERT_EQ(BlockCompressor(3).AppendTo(&larger, std::string(1001, 'x')), BlockEncoding::kZstd);
  AddStored(larger, BlockEncoding::kZstd);
  AddStored("this is no frame", BlockEncoding::kZstd);
  AddStored(std::string(1001, 'x'), BlockEncoding::kRaw);
  Open();
  EXPECT_OK(Read(0));
  EXPECT_STATUS(kDataLoss, "decodes to more than the largest block", Read(1));
  EXPECT_STATUS(kDataLoss, "states a decoded size that it cannot have", Read(2));
  EXPECT_STATUS(kDataLoss, "decodes to more than the largest block", Read(3));
}

TEST_F(BlockFileTest, ABlockThatDoesNotDecodeIsReported) {
  AddBlocks(1, Compression::kZstd);
  std::string frame;
  ASSERT_EQ(BlockCompressor(3).AppendTo(&frame, Content(1)), BlockEncoding::kZstd);
  frame.resize(frame.size() - 5);
  AddStored(frame, BlockEncoding::kZstd);
  AddStored(frame, BlockEncoding::kZstdDictionary);
  Open();
  EXPECT_STATUS(kDataLoss, "does not decompress", Read(1));
  EXPECT_STATUS(kDataLoss, " is missing", Read(2));
}

TEST_F(BlockFileTest, AnErrorOfTheFileIsReturned) {
  AddBlocks(1, Compression::kNone);
  Open();
  events_.failure = absl::UnavailableError("t: Input/output error");
  EXPECT_STATUS(kUnavailable, "t: Input/output error", Read(0));
  events_.failure = absl::OkStatus();
  EXPECT_OK(Read(0));
}

}  // namespace
}  // namespace bigtable
