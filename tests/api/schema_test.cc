// Tables, families and locality groups.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class SchemaTest : public DatabaseFixture {
 protected:
  void SetUp() override { Open(); }
  std::vector<std::string> Tables() {
    absl::StatusOr<std::vector<std::string>> tables = database_->ListTables();
    EXPECT_OK(tables);
    return tables.value_or(std::vector<std::string>{"error"});
  }
  static TableSchema With(std::string_view family, const Family& settings) {
    TableSchema schema;
    schema.families[std::string(family)] = settings;
    return schema;
  }
  static TableSchema With(std::string_view group, const LocalityGroup& settings) {
    TableSchema schema;
    schema.locality_groups[std::string(group)] = settings;
    return schema;
  }
};

// --- Tables ---

TEST_F(SchemaTest, AUsersTableMustNotBeCalledMetadata) {
  EXPECT_STATUS(kInvalidArgument, "METADATA", database_->CreateTable("METADATA", {}));
  EXPECT_OK(database_->CreateTable("Metadata", {}));
}

TEST_F(SchemaTest, OpenOrCreateTableCreatesATableOnce) {
  ASSERT_OK_AND_ASSIGN(Table* const created,
                       database_->OpenOrCreateTable("t", With("f", Family())));
  ASSERT_OK(created->Apply(RowMutation("r").Set("f:q", "v")));
  ASSERT_OK_AND_ASSIGN(Table* const opened, database_->OpenOrCreateTable("t", With("g", Family())));
  EXPECT_EQ(opened, created);
  ASSERT_OK_AND_ASSIGN(const TableSchema schema, database_->GetSchema("t"));
  EXPECT_TRUE(schema.families.contains("f")) << "it keeps its own";
  EXPECT_FALSE(schema.families.contains("g"));
  EXPECT_STATUS(kInvalidArgument, "", database_->OpenOrCreateTable(".t", {}).status());
}

TEST_F(SchemaTest, TableNamesAreCheckedAndTheErrorNamesThem) {
  for (const std::string& name :
       {std::string(), std::string(129, 'x'), std::string(".hidden"), std::string("a/b"),
        std::string("a b"), std::string("a:b"), std::string("t\xc3\xa4")}) {
    EXPECT_STATUS(kInvalidArgument, "1 to 128", database_->CreateTable(name, TableSchema{}))
        << name;
  }
  for (const std::string& name :
       {std::string("a"), std::string(128, 'x'), std::string("A-z_0.9"), std::string("-")}) {
    EXPECT_OK(database_->CreateTable(name, TableSchema{})) << name;
  }
  EXPECT_EQ(Tables().size(), 4u);
}

TEST_F(SchemaTest, ATableIsCreatedOnce) {
  CreateTable("t", {"f"});

  EXPECT_STATUS(kAlreadyExists, "t", database_->CreateTable("t", TableSchema{}));

  ASSERT_OK_AND_ASSIGN(const TableSchema schema, database_->GetSchema("t"));
  EXPECT_TRUE(schema.families.contains("f"));
}

TEST_F(SchemaTest, TablesAreListedInOrder) {
  for (const char* name : {"b", "a", "c", "B"}) CreateTable(name, {"f"});

  EXPECT_EQ(Tables(), (std::vector<std::string>{"B", "a", "b", "c"}));
}

TEST_F(SchemaTest, AMissingTableIsNotFound) {
  EXPECT_STATUS(kNotFound, "nothing", database_->OpenTable("nothing"));
  EXPECT_STATUS(kNotFound, "nothing", database_->DeleteTable("nothing"));
  EXPECT_STATUS(kNotFound, "nothing", database_->GetSchema("nothing"));
  EXPECT_STATUS(kNotFound, "nothing", database_->AddFamily("nothing", "f", {}));
  EXPECT_STATUS(kNotFound, "nothing", database_->DropFamily("nothing", "f"));
  EXPECT_STATUS(kNotFound, "nothing", database_->UpdateFamily("nothing", "f", {}));
  EXPECT_STATUS(kNotFound, "nothing", database_->SetLocalityGroup("nothing", "g", {}));
  EXPECT_STATUS(kNotFound, "nothing", database_->Flush("nothing"));
  EXPECT_STATUS(kNotFound, "nothing", database_->Compact("nothing"));
}

