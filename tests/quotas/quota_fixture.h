// A database with two tables, of families with owners, for tests of quotas.
#ifndef BIGTABLE_TESTS_CLIENT_QUOTA_FIXTURE_H_
#define BIGTABLE_TESTS_CLIENT_QUOTA_FIXTURE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/manual_clock.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"

namespace bigtable {

#define EXPECT_EXHAUSTED(part, expression) EXPECT_STATUS(kResourceExhausted, part, expression)

// Tables "t", of two tablets on two servers, and "u". Quotas of rates are by `time_`.
class QuotaFixture : public DatabaseFixture {
 protected:
  void SetUp() override {
    OpenHere();
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["f"] = {};
    schema.families["a"] = {.owner = "ann"};
    schema.families["b"] = {.locality_group = "other", .owner = "bob"};
    schema.families["n"] = {.value_type = ValueType::kInt64Sum, .owner = "ann"};
    schema.split.tablet_size = 0;
    ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"m"}}));
    ASSERT_OK(database_->CreateTable("u", schema));
  }
  void TearDown() override { database_.reset(); }

  void OpenHere() {
    DatabaseOptions options = Options();
    options.tablet_servers = 2;
    Open(options);
    DatabasePeer(database_.get()).SetQuotaClock(&time_);
  }

  Table* As(std::string_view caller, std::string_view table = "t") {
    const auto opened = database_->OpenTable(table, {.caller = std::string(caller)});
    EXPECT_OK(opened);
    return *opened;
  }
  Table* T() { return OpenTable("t"); }
  static RowMutation Cell(std::string_view row, std::string_view column, size_t size = 1) {
    return RowMutation(row).Set(column, Timestamp(1), std::string(size, 'v'));
  }
  absl::Status Put(Table* table, std::string_view row, std::string_view column, size_t size = 1) {
    return table->Apply(Cell(row, column, size));
  }
  // Without a quota in the way.
  std::string All(const std::string& table = "t") {
    const Quota quota = database_->GetTableQuota(table).value();
    EXPECT_OK(database_->SetTableQuota(table, {}));
    std::string keys = ShowKeys(OpenTable(table)->ReadRows(RowRange::All()));
    EXPECT_OK(database_->SetTableQuota(table, quota));
    return keys;
  }

  ManualClock time_{absl::FromUnixSeconds(1000)};
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_QUOTA_FIXTURE_H_
