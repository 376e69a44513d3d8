// CellCursor::value_owner(): what keeps a value alive after the cursor has moved. The merge owns
// the value of an aggregate; the source owns the value of any other cell.
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/filter.h"
#include "bigtable/row_range.h"

#include "read/cell_cursor.h"
#include "read/filter_node.h"
#include "retention/aggregates.h"
#include "support/entry_text.h"

namespace bigtable {
namespace {

// Row "one" has a sum in family "a" and a cell in family "b", row "two" only the latter.
class ValueOwnerTest : public testing::Test {
 protected:
  ValueOwnerTest() {
    TableLayout layout;
    layout.groups.push_back({layout.next_group_id++, "default", {}});
    layout.families.push_back({"a", 0, {}});
    layout.families.back().SetValueType(ValueType::kInt64Sum, "");
    layout.families.push_back({"b", 0, {}});
    const Ref<Memtable> memtable = NewTestMemtable();
    for (const char* text : {R"(one/a:q@5#1 add-to-cell \0\0\0\0\0\0\0\1)",
                             R"(one/a:q@5#2 add-to-cell \0\0\0\0\0\0\0\2)", "one/b:q@6#3 cell v",
                             "two/b:q@6#4 cell v"}) {
      const std::optional<TextEntry> entry = ParseEntry(text);
      EXPECT_TRUE(entry.has_value()) << text;
      if (entry.has_value()) memtable->Add(entry->key, entry->value);
    }
    version_ = std::make_unique<TabletVersion>(std::make_shared<const TableLayout>(layout),
                                               std::vector<GroupVersion>{{memtable, {}, {}}},
                                               MakeRef<ReadLimit>());
  }
  // Goes to the next cell, which must be of this row and family.
  static void ExpectNext(CellCursor* cells, std::string_view row, std::string_view family) {
    ASSERT_TRUE(cells->Next()) << cells->status();
    EXPECT_EQ(cells->row(), row);
    EXPECT_EQ(cells->family().name, family);
    // The values in a memtable stay as long as the version.
    EXPECT_EQ(cells->value_owner() != nullptr, family == "a");
  }

  std::unique_ptr<TabletVersion> version_;
};

TEST_F(ValueOwnerTest, TheCellAfterAnAggregateBelongsToItsSource) {
  const ReadSpec spec;
  CellCursor cells(version_.get(), spec);
  cells.ReadRange(RowRange::All());
  ExpectNext(&cells, "one", "a");
  ExpectNext(&cells, "one", "b");
  ExpectNext(&cells, "two", "b");
  EXPECT_FALSE(cells.Next());
}

TEST_F(ValueOwnerTest, TheCellAfterARowThatWasSkippedAtAnAggregateBelongsToItsSource) {
  const ReadSpec spec;
  CellCursor cells(version_.get(), spec);
  cells.ReadRange(RowRange::All());
  ExpectNext(&cells, "one", "a");
  cells.SkipRow();
  ExpectNext(&cells, "two", "b");
  EXPECT_FALSE(cells.Next());
}

TEST_F(ValueOwnerTest, TheFirstCellOfTheReadAfterAnAggregateBelongsToItsSource) {
  const ReadSpec spec;
  CellCursor cells(version_.get(), spec);
  cells.ReadRow(RowProbe(*version_, "one", true));
  ExpectNext(&cells, "one", "a");
  cells.ReadRow(RowProbe(*version_, "two", true));
  ExpectNext(&cells, "two", "b");
  cells.ReadRange(RowRange::All());
  ExpectNext(&cells, "one", "a");
  cells.ReadRange(RowRange::StartingAt("two"));
  ExpectNext(&cells, "two", "b");
}

TEST_F(ValueOwnerTest, TheCellAfterAnAggregateThatTheFilterDropsBelongsToItsSource) {
  const Filter filter = Filter::ValueRange("v", "w");
  ReadSpec spec;
  spec.filter = FilterNode::Of(filter);
  CellCursor cells(version_.get(), spec);
  cells.ReadRange(RowRange::All());
  ExpectNext(&cells, "one", "b");
  ExpectNext(&cells, "two", "b");
  EXPECT_FALSE(cells.Next());
}

}  // namespace
}  // namespace bigtable
