// What a call on one table costs when there are many others: as much as when there are few. Work is
// counted, not timed.
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_fixture.h"

namespace bigtable {
namespace {

using testing::HasSubstr;

class ManyTablesTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseOptions options = Options();
    options.file_system = &counting_;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
  }
  void TearDown() override { database_.reset(); }
  static TableSchema Schema() {
    TableSchema schema;
    schema.families["f"] = {};
    schema.split.tablet_size = 0;
    return schema;
  }
  void CreateTables(int first, int end) {
    for (int i = first; i < end; ++i) {
      ASSERT_OK(database_->CreateTable(absl::StrCat("other", i), Schema()));
    }
  }
  // How many calls of the file system `call` makes, with those that background threads happen to
  // make meanwhile.
  template <typename Call>
  uint64_t CallsOf(Call call) {
    counting_.CountCalls();
    call();
    return counting_.calls();
  }
  // The fewest of some times, for a call that makes the same each time.
  template <typename Call>
  uint64_t FewestCallsOf(Call call) {
    uint64_t fewest = CallsOf(call);
    for (int i = 0; i < 5 && fewest > 0; ++i) fewest = std::min(fewest, CallsOf(call));
    return fewest;
  }
  uint64_t Flushes() const { return database_->Statistics().minor_compactions; }

  FaultyFileSystem counting_{file_system_.get()};
};

TEST_F(ManyTablesTest, OpeningAnOpenTableCallsNoFileSystem) {
  CreateTables(0, 3);
  ASSERT_OK(database_->OpenTable("other1"));
  EXPECT_EQ(FewestCallsOf([&] { ASSERT_OK(database_->OpenTable("other1")); }), 0u);
  EXPECT_EQ(FewestCallsOf([&] { ASSERT_OK(database_->OpenTable("other1", {.caller = "c"})); }), 0u);
  EXPECT_EQ(FewestCallsOf([&] { ASSERT_OK(database_->GetSchema("other1")); }), 0u);
  EXPECT_EQ(FewestCallsOf([&] { ASSERT_OK(database_->OpenOrCreateTable("other1", Schema())); }),
            0u);
}

TEST_F(ManyTablesTest, TheFirstOpeningReadsOneFile) {
  CreateTables(0, 10);
  ASSERT_OK(database_->OpenTable("other0"));  // this session's first look into the directory
  for (const int tables : {10, 20, 40}) {
    if (tables > 10) CreateTables(tables / 2, tables);
    ASSERT_OK(database_->WaitUntilQuiet());
    uint64_t fewest = UINT64_MAX;
    for (int table = tables - 4; table < tables; ++table) {
      const std::string name = absl::StrCat("other", table);
      fewest = std::min(fewest, CallsOf([&] { ASSERT_OK(database_->OpenTable(name)); }));
    }
    EXPECT_LE(fewest, 1u) << tables;
  }
}

TEST_F(ManyTablesTest, CreatingATableMakesTheSameCallsForEachTable) {
  CreateTables(0, 2);
  const auto create = [&](const char* name) {
    return CallsOf([&] { ASSERT_OK(database_->OpenOrCreateTable(name, Schema())); });
  };
  const uint64_t calls = create("few");
  CreateTables(2, 40);
  EXPECT_LE(create("many"), calls + 3);  // the info log, and what is reserved for many at a time
}

TEST_F(ManyTablesTest, AMissingTableNamesSomeOthersAndListsThemOnce) {
  CreateTables(0, 3);
  EXPECT_STATUS(kNotFound, "there are: other0, other1, other2", database_->OpenTable("missing"));
  EXPECT_EQ(CallsOf([&] { EXPECT_STATUS(kNotFound, "other2", database_->OpenTable("missing")); }),
            0u);
  CreateTables(3, 30);
  const absl::Status missing = database_->OpenTable("missing").status();
  EXPECT_STATUS(kNotFound, "there are: 30 tables, the first of which are other0, other1, other10",
                missing);
  EXPECT_THAT(std::string(missing.message()), testing::Not(HasSubstr("other9")));
  ASSERT_OK(database_->DeleteTable("other0"));
  EXPECT_STATUS(kNotFound, "there are: 29 tables, the first of which are other1, ",
                database_->GetSchema("other0"));
  EXPECT_STATUS(kNotFound, "there is no table \"../LOG\"", database_->OpenTable("../LOG"));
}

TEST_F(ManyTablesTest, ADeletedTableIsNotOpenedAndANewOneIsAnother) {
  CreateTables(0, 1);
  Table* const first = *database_->OpenTable("other0");
  ASSERT_OK(first->Apply(RowMutation("row").Set("f:q", "v")));
  ASSERT_OK(database_->DeleteTable("other0"));
  EXPECT_STATUS(kNotFound, "other0", database_->OpenTable("other0"));
  EXPECT_STATUS(kNotFound, "other0", database_->GetSchema("other0"));
  TableSchema other;
  other.families["g"] = {};
  ASSERT_OK(database_->CreateTable("other0", other));
  EXPECT_NE(*database_->OpenTable("other0"), first);
  EXPECT_EQ(database_->GetSchema("other0")->families.count("g"), 1u);
  ASSERT_OK(database_->AddFamily("other0", "h", {}));
  EXPECT_EQ(database_->GetSchema("other0")->families.count("h"), 1u);
}

TEST_F(ManyTablesTest, CompactingATableThatWasNotWrittenToFlushesNoOther) {
  CreateTables(0, 10);
  const auto write = [&](int i) {
    Table* const table = *database_->OpenTable(absl::StrCat("other", i));
    ASSERT_OK(table->Apply(RowMutation("row").Set("f:q", "v")));
  };
  for (int i = 0; i < 10; ++i) write(i);
  // The log has bytes of the table, so all memtables are flushed.
  ASSERT_OK(database_->Compact("other0"));
  uint64_t flushes = Flushes();
  EXPECT_GE(flushes, 10u);

  for (int i = 1; i < 10; ++i) write(i);
  ASSERT_OK(database_->Compact("other0"));
  EXPECT_EQ(Flushes(), flushes);
  ASSERT_OK(database_->Compact("other1"));
  EXPECT_EQ(Flushes(), flushes + 9);

  // Those of a deleted table are erased with the next.
  flushes = Flushes();
  for (int i = 1; i < 5; ++i) write(i);
  ASSERT_OK(database_->DeleteTable("other1"));
  ASSERT_OK(database_->Compact("other0"));
  EXPECT_EQ(Flushes(), flushes + 3);
}

TEST_F(ManyTablesTest, TheMemtablesOfAllTablesAreFlushedTogether) {
  const auto syncs = [&](int tables) {
    for (int i = 0; i < tables; ++i) {
      Table* const table = *database_->OpenTable(absl::StrCat("other", i));
      EXPECT_OK(table->Apply(RowMutation("row").Set("f:q", "v")));
    }
    counting_.CountCalls({.kinds = {FileCall::kSyncDirectory, FileCall::kLogSync}});
    EXPECT_OK(database_->Compact("other0"));
    return counting_.calls();
  };
  CreateTables(0, 40);
  const uint64_t few = syncs(3);
  EXPECT_LE(syncs(40), few + 5);
}

}  // namespace
}  // namespace bigtable
