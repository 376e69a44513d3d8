// What a filter says about the cells that can pass before any is read.
#include "read/filter_program.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/filter.h"
#include "bigtable/timestamp.h"

#include "base/call_limits.h"
#include "read/filter_node.h"

namespace bigtable {
namespace {

Filter Times(int64_t from, int64_t to) {
  return Filter::TimestampRange(Timestamp(from), Timestamp(to));
}

TEST(FilterProgramTest, AnInterleaveBoundsTimestampsByAllItsParts) {
  const Filter filter = Filter::Interleave(Times(10, 20), Times(30, 40));
  const FilterProgram program(FilterNode::Of(filter));
  int64_t first = 0, last = 0;
  ASSERT_TRUE(program.BoundsTimestamps(&first, &last));
  EXPECT_EQ(first, 10);
  EXPECT_EQ(last, 39);
}

TEST(FilterProgramTest, AnInterleaveWithAnUnboundedPartBoundsNoTimestamps) {
  const Filter filter = Filter::Interleave(Times(10, 20), Filter::Family("f"));
  const FilterProgram program(FilterNode::Of(filter));
  int64_t first = 0, last = 0;
  EXPECT_FALSE(program.BoundsTimestamps(&first, &last));
}

// "10..19" or "any".
std::string TimesOf(const Filter& filter) {
  const FilterProgram program(FilterNode::Of(filter));
  int64_t first = 0, last = 0;
  if (!program.BoundsTimestamps(&first, &last)) return "any";
  return std::to_string(first) + ".." + std::to_string(last);
}

TEST(FilterProgramTest, OnlyWhatComesBeforeTheFirstCountBoundsTimestamps) {
  EXPECT_EQ(TimesOf(Filter()), "any");
  EXPECT_EQ(TimesOf(Times(10, 20)), "10..19");
  EXPECT_EQ(TimesOf(Filter::Chain(Filter::Family("f"), Times(10, 20))), "10..19");
  EXPECT_EQ(TimesOf(Filter::Chain(Times(10, 20), Filter::Latest(1))), "10..19");
  EXPECT_EQ(TimesOf(Filter::Chain(Filter::Latest(1), Times(10, 20))), "any");
  EXPECT_EQ(TimesOf(Filter::Chain(Filter::CellsRowLimit(9), Times(10, 20))), "any");
  EXPECT_EQ(TimesOf(Filter::Chain(Filter::CellsRowOffset(9), Times(10, 20))), "any");
  EXPECT_EQ(TimesOf(Filter::Interleave({})), "any");
  const Filter either = Filter::Interleave(Times(30, 40), Times(10, 20));
  EXPECT_EQ(TimesOf(either), "10..39");
  EXPECT_EQ(TimesOf(Filter::Chain(Filter::CellsRowLimit(9), either)), "any");
  EXPECT_EQ(TimesOf(Filter::Chain(either, Times(15, 16))), "10..39");
}

// Those of "f", "g" and "h" that may pass.
std::string FamiliesOf(const Filter& filter) {
  const FilterProgram program(FilterNode::Of(filter));
  std::string passing;
  for (const std::string_view family : {"f", "g", "h"}) {
    if (program.MayPassFamily(family)) passing += family;
  }
  return passing;
}

TEST(FilterProgramTest, AFamilyMayPassUnlessAFilterBeforeTheFirstCountExcludesIt) {
  const Filter f = Filter::Family("f"), g = Filter::Family("g"), h = Filter::Family("h");
  const struct {
    Filter filter;
    std::string_view families;
  } cases[] = {
      {Filter(), "fgh"},
      {Filter::BlockAll(), ""},
      {f, "f"},
      {Filter::FamilyRegex("f|g"), "fg"},
      {Filter::Column("g", "q"), "g"},
      {Filter::ColumnRegex("q"), "fgh"},
      {Filter::RowKeysRegex("r"), "fgh"},
      {Filter::Chain(Filter::Latest(1), f), "f"},
      {Filter::Chain(Filter::FamilyRegex("f|g"), Filter::FamilyRegex("g|h")), "g"},
      {Filter::Chain(Filter::CellsRowLimit(1), f), "fgh"},
      {Filter::Chain(f, Filter::CellsRowLimit(1)), "f"},
      {Filter::Interleave(f, h), "fh"},
      {Filter::Interleave({}), ""},
      {Filter::Chain(Filter::FamilyRegex("f|g"), Filter::Interleave(g, h)), "g"},
      {Filter::Chain(Filter::Interleave(f, g), Filter::FamilyRegex("g|h")), "g"},
      {Filter::Chain(Filter::CellsRowLimit(1), Filter::Interleave(f, g)), "fgh"},
      {Filter::Condition(f, g), "fg"},
      {Filter::Condition(f, g, h), "fgh"},
      // The predicate does not pass anything on to what follows.
      {Filter::Chain(Filter::Condition(f, Filter(), Filter()), g), "fg"},
      {Filter::Chain(Filter::ApplyLabel("l"), f), "f"},
      {Filter::Chain(Filter::Sink(), f), "fgh"},
      {Filter::Chain(Filter::Interleave(Filter::Sink(), f), g), "fgh"},
      // So many branches are looked at, and no more.
      {Filter::Interleave(std::vector<Filter>(256, f)), "f"},
      {Filter::Interleave(std::vector<Filter>(257, f)), "fgh"},
      {Filter::Chain(Filter::Interleave(std::vector<Filter>(256)), f), "f"},
      {Filter::Chain(Filter::Interleave(std::vector<Filter>(257)), f), "fgh"},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    ASSERT_TRUE(cases[i].filter.status().ok()) << i;
    EXPECT_EQ(FamiliesOf(cases[i].filter), cases[i].families) << i;
  }
}

TEST(FilterProgramTest, OneColumnIsARangeOfOneQualifierBeforeTheFirstCount) {
  const std::string zero(1, '\0');
  const struct {
    Filter filter;
    bool is_one;
  } cases[] = {
      {Filter(), false},
      {Filter::Family("f"), false},
      {Filter::Column("f", "ab"), true},
      {Filter::Chain(Filter::Latest(1), Filter::Column("f", "ab")), true},
      {Filter::Chain(Filter::CellsRowLimit(1), Filter::Column("f", "ab")), false},
      {Filter::Interleave(Filter::Column("f", "ab"), Filter::Column("f", "ab")), false},
      {Filter::ColumnRange("f", "ab", "abc"), false},
      {Filter::ColumnRange("f", "ab", "ac" + zero), false},
      {Filter::ColumnRange("f", "ab", "ab" + zero + zero), false},
      {Filter::ColumnRange("f", "ab", ""), false},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    const FilterProgram program(FilterNode::Of(cases[i].filter));
    std::string_view family, qualifier;
    EXPECT_EQ(program.IsOneColumn(&family, &qualifier), cases[i].is_one) << i;
    EXPECT_EQ(family, cases[i].is_one ? "f" : "") << i;
    EXPECT_EQ(qualifier, cases[i].is_one ? "ab" : "") << i;
  }
}

std::string NameOfVerdict(FilterProgram::Verdict verdict) {
  switch (verdict) {
    case FilterProgram::Verdict::kPass:
      return "pass";
    case FilterProgram::Verdict::kNextCell:
      return "next cell";
    case FilterProgram::Verdict::kSeekColumn:
      return "seek";
    case FilterProgram::Verdict::kNextColumn:
      return "next column";
    case FilterProgram::Verdict::kNextFamily:
      return "next family";
    case FilterProgram::Verdict::kNextRow:
      return "next row";
  }
  return "";
}

// In the row "row".
std::string VerdictOnColumn(const Filter& filter, std::string_view family,
                            std::string_view qualifier) {
  const CallLimits none;
  absl::Status failure;
  CallPace pace(&none, &failure);
  FilterProgram program(FilterNode::Of(filter));
  program.StartRow("row", &pace);
  const FilterProgram::Verdict verdict = program.StartColumn(family, qualifier);
  std::string text = NameOfVerdict(verdict);
  if (verdict == FilterProgram::Verdict::kSeekColumn) {
    text += " " + std::string(program.seek_qualifier());
  }
  return text;
}

TEST(FilterProgramTest, AColumnThatCannotPassIsSkippedWithAllThatCannotPassEither) {
  const Filter b = Filter::Column("f", "b"), d = Filter::Column("f", "d");
  const struct {
    Filter filter;
    std::string_view family, qualifier, verdict;
  } cases[] = {
      {Filter::BlockAll(), "f", "q", "next row"},
      {Filter::RowKeysRegex("r.*"), "f", "q", "pass"},
      {Filter::RowKeysRegex("x.*"), "f", "q", "next row"},
      {Filter::Chain(Filter::RowKeysRegex("x.*"), Filter::RowKeysRegex("r.*")), "f", "q",
       "next row"},
      {Filter::Chain(Filter::RowKeysRegex("r.*"), Filter::RowKeysRegex("x.*")), "f", "q",
       "next row"},
      {Filter::Family("f"), "f", "q", "pass"},
      {Filter::Family("f"), "g", "q", "next family"},
      {Filter::FamilyRegex("f."), "f", "q", "next family"},
      {Filter::FamilyRegex("f."), "fa", "q", "pass"},
      {Filter::ColumnRegex("q."), "f", "q", "next column"},
      {Filter::ColumnRegex("q."), "f", "qa", "pass"},
      {Filter::ColumnRange("f", "b", "d"), "f", "a~", "seek b"},
      {Filter::ColumnRange("f", "b", "d"), "f", "b", "pass"},
      {Filter::ColumnRange("f", "b", "d"), "f", "c~", "pass"},
      {Filter::ColumnRange("f", "b", "d"), "f", "d", "next family"},
      {Filter::ColumnRange("f", "b", "d"), "g", "b", "next family"},
      {Filter::ColumnRange("f", "b", ""), "f", "z", "pass"},
      {Filter::ColumnRange("f", "b", ""), "f", "a", "seek b"},
      {Filter::Chain(Filter::Family("f"), Filter::ColumnRegex("x")), "f", "q", "next column"},
      {Filter::Chain(Filter::ColumnRegex("x"), Filter::Family("f")), "g", "q", "next family"},
      // Behind a count of the row's cells those of all columns count.
      {Filter::Chain(Filter::CellsRowLimit(1), Filter::Family("f")), "g", "q", "pass"},
      {Filter::Chain(Filter::Family("f"), Filter::CellsRowLimit(1)), "g", "q", "next family"},
      {Filter::Chain(Filter::CellsRowLimit(1), Filter::Interleave(b, d)), "g", "q", "pass"},
      // What no branch needs is skipped, and no more.
      {Filter::Interleave(b, d), "f", "a", "seek b"},
      {Filter::Interleave(d, b), "f", "a", "seek b"},
      {Filter::Interleave(b, d), "f", "b", "pass"},
      {Filter::Interleave(b, d), "f", "c", "seek d"},
      {Filter::Interleave(d, b), "f", "c", "seek d"},
      {Filter::Interleave(b, d), "f", "e", "next family"},
      {Filter::Interleave(b, d), "g", "b", "next family"},
      {Filter::Interleave(Filter::BlockAll(), Filter::BlockAll()), "f", "q", "next row"},
      {Filter::Interleave(Filter::BlockAll(), d), "f", "a", "seek d"},
      {Filter::Interleave(Filter::ColumnRegex("x"), d), "f", "a", "next column"},
      {Filter::Interleave(d, Filter::ColumnRegex("x")), "f", "a", "next column"},
      {Filter::Chain(Filter::Family("g"), Filter::Interleave(b, d)), "f", "b", "next family"},
      {Filter::Chain(Filter::Interleave(b, d), Filter::Family("g")), "f", "b", "next family"},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    EXPECT_EQ(VerdictOnColumn(cases[i].filter, cases[i].family, cases[i].qualifier),
              cases[i].verdict)
        << i;
  }
}

// A row's cells go through a program one after another: "f:q" begins a column, and "7 v" is a cell
// of it; "row" begins a row. What is said about them, with "!" after the last cell of a column that
// can pass.
std::string VerdictsOn(const Filter& filter, const std::vector<std::string>& steps) {
  const CallLimits none;
  absl::Status failure;
  CallPace pace(&none, &failure);
  FilterProgram program(FilterNode::Of(filter));
  std::string verdicts;
  for (const std::string& step : steps) {
    if (step == "row") {
      program.StartRow(step, &pace);
      continue;
    }
    if (const size_t colon = step.find(':'); colon != step.npos) {
      const std::string_view column(step);
      const auto verdict = program.StartColumn(column.substr(0, colon), column.substr(colon + 1));
      EXPECT_EQ(verdict, FilterProgram::Verdict::kPass) << step;
      EXPECT_FALSE(program.done_with_column());
      continue;
    }
    const size_t space = step.find(' ');
    std::string_view value = std::string_view(step).substr(space + 1);
    verdicts += verdicts.empty() ? "" : ", ";
    verdicts += NameOfVerdict(program.Judge(std::stoll(step.substr(0, space)), &value));
    if (program.done_with_column()) verdicts += "!";
    if (value.empty()) verdicts += " empty";
  }
  return verdicts;
}

TEST(FilterProgramTest, ACellThatDoesNotPassIsSkippedWithAllThatCannotPassEither) {
  const std::vector<std::string> column = {"row", "f:q", "9 a", "8 b", "7 c", "6 d", "5 e"};
  const struct {
    Filter filter;
    std::string_view verdicts;
  } cases[] = {
      {Times(7, 9), "next cell, pass, pass, next column, next column"},
      {Times(6, 8), "next cell, next cell, pass, pass, next column"},
      {Filter::ValueRegex("[bd]"), "next cell, pass, next cell, pass, next cell"},
      {Filter::ValueRange("b", "d"), "next cell, pass, pass, next cell, next cell"},
      {Filter::ValueRange("d", ""), "next cell, next cell, next cell, pass, pass"},
      {Filter::Latest(2), "pass, pass!, next column!, next column!, next column!"},
      {Filter::CellsRowLimit(2), "pass, pass, next row, next row, next row"},
      {Filter::CellsRowOffset(2), "next cell, next cell, pass, pass, pass"},
      {Filter::StripValueTransformer(),
       "pass empty, pass empty, pass empty, pass empty, pass empty"},
      // Cells of the column still count in the steps before.
      {Filter::Chain(Filter::CellsRowLimit(4), Filter::Latest(1)),
       "pass, next cell, next cell, next cell, next row"},
      {Filter::Chain(Filter::CellsRowLimit(4), Times(7, 9)),
       "next cell, pass, pass, next cell, next row"},
      {Filter::Chain(Filter::CellsRowLimit(4), Filter::ColumnRegex("x")),
       "next cell, next cell, next cell, next cell, next row"},
      {Filter::Chain(Filter::CellsRowOffset(1), Filter::CellsRowLimit(2)),
       "next cell, pass, pass, next row, next row"},
      {Filter::Chain(Filter::Latest(3), Filter::CellsRowLimit(2)),
       "pass, pass, next row, next column, next column"},
      {Filter::Chain(Times(7, 9), Filter::CellsRowLimit(1)),
       "next cell, pass, next row, next column, next column"},
      {Filter::Chain(Filter::ColumnRegex("q"), Filter::Latest(1)),
       "pass!, next column!, next column!, next column!, next column!"},
      {Filter::Chain(Filter::Latest(2), Filter::ValueRegex("b")),
       "next cell, pass!, next column!, next column!, next column!"},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    EXPECT_EQ(VerdictsOn(cases[i].filter, column), cases[i].verdicts) << i;
  }
}

TEST(FilterProgramTest, CountsBeginAnewWithTheRowOrTheColumn) {
  const std::vector<std::string> two = {"row", "f:p", "9 a", "8 b", "f:q", "9 c",
                                        "8 d", "row", "f:p", "9 a", "8 b"};
  EXPECT_EQ(VerdictsOn(Filter::Latest(1), two),
            "pass!, next column!, pass!, next column!, pass!, next column!");
  EXPECT_EQ(VerdictsOn(Filter::CellsRowLimit(3), two), "pass, pass, pass, next row, pass, pass");
  EXPECT_EQ(VerdictsOn(Filter::CellsRowOffset(3), two),
            "next cell, next cell, next cell, pass, next cell, next cell");
}

TEST(FilterProgramTest, TheChainsOfAFilterAreTakenApart) {
  EXPECT_TRUE(FilterProgram::Flatten(nullptr).empty());
  const Filter one = Filter::Latest(1);
  EXPECT_EQ(FilterProgram::Flatten(FilterNode::Of(one)),
            std::vector<const FilterNode*>{FilterNode::Of(one)});
  const Filter chain = Filter::Chain({Filter(), Filter::Chain(one, Filter::Latest(2)), one});
  EXPECT_EQ(FilterProgram::Flatten(FilterNode::Of(chain)).size(), 3u);
  EXPECT_TRUE(FilterProgram(FilterNode::Of(Filter::Chain({Filter()}))).passes_everything());
  EXPECT_FALSE(FilterProgram(FilterNode::Of(chain)).passes_everything());
  EXPECT_FALSE(FilterProgram(FilterNode::Of(Filter::Sink())).passes_everything());
}

}  // namespace
}  // namespace bigtable
