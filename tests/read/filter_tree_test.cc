// Filters that are refused because of what is nested in them.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/filter.h"

#include "read/filter_node.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// A refused filter must not be nested deeper than the limit: its destructor would need the stack.
TEST(FilterTreeTest, IsRefusedAndDestroyedHoweverDeepItIs) {
  for (const bool is_condition : {false, true}) {
    Filter filter = Filter::Latest(1);
    for (int i = 0; i < 300'000; ++i) {
      filter = is_condition ? Filter::Condition(filter, Filter(), filter)
                            : Filter::Chain({std::move(filter)});
    }
    EXPECT_STATUS(kInvalidArgument, "nested at most 50 deep", filter.status());
  }
}

TEST(FilterTreeTest, ALabelIsShortAndOfSmallLetters) {
  EXPECT_OK(Filter::ApplyLabel("a-label-9").status());
  EXPECT_OK(Filter::ApplyLabel(std::string(15, 'l')).status());
  for (const std::string& label : {std::string(), std::string(16, 'l'), std::string("Label")}) {
    EXPECT_STATUS(kInvalidArgument, "a label is 1 to 15 characters",
                  Filter::ApplyLabel(label).status());
  }
}

// A chain of one filter, of a chain of one filter, and so on.
Filter Nested(Filter filter, int chains) {
  for (int i = 0; i < chains; ++i) filter = Filter::Chain({std::move(filter)});
  return filter;
}

TEST(FilterTreeTest, IsAsDeepAndAsLargeAsItsLimitsAllow) {
  EXPECT_OK(Nested(Filter::Latest(1), 49).status());
  EXPECT_STATUS(kInvalidArgument, "50 deep", Nested(Filter::Latest(1), 50).status());
  EXPECT_OK(Nested(Filter(), 49).status());
  EXPECT_STATUS(kInvalidArgument, "50 deep", Nested(Filter(), 50).status());

  EXPECT_OK(Filter::Chain(std::vector<Filter>(999, Filter::Latest(1))).status());
  EXPECT_STATUS(kInvalidArgument, "at most 1000 parts",
                Filter::Chain(std::vector<Filter>(1000, Filter::Latest(1))).status());
  EXPECT_OK(Filter::Chain(std::vector<Filter>(999)).status());
  EXPECT_STATUS(kInvalidArgument, "at most 1000 parts",
                Filter::Chain(std::vector<Filter>(1000)).status());
}

TEST(FilterTreeTest, NumbersAndRangesAreCheckedAtTheirLimits) {
  const auto times = [](int64_t begin, int64_t end) {
    return Filter::TimestampRange(Timestamp(begin), Timestamp(end));
  };
  for (const Filter& filter :
       {Filter::Latest(1), Filter::CellsRowLimit(1), Filter::CellsRowOffset(0), times(5, 6),
        times(0, std::numeric_limits<int64_t>::max()), Filter::ColumnRange("f", "a", "a1"),
        Filter::ColumnRange("f", "a", ""), Filter::ColumnRange("f", "", ""),
        Filter::ValueRange("a", "a1"), Filter::ValueRange("a", ""), Filter::ValueRange("", ""),
        Filter::RowSample(1e-9), Filter::RowSample(1 - 1e-9)}) {
    EXPECT_OK(filter.status());
  }
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  for (const Filter& filter :
       {Filter::Latest(0), Filter::CellsRowLimit(0), Filter::CellsRowOffset(-1), times(5, 5),
        times(6, 5), Filter::ColumnRange("f", "a", "a"), Filter::ColumnRange("f", "b", "a"),
        Filter::ValueRange("a", "a"), Filter::ValueRange("b", "a"), Filter::RowSample(0),
        Filter::RowSample(1), Filter::RowSample(-0.5), Filter::RowSample(1.5),
        Filter::RowSample(not_a_number)}) {
    EXPECT_STATUS(kInvalidArgument, "", filter.status());
  }
}

