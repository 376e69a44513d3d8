// ModifyColumnFamilies.
#include <string>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "server/admin_fixture.h"

namespace bigtable::server {
namespace {

class ColumnFamiliesTest : public AdminFixture {
 protected:
  void SetUp() override {
    AdminFixture::SetUp();
    Call(&TableStub::CreateTable,
         "parent: 'projects/q/instances/other' table_id: 't'"
         " table { column_families { key: 'f' } column_families { key: 'g' } }");
  }
  // Without the part that is the same in all errors of a missing family.
  std::string ModifyError(const std::string& modifications) {
    return Error(&TableStub::ModifyColumnFamilies,
                 "name: 'projects/q/instances/other/tables/t' " + modifications);
  }
  TableSchema Schema() { return database_->GetSchema("q..other..t").value(); }
  std::string Names() {
    std::string names;
    for (const auto& [name, family] : Schema().families) names += name + " ";
    return names;
  }
};

TEST_F(ColumnFamiliesTest, ModificationsAreMadeInOrderAndTheTableIsReturned) {
  Table* const table = database_->OpenTable("q..other..t").value();
  ASSERT_TRUE(table->Apply(RowMutation("r").Set("f:", "old")).ok());

  const std::string modified =
      Text(&TableStub::ModifyColumnFamilies,
           "name: 'projects/q/instances/other/tables/t'"
           " modifications { id: 'f' drop: true }"
           " modifications { id: 'f' create { gc_rule { max_num_versions: 3 } } }"
           " modifications { id: 'f' update { gc_rule { max_num_versions: 2 } } }"
           " modifications { id: 'h' create {} } modifications { id: 'g' drop: true }");

  EXPECT_EQ(modified, Text(&TableStub::GetTable, "name: 'projects/q/instances/other/tables/t'"));
  EXPECT_EQ(Names(), "f h ");
  EXPECT_EQ(Schema().families.at("f").gc, GcRule::MaxVersions(2));
  EXPECT_TRUE(table->ReadRow("r")->cells().empty());
}

TEST_F(ColumnFamiliesTest, AnErrorInTheLastModificationChangesNothing) {
  const std::string first =
      "modifications { id: 'f' drop: true } modifications { id: 'h' create {} } modifications { ";
  EXPECT_EQ(ModifyError(first + "id: 'h' create {} }"),
            "ALREADY_EXISTS: table projects/q/instances/other/tables/t has a column family \"h\" "
            "already");
  EXPECT_EQ(ModifyError(first + "id: 'f' update {} }"),
            "NOT_FOUND: table projects/q/instances/other/tables/t has no column family \"f\"");
  EXPECT_EQ(ModifyError(first + "id: 'f' drop: true }"),
            "NOT_FOUND: table projects/q/instances/other/tables/t has no column family \"f\"");
  EXPECT_EQ(ModifyError(first + "id: 'g' drop: false }"),
            "INVALID_ARGUMENT: drop of family \"g\" must be true");
  EXPECT_EQ(
      ModifyError(first + "id: 'g' }"),
      "INVALID_ARGUMENT: the modification of family \"g\" must have one of create, update and "
      "drop");
  EXPECT_TRUE(ModifyError(first + "id: 'a:b' create {} }").starts_with("INVALID_ARGUMENT: "));
  EXPECT_EQ(ModifyError(""),
            "INVALID_ARGUMENT: ModifyColumnFamilies must have at least one modification");
  std::string again;
  for (int i = 0; i <= 500; ++i) {
    again += " modifications { id: 'x' create {} } modifications { id: 'x' drop: true }";
  }
  EXPECT_EQ(ModifyError(again),
            "INVALID_ARGUMENT: ModifyColumnFamilies must have at most 1000 modifications, and has "
            "1002");
  std::string many;
  for (int i = 0; i < 99; ++i) {
    many += " modifications { id: 'f" + std::to_string(i) + "' create {} }";
  }
  EXPECT_EQ(ModifyError(many),
            "INVALID_ARGUMENT: a table must have at most 100 column families, and "
            "projects/q/instances/other/tables/t would have 101");
  EXPECT_EQ(Names(), "f g ");
}

TEST_F(ColumnFamiliesTest, AMissingTableIsNotFoundByItsFullName) {
  EXPECT_EQ(Error(&TableStub::ModifyColumnFamilies,
                  "name: 'projects/q/instances/other/tables/x' modifications {}"),
            "NOT_FOUND: Table not found: projects/q/instances/other/tables/x");
}

TEST_F(ColumnFamiliesTest, AnUpdateChangesWhatItsMaskNames) {
  ASSERT_EQ(ModifyError("modifications { id: 'f' update { gc_rule { max_num_versions: 2 } } }"),
            "OK");
  const std::string sum =
      "value_type { aggregate_type { input_type { int64_type { encoding { big_endian_bytes {} } } }"
      " sum {} } }";
  EXPECT_EQ(ModifyError("modifications { id: 'f' update { " + sum +
                        " } update_mask {"
                        " paths: 'gc_rule' } }"),
            "OK")
      << "the type is not named";
  EXPECT_EQ(Schema().families.at("f").gc, GcRule());
  EXPECT_TRUE(ModifyError("modifications { id: 'f' update { " + sum +
                          " } update_mask { paths: 'value_type' } }")
                  .starts_with("INVALID_ARGUMENT: family \"f\" holds bytes"));
  EXPECT_EQ(ModifyError("modifications { id: 'f' update {} update_mask { paths: 'name' } }"),
            "INVALID_ARGUMENT: update_mask names \"name\", and must name fields of these: gc_rule, "
            "value_type");
}

TEST_F(ColumnFamiliesTest, ARuleComesBackAsItWasGiven) {
  const std::string table = "projects/q/instances/other/tables/t";
  const std::string nested =
      "union { rules { max_age { seconds: 86400 } } rules { intersection {"
      " rules { max_age { seconds: 3600 nanos: 1000 } } rules { max_num_versions: 2 } } }"
      " rules { max_num_versions: 9 } rules { max_num_versions: 12 } }";
  const auto rule = [&](const std::string& family) {
    const admin::Table found =
        Call(&TableStub::GetTable, "name: 'projects/q/instances/other/tables/t'");
    return Show(found.column_families().at(family).gc_rule());
  };
  const auto modify = [&](const std::string& modification) {
    EXPECT_EQ(ModifyError("modifications { " + modification + " }"), "OK");
  };
  modify("id: 'h' create { gc_rule { " + nested + " } }");
  modify("id: 'f' update { gc_rule { intersection { rules { " + nested + " } } } }");
  EXPECT_EQ(rule("h"), nested);
  EXPECT_EQ(rule("f"), "intersection { rules { " + nested + " } }");
  LosePower();
  EXPECT_EQ(rule("h"), nested);

  // What a program changes that embeds the engine is in the engine's form.
  ASSERT_TRUE(database_
                  ->ModifyFamilies("q..other..t",
                                   {FamilyChange::Update("h", {.gc = GcRule::MaxVersions(4)})})
                  .ok());
  EXPECT_EQ(rule("h"), "max_num_versions: 4");

  // What the engine refuses, and what is dropped, leaves nothing behind.
  const std::string simple = "gc_rule { max_num_versions: 5 }";
  EXPECT_NE(ModifyError("modifications { id: 'f' update { " + simple +
                        " value_type { bytes_type { encoding { raw {} } } } }"
                        " update_mask { paths: 'gc_rule' paths: 'value_type' } }"
                        " modifications { id: 'f' update { value_type { aggregate_type {"
                        " input_type { int64_type { encoding { big_endian_bytes {} } } } sum {} }"
                        " } } update_mask { paths: 'value_type' } }"),
            "OK");
  EXPECT_EQ(rule("f"), "intersection { rules { " + nested + " } }");
  modify("id: 'f' drop: true } modifications { id: 'f' create { gc_rule { max_num_versions: 1 } }");
  EXPECT_EQ(rule("f"), "max_num_versions: 1");
  Call(&TableStub::DeleteTable, "name: '" + table + "'");
  EXPECT_EQ(catalogue_->Find<admin::Table>(table)->has_value(), false);
  Call(&TableStub::CreateTable,
       "parent: 'projects/q/instances/other' table_id: 't'"
       " table { column_families { key: 'h' value { gc_rule { " +
           nested + " } } } }");
  EXPECT_EQ(rule("h"), nested);
}

TEST_F(ColumnFamiliesTest, AFamilyOfAProtectedTableIsNotDropped) {
  Call(&TableStub::UpdateTable,
       "table { name: 'projects/q/instances/other/tables/t' deletion_protection: true }"
       " update_mask { paths: 'deletion_protection' }");

  EXPECT_EQ(ModifyError("modifications { id: 'h' create {} } modifications { id: 'f' drop: true }"),
            "FAILED_PRECONDITION: table projects/q/instances/other/tables/t is protected from "
            "deletion (deletion_protection), so its column family \"f\" cannot be dropped; "
            "UpdateTable can end the protection");
  EXPECT_EQ(Names(), "f g ");
  EXPECT_EQ(ModifyError("modifications { id: 'h' create {} }"), "OK");
  EXPECT_EQ(Names(), "f g h ");
}

}  // namespace
}  // namespace bigtable::server
