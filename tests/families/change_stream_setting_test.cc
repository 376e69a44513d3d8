// The setting of a table's change stream: how it is opened, changed and closed, what a change of
// families leaves in the schema, and what a table with a stream refuses.
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "cluster/server_host.h"
#include "schema/table_layout.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class ChangeStreamSettingTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    ASSERT_OK(file_system_->CreateDirectory("/in"));
  }
  static TableSchema SchemaWith(const ChangeStreamRule& rule) {
    TableSchema schema;
    schema.families["f"] = {};
    schema.families["g"] = {};
    schema.changes = rule;
    return schema;
  }
  ChangeStreamRule Rule() { return database_->GetSchema("t")->changes; }
  // As the tablets have it.
  TableLayout Layout() {
    for (const auto& host : DatabasePeer(database_.get()).HostsOf(ServerRole::kUser)) {
      for (const auto& tablet : host->server()->tablets().All()) {
        if (tablet->Layout()->name == "t") return *tablet->Layout();
      }
    }
    ADD_FAILURE() << "table t is not served";
    return {};
  }
  // The sequence number of the last write.
  SequenceNumber Write(Table* table, std::string_view row) {
    EXPECT_OK(table->Apply(RowMutation(row).Set("f:q", Timestamp(1), "v")));
    return (*database_->TakeSnapshot())->sequence();
  }
  std::string File() {
    const std::string path = "/in/file";
    auto writer = SSTableWriter::Create(path, {.file_system = file_system_.get()});
    EXPECT_OK(writer);
    EXPECT_OK((*writer)->Add({.row = "r", .family = "f", .qualifier = "q", .value = "v"}));
    EXPECT_OK((*writer)->Finish());
    return path;
  }
};

const ChangeStreamRule kHourOfChanges{.retention = absl::Hours(1), .max_bytes = 3 << 20};

TEST_F(ChangeStreamSettingTest, AStreamIsOpenedChangedAndClosed) {
  Table* const table = CreateTable("t", SchemaWith({}));
  EXPECT_EQ(Rule(), ChangeStreamRule());
  const SequenceNumber before = Write(table, "a");
  ASSERT_OK(database_->SetChangeStream("t", kHourOfChanges));
  EXPECT_EQ(Rule(), kHourOfChanges);
  const SequenceNumber since = Layout().changes_since;
  EXPECT_GT(since, before);
  EXPECT_GT(Write(table, "b"), since);

  // The number stays: nothing is dropped.
  ChangeStreamRule longer = kHourOfChanges;
  longer.retention = absl::Hours(2);
  ASSERT_OK(database_->SetChangeStream("t", longer));
  EXPECT_EQ(Rule(), longer);
  EXPECT_EQ(Layout().changes_since, since);
  EXPECT_FALSE(Layout().is_changing);

  ASSERT_OK(database_->SetChangeStream("t", {.max_bytes = 0}));
  EXPECT_EQ(Rule(), ChangeStreamRule());
  EXPECT_EQ(Layout().changes_since, 0u);
  ASSERT_OK(database_->SetChangeStream("t", kHourOfChanges));
  EXPECT_GT(Layout().changes_since, since);
}

TEST_F(ChangeStreamSettingTest, AnOpeningOfTheDatabaseKeepsIt) {
  CreateTable("t", SchemaWith({}));
  ASSERT_OK(database_->SetChangeStream("t", kHourOfChanges));
  ASSERT_OK(database_->DropFamily("t", "g"));
  const TableLayout before = Layout();
  Reopen();
  EXPECT_EQ(Rule(), kHourOfChanges);
  EXPECT_EQ(Layout(), before);
  // The numbers of changes are not used again, though nothing was written after them.
  Table* const table = OpenTable("t");
  EXPECT_GT(Write(table, "a"), before.LastChange());
}

TEST_F(ChangeStreamSettingTest, ANewTableHasItsStreamFromTheBeginning) {
  Table* const table = CreateTable("t", SchemaWith(kHourOfChanges));
  EXPECT_EQ(Rule(), kHourOfChanges);
  const TableLayout layout = Layout();
  EXPECT_EQ(layout.changes_since, layout.table_id);
  EXPECT_GT(Write(table, "a"), layout.changes_since);
}

