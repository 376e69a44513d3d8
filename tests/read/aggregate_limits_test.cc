// A read that has a deadline merges all contributions to a cell.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/coding.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class AggregateLimitsTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseFixture::SetUp();
    Open(Options());
    TableSchema schema;
    schema.families["f"] = {.value_type = ValueType::kInt64Sum};
    table_ = CreateTable("t", schema);
  }
  static std::string Number(uint64_t number) {
    std::string bytes(8, '\0');
    StoreBigEndian64(bytes.data(), number);
    return bytes;
  }
  void Add(uint64_t number) {
    ASSERT_OK(table_->Apply(RowMutation("row").AddToCell("f:q", Timestamp(1), Number(number))));
  }
  void ExpectSum(uint64_t sum) {
    Cancellation cancellation;
    for (const ReadOptions& options :
         {ReadOptions(), ReadOptions{.deadline = absl::Now() + absl::Hours(1)},
          ReadOptions{.cancellation = &cancellation}}) {
      ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("row", Filter(), options));
      ASSERT_EQ(row.cells().size(), 1u);
      EXPECT_EQ(row.cells()[0].value, Number(sum));
    }
  }

  Table* table_ = nullptr;
};

TEST_F(AggregateLimitsTest, AllContributionsAreMerged) {
  Add(1);
  ExpectSum(1);
  Add(20);
  Add(300);
  ExpectSum(321);
  ASSERT_OK(database_->Flush("t"));
  Add(4000);
  Add(50000);
  ExpectSum(54321);
}

// Whether the aggregate passes or not, what follows it is read once.
TEST_F(AggregateLimitsTest, OtherCellsFollowAnAggregateInItsRow) {
  TableSchema schema;
  schema.families["a"] = {.value_type = ValueType::kInt64Sum};
  schema.families["b"] = {};
  Table* const table = CreateTable("u", schema);
  for (const char* row : {"one", "two"}) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_OK(table->Apply(RowMutation(row).AddToCell("a:q", Timestamp(1), Number(5))));
    }
    ASSERT_OK(
        table->Apply(RowMutation(row).Set("b:q", Timestamp(2), "v").Set("b:r", Timestamp(3), "w")));
  }
  const auto read = [&](const Filter& filter) {
    std::string text;
    RowReader reader = table->ReadRows(RowRange::All(), filter);
    for (const Row& row : reader) {
      text += Cat(row.key(), ":");
      for (const Cell& cell : row.cells()) text += Cat(" ", cell.family, cell.qualifier);
      text += " ";
    }
    EXPECT_OK(reader.status());
    return text;
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(read(Filter()), "one: aq bq br two: aq bq br ");
    EXPECT_EQ(read(Filter::ValueRange("v", "x")), "one: bq br two: bq br ");
    EXPECT_EQ(read(Filter::CellsRowOffset(1)), "one: bq br two: bq br ");
    EXPECT_EQ(read(Filter::CellsRowLimit(2)), "one: aq bq two: aq bq ");
    EXPECT_EQ(read(Filter::ValueRange("w", "x")), "one: br two: br ");
    ASSERT_OK(database_->Flush("u"));
  }
}

}  // namespace
}  // namespace bigtable
