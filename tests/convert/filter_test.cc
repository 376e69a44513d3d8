// Filters of requests: what each of them passes, as the comments of RowFilter say, and what is
// refused.
#include "convert/filter.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "convert/parse_text.h"
#include "support/database_fixture.h"
#include "support/heap_peak.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::RowFilter;

class ToFilterTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    table_ = CreateTable("t", {"a", "ab", "b.c"});
    for (const auto& [column, timestamp, value] :
         {std::tuple("a:", 1000, "one"), std::tuple("a:p", 2000, "two"),
          std::tuple("a:p", 1000, "three"), std::tuple("a:q\n", 2000, "fo\nur"),
          std::tuple("ab:p", 3000, ""), std::tuple("b.c:r", 4000, "\xff")}) {
      Set(table_, "row", column, timestamp, value);
    }
    Set(table_, "r\nw", "a:x", 1000, "line");
  }

  std::string Read(std::string_view row, const std::string& filter) {
    const absl::StatusOr<Filter> converted = ToFilter(ParseText<RowFilter>(filter));
    if (!converted.ok()) return converted.status().ToString();
    return Show(table_->ReadRow(row, *converted));
  }
  std::string Read(const std::string& filter) { return Read("row", filter); }

  static constexpr const char* kAll =
      "a:@1000=one a:p@2000=two a:p@1000=three a:q\\n@2000=fo\\nur ab:p@3000= b.c:r@4000=\\xff";

  Table* table_ = nullptr;
};

std::string FilterRefusal(const RowFilter& filter) {
  const absl::Status status = ToFilter(filter).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << filter.ShortDebugString();
  return std::string(status.message());
}
std::string FilterRefusal(const std::string& filter) {
  return FilterRefusal(ParseText<RowFilter>(filter));
}

TEST_F(ToFilterTest, NothingSetPassesEverything) {
  EXPECT_EQ(Read(""), kAll);
  EXPECT_EQ(Read("chain { filters {} filters { pass_all_filter: true } }"), kAll);
}

TEST_F(ToFilterTest, AllAndNothing) {
  EXPECT_EQ(Read("pass_all_filter: true"), kAll);
  EXPECT_EQ(Read("block_all_filter: true"), "");
}

TEST_F(ToFilterTest, RegularExpressionsMatchTheWholeText) {
  EXPECT_EQ(Read("row_key_regex_filter: 'ro'"), "");
  EXPECT_EQ(Read("row_key_regex_filter: 'r.w'"), kAll);
  EXPECT_EQ(Read("column_qualifier_regex_filter: 'p|r'"),
            "a:p@2000=two a:p@1000=three ab:p@3000= b.c:r@4000=\\xff");
  EXPECT_EQ(Read("column_qualifier_regex_filter: ''"), "a:@1000=one");
  EXPECT_EQ(Read("value_regex_filter: 'o.e|t.*'"), "a:@1000=one a:p@2000=two a:p@1000=three");
}

TEST_F(ToFilterTest, ADotIsNoNewline) {
  EXPECT_EQ(Read("r\nw", "row_key_regex_filter: 'r.w'"), "");
  EXPECT_EQ(Read("r\nw", "row_key_regex_filter: 'r\\\\Cw'"), "a:x@1000=line");
  EXPECT_EQ(Read("column_qualifier_regex_filter: 'q.'"), "");
  EXPECT_EQ(Read("column_qualifier_regex_filter: 'x|q.'"), "");
  EXPECT_EQ(Read("column_qualifier_regex_filter: 'q\\\\C'"), "a:q\\n@2000=fo\\nur");
  EXPECT_EQ(Read("column_qualifier_regex_filter: '(?s)q.'"), "a:q\\n@2000=fo\\nur");
  EXPECT_EQ(Read("value_regex_filter: 'fo.ur'"), "");
  EXPECT_EQ(Read("value_regex_filter: 'fo[^x]ur'"), "a:q\\n@2000=fo\\nur");
}

TEST_F(ToFilterTest, RegularExpressionsAreOfBytes) {
  EXPECT_EQ(Read("value_regex_filter: '.'"), "b.c:r@4000=\\xff");
  EXPECT_EQ(Read("value_regex_filter: '\\xff'"), "b.c:r@4000=\\xff");
  EXPECT_EQ(Read("value_regex_filter: '\\\\xff'"), "b.c:r@4000=\\xff");
}

