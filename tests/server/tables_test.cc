// CreateTable, ListTables, GetTable, UpdateTable, DeleteTable and DropRowRange.
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "server/admin_fixture.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

constexpr const char* kCreateT =
    "parent: 'projects/p/instances/default' table_id: 't' table { column_families { key: 'f' } }";
constexpr const char* kCreateProtectedT =
    "parent: 'projects/p/instances/default' table_id: 't'"
    " table { column_families { key: 'f' } deletion_protection: true }";
constexpr const char* kNameT = "name: 'projects/p/instances/default/tables/t'";
constexpr const char* kNoTableT =
    "NOT_FOUND: Table not found: projects/p/instances/default/tables/t";

class TablesTest : public AdminFixture {
 protected:
  std::string CreateError(const std::string& request) {
    return Error(&TableStub::CreateTable, request);
  }
  std::string Protect(bool value) {
    return Error(&TableStub::UpdateTable,
                 std::string("table { name: 'projects/p/instances/default/tables/t' "
                             "deletion_protection: ") +
                     (value ? "true" : "false") +
                     " } update_mask { paths: 'deletion_protection' }");
  }
  // The rows "a", "ab" and "b" of the table t.
  Table* Fill() {
    Table* const table = database_->OpenTable("t").value();
    for (const char* row : {"a", "ab", "b"}) {
      EXPECT_TRUE(table->Apply(RowMutation(row).Set("f:", "v")).ok());
    }
    return table;
  }
  static std::string Keys(Table* table) {
    std::string keys;
    RowReader reader = table->ReadRows(RowRange::All());
    for (const Row& row : reader) keys += std::string(row.key()) + " ";
    EXPECT_TRUE(reader.status().ok());
    return keys;
  }
};

TEST_F(TablesTest, ATableIsCreatedWithItsFamiliesRulesAndTablets) {
  const std::string created =
      Text(&TableStub::CreateTable,
           "parent: 'projects/p/instances/default' table_id: 't'"
           " table { column_families { key: 'f' value { gc_rule { max_num_versions: 2 } } }"
           "         column_families { key: 's' value { value_type { aggregate_type {"
           "           input_type { int64_type { encoding { big_endian_bytes {} } } }"
           "           sum {} } } } } }"
           " initial_splits { key: 'm' } initial_splits { key: 'c' }");
  EXPECT_EQ(created, Text(&TableStub::GetTable, kNameT));

  const TableSchema schema = database_->GetSchema("t").value();
  EXPECT_EQ(schema.families.at("f").gc, GcRule::MaxVersions(2));
  EXPECT_EQ(schema.families.at("s").value_type, ValueType::kInt64Sum);
  const auto tablets = database_->ListTablets("t").value();
  ASSERT_EQ(tablets.size(), 3u);
}

TEST_F(TablesTest, ATableOfAnotherInstanceHasANameOfItsOwnInTheEngine) {
  Call(&TableStub::CreateTable, kCreateT);
  Call(&TableStub::CreateTable, "parent: 'projects/q/instances/other' table_id: 't'");

  EXPECT_TRUE(database_->GetSchema("q..other..t").ok());
  EXPECT_EQ(Text(&TableStub::ListTables, "parent: 'projects/q/instances/other'"),
            "tables { name: \"projects/q/instances/other/tables/t\" }");
  EXPECT_EQ(Text(&TableStub::ListTables, "parent: 'projects/p/instances/default'"),
            "tables { name: \"projects/p/instances/default/tables/t\" }");
  EXPECT_EQ(Text(&TableStub::ListTables, "parent: 'projects/q/instances/none'"), "");
}

TEST_F(TablesTest, ATableThatExistsIsNotCreatedAgainAndKeepsItsProtection) {
  Call(&TableStub::CreateTable, kCreateT);
  ASSERT_EQ(Protect(true), "OK");

  EXPECT_EQ(CreateError(kCreateT),
            "ALREADY_EXISTS: Table already exists: projects/p/instances/default/tables/t");

  EXPECT_TRUE(Call(&TableStub::GetTable, kNameT).deletion_protection());
}

// A program that embeds the database has deleted the first one.
TEST_F(TablesTest, ANewTableDoesNotHaveTheProtectionOfAnEarlierOne) {
  Call(&TableStub::CreateTable, kCreateProtectedT);
  ASSERT_TRUE(database_->DeleteTable("t").ok());

  EXPECT_FALSE(Call(&TableStub::CreateTable, kCreateT).deletion_protection());
  EXPECT_EQ(Error(&TableStub::DeleteTable, kNameT), "OK");
}

