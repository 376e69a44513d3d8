// One cell of an aggregate family, from the contributions in the input of a read.
#include "read/aggregate_cell.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
#include "support/model_aggregates.h"

namespace bigtable {
namespace {

class AggregateCellTest : public testing::Test {
 protected:
  AggregateCellTest() {
    layout_.families.push_back({.name = "f", .group_id = 0, .gc = {}, .created = 1});
    layout_.families[0].SetValueType(ValueType::kBytes, kConcatenation);
  }
  // A source with these entries.
  void Add(const std::vector<std::string>& lines) {
    memtables_.push_back(NewTestMemtable());
    for (const std::string& line : lines) {
      const TextEntry entry = *ParseEntry(line);
      memtables_.back()->Add(entry.key, entry.value);
    }
    cursors_.push_back(std::make_unique<MemtableCursor>(memtables_.back().get()));
    input_.Add(cursors_.back().get());
  }
  // The value of the first cell; the input is behind it then.
  std::string Merge(EntryVersion first = {}) {
    input_.SeekToFirst();
    key_.EnterColumn(input_.key());
    key_.EnterRow(RowPrefixSize(input_.key()), /*is_plain=*/true);
    column_.EnterRow();
    EXPECT_TRUE(column_.EnterFamily(key_.family_and_qualifier(), layout_, absl::InfinitePast()));
    column_.EnterColumn();
    for (; !HasTimestamp(KindOf(input_.key())); input_.Next()) {
      column_.deletions().Add(KindOf(input_.key()), VersionOf(input_.key()), 0);
    }
    column_.EnterTimestamp(TimestampOf(input_.key()));
    const auto leave_failed = [] { return false; };
    AggregateCell cell(&input_, &key_, &column_, first, leave_failed, &failure_);
    if (!cell.Merge(/*pace=*/nullptr, /*keeps=*/true)) return "failed";
    EXPECT_OK(failure_);
    value_ = cell.value();
    owner_ = cell.TakeOwner();
    return std::string(value_);
  }
  std::string here() const {
    return input_.valid() ? EntryText(input_.key(), input_.value()) : "nothing";
  }

  TableLayout layout_;
  std::vector<Ref<Memtable>> memtables_;
  std::vector<std::unique_ptr<MemtableCursor>> cursors_;
  MergingCursor input_;
  KeyPosition key_;
  ReadColumn column_;
  absl::Status failure_;
  std::string_view value_;
  Ref<const RefCounted> owner_;
};

TEST_F(AggregateCellTest, ContributionsOfAllSourcesAreMerged) {
  Add({"r/f:q@2#8 add-to-cell d", "r/f:q@2#4 add-to-cell b", "r/f:q@1#3 add-to-cell x"});
  Add({"r/f:q@2#6 merge-to-cell c", "r/f:q@2#2 add-to-cell a"});
  EXPECT_EQ(Merge(), "abcd");
  EXPECT_EQ(here(), "r/f:q@1#3.0 add-to-cell x");
}

TEST_F(AggregateCellTest, ASingleStateStaysWhereItIs) {
  Add({"r/f:q@2#8 merge-to-cell state", "r/f:p@2#8 merge-to-cell other"});
  const std::string key = ParseEntry("r/f:p@2#8 merge-to-cell")->key;
  MemtableCursor stored(memtables_[0].get());
  stored.Seek(key);
  const char* const bytes = stored.value().data();
  EXPECT_EQ(Merge(), "other");
  EXPECT_EQ(value_.data(), bytes);
}

TEST_F(AggregateCellTest, TheCellEndsBeforeADeletedContribution) {
  Add({"r/f:q#5 delete-column", "r/f:q@2#8 add-to-cell c", "r/f:q@2#6 add-to-cell b",
       "r/f:q@2#4 add-to-cell a"});
  EXPECT_EQ(Merge(), "bc");
  EXPECT_EQ(here(), "r/f:q@2#4.0 add-to-cell a");
}

TEST_F(AggregateCellTest, TheCellEndsBeforeOneOfAnEarlierFamilyAndBeforeItsFirst) {
  Add({"r/f:q@2#8 add-to-cell c", "r/f:q@2#6 add-to-cell b", "r/f:q@2#1 add-to-cell a"});
  EXPECT_EQ(Merge(), "bc");
  EXPECT_EQ(Merge(/*first=*/{7, 0}), "c");
}

TEST_F(AggregateCellTest, TheCellEndsBeforeAnotherKindOfEntry) {
  Add({"r/f:q@2#8 add-to-cell c", "r/f:q@2#6 delete-cell", "r/f:q@2#4 add-to-cell a"});
  EXPECT_EQ(Merge(), "c");
  EXPECT_EQ(here(), "r/f:q@2#6.0 delete-cell");
}

TEST_F(AggregateCellTest, WithoutAnOperatorItFails) {
  layout_.families[0].aggregate = nullptr;
  Add({"r/f:q@2#8 add-to-cell c"});
  EXPECT_EQ(Merge(), "failed");
  EXPECT_STATUS(kDataLoss, "holds bytes", failure_);
}

TEST_F(AggregateCellTest, AnErrorOfTheOperatorNamesTheFamily) {
  Add({"r/f:q@2#8 add-to-cell c", "r/f:q@2#6 merge-to-cell corrupt"});
  EXPECT_EQ(Merge(), "failed");
  EXPECT_STATUS(kDataLoss, "family \"f\"", failure_);
}

}  // namespace
}  // namespace bigtable