TEST_F(ToFilterTest, Families) {
  EXPECT_EQ(Read("family_name_regex_filter: 'ab'"), "ab:p@3000=");
  EXPECT_EQ(Read("family_name_regex_filter: 'a.?'"),
            "a:@1000=one a:p@2000=two a:p@1000=three a:q\\n@2000=fo\\nur ab:p@3000=");
  EXPECT_EQ(Read("family_name_regex_filter: 'b\\\\.c'"), "b.c:r@4000=\\xff");
}

TEST_F(ToFilterTest, AFamilyThatIsNotThereIsNotFound) {
  for (const char* filter : {"family_name_regex_filter: 'x'", "family_name_regex_filter: 'x\\\\.y'",
                             "column_range_filter { family_name: 'x' }"}) {
    EXPECT_NE(Read(filter).find("NOT_FOUND: table t has no column family \"x"), std::string::npos)
        << Read(filter);
  }
  // None that matches, on the other hand, is no error.
  EXPECT_EQ(Read("family_name_regex_filter: 'x.*'"), "");
  EXPECT_EQ(Read("family_name_regex_filter: ''"), "");
}

TEST_F(ToFilterTest, AnExpressionOfRowKeysMustNotBeEmpty) {
  const std::string read = Read("row_key_regex_filter: ''");
  EXPECT_NE(read.find("a regular expression of row keys must not be empty"), std::string::npos)
      << read;
}

TEST_F(ToFilterTest, ColumnRanges) {
  const auto read = [&](const char* ends) {
    return Read(absl::StrCat("column_range_filter { family_name: 'a' ", ends, " }"));
  };
  EXPECT_EQ(read(""), "a:@1000=one a:p@2000=two a:p@1000=three a:q\\n@2000=fo\\nur");
  EXPECT_EQ(read("start_qualifier_closed: 'p'"), "a:p@2000=two a:p@1000=three a:q\\n@2000=fo\\nur");
  EXPECT_EQ(read("start_qualifier_open: 'p'"), "a:q\\n@2000=fo\\nur");
  EXPECT_EQ(read("start_qualifier_open: ''"), "a:p@2000=two a:p@1000=three a:q\\n@2000=fo\\nur");
  EXPECT_EQ(read("end_qualifier_open: 'p'"), "a:@1000=one");
  EXPECT_EQ(read("end_qualifier_closed: 'p'"), "a:@1000=one a:p@2000=two a:p@1000=three");
  EXPECT_EQ(read("end_qualifier_closed: ''"), "a:@1000=one");
  EXPECT_EQ(read("start_qualifier_closed: 'p' end_qualifier_closed: 'p'"),
            "a:p@2000=two a:p@1000=three");
}

TEST_F(ToFilterTest, ValueRanges) {
  const auto read = [&](const char* ends) {
    return Read(absl::StrCat("value_range_filter { ", ends, " }"));
  };
  EXPECT_EQ(read(""), kAll);
  EXPECT_EQ(read("start_value_closed: 'two'"), "a:p@2000=two b.c:r@4000=\\xff");
  EXPECT_EQ(read("start_value_open: 'two'"), "b.c:r@4000=\\xff");
  EXPECT_EQ(read("end_value_open: 'one'"), "a:q\\n@2000=fo\\nur ab:p@3000=");
  EXPECT_EQ(read("end_value_closed: 'one'"), "a:@1000=one a:q\\n@2000=fo\\nur ab:p@3000=");
  EXPECT_EQ(read("start_value_open: '' end_value_open: 'one'"), "a:q\\n@2000=fo\\nur");
}

TEST_F(ToFilterTest, TimestampRanges) {
  const auto read = [&](const char* ends) {
    return Read(absl::StrCat("timestamp_range_filter { ", ends, " }"));
  };
  EXPECT_EQ(read(""), kAll);
  EXPECT_EQ(read("start_timestamp_micros: 3000"), "ab:p@3000= b.c:r@4000=\\xff");
  EXPECT_EQ(read("end_timestamp_micros: 2000"), "a:@1000=one a:p@1000=three");
  EXPECT_EQ(read("start_timestamp_micros: 2000 end_timestamp_micros: 4000"),
            "a:p@2000=two a:q\\n@2000=fo\\nur ab:p@3000=");
}

