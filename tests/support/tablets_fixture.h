// A test with tables of several tablets and numbered rows, whose values are a common prefix and the
// number of the row.
#ifndef BIGTABLE_TESTS_SUPPORT_TABLETS_FIXTURE_H_
#define BIGTABLE_TESTS_SUPPORT_TABLETS_FIXTURE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/database_fixture.h"

namespace bigtable {

class TabletsFixture : public DatabaseFixture {
 protected:
  static std::string RowOf(int i) { return absl::StrFormat("row%05d", i); }
  DatabaseOptions WithServers(int servers) {
    DatabaseOptions options = Options();
    options.tablet_servers = servers;
    return options;
  }
  // For a table with the family "f" that is split and merged only on request.
  static TableSchema StillSchema() {
    TableSchema schema;
    schema.families["f"] = {};
    schema.split.tablet_size = 0;
    return schema;
  }
  Table* CreateStillTable() { return CreateTable("t", StillSchema()); }
  // The tablets begin at the rows 0, `each`, 2 * `each`, ...
  Table* CreateSplitTable(std::string_view name, int tablets, int each) {
    CreateTableOptions options;
    for (int i = 1; i < tablets; ++i) options.split_rows.push_back(RowOf(i * each));
    EXPECT_OK(database_->CreateTable(name, StillSchema(), options));
    return OpenTable(name);
  }
  // The value of row i is `value` followed by i.
  static void Fill(Table* table, int begin, int end, std::string_view value = "v") {
    for (int i = begin; i < end; ++i) Set(table, RowOf(i), "f:q", 1, Cat(value, i));
  }
  // Expects exactly these rows, from a stream and from single reads.
  static void ExpectFilled(Table* table, int begin, int end, std::string_view value = "v") {
    int i = begin;
    RowReader reader = table->ReadRows(RowRange::All());
    for (const Row& row : reader) {
      ASSERT_EQ(row.key(), RowOf(i));
      ASSERT_EQ(Show(row), Cat("f:q@1=", value, i));
      ASSERT_EQ(Show(table->ReadRow(row.key())), Show(row));
      ++i;
    }
    ASSERT_OK(reader.status());
    ASSERT_EQ(i, end);
  }

  std::vector<TabletInfo> Tablets(std::string_view table) {
    absl::StatusOr<std::vector<TabletInfo>> tablets = database_->ListTablets(table);
    EXPECT_OK(tablets);
    return tablets.ok() ? *std::move(tablets) : std::vector<TabletInfo>();
  }
  // "[,b) [b,)"
  std::string ShowRanges(std::string_view table) {
    std::string text;
    for (const TabletInfo& tablet : Tablets(table)) {
      absl::StrAppend(&text, text.empty() ? "" : " ", RangeOf(tablet));
    }
    return text;
  }
  // "[,b)@0 [b,)@1": with the servers.
  std::string ShowTablets(std::string_view table) {
    std::string text;
    for (const TabletInfo& tablet : Tablets(table)) {
      absl::StrAppend(&text, text.empty() ? "" : " ", RangeOf(tablet), "@", tablet.server);
    }
    return text;
  }

 private:
  static std::string RangeOf(const TabletInfo& tablet) {
    return Cat("[", tablet.rows.begin(), ",", tablet.rows.end().value_or(""), ")");
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_TABLETS_FIXTURE_H_
