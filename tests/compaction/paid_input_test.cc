// What a compaction pays for its input, and how it fails.
#include "compaction/paid_input.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class PaidInputTest : public testing::Test {
 protected:
  // Entries of 1,000 bytes.
  void Fill(int entries) {
    for (int i = 0; i < entries; ++i) {
      std::string key = RowPrefix(std::to_string(1000 + i));
      AppendColumn(&key, "f", "q");
      AppendTrailer(&key, /*timestamp=*/1, {1, 0}, EntryKind::kCell);
      memtable_->Add(key, std::string(1000 - key.size(), 'v'));
    }
  }
  PaidInput::Pay Paying() {
    return [this](uint64_t bytes) {
      payments_.push_back(bytes);
      return answer_;
    };
  }

  const Ref<Memtable> memtable_ = NewTestMemtable();
  MemtableCursor entries_{memtable_.get()};
  std::vector<uint64_t> payments_;
  absl::Status answer_;
};

TEST_F(PaidInputTest, EachEntryIsPaidOnceInPortions) {
  Fill(150);
  PaidInput input(&entries_, Paying());
  int met = 0;
  for (input.SeekToFirst(); input.valid(); input.Next()) ++met;
  EXPECT_OK(input.status());
  EXPECT_EQ(met, 150);
  // 66,000 is the first multiple of 1,000 that is not less than 64 KiB.
  EXPECT_EQ(payments_, (std::vector<uint64_t>{66'000, 66'000}));
}

TEST_F(PaidInputTest, ALookAheadIsNotPaidAndLeavesTheEntry) {
  Fill(150);
  PaidInput input(&entries_, Paying());
  input.SeekToFirst();
  input.Next();
  const std::string here(input.key());
  while (input.cursor()->valid()) input.cursor()->Next();
  EXPECT_TRUE(input.KeepGoing());
  EXPECT_EQ(payments_, std::vector<uint64_t>{0});
  input.ReturnTo(here);
  ASSERT_TRUE(input.valid());
  EXPECT_EQ(input.key(), here);
  payments_.clear();
  while (input.valid()) input.Next();
  EXPECT_EQ(payments_, (std::vector<uint64_t>{66'000, 66'000}));
}

TEST_F(PaidInputTest, AnErrorOfPayEndsItAtTheEntry) {
  Fill(150);
  PaidInput input(&entries_, Paying());
  answer_ = absl::CancelledError("enough");
  int met = 0;
  for (input.SeekToFirst(); input.valid(); input.Next()) ++met;
  EXPECT_EQ(met, 66);
  EXPECT_STATUS(kCancelled, "enough", input.status());
  // It is not asked again, and the first error stays.
  answer_ = absl::CancelledError("again");
  EXPECT_FALSE(input.KeepGoing());
  EXPECT_STATUS(kCancelled, "enough", input.status());
  EXPECT_EQ(payments_.size(), 1u);
}

TEST_F(PaidInputTest, ALookAheadIsCancelledByKeepGoing) {
  Fill(2);
  PaidInput input(&entries_, Paying());
  input.SeekToFirst();
  answer_ = absl::CancelledError("enough");
  EXPECT_FALSE(input.KeepGoing());
  EXPECT_FALSE(input.valid());
}

TEST_F(PaidInputTest, WhatCannotBeJudgedEndsIt) {
  Fill(2);
  PaidInput input(&entries_, nullptr);
  input.SeekToFirst();
  EXPECT_TRUE(input.KeepGoing());
  input.Fail(absl::DataLossError("malformed"));
  EXPECT_FALSE(input.valid());
  EXPECT_STATUS(kDataLoss, "malformed", input.status());
}

}  // namespace
}  // namespace bigtable