TEST_F(ToFilterTest, NumbersOfCells) {
  EXPECT_EQ(Read("cells_per_row_offset_filter: 4"), "ab:p@3000= b.c:r@4000=\\xff");
  EXPECT_EQ(Read("cells_per_row_offset_filter: 0"), kAll);
  EXPECT_EQ(Read("cells_per_row_limit_filter: 2"), "a:@1000=one a:p@2000=two");
  EXPECT_EQ(Read("cells_per_column_limit_filter: 1"),
            "a:@1000=one a:p@2000=two a:q\\n@2000=fo\\nur ab:p@3000= b.c:r@4000=\\xff");
}

TEST_F(ToFilterTest, SamplesRows) {
  int rows = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string key = absl::StrCat("sample", i);
    Set(table_, key, "a:s", 1000, "v");
    rows += Read(key, "row_sample_filter: 0.25").empty() ? 0 : 1;
  }
  EXPECT_GT(rows, 150);
  EXPECT_LT(rows, 350);
}

TEST_F(ToFilterTest, TransformersChangeCells) {
  EXPECT_EQ(Read("chain { filters { family_name_regex_filter: 'a' }"
                 "        filters { strip_value_transformer: true } }"),
            "a:@1000= a:p@2000= a:p@1000= a:q\\n@2000=");
  const absl::StatusOr<Filter> label =
      ToFilter(ParseText<RowFilter>("apply_label_transformer: 'found-1'"));
  ASSERT_OK(label);
  ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("r\nw", *label));
  ASSERT_EQ(row.cells().size(), 1);
  ASSERT_EQ(row.cells()[0].labels.size(), 1);
  EXPECT_EQ(*row.cells()[0].labels.begin(), "found-1");
}

TEST_F(ToFilterTest, ChainsApplyFiltersInOrder) {
  EXPECT_EQ(Read("chain { filters { cells_per_row_limit_filter: 3 }"
                 "        filters { cells_per_column_limit_filter: 1 }"
                 "        filters { cells_per_row_offset_filter: 1 } }"),
            "a:p@2000=two");
}

TEST_F(ToFilterTest, InterleavesCombineTheCellsOfTheirFilters) {
  EXPECT_EQ(Read("interleave { filters { family_name_regex_filter: 'ab' }"
                 "             filters { value_regex_filter: 'one|' } }"),
            "a:@1000=one ab:p@3000= ab:p@3000=");
}

TEST_F(ToFilterTest, ConditionsChooseByTheirPredicate) {
  const std::string yes = "true_filter { value_regex_filter: 'one' }";
  const std::string no = "false_filter { value_regex_filter: 'two' }";
  const std::string found = "predicate_filter { value_regex_filter: 'three' }";
  const std::string missing = "predicate_filter { value_regex_filter: 'none' }";
  EXPECT_EQ(Read("condition {" + found + yes + no + "}"), "a:@1000=one");
  EXPECT_EQ(Read("condition {" + missing + yes + no + "}"), "a:p@2000=two");
  // What is not provided returns nothing; what is empty returns everything.
  EXPECT_EQ(Read("condition {" + found + no + "}"), "");
  EXPECT_EQ(Read("condition {" + missing + yes + "}"), "");
  EXPECT_EQ(Read("condition {" + missing + yes + "false_filter {} }"), kAll);
}

// The example in the comment of RowFilter.sink.
TEST_F(ToFilterTest, ASinkLeavesTheChain) {
  EXPECT_EQ(Read("chain {"
                 "  filters { family_name_regex_filter: 'a' }"
                 "  filters { interleave {"
                 "    filters { pass_all_filter: true }"
                 "    filters { chain { filters { apply_label_transformer: 'foo' }"
                 "                      filters { sink: true } } } } }"
                 "  filters { column_qualifier_regex_filter: 'p' } }"),
            "a:@1000=one a:p@2000=two a:p@2000=two a:p@1000=three a:p@1000=three "
            "a:q\\n@2000=fo\\nur");
}

TEST(ToFilterRefusalTest, FieldsThatMustBeTrue) {
  for (const char* field :
       {"sink", "pass_all_filter", "block_all_filter", "strip_value_transformer"}) {
    EXPECT_EQ(FilterRefusal(absl::StrCat(field, ": false")),
              absl::StrCat(field, ": it must be true if it is set, and is false"));
  }
}

