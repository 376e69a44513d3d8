// Rows at which a table is split when it is created.
#include "master/split_rows.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/options.h"

#include "base/strings.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

using testing::ElementsAre;

TEST(SplitRowsTest, TheTabletsCoverEveryRow) {
  ASSERT_OK_AND_ASSIGN(const std::vector<RowRange> one, RangesBetween({}));
  EXPECT_THAT(one, ElementsAre(RowRange::All()));
  ASSERT_OK_AND_ASSIGN(const std::vector<RowRange> three, RangesBetween({"p", "d"}));
  EXPECT_THAT(three, ElementsAre(RowRange::RightOpen("", "d"), RowRange::RightOpen("d", "p"),
                                 RowRange::StartingAt("p")));
}

TEST(SplitRowsTest, AnInvalidSplitRowIsNamed) {
  EXPECT_STATUS(kInvalidArgument, "empty", RangesBetween({"a", ""}));
  EXPECT_STATUS(kInvalidArgument, "\"d\" is given twice", RangesBetween({"d", "a", "d"}));
  EXPECT_STATUS(kInvalidArgument, "65537", RangesBetween({std::string(65537, 'x')}));
  EXPECT_OK(CheckSplitRow(std::string(65536, 'x')));
}

TEST(SplitRowsTest, ThereAreAtMostTenThousand) {
  std::vector<std::string> rows;
  for (size_t i = 0; i < CreateTableOptions::kMaxSplitRows; ++i) rows.push_back(Cat("row", i));
  EXPECT_OK(RangesBetween(rows));
  rows.push_back("another");
  EXPECT_STATUS(kInvalidArgument,
                "a table must have at most 10000 split rows from the start, and has 10001",
                RangesBetween(rows));
}

}  // namespace
}  // namespace bigtable
