// The lookup of a row's tablet returns the same as a look at every tablet.
#include "routing/served_table.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "base/strings.h"
#include "support/random.h"

namespace bigtable {
namespace {

// Tablets that are reached by messages, which end before these rows. The last one has the remaining
// rows.
ServedTable TableWith(const std::set<std::string>& ends) {
  std::vector<ServedTablet> tablets;
  std::string begin;
  const auto add = [&](const RowRange& rows) {
    auto remote = std::make_shared<RemoteTablet>();
    remote->rows = rows;
    tablets.push_back({.tablet = nullptr, .remote = std::move(remote)});
  };
  for (const std::string& end : ends) {
    add(RowRange::RightOpen(begin, end));
    begin = end;
  }
  add(RowRange::StartingAt(begin));
  return ServedTable(std::move(tablets));
}

TEST(ServedTableTest, FindsTheTabletThatHasTheRow) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    // Some rows differ only after the part that the fences contain.
    const auto random_row = [&] {
      std::string row = random.OneIn(2) ? "customer-" : "c";
      if (random.OneIn(2)) row += "with-a-long-name-";
      return row + std::to_string(random.Below(50));
    };
    std::set<std::string> ends;
    for (uint64_t n = random.Below(40); n > 0; --n) ends.insert(random_row());
    const ServedTable table = TableWith(ends);
    std::vector<std::string> rows = {"", "a", "customer", "z", std::string(20, '\xff')};
    for (int i = 0; i < 30; ++i) rows.push_back(random_row());
    for (const std::string& end : ends) {
      rows.push_back(end);
      rows.push_back(end + '\0');
      rows.push_back(end.substr(0, end.size() - 1));
    }
    for (const std::string& row : rows) {
      const size_t place = table.Find(row);
      ASSERT_LT(place, table.tablets().size());
      const RowRange& found = table.tablets()[place].rows();
      ASSERT_TRUE(found.begin() <= row && (!found.end().has_value() || row < *found.end()))
          << Quoted(row) << " is not in the tablet that begins with " << Quoted(found.begin());
    }
  }
}

TEST(ServedTableTest, UnknownLocationsHaveAnIndexToo) {
  auto remote = std::make_shared<RemoteTablet>();
  remote->rows = RowRange::RightOpen("d", "g");
  const ServedTable table({{.tablet = nullptr, .remote = remote}});
  ASSERT_EQ(table.tablets().size(), 3u);
  for (const auto& [row, place] : std::vector<std::pair<std::string, size_t>>{
           {"", 0}, {"c", 0}, {"d", 1}, {"f", 1}, {"g", 2}, {"z", 2}}) {
    EXPECT_EQ(table.Find(row), place) << row;
    EXPECT_EQ(table.tablets()[place].is_known(), place == 1);
  }
  EXPECT_EQ(table.FindBefore("g"), 1u);
  EXPECT_EQ(table.FindBefore("d"), 0u);
  EXPECT_EQ(table.FindBefore(std::nullopt), 2u);
}

// FindMissing is for tablets in place. These are all reached by messages, so all are missing.
TEST(ServedTableTest, FindsMissingTabletsOnlyWithinTheRanges) {
  const ServedTable table = TableWith({"d", "h", "m"});
  const auto missing = [&](std::vector<RowRange> ranges) {
    const std::optional<std::string_view> row = table.FindMissing(ranges);
    return row.has_value() ? std::string(*row) : "nothing";
  };
  EXPECT_EQ(missing({}), "nothing");
  EXPECT_EQ(missing({RowRange::Single("b")}), "b");
  EXPECT_EQ(missing({RowRange::Single("p"), RowRange::Single("q")}), "p");
  EXPECT_EQ(missing({RowRange::StartingAt("")}), "");
  EXPECT_EQ(missing({RowRange::RightOpen("e", "f"), RowRange::StartingAt("z")}), "e");
}

}  // namespace
}  // namespace bigtable