TEST(ToFilterRefusalTest, NamesTheFieldAndTheRule) {
  EXPECT_EQ(FilterRefusal("value_regex_filter: 'a.('"),
            "value_regex_filter: bad regular expression \"a.(\": missing ): a.(");
  EXPECT_EQ(FilterRefusal("row_key_regex_filter: '*'"),
            "row_key_regex_filter: bad regular expression \"*\": no argument for repetition "
            "operator: *");
  EXPECT_EQ(FilterRefusal("column_qualifier_regex_filter: '['"),
            "column_qualifier_regex_filter: bad regular expression \"[\": missing ]: [");
  EXPECT_EQ(FilterRefusal("family_name_regex_filter: ')'"),
            "family_name_regex_filter: bad regular expression \")\": unexpected ): )");
  EXPECT_EQ(FilterRefusal("family_name_regex_filter: 'a[:]'"),
            "family_name_regex_filter: a regular expression of families must not contain a colon, "
            "and is \"a[:]\"");
  EXPECT_EQ(FilterRefusal("row_sample_filter: 1"),
            "row_sample_filter: RowSample takes a probability between 0 and 1, both excluded, and "
            "got 1");
  EXPECT_EQ(FilterRefusal("row_sample_filter: nan"),
            "row_sample_filter: RowSample takes a probability between 0 and 1, both excluded, and "
            "got nan");
  EXPECT_EQ(FilterRefusal("cells_per_row_offset_filter: -1"),
            "cells_per_row_offset_filter: CellsRowOffset takes a number of at least 0, and got -1");
  EXPECT_EQ(FilterRefusal("cells_per_row_limit_filter: 0"),
            "cells_per_row_limit_filter: CellsRowLimit takes a number of at least 1, and got 0");
  EXPECT_EQ(FilterRefusal("cells_per_column_limit_filter: 0"),
            "cells_per_column_limit_filter: Latest takes a number of at least 1, and got 0");
  EXPECT_EQ(FilterRefusal("apply_label_transformer: 'No'"),
            "apply_label_transformer: a label is 1 to 15 characters of [a-z0-9-], and this is "
            "\"No\"");
}

TEST(ToFilterRefusalTest, RangesThatHaveNothingInThem) {
  EXPECT_EQ(FilterRefusal("column_range_filter { family_name: 'a' start_qualifier_open: 'p' "
                          "end_qualifier_closed: 'p' }"),
            "column_range_filter: a column range must end after it begins, and has nothing between "
            "its start \"p\\x00\" and its end \"p\\x00\"");
  EXPECT_EQ(FilterRefusal("column_range_filter { family_name: 'a' end_qualifier_open: '' }"),
            "column_range_filter: a column range must end after it begins, and has nothing between "
            "its start \"\" and its end \"\"");
  EXPECT_EQ(FilterRefusal("column_range_filter {}"),
            "column_range_filter: the name of a column family must be 1 to 64 printable ASCII "
            "characters without space and colon, and is \"\"");
  EXPECT_EQ(FilterRefusal("value_range_filter { start_value_closed: 'b' end_value_closed: 'a' }"),
            "value_range_filter: a value range must end after it begins, and has nothing between "
            "its start \"b\" and its end \"a\\x00\"");
  EXPECT_EQ(FilterRefusal("value_range_filter { end_value_open: '' }"),
            "value_range_filter: a value range must end after it begins, and has nothing between "
            "its start \"\" and its end \"\"");
  EXPECT_EQ(
      FilterRefusal(
          "timestamp_range_filter { start_timestamp_micros: 2000 end_timestamp_micros: 2000 }"),
      "timestamp_range_filter: a range of timestamps must end after it begins: [2000, 2000)");
  EXPECT_EQ(FilterRefusal("timestamp_range_filter { start_timestamp_micros: 1 }"),
            "timestamp_range_filter: the start of a time range must be a multiple of 1000 "
            "microseconds in the Bigtable API, and is 1");
  EXPECT_EQ(FilterRefusal("timestamp_range_filter { end_timestamp_micros: -1000 }"),
            "timestamp_range_filter: the end of a time range must not be negative, and is -1000");
}

