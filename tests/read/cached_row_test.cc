// Rows as the scan cache has them: which are too large for it, and that the others come back whole.
#include "read/cached_row.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/strings.h"
#include "cache/budget_access.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class CachedRowTest : public testing::Test {
 protected:
  static constexpr size_t kMost = 256 << 10;

  void SetUp() override {
    TableSchema schema;
    schema.families["f"] = {};
    schema.families["g"] = {};
    ASSERT_OK_AND_ASSIGN(layout_, MakeTableLayout("t", 5, schema));
  }
  Ref<Block> Make(const std::vector<Cell>& cells) {
    return MakeCachedRow(&BudgetAccess::Memory(budget_), layout_, 9, "row", cells);
  }
  std::string Show(const Block& block) {
    std::string text;
    CachedRow row(&block, &layout_);
    EXPECT_EQ(row.row(), "row");
    for (Cell cell; row.Next(&cell);) {
      text +=
          Cat(cell.family, ":", cell.qualifier, "@", cell.timestamp.micros(), "=", cell.value, " ");
    }
    return text;
  }

  MemoryBudget budget_{8 << 20};
  TableLayout layout_;
};

TEST_F(CachedRowTest, CellsComeBack) {
  const Ref<Block> row = Make({{"f", "", Timestamp(7), "one"},
                               {"f", "q", Timestamp(INT64_MAX), ""},
                               {"g", "q", Timestamp(0), "three"}});
  ASSERT_NE(row.get(), nullptr);
  EXPECT_EQ(Show(*row), Cat("f:@7=one f:q@", INT64_MAX, "= g:q@0=three "));
  EXPECT_EQ(Show(*Make({})), "");
}

TEST_F(CachedRowTest, ARowOfTheLargestSizeIsCachedAndALargerOneIsNot) {
  std::string value;
  const auto make = [&](size_t size) {
    value.assign(size, 'v');
    return Make({{"f", "q", Timestamp(1), "small"}, {"g", "q", Timestamp(2), value}});
  };
  const size_t others = make(0)->data().size();
  const Ref<Block> largest = make(kMost - others);
  ASSERT_NE(largest.get(), nullptr);
  EXPECT_EQ(largest->data().size(), kMost);
  EXPECT_TRUE(Show(*largest).ends_with(Cat("=", value, " ")));
  EXPECT_EQ(make(kMost - others + 1).get(), nullptr);
}

}  // namespace
}  // namespace bigtable
