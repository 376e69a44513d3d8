// Reads of files of which a block is damaged.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// Ten rows, "row0" to "row9", each in a block of its own. That of "row5" is damaged.
class DamagedBlockTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseFixture::SetUp();
    Open(Options());
    TableSchema schema;
    schema.locality_groups["default"].block_size = 1024;
    schema.families["f"] = {};
    table_ = CreateTable("t", schema);
    for (int i = 0; i < 10; ++i) {
      Set(table_, absl::StrCat("row", i), "f:q", 1, std::string(3000, static_cast<char>('a' + i)));
    }
    ASSERT_OK(database_->Flush("t"));
    database_.reset();
    Damage(std::string(100, 'f'));
    Open(Options());
    table_ = OpenTable("t");
  }
  // Flips a bit where this is in an SSTable.
  void Damage(std::string_view value) {
    for (const std::string& path : file_system_->AllFiles()) {
      std::string bytes = file_system_->Contents(path);
      const size_t at = bytes.find(value);
      if (!path.ends_with(".sst") || at == std::string::npos) continue;
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
      file_system_->SetContents(path, bytes);
    }
  }
  // The rows that a read returns, and whether it ends with an error.
  std::string Read(const RowRange& range, const ReadOptions& options) {
    std::string keys;
    RowReader rows = table_->ReadRows(range, Filter(), options);
    while (rows.Next()) keys += rows.row().key().back();
    if (rows.status().ok()) return keys;
    EXPECT_STATUS(kDataLoss, "", rows.status());
    return keys + "!";
  }

  Table* table_ = nullptr;
};

TEST_F(DamagedBlockTest, AForwardReadReturnsTheRowsBeforeIt) {
  EXPECT_EQ(Read(RowRange::All(), {}), "01234!");
  EXPECT_EQ(Read(RowRange::StartingAt("row6"), {}), "6789");
}

TEST_F(DamagedBlockTest, AReverseReadReturnsTheRowsBehindIt) {
  EXPECT_EQ(Read(RowRange::All(), {.reverse = true}), "9876!");
}

}  // namespace
}  // namespace bigtable
