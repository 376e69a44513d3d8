// A table with three families in two locality groups, and helpers that write and read it.
#ifndef BIGTABLE_TESTS_CLIENT_READ_FIXTURE_H_
#define BIGTABLE_TESTS_CLIENT_READ_FIXTURE_H_

#include <string>
#include <vector>

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"

namespace bigtable {

class ReadFixture : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    TableSchema schema;
    schema.locality_groups["other"] = {.compression = Compression::kZstd};
    schema.families["anchor"] = {};
    schema.families["contents"] = {.locality_group = "other"};
    schema.families["meta"] = {};
    table_ = CreateTable("t", schema);
  }
  void WritePage() {
    Set(table_, "com.cnn.www", "meta:lang", 2, "EN");
    Set(table_, "com.cnn.www", "contents:", 3, "c3");
    Set(table_, "com.cnn.www", "contents:", 6, "c6");
    Set(table_, "com.cnn.www", "contents:", 5, "c5");
    Set(table_, "com.cnn.www", "anchor:my.look.ca", 8, "CNN.com");
    Set(table_, "com.cnn.www", "anchor:cnnsi.com", 9, "CNN");
  }
  void WriteRows(const std::vector<std::string>& rows) {
    for (const std::string& row : rows) Set(table_, row, "meta:q", 1, "v");
  }
  std::string Read(const Filter& filter) { return Show(table_->ReadRow("com.cnn.www", filter)); }
  std::string Keys(const RowSet& rows, const ReadOptions& options = {}) {
    return ShowKeys(table_->ReadRows(rows, options));
  }

  Table* table_ = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_READ_FIXTURE_H_
