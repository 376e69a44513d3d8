// A table with two families in two locality groups.
#ifndef BIGTABLE_TESTS_CLIENT_WRITE_FIXTURE_H_
#define BIGTABLE_TESTS_CLIENT_WRITE_FIXTURE_H_

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"

namespace bigtable {

class WriteFixture : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["f"] = {};
    schema.families["g"] = {.locality_group = "other"};
    table_ = CreateTable("t", schema);
  }
  void ReopenTable() {
    Reopen();
    table_ = OpenTable("t");
  }

  Table* table_ = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_WRITE_FIXTURE_H_
