// Cells with timestamps in the future, under a rule that counts versions.
#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/capturing_sink.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class FutureCellsTest : public DatabaseFixture {
 protected:
  static constexpr int64_t kDay = int64_t{24} * 3600 * 1'000'000;

  // Creates a table whose family has this rule.
  Table* Create(const GcRule& rule) {
    DatabaseOptions options = Options();
    options.log_sink = sink_;
    Open(options);
    TableSchema schema;
    schema.families["f"] = {.gc = rule};
    return CreateTable("t", schema);
  }
  ptrdiff_t Warnings() const {
    const auto messages = sink_->messages();
    return std::count_if(messages.begin(), messages.end(), [](const auto& message) {
      return absl::StrContains(message.text, "dated more than a day ahead");
    });
  }

  const std::shared_ptr<CapturingSink> sink_ = std::make_shared<CapturingSink>();
};

TEST_F(FutureCellsTest, HideLaterWritesAndTheInfoLogWarnsOnce) {
  Table* const table = Create(GcRule::MaxVersions(1));
  Set(table, "r", "f:q", clock_.micros() + 2 * kDay, "future");
  EXPECT_OK(table->Apply(RowMutation("r").Set("f:q", "now")));
  EXPECT_EQ(table->Get("r", "f:q").value(), "future");
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Warnings(), 1);
  Set(table, "r", "f:q", clock_.micros() + 3 * kDay, "later");
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Warnings(), 1);
}

TEST_F(FutureCellsTest, OfTodayOrWithoutMaxVersionsCauseNoWarning) {
  Table* table = Create(GcRule::MaxVersions(1));
  Set(table, "r", "f:q", clock_.micros() + kDay / 2, "today");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->DeleteTable("t"));
  ASSERT_OK(database_->Close());
  database_.reset();
  table = Create(GcRule());
  Set(table, "r", "f:q", clock_.micros() + 2 * kDay, "future");
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Warnings(), 0);
}

// The example of bigtable/timestamp.h.
TEST_F(FutureCellsTest, TheOldestServerTimestampHoldsTheClaim) {
  Table* const table = Create(GcRule());
  const auto claim = [&](std::string_view claimant) {
    EXPECT_OK(table->Apply(RowMutation("job").Set(Cat("f:", claimant), "claims")));
    const absl::StatusOr<Row> row = table->ReadRow("job");
    EXPECT_OK(row);
    const auto first =
        std::min_element(row->cells().begin(), row->cells().end(),
                         [](const Cell& a, const Cell& b) { return a.timestamp < b.timestamp; });
    return first->qualifier == claimant;
  };
  EXPECT_TRUE(claim("b"));
  EXPECT_FALSE(claim("a"));
  clock_.Set(1);  // the clock jumps back
  EXPECT_FALSE(claim("0"));
}

}  // namespace
}  // namespace bigtable
