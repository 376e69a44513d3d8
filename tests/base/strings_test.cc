#include "base/strings.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

TEST(ListedTest, ListsTheFirstAndCountsTheOthers) {
  std::vector<std::string> names;
  EXPECT_EQ(Listed(names), "none");
  names = {"a"};
  EXPECT_EQ(Listed(names), "a");
  for (char name = 'b'; name <= 'j'; ++name) names.emplace_back(1, name);
  EXPECT_EQ(Listed(names), "a, b, c, d, e, f, g, h, i, j");
  names.emplace_back("k");
  EXPECT_EQ(Listed(names), "a, b, c, d, e, f, g, h, i, j and 1 more");
  names.resize(100);
  EXPECT_EQ(Listed(names), "a, b, c, d, e, f, g, h, i, j and 90 more");
}

}  // namespace
}  // namespace bigtable
