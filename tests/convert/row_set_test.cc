#include "convert/row_set.h"

#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

#include "bigtable/string_view.h"

#include "convert/parse_text.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::ReadRowsRequest;

// "[a, b) [c, )": the ranges, sorted and merged; or the message of the error.
std::string RowsOf(const std::string& text) {
  const absl::StatusOr<RowSet> set = ToRowSet(ParseText<google::bigtable::v2::RowSet>(text));
  if (!set.ok()) {
    EXPECT_EQ(set.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(set.status().message());
  }
  std::string shown;
  for (const RowRange& range : set->Normalized()) {
    shown += shown.empty() ? "[" : " [";
    shown +=
        absl::CHexEscape(range.begin()) + ", " + absl::CHexEscape(range.end().value_or("")) + ")";
  }
  return shown;
}

TEST(ToRowSetTest, WithoutKeysAndRangesItHasAllRows) { EXPECT_EQ(RowsOf(""), "[, )"); }

TEST(ToRowSetTest, HasKeysAndRanges) {
  EXPECT_EQ(RowsOf("row_keys: 'k' row_keys: 'b' row_ranges { start_key_closed: 'x' }"),
            "[b, b\\x00) [k, k\\x00) [x, )");
}

TEST(ToRowSetTest, EndsOfRangesAreOpenOrClosed) {
  const auto range = [](const std::string& ends) { return RowsOf("row_ranges { " + ends + " }"); };
  EXPECT_EQ(range(""), "[, )");
  EXPECT_EQ(range("start_key_closed: 'a' end_key_open: 'c'"), "[a, c)");
  EXPECT_EQ(range("start_key_closed: 'a' end_key_closed: 'c'"), "[a, c\\x00)");
  EXPECT_EQ(range("start_key_open: 'a' end_key_open: 'c'"), "[a\\x00, c)");
  EXPECT_EQ(range("start_key_open: 'a' end_key_closed: 'c'"), "[a\\x00, c\\x00)");
  EXPECT_EQ(range("end_key_open: 'c'"), "[, c)");
  EXPECT_EQ(range("end_key_closed: 'c'"), "[, c\\x00)");
  EXPECT_EQ(range("start_key_open: 'a'"), "[a\\x00, )");
  // A single row.
  EXPECT_EQ(range("start_key_closed: 'a' end_key_closed: 'a'"), "[a, a\\x00)");
}

TEST(ToRowSetTest, AnEmptyEndIsNone) {
  EXPECT_EQ(RowsOf("row_ranges { start_key_closed: 'a' end_key_open: '' }"), "[a, )");
  EXPECT_EQ(RowsOf("row_ranges { start_key_closed: '' end_key_closed: '' }"), "[, )");
  EXPECT_EQ(RowsOf("row_ranges { start_key_open: '' end_key_open: 'b' }"), "[\\x00, b)");
}

TEST(ToRowSetTest, ARangeWithoutRowsIsRefused) {
  for (const char* ends :
       {"start_key_closed: 'a' end_key_open: 'a'", "start_key_open: 'a' end_key_closed: 'a'",
        "start_key_open: 'a' end_key_open: 'a'"}) {
    EXPECT_EQ(RowsOf(std::string("row_keys: 'k' row_ranges {} row_ranges { ") + ends + " }"),
              "row_ranges[1]: the start key of a range must be less than its end key, and they are "
              "\"a\" and \"a\"");
  }
  EXPECT_EQ(RowsOf("row_ranges { start_key_closed: 'b' end_key_closed: 'a' }"),
            "row_ranges[0]: the start key of a range must be less than its end key, and they are "
            "\"b\" and \"a\"");
}

TEST(ToRowSetTest, KeysAreChecked) {
  const std::string large(4097, 'x');
  const std::string refusal = "a row key must have at most 4096 bytes, and this one has 4097: \"" +
                              large.substr(0, 80) + "\"... (4097 bytes)";
  EXPECT_EQ(RowsOf("row_keys: 'k' row_keys: ''"), "row_keys[1]: a row key must not be empty");
  EXPECT_EQ(RowsOf("row_keys: '" + large + "'"), "row_keys[0]: " + refusal);
  EXPECT_EQ(RowsOf("row_ranges { start_key_open: '" + large + "' }"), "row_ranges[0]: " + refusal);
  EXPECT_EQ(RowsOf("row_ranges { end_key_open: '" + large + "' }"), "row_ranges[0]: " + refusal);
}

TEST(ToRowSelectionTest, HasTheLimitAndTheOrder) {
  const absl::StatusOr<RowSelection> all = ToRowSelection(ReadRowsRequest());
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->limit, 0);
  EXPECT_FALSE(all->reversed);
  EXPECT_EQ(all->rows.ranges(), std::vector<RowRange>{RowRange::All()});

  const absl::StatusOr<RowSelection> some = ToRowSelection(
      ParseText<ReadRowsRequest>("rows { row_keys: 'k' } rows_limit: 7 reversed: true"));
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->limit, 7);
  EXPECT_TRUE(some->reversed);
  EXPECT_EQ(some->rows.ranges(), std::vector<RowRange>{RowRange::Single("k")});
}

TEST(ToRowSelectionTest, ANegativeLimitIsRefused) {
  const absl::Status status = ToRowSelection(ParseText<ReadRowsRequest>("rows_limit: -1")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "rows_limit must not be negative, and is -1");
}

}  // namespace
}  // namespace bigtable::convert
