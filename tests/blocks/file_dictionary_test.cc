// The dictionary of a file: read once, when it is needed.
#include "blocks/file_dictionary.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/call_options.h"
#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "blocks/block_file_fixture.h"
#include "blocks/block_source.h"
#include "blocks/compression.h"
#include "blocks/stored_block.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class FileDictionaryTest : public testing::Test {
 protected:
  // The dictionary at offset 10 of a file, compressed on its own or as it is.
  void Write(std::string_view content, bool is_compressed = false) {
    bytes_ = std::string(10, 'x');
    std::string stored(content);
    BlockEncoding encoding = BlockEncoding::kRaw;
    if (is_compressed) {
      stored.clear();
      encoding = BlockCompressor(3).AppendTo(&stored, content);
      ASSERT_EQ(encoding, BlockEncoding::kZstd);
    }
    bytes_ += stored;
    AppendBlockTrailer(&bytes_, 10, encoding, 7, 10);
    source_ = {.file = std::make_unique<EventfulFile>(&bytes_, &events_, false),
               .path = "t",
               .identity = 7,
               .dictionary = {10, stored.size()},
               .dictionary_size = content.size()};
    dictionary_ = std::make_unique<FileDictionary>(&source_, budget_.get());
  }
  absl::Status Find(const CallLimits* limits = nullptr) {
    found_ = nullptr;
    return dictionary_->Find(limits, &found_);
  }
  uint64_t charged() const { return budget_->used(MemoryBudget::Use::kIndexes); }

  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 << 20);
  std::string bytes_;
  FileEvents events_;
  BlockSource source_;
  std::unique_ptr<FileDictionary> dictionary_;
  const DecodingDictionary* found_ = nullptr;
};

TEST_F(FileDictionaryTest, ItIsReadOnceAndChargedAsLongAsItExists) {
  for (const bool is_compressed : {false, true}) {
    Write(std::string(5000, 'd'), is_compressed);
    events_.reads = 0;
    const uint64_t before = charged();
    ASSERT_OK(Find());
    const DecodingDictionary* const first = found_;
    ASSERT_OK(Find());
    EXPECT_EQ(found_, first);
    EXPECT_EQ(events_.reads, 1);
    EXPECT_EQ(charged(), before + first->memory());
    EXPECT_GT(first->memory(), 5000);
    dictionary_.reset();
    EXPECT_EQ(charged(), before);
  }
}

TEST_F(FileDictionaryTest, AFailedReadIsNotRemembered) {
  Write("words of a dictionary");
  events_.failure = absl::UnavailableError("no");
  EXPECT_STATUS(kUnavailable, "no", Find());
  EXPECT_EQ(charged(), 0);
  events_.failure = absl::OkStatus();
  EXPECT_OK(Find());
  EXPECT_NE(found_, nullptr);
}

TEST_F(FileDictionaryTest, ADamagedDictionaryIsReportedWithFileAndOffset) {
  Write("words of a dictionary");
  source_.dictionary_size = 20;
  EXPECT_STATUS(kDataLoss, "t: the dictionary at offset 10 does not have the size", Find());
  bytes_[12] ^= 1;
  EXPECT_STATUS(kDataLoss, "t: the dictionary at offset 10 has a wrong checksum", Find());
  source_.dictionary = {};
  EXPECT_STATUS(kDataLoss, "t: the dictionary at offset 0 is missing", Find());
}

TEST_F(FileDictionaryTest, ThreadsThatWaitEndByTheirLimitsAndTheOthersGetTheSame) {
  Write("words of a dictionary");
  // While the first thread reads it, one that is cancelled and one without limits wait for it.
  Cancellation cancellation;
  cancellation.Cancel();
  const CallLimits cancelled{.cancellation = &cancellation};
  std::thread waiter;
  const DecodingDictionary* waiters_dictionary = nullptr;
  events_.on_access = [&] {
    std::thread limited([&] {
      const DecodingDictionary* none = nullptr;
      EXPECT_STATUS(kCancelled, "the read", dictionary_->Find(&cancelled, &none));
    });
    limited.join();
    waiter = std::thread([&] { EXPECT_OK(dictionary_->Find(nullptr, &waiters_dictionary)); });
  };
  ASSERT_OK(Find(&cancelled)) << "it was the first";
  waiter.join();
  EXPECT_EQ(waiters_dictionary, found_);
  EXPECT_EQ(events_.reads, 1);
}

}  // namespace
}  // namespace bigtable
