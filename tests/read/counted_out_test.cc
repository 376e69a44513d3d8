// Cells that a rule by count and age has counted out, and keeps because they are young.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class CountedOutTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseFixture::SetUp();
    clock_.Set(int64_t{1} << 40);
    Open(Options());
    TableSchema schema;
    schema.families["f"] = {
        .gc = GcRule::Intersection(GcRule::MaxVersions(1), GcRule::MaxAge(absl::Seconds(100)))};
    table_ = CreateTable("t", schema);
  }
  Timestamp Ago(int seconds) { return Timestamp::FromTime(clock_.Now() - absl::Seconds(seconds)); }
  void SetAgo(int seconds) {
    ASSERT_OK(table_->Apply(
        RowMutation("row").Set("f:q", Ago(seconds), absl::StrCat(seconds, " s ago"))));
  }
  void DeleteAgo(int seconds) {
    ASSERT_OK(table_->Apply(RowMutation("row").DeleteCell("f:q", Ago(seconds))));
  }
  std::string Read() {
    std::string values;
    const absl::StatusOr<Row> row = table_->ReadRow("row");
    EXPECT_OK(row.status());
    if (!row.ok()) return values;
    for (const Cell& cell : row->cells()) absl::StrAppend(&values, std::string(cell.value), ", ");
    return values;
  }

  Table* table_ = nullptr;
};

// The cell of 10 s ago was counted out by that of 5 s ago, which was deleted. So the old cell,
// which was written after that, has no newer one that counts.
TEST_F(CountedOutTest, DoNotCountForOlderCells) {
  SetAgo(10);
  SetAgo(5);
  DeleteAgo(5);
  SetAgo(200);
  EXPECT_EQ(Read(), "10 s ago, 200 s ago, ");
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Read(), "10 s ago, 200 s ago, ");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Read(), "10 s ago, 200 s ago, ");
  SetAgo(1);
  EXPECT_EQ(Read(), "1 s ago, 10 s ago, ");
}

}  // namespace
}  // namespace bigtable
