// The predicate of a Condition sees the cells that its own parts, and those before it, have passed.
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class ConditionTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseFixture::SetUp();
    Open(Options());
    table_ = CreateTable("t", std::vector<std::string>{"f"});
    Set(table_, "row", "f:1", 1, "a");
    Set(table_, "row", "f:2", 1, "b");
    Set(table_, "row", "f:3", 1, "c");
  }
  // Whether the predicate passes a cell of what `before` has passed.
  bool Passes(const Filter& predicate, const Filter& before = Filter()) {
    const absl::StatusOr<Row> row = table_->ReadRow(
        "row", Filter::Chain(before, Filter::Condition(predicate, Filter(), Filter::BlockAll())));
    EXPECT_OK(row.status());
    return row.ok() && !row->empty();
  }

  Table* table_ = nullptr;
};

TEST_F(ConditionTest, AnyCellMayPass) {
  EXPECT_TRUE(Passes(Filter::ValueRegex("a")));
  EXPECT_TRUE(Passes(Filter::ValueRegex("b")));
  EXPECT_FALSE(Passes(Filter::ValueRegex("d")));
}

TEST_F(ConditionTest, NoCellPassesAfterTheLimitOfThePredicate) {
  EXPECT_TRUE(Passes(Filter::Chain(Filter::CellsRowLimit(2), Filter::ValueRegex("b"))));
  EXPECT_FALSE(Passes(Filter::Chain(Filter::CellsRowLimit(1), Filter::ValueRegex("b|c"))));
}

// What comes before a Condition runs for its predicate first, and then again.
TEST_F(ConditionTest, WhatComesBeforeItBeginsAnew) {
  const Filter all = Filter::Interleave(Filter(), Filter::BlockAll());
  const Filter no = Filter::ValueRegex("d");
  const auto read = [&](const Filter& before) {
    const absl::StatusOr<Row> row = table_->ReadRow(
        "row", Filter::Chain(all, before, Filter::Condition(no, Filter::BlockAll(), Filter())));
    EXPECT_OK(row.status());
    return row.ok() ? row->cells().size() : 0;
  };
  EXPECT_EQ(read(Filter::CellsRowLimit(1)), 1u);
  EXPECT_EQ(read(Filter::CellsRowLimit(2)), 2u);
  EXPECT_EQ(read(Filter::CellsRowOffset(1)), 2u);
  EXPECT_EQ(read(Filter::Latest(1)), 3u);
  EXPECT_EQ(read(Filter::Interleave(Filter::CellsRowLimit(1), Filter::CellsRowLimit(2))), 3u);
}

TEST_F(ConditionTest, NoCellPassesAfterALimitBeforeTheCondition) {
  EXPECT_TRUE(Passes(Filter::ValueRegex("b"), Filter::CellsRowLimit(2)));
  EXPECT_FALSE(Passes(Filter::ValueRegex("b|c"), Filter::CellsRowLimit(1)));
  const Filter limit = Filter::Interleave(Filter::CellsRowLimit(1), Filter::BlockAll());
  EXPECT_TRUE(Passes(Filter::ValueRegex("a"), limit));
  EXPECT_FALSE(Passes(Filter::ValueRegex("b|c"), limit));
}

}  // namespace
}  // namespace bigtable