TEST_F(SchemaTest, OpenTableReturnsTheSameTableEachTime) {
  Table* const table = CreateTable("t", {"f"});

  EXPECT_EQ(OpenTable("t"), table);
  EXPECT_EQ(table->name(), "t");
}

TEST_F(SchemaTest, CallsOnADeletedTableAreNotFound) {
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");

  ASSERT_OK(database_->DeleteTable("t"));

  EXPECT_STATUS(kNotFound, "t", table->Apply(RowMutation("r").Set("f:q", "v")));
  EXPECT_STATUS(kNotFound, "t", table->ApplyBatch({RowMutation("r").Set("f:q", "v")})[0]);
  EXPECT_STATUS(kNotFound, "t", table->ReadRow("r"));
  RowReader reader = table->ReadRows(RowRange::All());
  EXPECT_FALSE(reader.Next());
  EXPECT_STATUS(kNotFound, "t", reader.status());
  EXPECT_TRUE(Tables().empty());
}

TEST_F(SchemaTest, ARecreatedTableIsEmpty) {
  Table* const first = CreateTable("t", {"f"});
  Set(first, "in a file", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  Set(first, "in memory", "f:q", 1, "v");
  ASSERT_OK(database_->DeleteTable("t"));

  Table* const second = CreateTable("t", {"f"});

  EXPECT_EQ(ShowKeys(second->ReadRows(RowRange::All())), "");
  Set(second, "new", "f:q", 1, "v");
  EXPECT_STATUS(kNotFound, "t", first->ReadRow("new"));
  Kill();  // the log has writes of both
  Open();
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "new");
}

TEST_F(SchemaTest, TheFilesOfADeletedTableAreDeleted) {
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 100; ++i)
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(10'000, 'v'));
  ASSERT_OK(database_->Flush("t"));
  const uint64_t before = file_system_->total_bytes();

  ASSERT_OK(database_->DeleteTable("t"));
  ASSERT_OK(database_->WaitUntilQuiet());

  EXPECT_LT(file_system_->total_bytes() + 900'000, before);
}

// --- Checks of a schema ---

TEST_F(SchemaTest, NamesOfFamiliesAndGroupsAreCheckedAndTheErrorNamesThem) {
  for (const std::string& name : {std::string(), std::string(65, 'x'), std::string("a b"),
                                  std::string("a:b"), std::string("\n"), std::string("\xc3\xa4")}) {
    SCOPED_TRACE(name);
    EXPECT_STATUS(kInvalidArgument, "1 to 64", database_->CreateTable("t", With(name, Family{})));
    EXPECT_STATUS(kInvalidArgument, "1 to 64",
                  database_->CreateTable("t", With(name, LocalityGroup{})));
  }
  EXPECT_OK(database_->CreateTable("t", With(std::string(64, '~'), Family{})));
}

TEST_F(SchemaTest, SettingsOfGroupsAndRulesAreCheckedAndTheErrorNamesThem) {
  const auto expect_refused = [this](const TableSchema& schema, const std::string& named) {
    EXPECT_STATUS(kInvalidArgument, named, database_->CreateTable("t", schema));
  };
  expect_refused(With("g", LocalityGroup{.compression_level = 0}), "compression_level");
  expect_refused(With("g", LocalityGroup{.compression_level = 20}), "compression_level");
  expect_refused(With("g", LocalityGroup{.block_size = 1023}), "block_size");
  expect_refused(With("g", LocalityGroup{.block_size = (16 << 20) + 1}), "block_size");
  expect_refused(With("g", LocalityGroup{.filter_bits = 0}), "filter_bits");
  expect_refused(With("g", LocalityGroup{.filter_bits = 33}), "filter_bits");
  expect_refused(With("f", Family{.locality_group = "nowhere"}), "nowhere");
  expect_refused(With("f", Family{.gc = GcRule::MaxVersions(0)}), "MaxVersions");
  expect_refused(With("f", Family{.gc = GcRule::MaxAge(absl::Microseconds(999))}), "MaxAge");

  EXPECT_TRUE(Tables().empty());
}

TEST_F(SchemaTest, ALocalityGroupThatNoFamilyUsesIsRefused) {
  TableSchema schema;
  schema.locality_groups["default"] = {.block_size = 4 << 10};
  schema.locality_groups["pages"] = {};
  schema.locality_groups["pgaes"] = {};
  schema.families["contents"] = {.locality_group = "pages"};

  const absl::Status refused = database_->CreateTable("t", schema);

  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, refused, "pgaes", "must use each"));
  EXPECT_TRUE(Tables().empty());
  schema.locality_groups.erase("pgaes");
  EXPECT_OK(database_->CreateTable("t", schema)) << "\"default\" needs no family";
}

