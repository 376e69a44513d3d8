// The rows of a read, and the input's way between them.
#include "read/rows_to_read.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/entry_key.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

std::string CellKeyOf(std::string_view row) {
  std::string key = RowPrefix(row);
  AppendColumn(&key, "f", "q");
  AppendTrailer(&key, /*timestamp=*/1, {1, 0}, EntryKind::kCell);
  return key;
}

// A cell in each of some rows. Once it was told to, it fails at a row: the rows before it are read.
class RowsSource final : public EntryCursor {
 public:
  explicit RowsSource(std::vector<std::string> rows) : rows_(std::move(rows)) {}
  void FailAt(size_t row) { fails_at_ = row; }

  void Seek(std::string_view target) override {
    size_t i = 0;
    while (i < rows_.size() && CellKeyOf(rows_[i]) < target) ++i;
    GoTo(i);
  }
  void SeekBefore(std::string_view target) override {
    size_t i = rows_.size();
    while (i > 0 && CellKeyOf(rows_[i - 1]) >= target) --i;
    i > 0 ? GoTo(i - 1) : End();
  }
  void SeekToFirst() override { GoTo(0); }
  void SeekToLast() override { rows_.empty() ? End() : GoTo(rows_.size() - 1); }
  void Next() override { GoTo(at_ + 1); }
  bool FailedBehind(std::string_view row_prefix) const override {
    return RowPrefix(rows_[fails_at_]) > row_prefix;
  }

 private:
  void End() { valid_ = false; }
  void GoTo(size_t i) {
    at_ = i;
    status_ = absl::OkStatus();
    valid_ = i < rows_.size();
    if (!valid_) return;
    if (i >= fails_at_) return Fail(absl::DataLossError("unreadable"));
    current_ = CellKeyOf(rows_[i]);
    key_ = current_;
  }

  const std::vector<std::string> rows_;
  size_t fails_at_ = ~size_t{0};
  size_t at_ = 0;
  std::string current_;
};

class RowsToReadTest : public testing::Test {
 protected:
  RowsToReadTest() { input_.Add(&source_); }
  void SetRange(const RowRange& range, bool reverse = false) {
    rows_.Clear();
    rows_.SetRange(range, reverse);
  }

  RowsSource source_{{"a", "b", "c", "d"}};
  MergingCursor input_;
  RowsToRead rows_;
};

TEST_F(RowsToReadTest, ARangeEndsBeforeItsEnd) {
  SetRange(RowRange::RightOpen("b", "d"));
  EXPECT_EQ(rows_.begin(), RowPrefix("b"));
  EXPECT_FALSE(rows_.IsAtEnd(CellKeyOf("c")));
  EXPECT_TRUE(rows_.IsAtEnd(CellKeyOf("d")));
  SetRange(RowRange::StartingAt("b"));
  EXPECT_FALSE(rows_.IsAtEnd(CellKeyOf("zzz")));
  SetRange(RowRange::All());
  EXPECT_EQ(rows_.begin(), "");
}

TEST_F(RowsToReadTest, AReverseReadGoesThroughItsRowsFromTheLast) {
  SetRange(RowRange::RightOpen("b", "d"), /*reverse=*/true);
  ASSERT_TRUE(rows_.StartPrevious(&input_));
  EXPECT_EQ(input_.key(), CellKeyOf("c"));
  EXPECT_EQ(rows_.reverse_row(), RowPrefix("c"));
  EXPECT_FALSE(rows_.IsAtEnd(CellKeyOf("c")));
  EXPECT_TRUE(rows_.IsAtEnd(CellKeyOf("d")));
  ASSERT_TRUE(rows_.StartPrevious(&input_));
  EXPECT_EQ(rows_.reverse_row(), RowPrefix("b"));
  EXPECT_FALSE(rows_.StartPrevious(&input_)) << "a is before the range";
  EXPECT_OK(input_.status());
}

TEST_F(RowsToReadTest, AReverseReadOfAllRowsBeginsWithTheLast) {
  SetRange(RowRange::All(), true);
  ASSERT_TRUE(rows_.StartPrevious(&input_));
  EXPECT_EQ(rows_.reverse_row(), RowPrefix("d"));
}

TEST_F(RowsToReadTest, ARowBeforeTheFailureIsReadToItsEnd) {
  RowsSource other{{"b", "e"}};
  input_.Add(&other);
  source_.FailAt(2);
  SetRange(RowRange::All());
  input_.Seek(RowPrefix("c"));
  ASSERT_FALSE(input_.valid());
  EXPECT_EQ(rows_.RowToFinish(input_), RowPrefix("e"));
  EXPECT_FALSE(rows_.LeaveFailed(RowPrefix("e"), &input_))
      << "the source may have had rows up to e";
  EXPECT_OK(rows_.behind_row());

  ASSERT_TRUE(rows_.LeaveFailed(RowPrefix("b"), &input_));
  EXPECT_STATUS(kDataLoss, "unreadable", rows_.behind_row());
  EXPECT_TRUE(rows_.IsAtEnd(CellKeyOf("c"))) << "nothing after the row is returned";
  EXPECT_FALSE(rows_.IsAtEnd(CellKeyOf("b")));
}

TEST_F(RowsToReadTest, InReverseTheRowsBeforeTheFailureAreRead) {
  source_.FailAt(3);
  SetRange(RowRange::RightOpen("a", "d"), true);
  ASSERT_TRUE(rows_.StartPrevious(&input_));
  input_.Next();
  ASSERT_FALSE(input_.valid());
  EXPECT_EQ(rows_.RowToFinish(input_), RowPrefix("c"));
  ASSERT_TRUE(rows_.LeaveFailed(RowPrefix("c"), &input_));
  EXPECT_STATUS(kDataLoss, "unreadable", rows_.behind_row());
  ASSERT_TRUE(rows_.StartPrevious(&input_));
  EXPECT_OK(rows_.behind_row());
  EXPECT_EQ(rows_.reverse_row(), RowPrefix("b"));
}

TEST_F(RowsToReadTest, NoRowIsKnownToBeInARangeThatEndsBeforeTheOtherSources) {
  RowsSource other{{"e"}};
  input_.Add(&other);
  source_.FailAt(2);
  SetRange(RowRange::RightOpen("b", "e"));
  input_.Seek(RowPrefix("c"));
  EXPECT_EQ(rows_.RowToFinish(input_), "");
  EXPECT_FALSE(rows_.LeaveFailed("", &input_));
}

}  // namespace
}  // namespace bigtable