TEST_F(ChangeStreamSettingTest, EveryChangeOfFamiliesIsInTheSchema) {
  Table* const table = CreateTable("t", SchemaWith(kHourOfChanges));
  SequenceNumber last = Write(table, "a");
  const TableLayout first = Layout();
  const std::vector<FamilyChange> changes = {
      FamilyChange::Add("h", {}),
      FamilyChange::Update("f", {.gc = GcRule::MaxVersions(1)}),
      FamilyChange::Update("f", {.owner = "ann"}),
      FamilyChange::Drop("g"),
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    ASSERT_OK(database_->ModifyFamilies("t", {changes[i]}));
    const TableLayout layout = Layout();
    ASSERT_EQ(layout.schema_changes.size(), i + 2);
    EXPECT_FALSE(layout.is_changing);
    const TableLayout::SchemaChange& change = layout.schema_changes.back();
    EXPECT_GT(change.sequence, last);
    last = Write(table, "a");
    EXPECT_LT(change.sequence, last);
    ASSERT_OK_AND_ASSIGN(const TableLayout after, TableLayout::Decode(change.layout));
    EXPECT_EQ(after.families, layout.families);
    EXPECT_EQ(after.changes_since, layout.changes_since);
    EXPECT_TRUE(after.schema_changes.empty());
  }
  // Before them comes that of the opening.
  EXPECT_EQ(Layout().schema_changes[0].sequence, first.changes_since);
  EXPECT_EQ(Layout().schema_changes[0].layout, first.Encode());
  // A change that changes nothing of families is none.
  ASSERT_OK(database_->ModifyFamilies("t", {FamilyChange::Update("f", {.owner = "ann"})}));
  ASSERT_OK(database_->SetSplitRule("t", {}));
  EXPECT_EQ(Layout().schema_changes.size(), changes.size() + 1);
  ASSERT_OK(database_->SetChangeStream("t", {}));
  EXPECT_TRUE(Layout().schema_changes.empty());
}

TEST_F(ChangeStreamSettingTest, WithoutAStreamTheSchemaKeepsNoChanges) {
  CreateTable("t", SchemaWith({}));
  ASSERT_OK(database_->DropFamily("t", "g"));
  EXPECT_TRUE(Layout().schema_changes.empty());
}

TEST_F(ChangeStreamSettingTest, BadRulesAndTablesAreRefused) {
  CreateTable("t", SchemaWith({}));
  EXPECT_STATUS(kInvalidArgument, "the retention of a change stream",
                database_->SetChangeStream("t", {.retention = absl::Milliseconds(1)}));
  EXPECT_STATUS(kInvalidArgument, "max_bytes of a change stream",
                database_->SetChangeStream("t", {.retention = absl::Hours(1), .max_bytes = 1}));
  EXPECT_STATUS(kInvalidArgument, "the retention of a change stream",
                database_->CreateTable("u", SchemaWith({.retention = -absl::Hours(1)})));
  EXPECT_STATUS(kNotFound, "", database_->SetChangeStream("none", kHourOfChanges));
  EXPECT_STATUS(kNotFound, "", database_->SetChangeStream("none", {}));
  EXPECT_EQ(Rule(), ChangeStreamRule());
}

TEST_F(ChangeStreamSettingTest, ATableWithAStreamTakesNoFiles) {
  Table* const table = CreateTable("t", SchemaWith(kHourOfChanges));
  const std::string file = File();
  EXPECT_STATUS(kFailedPrecondition,
                "table t has a change stream, which files that are ingested would bypass",
                table->Ingest({file}));
  EXPECT_EQ(Show(table->ReadRow("r")), "");
  ASSERT_OK(database_->SetChangeStream("t", {}));
  EXPECT_OK(table->Ingest({file}));
  EXPECT_NE(Show(table->ReadRow("r")), "");
}

}  // namespace
}  // namespace bigtable