// Half of the callers want it protected: it is what the one that creates it has asked for.
TEST_F(TablesTest, ConcurrentCallsCreateATableOnce) {
  constexpr int kTables = 20;
  constexpr const char* kParent = "projects/p/instances/default";
  std::atomic<int> created{0};
  std::vector<std::atomic<bool>> is_protected(kTables);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int table = 0; table < kTables; ++table) {
        const std::string error =
            CreateError(Cat("parent: '", kParent, "' table_id: 't", table, "' ",
                            i % 2 == 0 ? "table { deletion_protection: true }" : ""));
        EXPECT_TRUE(error == "OK" || error.starts_with("ALREADY_EXISTS: ")) << error;
        if (error != "OK") continue;
        ++created;
        is_protected[table] = i % 2 == 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(created, kTables);
  for (int table = 0; table < kTables; ++table) {
    const std::string name = Cat("name: '", kParent, "/tables/t", table, "'");
    EXPECT_EQ(Call(&TableStub::GetTable, name).deletion_protection(), is_protected[table]) << table;
  }
}

TEST_F(TablesTest, BadRequestsCreateNothing) {
  const std::string parent = "parent: 'projects/p/instances/default' ";
  EXPECT_EQ(CreateError("parent: 'projects/p' table_id: 't'"),
            "INVALID_ARGUMENT: the name of an instance must be of the form "
            "projects/{project}/instances/{instance}, and is \"projects/p\"");
  EXPECT_TRUE(CreateError(parent + "table_id: 'a..b'").starts_with("INVALID_ARGUMENT: the id of"));
  EXPECT_TRUE(CreateError(parent + "table_id: 't' initial_splits {}")
                  .starts_with("INVALID_ARGUMENT: a split row must not be empty"));
  EXPECT_TRUE(CreateError(parent + "table_id: 't' initial_splits { key: 'm' } "
                                   "initial_splits { key: 'm' }")
                  .starts_with("INVALID_ARGUMENT: the split row \"m\" is given twice"));
  EXPECT_EQ(CreateError(parent + "table_id: 't' table { granularity: 7 }"),
            "INVALID_ARGUMENT: the granularity of a table must be MILLIS (1), and is 7");
  EXPECT_EQ(CreateError(parent + "table_id: 't' table { change_stream_config {} }"),
            "INVALID_ARGUMENT: change_stream_config must have a retention_period of more than "
            "nothing");
  EXPECT_EQ(CreateError(parent + "table_id: 't' table { row_key_schema {} }"),
            "UNIMPLEMENTED: this server has no schemas of row keys (row_key_schema)");
  EXPECT_EQ(CreateError(parent + "table_id: 't' table { automated_backup_policy {} }"),
            "UNIMPLEMENTED: this server has no automated backups (automated_backup_policy)");
  std::string many = parent + "table_id: 't' table {";
  for (int i = 0; i <= 100; ++i) many += " column_families { key: 'f" + std::to_string(i) + "' }";
  EXPECT_EQ(CreateError(many + " }"),
            "INVALID_ARGUMENT: a table must have at most 100 column families, and has 101");

  EXPECT_EQ(Text(&TableStub::ListTables, parent), "");
}

TEST_F(TablesTest, AViewHasItsFields) {
  Call(&TableStub::CreateTable, kCreateT);
  const auto view = [&](const std::string& name) {
    return Text(&TableStub::GetTable, std::string(kNameT) + " view: " + name);
  };
  const std::string name = "name: \"projects/p/instances/default/tables/t\"";
  const std::string clusters =
      " cluster_states { key: \"default-c1\" value { replication_state: READY } }";
  const std::string schema =
      " column_families { key: \"f\" value { gc_rule { } } } granularity: MILLIS";
  EXPECT_EQ(view("NAME_ONLY"), name);
  EXPECT_EQ(view("SCHEMA_VIEW"), name + schema);
  EXPECT_EQ(view("VIEW_UNSPECIFIED"), name + schema);
  EXPECT_EQ(view("REPLICATION_VIEW"), name + clusters);
  EXPECT_EQ(view("ENCRYPTION_VIEW"), name + clusters);
  EXPECT_EQ(view("FULL"), name + clusters + schema);
  EXPECT_EQ(Error(&TableStub::GetTable, std::string(kNameT) + " view: 77"),
            "INVALID_ARGUMENT: view must be one of Table.View, and is 77");
  EXPECT_EQ(Text(&TableStub::ListTables, "parent: 'projects/p/instances/default' view: FULL"),
            "tables { " + name + clusters + schema + " }");
}