TEST(FilterTreeTest, LabelsAreInOnePartOfAChainAndSinksInNoCondition) {
  const Filter label = Filter::ApplyLabel("l"), sink = Filter::Sink();
  const Filter both = Filter::Interleave(label, Filter::ApplyLabel("k"));
  for (const Filter& filter :
       {Filter::Chain(label, Filter::Latest(1)), both, Filter::Chain(both, Filter::Latest(1)),
        Filter::Condition(label, label, label), Filter::Chain(sink, sink),
        Filter::Interleave(sink, label)}) {
    EXPECT_OK(filter.status());
  }
  for (const Filter& filter :
       {Filter::Chain(label, label), Filter::Chain(both, label),
        Filter::Chain(Filter::Chain({label}), Filter::Condition(Filter(), label))}) {
    EXPECT_STATUS(kInvalidArgument, "only one of its parts", filter.status());
  }
  for (const Filter& filter :
       {Filter::Condition(sink, Filter(), Filter()), Filter::Condition(Filter(), sink),
        Filter::Condition(Filter(), {}, sink),
        Filter::Condition(Filter(), Filter::Chain({sink}))}) {
    EXPECT_STATUS(kInvalidArgument, "must not have a Sink", filter.status());
  }
}

TEST(FilterTreeTest, AnErrorOfAPartIsThatOfTheWhole) {
  const Filter bad = Filter::Latest(0), worse = Filter::ValueRegex("(oops");
  EXPECT_STATUS(kInvalidArgument, "Latest", Filter::Chain(bad, worse).status());
  EXPECT_STATUS(kInvalidArgument, "(oops", Filter::Interleave(worse, bad).status());
  EXPECT_TRUE(FilterNode::Of(Filter::Chain(bad, worse))->parts.empty());
}

// What a node knows of the tree below it.
TEST(FilterTreeTest, ANodeSumsUpItsParts) {
  const Filter regex = Filter::ValueRegex("a+b");
  const FilterNode& leaf = *FilterNode::Of(regex);
  EXPECT_EQ(leaf.expressions, 1);
  EXPECT_GT(leaf.instructions, 0);
  EXPECT_EQ(leaf.instructions, regex.program_size());
  EXPECT_TRUE(leaf.takes_memory());
  EXPECT_FALSE(leaf.needs_row || leaf.has_label || leaf.has_sink);
  EXPECT_EQ(Filter().program_size(), 0);
  EXPECT_EQ(Filter::Latest(1).program_size(), 0);
  EXPECT_FALSE(FilterNode::Of(Filter::Latest(1))->takes_memory());

  const Filter chain = Filter::Chain(regex, Filter(), Filter::Chain(Filter::Sink(), regex));
  const FilterNode& of_chain = *FilterNode::Of(chain);
  EXPECT_EQ(of_chain.depth, 3);
  EXPECT_EQ(of_chain.nodes, 6);
  EXPECT_EQ(of_chain.copies, 1);
  EXPECT_EQ(of_chain.expressions, 2);
  EXPECT_EQ(of_chain.instructions, 2 * leaf.instructions);
  EXPECT_TRUE(of_chain.needs_row);
  EXPECT_TRUE(of_chain.has_sink);
  EXPECT_FALSE(of_chain.has_label);
  // Each expression gets half of the memory of one, also the one further down.
  EXPECT_EQ(of_chain.expression_memory, leaf.expression_memory / 2);
  EXPECT_EQ(FilterNode::Of(of_chain.parts[2])->expression_memory, leaf.expression_memory / 2);
  EXPECT_EQ(FilterNode::Of(of_chain.parts[2])->expression_bytes,
            FilterNode::Of(of_chain.parts[0])->expression_bytes);
  EXPECT_EQ(of_chain.expression_bytes, 2 * FilterNode::Of(of_chain.parts[0])->expression_bytes);
  EXPECT_LT(of_chain.expression_bytes, 2 * leaf.expression_bytes);

  const Filter three = Filter::Interleave(Filter(), Filter(), Filter::ApplyLabel("l"));
  EXPECT_EQ(FilterNode::Of(three)->copies, 3);
  EXPECT_TRUE(FilterNode::Of(three)->has_label);
  EXPECT_EQ(FilterNode::Of(Filter::Chain(three, Filter::Interleave(Filter(), Filter())))->copies,
            6);
  EXPECT_EQ(FilterNode::Of(Filter::Condition(Filter(), three))->copies, 3);
  EXPECT_EQ(FilterNode::Of(Filter::Condition(Filter(), Filter(), Filter()))->copies, 1);
}

// Interleaves of ten filters in a chain: each makes ten copies of a cell.
TEST(FilterTreeTest, ACellIsPassedAThousandTimesAtMost) {
  const Filter ten = Filter::Interleave(std::vector<Filter>(10));
  EXPECT_OK(Filter::Chain(ten, ten, ten).status());
  EXPECT_STATUS(kInvalidArgument, "at most 1000 times",
                Filter::Interleave(Filter::Chain(ten, ten, ten), Filter()).status());
}

}  // namespace
}  // namespace bigtable
