// Reads that pass many empty rows, and meet rows on the way that an earlier read has found empty.
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/scoped_empty_rows.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class WalkTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseFixture::SetUp();
    Open(Options());
    table_ = CreateTable("t", std::vector<std::string>{"f"});
  }
  static std::string RowOf(int i) { return absl::StrFormat("row%02d", i); }
  void Push(int begin, int end) {
    for (int i = begin; i < end; ++i) Set(table_, RowOf(i), "f:q", 1, "v");
  }
  void Delete(int begin, int end) {
    for (int i = begin; i < end; ++i) EXPECT_OK(table_->Apply(RowMutation(RowOf(i)).DeleteRow()));
  }
  // The rows of a read from this row on.
  std::vector<std::string> ReadFrom(int begin) {
    std::vector<std::string> found;
    RowReader rows = table_->ReadRows(RowRange::StartingAt(RowOf(begin)));
    while (rows.Next()) found.emplace_back(rows.row().key());
    EXPECT_OK(rows.status());
    return found;
  }

  const ScopedShortcutsOn shortcuts_;
  const ScopedEmptyRows thresholds_{4};
  Table* table_ = nullptr;
};

TEST_F(WalkTest, ARowBehindKnownEmptyRowsIsFound) {
  Push(0, 30);
  Delete(2, 29);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ReadFrom(10), std::vector<std::string>{"row29"});
    EXPECT_EQ(ReadFrom(2), std::vector<std::string>{"row29"});
  }
}

TEST_F(WalkTest, AReadEndsWhereTheKnownEmptyRowsHaveNoEnd) {
  Push(0, 30);
  Delete(2, 30);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ReadFrom(10), std::vector<std::string>());
    EXPECT_EQ(ReadFrom(2), std::vector<std::string>());
  }
}

}  // namespace
}  // namespace bigtable