TEST_F(SchemaTest, AFamilyInALocalityGroupThatIsNotDefinedIsRefused) {
  TableSchema schema;
  schema.locality_groups["pages"] = {};
  schema.families["contents"] = {.locality_group = "pages"};
  schema.families["anchor"] = {.locality_group = "pgaes"};

  const absl::Status refused = database_->CreateTable("t", schema);

  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, refused, "pgaes", "anchor"));
  EXPECT_TRUE(Tables().empty());
}

TEST_F(SchemaTest, SettingsAtTheirLimitsAreAccepted) {
  TableSchema schema;
  schema.locality_groups["least"] = {
      .compression_level = 1, .block_size = 1 << 10, .filter_bits = 1};
  schema.locality_groups["most"] = {
      .compression_level = 19, .block_size = 16 << 20, .filter_bits = 32};
  schema.families["f"] = {.locality_group = "least", .gc = GcRule::MaxVersions(1)};
  schema.families["g"] = {.locality_group = "most", .gc = GcRule::MaxAge(absl::Milliseconds(1))};

  EXPECT_OK(database_->CreateTable("t", schema));
}

TEST_F(SchemaTest, GetSchemaReturnsTheSchemaThatWasSetAlsoAfterReopening) {
  TableSchema schema;
  schema.locality_groups["default"] = {.block_size = 4 << 10};
  schema.locality_groups["pages"] = {.compression = Compression::kZstdLongWindow,
                                     .compression_level = 7,
                                     .block_size = 64 << 10,
                                     .filter = FilterKind::kRowAndColumn,
                                     .filter_bits = 14};
  schema.locality_groups["small"] = {
      .compression = Compression::kZstd, .filter = FilterKind::kNone, .in_memory = true};
  schema.families["all"] = {.locality_group = "default"};
  schema.families["two"] = {.locality_group = "pages", .gc = GcRule::MaxVersions(2)};
  schema.families["day"] = {.locality_group = "small", .gc = GcRule::MaxAge(absl::Hours(24))};
  schema.families["both"] = {
      .locality_group = "small",
      .gc = GcRule::Union(GcRule::MaxVersions(3), GcRule::MaxAge(absl::Milliseconds(1)))};
  ASSERT_OK(database_->CreateTable("t", schema));

  ASSERT_OK_AND_ASSIGN(const TableSchema now, database_->GetSchema("t"));
  Reopen();
  ASSERT_OK_AND_ASSIGN(const TableSchema later, database_->GetSchema("t"));

  EXPECT_EQ(now, schema);
  EXPECT_EQ(later, schema);
}