TEST_F(TablesTest, AreListedInPagesThatContinueAfterChanges) {
  for (const char* id : {"a", "b", "c", "d"}) {
    Call(&TableStub::CreateTable,
         "parent: 'projects/p/instances/default' table_id: '" + std::string(id) + "'");
  }
  const std::string parent = "parent: 'projects/p/instances/default' page_size: 2 page_token: ";
  const auto first = Call(&TableStub::ListTables, parent + "''");
  ASSERT_EQ(first.tables_size(), 2);
  Call(&TableStub::DeleteTable, "name: 'projects/p/instances/default/tables/b'");

  const auto second = Call(&TableStub::ListTables, parent + "'" + first.next_page_token() + "'");

  EXPECT_EQ(Show(second),
            "tables { name: \"projects/p/instances/default/tables/c\" } "
            "tables { name: \"projects/p/instances/default/tables/d\" }");
  EXPECT_EQ(Error(&TableStub::ListTables, "parent: 'projects/p/instances/default' page_size: -1"),
            "INVALID_ARGUMENT: page_size must be at least 0, and is -1");
}

TEST_F(TablesTest, ATableThatIsNotCreatedLeavesNothing) {
  const std::string twice =
      std::string(kCreateProtectedT) + " initial_splits { key: 'm' } initial_splits { key: 'm' }";
  EXPECT_EQ(CreateError(twice), "INVALID_ARGUMENT: the split row \"m\" is given twice");
  const absl::StatusOr<std::optional<admin::Table>> record =
      catalogue_->Find<admin::Table>("projects/p/instances/default/tables/t");
  ASSERT_TRUE(record.ok());
  EXPECT_FALSE(record->has_value());
}

TEST_F(TablesTest, AMissingTableIsNotFoundByItsFullName) {
  EXPECT_EQ(Error(&TableStub::GetTable, kNameT), kNoTableT);
  EXPECT_EQ(Error(&TableStub::DeleteTable, kNameT), kNoTableT);
  EXPECT_EQ(Error(&TableStub::DropRowRange, std::string(kNameT) + " row_key_prefix: 'a'"),
            kNoTableT);
  EXPECT_EQ(Protect(true), kNoTableT);
  EXPECT_EQ(Error(&TableStub::GetTable, "name: 'projects/p/instances/default/tables/server..x'"),
            Error(&TableStub::DeleteTable, "name: 'projects/p/instances/default/tables/server..x'"))
      << "the server's own table is none";
}

TEST_F(TablesTest, AProtectedTableIsNotDeletedUntilTheProtectionEnds) {
  Call(&TableStub::CreateTable, kCreateProtectedT);
  EXPECT_TRUE(Call(&TableStub::GetTable, kNameT).deletion_protection());
  const std::string refused =
      "FAILED_PRECONDITION: table projects/p/instances/default/tables/t is protected from deletion "
      "(deletion_protection), so ";
  EXPECT_EQ(Error(&TableStub::DeleteTable, kNameT),
            refused + "it cannot be deleted; UpdateTable can end the protection");
  EXPECT_EQ(Error(&InstanceStub::DeleteInstance, "name: 'projects/p/instances/default'"),
            refused +
                "its instance projects/p/instances/default cannot be deleted; UpdateTable can "
                "end the protection");
  LosePower();
  EXPECT_TRUE(Error(&TableStub::DeleteTable, kNameT).starts_with(refused)) << "durably";

  EXPECT_EQ(Protect(false), "OK");
  EXPECT_EQ(Error(&TableStub::DeleteTable, kNameT), "OK");
  EXPECT_EQ(Error(&TableStub::GetTable, kNameT), kNoTableT);
}

TEST_F(TablesTest, AnUpdateIsAnOperationThatIsDone) {
  Call(&TableStub::CreateTable, kCreateT);
  const auto operation =
      Call(&TableStub::UpdateTable,
           "table { name: 'projects/p/instances/default/tables/t' deletion_protection: true }"
           " update_mask { paths: 'deletion_protection' }");
  EXPECT_EQ(Unpack<admin::Table>(operation), Text(&TableStub::GetTable, kNameT));
  admin::UpdateTableMetadata metadata;
  ASSERT_TRUE(operation.metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.name(), "projects/p/instances/default/tables/t");
  EXPECT_TRUE(metadata.has_start_time() && metadata.has_end_time());
  EXPECT_TRUE(
      operation.name().starts_with("operations/projects/p/instances/default/tables/t/operations/"));
  EXPECT_EQ(Text(&OperationsStub::GetOperation, "name: '" + operation.name() + "'"),
            Show(operation));
}

