// A read with limits between two rows.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/row_range.h"

#include "read/cell_cursor.h"
#include "support/entry_text.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// The rest of the row that it is in is not affected: the limits are checked again with a row.
TEST(RowLimitsTest, ACancelledReadEndsWithTheNextRowWhateverItsKey) {
  for (const char* next : {"s", "short", "the key of a row that is longer than the one before"}) {
    SCOPED_TRACE(next);
    const Ref<Memtable> memtable = NewTestMemtable();
    for (const std::string& text : {std::string("row of usual length/f:q@1#1 cell v"),
                                    std::string(next) + "/f:q@1#2 cell v"}) {
      const std::optional<TextEntry> entry = ParseEntry(text);
      ASSERT_TRUE(entry.has_value()) << text;
      memtable->Add(entry->key, entry->value);
    }
    TableLayout layout;
    layout.groups.push_back({layout.next_group_id++, "default", {}});
    layout.families.push_back({"f", 0, {}});
    const TabletVersion version(std::make_shared<const TableLayout>(layout),
                                std::vector<GroupVersion>{{memtable, {}, {}}},
                                MakeRef<ReadLimit>());
    Cancellation cancellation;
    ReadSpec spec;
    spec.limits.cancellation = &cancellation;
    CellCursor cells(&version, spec);
    cells.ReadRange(RowRange::All());
    ASSERT_TRUE(cells.Next());
    EXPECT_EQ(cells.row(), "row of usual length");
    cancellation.Cancel();
    EXPECT_FALSE(cells.Next());
    EXPECT_STATUS(kCancelled, "the read", cells.status());
    EXPECT_FALSE(cells.Next());
  }
}

}  // namespace
}  // namespace bigtable