TEST_F(SchemaTest, EveryTableHasTheGroupDefault) {
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));

  EXPECT_EQ(database_->Statistics().tables["t"]["default"].files, 1u);
}

// --- Families ---

TEST_F(SchemaTest, AFamilyIsAddedWhileTheTableIsUsed) {
  Table* const table = CreateTable("t", {"f"});
  EXPECT_STATUS(kNotFound, "new", table->Apply(RowMutation("r").Set("new:q", "v")));

  ASSERT_OK(database_->AddFamily("t", "new", {.gc = GcRule::MaxVersions(1)}));

  Set(table, "r", "new:q", 1, "v");
  Set(table, "r", "new:q", 2, "w");
  EXPECT_EQ(Show(table->ReadRow("r")), "new:q@2=w");
}

TEST_F(SchemaTest, ErrorsOfAddFamilyNameTheCause) {
  CreateTable("t", {"f"});

  EXPECT_STATUS(kAlreadyExists, "f", database_->AddFamily("t", "f", {}));
  EXPECT_STATUS(kNotFound, "nowhere",
                database_->AddFamily("t", "g", {.locality_group = "nowhere"}));
  EXPECT_STATUS(kInvalidArgument, "1 to 64", database_->AddFamily("t", "a:b", {}));
  EXPECT_STATUS(kInvalidArgument, "MaxVersions",
                database_->AddFamily("t", "g", {.gc = GcRule::MaxVersions(0)}));
}

TEST_F(SchemaTest, TheDataOfADroppedFamilyIsGoneAtOnceAndStaysGone) {
  Table* const table = CreateTable("t", {"f", "g"});
  Set(table, "r", "g:kept", 1, "v");
  Set(table, "r", "f:file", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "r", "f:memory", 1, "v");

  ASSERT_OK(database_->DropFamily("t", "f"));

  EXPECT_EQ(Show(table->ReadRow("r")), "g:kept@1=v");
  EXPECT_TRUE(IsStatus(absl::StatusCode::kNotFound, table->Apply(RowMutation("r").Set("f:q", "v")),
                       "f", "g"));
  ASSERT_OK(database_->AddFamily("t", "f", {}));
  EXPECT_EQ(Show(table->ReadRow("r")), "g:kept@1=v");
  Set(table, "r", "f:new", 1, "v");
  EXPECT_EQ(Show(table->ReadRow("r")), "f:new@1=v g:kept@1=v");
  Kill();
  Open();
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("r")), "f:new@1=v g:kept@1=v");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("r")), "f:new@1=v g:kept@1=v");
}

TEST_F(SchemaTest, ADroppedFamilyIsNotSeenAtAnOlderSnapshot) {
  Table* const table = CreateTable("t", {"f", "g"});
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK_AND_ASSIGN(const auto snapshot, database_->TakeSnapshot());

  ASSERT_OK(database_->DropFamily("t", "f"));
  ASSERT_OK(database_->AddFamily("t", "f", {}));

  EXPECT_EQ(Show(table->ReadRow("r", {}, {.snapshot = snapshot})), "");
}

TEST_F(SchemaTest, AMissingFamilyCannotBeDroppedOrUpdated) {
  CreateTable("t", {"f", "g"});

  EXPECT_TRUE(IsStatus(absl::StatusCode::kNotFound, database_->DropFamily("t", "x"), "x"));
  EXPECT_TRUE(IsStatus(absl::StatusCode::kNotFound, database_->UpdateFamily("t", "x", {}), "x"));
}

TEST_F(SchemaTest, UpdatingAFamilyChangesItsRuleAtOnce) {
  Table* const table = CreateTable("t", {"f"});
  for (int i = 1; i <= 3; ++i) Set(table, "r", "f:q", i, "v");

  ASSERT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(2)}));

  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@3=v f:q@2=v");
  ASSERT_OK_AND_ASSIGN(const TableSchema schema, database_->GetSchema("t"));
  EXPECT_EQ(schema.families.at("f").gc, GcRule::MaxVersions(2));
}

