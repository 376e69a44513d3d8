// Columns with very many versions, one of which was deleted. A read must go through all of them to
// apply the rule.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class LongHistoryTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    TableSchema schema;
    schema.families["f"].gc = GcRule::MaxVersions(kVersions / 4);
    table_ = CreateTable("t", schema);
    for (int64_t i = 0; i < kVersions;) {
      RowMutation mutation("r");
      for (int j = 0; j < 1000; ++j) mutation.Set("f:q", Timestamp(++i), "");
      ASSERT_OK(table_->Apply(mutation));
    }
    ASSERT_OK(table_->Apply(RowMutation("r").DeleteCell("f:q", Timestamp(kVersions))));
  }

  static constexpr int64_t kVersions = 400000;
  Table* table_ = nullptr;
};

TEST_F(LongHistoryTest, AReadObservesItsDeadline) {
  ReadOptions late;
  late.deadline = absl::Now() + absl::Milliseconds(2);
  EXPECT_STATUS(kDeadlineExceeded, "", table_->ReadRow("r", Filter::Latest(1), late).status());
}

// The test is that this ends: quadratic time would be hours.
TEST_F(LongHistoryTest, IsReadAndCompacted) {
  const std::string newest = absl::StrCat("f:q@", kVersions - 1, "=");
  EXPECT_EQ(Show(table_->ReadRow("r", Filter::Latest(1))), newest);
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Show(table_->ReadRow("r", Filter::Latest(1))), newest);
  // The deleted version counts, as a ghost.
  EXPECT_EQ(database_->Statistics().tables["t"]["default"].entries,
            static_cast<uint64_t>(kVersions / 4));
}

}  // namespace
}  // namespace bigtable
