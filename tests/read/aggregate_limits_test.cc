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

}  // namespace
}  // namespace bigtable
