// The memory that filters take is bounded: their regular expressions, and the copies that they make
// of cells.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "read/filter_expressions.h"
#include "read/filter_node.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/heap_peak.h"
#include "support/slow_expressions.h"

namespace bigtable {
namespace {

std::vector<Filter> SmallExpressions(int count) {
  std::vector<Filter> filters;
  for (int i = 0; i < count; ++i) filters.push_back(Filter::ValueRegex(absl::StrCat(".*v", i)));
  return filters;
}

uint64_t BytesOf(const Filter& filter) { return FilterNode::Of(filter)->expression_bytes; }

TEST(FilterExpressionsTest, ShareTheMemoryOfOne) {
  EXPECT_EQ(ExpressionMemory(1), kMostExpressionMemory);
  EXPECT_EQ(ExpressionMemory(2), kMostExpressionMemory / 2);
  EXPECT_EQ(ExpressionMemory(3), kMostExpressionMemory / 4);
  EXPECT_EQ(ExpressionMemory(1000), kLeastExpressionMemory);

  const uint64_t alone = BytesOf(Filter::ValueRegex(".*v"));
  for (const int count : {2, 10, 100, 256}) {
    EXPECT_LE(BytesOf(Filter::Interleave(SmallExpressions(count))), alone * 5 / 4) << count;
  }
  EXPECT_LE(BytesOf(Filter::Interleave(SmallExpressions(900))), uint64_t{12} << 20);
}

TEST(FilterExpressionsTest, ShareAlsoInNestedFilters) {
  Filter nested = Filter::Interleave(SmallExpressions(4));
  for (int i = 0; i < 40; ++i) {
    nested = Filter::Interleave(nested, Filter::Interleave(SmallExpressions(4)));
  }
  ASSERT_OK(nested.status());
  EXPECT_LE(BytesOf(nested), uint64_t{4} << 20);
}

TEST(FilterExpressionsTest, AFilterThatIsAPartOfAnotherKeepsItsOwn) {
  const Filter alone = Filter::ValueRegex(".*v");
  std::vector<Filter> parts = SmallExpressions(99);
  parts.push_back(alone);
  const Filter all = Filter::Interleave(std::move(parts));
  EXPECT_EQ(FilterNode::Of(alone)->regex->options().max_mem(), int64_t{kMostExpressionMemory});
  EXPECT_EQ(FilterNode::Of(FilterNode::Of(all)->parts.back())->regex->options().max_mem(),
            static_cast<int64_t>(ExpressionMemory(100)));
}

TEST(FilterExpressionsTest, ALargeOneAmongManySmallOnesHasWhatItNeeds) {
  std::vector<Filter> parts = SmallExpressions(900);
  parts.push_back(Filter::ValueRegex("(abcdefghij){1000}"));
  const Filter all = Filter::Interleave(std::move(parts));
  ASSERT_OK(all.status());
  EXPECT_TRUE(FilterNode::Of(FilterNode::Of(all)->parts.back())->regex->ok());
}

TEST(FilterExpressionsTest, ProgramsAreLimitedTogether) {
  std::vector<Filter> parts(8, Filter::ValueRegex("(abcdefghij){1000}"));
  EXPECT_GT(parts.front().program_size(), 10'000);
  EXPECT_OK(Filter::Interleave(parts).status());
  parts.push_back(parts.front());
  const Filter all = Filter::Interleave(parts);
  EXPECT_STATUS(kInvalidArgument, "100000", all.status());
  EXPECT_STATUS(kInvalidArgument, absl::StrCat(9 * parts.front().program_size()), all.status());
}

class FilterMemoryTest : public DatabaseFixture {
 protected:
  // One row, of so many cells of a byte.
  void Write(int cells) {
    Open();
    table_ = CreateTable("t", std::vector<std::string>{"f"});
    RowMutation mutation("row");
    for (int i = 0; i < cells; ++i) {
      mutation.Set(absl::StrCat("f:", 100'000 + i), Timestamp(1), "v");
    }
    ASSERT_OK(table_->Apply(mutation));
  }
  uint64_t Used() const { return database_->Statistics().memory_reads; }

  static Filter Copies() { return Filter::Interleave(std::vector<Filter>(900)); }

  Table* table_ = nullptr;
};

TEST_F(FilterMemoryTest, ManyExpressionsTakeAsMuchAsOne) {
  Open();
  table_ = CreateTable("t", std::vector<std::string>{"f"});
  const std::string value = SlowValue(40'000);
  Set(table_, "row", "f:q", 1, value);
  const Filter filter = Filter::Interleave(SlowExpressions(40));
  HeapPeak peak;
  ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("row", filter));
  EXPECT_LT(peak.Stop(), uint64_t{12} << 20);
  EXPECT_EQ(row.cells().size(), 40u);
  EXPECT_EQ(row.cells().front().value, value);
}

TEST_F(FilterMemoryTest, AStreamChargesItsExpressionsWhileItIsOpen) {
  Write(2);
  {
    const Filter filter = Filter::ValueRegex("v");
    RowReader reader = table_->ReadRows(RowRange::All(), filter);
    ASSERT_TRUE(reader.Next());
    EXPECT_GE(Used(), BytesOf(filter) / 2);
    EXPECT_LE(Used(), BytesOf(filter));
  }
  EXPECT_EQ(Used(), 0u);
}

TEST_F(FilterMemoryTest, CopiesBeyondALimitAreNotMade) {
  Write(20'000);
  const Filter latest = Filter::Chain(Copies(), Filter::CellsRowLimit(1));
  HeapPeak peak;
  RowReader limited = table_->ReadRows(RowRange::All(), Copies(), {.cell_limit = 1});
  ASSERT_TRUE(limited.Next());
  EXPECT_EQ(Show(limited.row()), "f:100000@1=v");
  EXPECT_EQ(Show(table_->ReadRow("row", latest)), "f:100000@1=v");
  EXPECT_LT(peak.Stop(), uint64_t{16} << 20);
}

// A limit of the cells of each column makes no copies of a row in between either.
TEST_F(FilterMemoryTest, CopiesPassFiltersCellByCell) {
  Write(2'000);
  const Filter one_each = Filter::Chain(Copies(), Filter::Latest(1));
  HeapPeak peak;
  ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("row", one_each));
  EXPECT_EQ(row.cells().size(), 2'000u);
  EXPECT_LT(peak.Stop(), uint64_t{16} << 20);
}

TEST_F(FilterMemoryTest, TooManyCopiesAreRefused) {
  Write(20'000);
  HeapPeak peak;
  EXPECT_STATUS(kResourceExhausted, "row \"row\"", table_->ReadRow("row", Copies()));
  RowReader reader = table_->ReadRows(RowRange::All(), Copies());
  EXPECT_FALSE(reader.Next());
  EXPECT_STATUS(kResourceExhausted, "33554432", reader.status());
  EXPECT_LT(peak.Stop(), uint64_t{48} << 20);
  EXPECT_EQ(Used(), 0u);
  // Others are read.
  EXPECT_EQ(Show(table_->ReadRow("row", Filter::Chain(Filter::CellsRowLimit(1),
                                                      Filter::Interleave(Filter(), Filter())))),
            "f:100000@1=v f:100000@1=v");
}

}  // namespace
}  // namespace bigtable