TEST(ToFilterRefusalTest, PartsAreNamedByTheirPath) {
  EXPECT_EQ(FilterRefusal("chain { filters {} }"),
            "chain: a chain must have at least two filters, and "
            "has 1");
  EXPECT_EQ(FilterRefusal("interleave {}"),
            "interleave: an interleave must have at least two filters, and has 0");
  EXPECT_EQ(FilterRefusal("condition { true_filter {} }"),
            "condition: a condition must have a predicate_filter");
  EXPECT_EQ(
      FilterRefusal("chain { filters {} filters { interleave { filters {} filters {} filters { "
                    "condition { predicate_filter {} false_filter { sink: false } } } } } }"),
      "chain: filters[1]: interleave: filters[2]: condition: false_filter: sink: it must be "
      "true if it is set, and is false");
  EXPECT_EQ(FilterRefusal("condition { predicate_filter { sink: false } }"),
            "condition: predicate_filter: sink: it must be true if it is set, and is false");
  EXPECT_EQ(FilterRefusal("condition { predicate_filter {} true_filter { sink: false } }"),
            "condition: true_filter: sink: it must be true if it is set, and is false");
}

TEST(ToFilterRefusalTest, LabelsAndSinksWhereTheyMayNotBe) {
  EXPECT_EQ(FilterRefusal("chain { filters { apply_label_transformer: 'a' } "
                          "filters { apply_label_transformer: 'b' } }"),
            "chain: a Chain may have ApplyLabel in only one of its parts");
  EXPECT_EQ(FilterRefusal("condition { predicate_filter { sink: true } }"),
            "condition: a Condition must not have a Sink in it");
}

RowFilter Nested(int depth) {
  RowFilter filter;
  filter.set_pass_all_filter(true);
  for (int i = 0; i < depth; ++i) {
    RowFilter outer;
    switch (i % 3) {
      case 0:
        *outer.mutable_chain()->add_filters() = filter;
        outer.mutable_chain()->add_filters();
        break;
      case 1:
        *outer.mutable_interleave()->add_filters() = filter;
        outer.mutable_interleave()->add_filters();
        break;
      default:
        *outer.mutable_condition()->mutable_predicate_filter() = filter;
    }
    filter = outer;
  }
  return filter;
}

TEST(ToFilterRefusalTest, NestedTooDeep) {
  EXPECT_OK(ToFilter(Nested(20)));
  const std::string refusal = FilterRefusal(Nested(21));
  EXPECT_NE(refusal.find("chain: filters must be nested at most 20 deep"), std::string::npos)
      << refusal;
}

TEST(ToFilterRefusalTest, TooLarge) {
  RowFilter filter;
  filter.set_value_regex_filter(std::string(20476, 'x'));
  ASSERT_EQ(filter.ByteSizeLong(), 20480);
  EXPECT_OK(ToFilter(filter));
  filter.set_value_regex_filter(std::string(20477, 'x'));
  EXPECT_EQ(FilterRefusal(filter),
            "a filter must have at most 20480 bytes, and this one has 20481");
}

// The expressions are small, and their programs are not.
TEST(ToFilterRefusalTest, LargePrograms) {
  RowFilter filter;
  for (int i = 0; i < 800; ++i) {
    filter.mutable_interleave()->add_filters()->set_value_regex_filter("(abcdefghij){1000}");
  }
  HeapPeak peak;
  const std::string refusal = FilterRefusal(filter);
  EXPECT_LT(peak.Stop(), uint64_t{24} << 20);
  EXPECT_NE(refusal.find("at most 100000 instructions"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("filters[8]: value_regex_filter: "), std::string::npos) << refusal;
}

// A request that nests so deep is not parsed, so no stack is needed for it.
TEST(ToFilterRefusalTest, BytesThatNestWithoutEnd) {
  std::vector<std::string> heads;  // from the innermost
  size_t size = 0;
  for (int i = 0; i < 600'000; ++i) {
    std::string head = "\x0a";  // RowFilter.chain and RowFilter.Chain.filters
    size_t rest = size;
    for (; rest >= 0x80; rest >>= 7) head.push_back(static_cast<char>(rest | 0x80));
    head.push_back(static_cast<char>(rest));
    size += head.size();
    heads.push_back(std::move(head));
  }
  std::string bytes;
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) bytes += *head;
  EXPECT_FALSE(RowFilter().ParseFromString(bytes));
}

}  // namespace
}  // namespace bigtable::convert
