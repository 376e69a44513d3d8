// How much the rules of a ReadModifyWrite read.
#include "rows/row_rules.h"

#include <string>

#include "gtest/gtest.h"

#include "support/database_fixture.h"

namespace bigtable {
namespace {

class RowRulesTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    table_ = CreateTable("t", {"f"});
    for (int i = 0; i < 5; ++i) Set(table_, "row", Cat("f:", i), 1, std::string(100, 'v'));
  }
  absl::Status Apply(RowRules* rules) {
    reads_ = 0;
    return rules->Apply(1, [&](const Filter& filter) {
      ++reads_;
      return table_->ReadRow("row", filter);
    });
  }

  Table* table_ = nullptr;
  int reads_ = 0;
};

TEST_F(RowRulesTest, ReadNoMoreThanOneMutationCanHave) {
  ReadModifyWrite append("row");
  for (int i = 0; i < 5; ++i) append.Append(Cat("f:", i), "v");
  RowRules exact(&append, 505);
  EXPECT_OK(Apply(&exact));
  EXPECT_EQ(reads_, 5);
  RowRules large(&append, 250);
  EXPECT_STATUS(kInvalidArgument,
                "must be at most 250 bytes together, and those of row \"row\" would have more",
                Apply(&large));
  EXPECT_EQ(reads_, 3);
}

TEST_F(RowRulesTest, CountTheNumbersThatTheyAdd) {
  ReadModifyWrite increment("other");
  for (int i = 0; i < 5; ++i) increment.Increment(Cat("f:n", i), 1).Increment(Cat("f:n", i), 1);
  RowRules exact(&increment, 40);
  EXPECT_OK(Apply(&exact));
  RowRules large(&increment, 39);
  EXPECT_STATUS(kInvalidArgument, "at most 39 bytes", Apply(&large));
}

}  // namespace
}  // namespace bigtable