TEST_F(TablesTest, AChangeStreamIsOpenedChangedAndClosed) {
  const std::string name = "projects/p/instances/default/tables/t";
  const auto retention = [&] {
    const admin::Table table = Call(&TableStub::GetTable, kNameT);
    return table.has_change_stream_config()
               ? table.change_stream_config().retention_period().seconds()
               : 0;
  };
  const auto update = [&](const std::string& table, const std::string& mask) {
    return Error(&TableStub::UpdateTable, "table { name: '" + name + "' " + table +
                                              " } update_mask { paths: '" + mask + "' }");
  };
  const std::string hour = "change_stream_config { retention_period { seconds: 3600 } }";
  Call(&TableStub::CreateTable,
       "parent: 'projects/p/instances/default' table_id: 't' table { deletion_protection: true "
       "change_stream_config { retention_period { seconds: 86400 } } }");
  EXPECT_EQ(retention(), 86400);
  EXPECT_EQ(update(hour, "change_stream_config.retention_period"), "OK");
  EXPECT_EQ(retention(), 3600);
  EXPECT_EQ(update("", "deletion_protection"), "OK");
  EXPECT_EQ(retention(), 3600) << "the mask does not name it";
  EXPECT_TRUE(update("change_stream_config {}", "change_stream_config")
                  .starts_with("INVALID_ARGUMENT: change_stream_config must have"));
  EXPECT_EQ(update("", "change_stream_config"), "OK");
  EXPECT_EQ(retention(), 0);
  EXPECT_EQ(update(hour, "change_stream_config"), "OK");
  EXPECT_EQ(retention(), 3600);
  EXPECT_TRUE(
      update("change_stream_config { retention_period { nanos: 1000 } }", "change_stream_config")
          .starts_with("INVALID_ARGUMENT: "));
}

TEST_F(TablesTest, AnUpdateOfAnythingElseIsRefused) {
  Call(&TableStub::CreateTable, kCreateT);
  const auto update = [&](const std::string& mask) {
    return Error(&TableStub::UpdateTable,
                 "table { name: 'projects/p/instances/default/tables/t' deletion_protection: true }"
                 " update_mask { " +
                     mask + " }");
  };
  EXPECT_EQ(update(""),
            "INVALID_ARGUMENT: update_mask must name the fields to update, of these: "
            "deletion_protection, change_stream_config");
  EXPECT_EQ(update("paths: 'deletion_protection' paths: '*'"),
            "INVALID_ARGUMENT: update_mask names \"*\", and must name fields of these: "
            "deletion_protection, change_stream_config");
  EXPECT_EQ(
      update("paths: 'column_families'"),
      "UNIMPLEMENTED: UpdateTable does not change column_families; ModifyColumnFamilies does");
  EXPECT_EQ(update("paths: 'row_key_schema'"),
            "UNIMPLEMENTED: this server has no schemas of row keys (row_key_schema)");
  EXPECT_FALSE(Call(&TableStub::GetTable, kNameT).deletion_protection());
}

TEST_F(TablesTest, RowsAreDroppedByPrefixOrAllOfThemAlsoUnderProtection) {
  Call(&TableStub::CreateTable, kCreateProtectedT);
  Table* const table = Fill();
  const auto drop = [&](const std::string& target) {
    return Error(&TableStub::DropRowRange, std::string(kNameT) + " " + target);
  };
  EXPECT_EQ(drop("row_key_prefix: ''"),
            "INVALID_ARGUMENT: row_key_prefix must not be empty; delete_all_data_from_table drops "
            "all rows");
  EXPECT_EQ(drop(""),
            "INVALID_ARGUMENT: DropRowRange must have a row_key_prefix or "
            "delete_all_data_from_table");
  EXPECT_EQ(drop("delete_all_data_from_table: false"), "OK");
  EXPECT_EQ(Keys(table), "a ab b ");
  EXPECT_EQ(drop("row_key_prefix: 'a'"), "OK");
  EXPECT_EQ(Keys(table), "b ");
  EXPECT_EQ(drop("delete_all_data_from_table: true"), "OK");
  EXPECT_EQ(Keys(table), "");
}

TEST_F(TablesTest, WhatThereIsNotIsUnimplementedWithAMessage) {
  EXPECT_EQ(Error(&TableStub::GetIamPolicy, ""),
            "UNIMPLEMENTED: this server has no access control by IAM");
  EXPECT_EQ(Error(&TableStub::ListAuthorizedViews, ""),
            "UNIMPLEMENTED: this server has no authorized views");
  EXPECT_EQ(Error(&InstanceStub::CreateMaterializedView, ""),
            "UNIMPLEMENTED: this server has no materialized views");
}

}  // namespace
}  // namespace bigtable::server