TEST_F(SchemaTest, UpdatingAFamilyChangesOnlyTheGivenSettings) {
  ASSERT_OK(database_->SetAccessList("list", {}));
  TableSchema schema;
  schema.locality_groups["other"] = {};
  schema.families["f"] = {
      .locality_group = "other", .gc = GcRule::MaxVersions(2), .access_list = "list"};
  CreateTable("t", schema);
  Family expected = schema.families["f"];
  const auto family = [&] { return database_->GetSchema("t")->families.at("f"); };

  EXPECT_OK(database_->UpdateFamily("t", "f", {}));
  EXPECT_EQ(family(), expected);
  EXPECT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule()}));
  expected.gc = GcRule();
  EXPECT_EQ(family(), expected);
  EXPECT_OK(database_->UpdateFamily("t", "f", {.access_list = ""}));
  expected.access_list = "";
  EXPECT_EQ(family(), expected);
}

TEST_F(SchemaTest, ALocalityGroupIsAddedForLaterFamilies) {
  Table* const table = CreateTable("t", {"f"});

  ASSERT_OK(database_->SetLocalityGroup("t", "new", {.compression = Compression::kZstd}));
  ASSERT_OK(database_->AddFamily("t", "g", {.locality_group = "new"}));

  Set(table, "r", "f:q", 1, "v");
  Set(table, "r", "g:q", 1, "w");
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=v g:q@1=w");
  EXPECT_EQ(database_->Statistics().tables["t"]["new"].files, 1u);
}

TEST_F(SchemaTest, AChangedLocalityGroupWritesItsNextFilesDifferently) {
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 100; ++i)
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(5000, 'v'));
  ASSERT_OK(database_->Flush("t"));
  const uint64_t plain = database_->Statistics().tables["t"]["default"].file_bytes;

  ASSERT_OK(database_->SetLocalityGroup("t", "default", {.compression = Compression::kZstd}));
  ASSERT_OK(database_->Compact("t"));

  EXPECT_LT(database_->Statistics().tables["t"]["default"].file_bytes, plain / 10);
  EXPECT_EQ(table->ReadRow("row7")->cells()[0].value, std::string(5000, 'v'));
  EXPECT_STATUS(kInvalidArgument, "block_size",
                database_->SetLocalityGroup("t", "default", {.block_size = 1}));
}

TEST_F(SchemaTest, ChangesAreDurableWhenTheCallReturns) {
  const auto lose_power = [this] {
    std::unique_ptr<InMemoryFileSystem> clone = file_system_->CrashClone(1, Unsynced::kNothing);
    database_.reset();
    file_system_ = std::move(clone);
    Open();
  };
  CreateTable("t", {"f", "g"});
  CreateTable("deleted", {"f"});
  lose_power();
  EXPECT_EQ(Tables(), (std::vector<std::string>{"deleted", "t"}));

  ASSERT_OK(database_->DeleteTable("deleted"));
  ASSERT_OK(database_->AddFamily("t", "h", {}));
  ASSERT_OK(database_->DropFamily("t", "g"));
  ASSERT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(7)}));
  ASSERT_OK(database_->SetLocalityGroup("t", "new", {.block_size = 2 << 10}));
  lose_power();

  EXPECT_EQ(Tables(), std::vector<std::string>{"t"});
  ASSERT_OK_AND_ASSIGN(const TableSchema schema, database_->GetSchema("t"));
  EXPECT_EQ(schema.families.size(), 2u);
  EXPECT_TRUE(schema.families.contains("h"));
  EXPECT_EQ(schema.families.at("f").gc, GcRule::MaxVersions(7));
  EXPECT_EQ(schema.locality_groups.at("new").block_size, size_t{2} << 10);
}

}  // namespace
}  // namespace bigtable
