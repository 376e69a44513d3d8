// The creation, deletion and change of a table are atomic: the power is lost before each call of
// the file system that such a change makes.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/strings.h"
#include "support/database_fixture.h"
#include "support/read_mode.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

constexpr const char* kPath = "/db";
// How often the power is lost at one call, with more or less of what was not synced.
constexpr uint64_t kLosses = kSlow ? 2 : 6;
// From one call to the next at which it is lost.
constexpr uint64_t kStep = kSlow ? 2 : 1;
// How many of them leave the change made, and how many do not, at least.
constexpr int kEnough = kSlow ? 3 : 10;

std::unique_ptr<Database> OpenOn(FileSystem* file_system) {
  DatabaseOptions options = TestOptions();
  options.memory_budget = MemoryBudget::kMinimum;
  options.log_segment_size = 64 << 10;
  options.tablet_servers = 2;  // the second server is started for the second table
  options.file_system = file_system;
  absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
  EXPECT_OK(opened);
  return opened.ok() ? *std::move(opened) : nullptr;
}

TableSchema Schema(bool changed = false) {
  TableSchema schema;
  schema.locality_groups["default"] = {};
  schema.locality_groups["other"] = {.compression = Compression::kZstd};
  schema.families["f"] = {.locality_group = "default"};
  schema.families["g"] = {.locality_group = "other", .gc = GcRule::MaxVersions(2)};
  if (changed) schema.families["h"] = {.locality_group = "default"};
  return schema;
}

std::string ReadRow(Database* database, std::string_view table) {
  absl::StatusOr<Table*> opened = database->OpenTable(table);
  return opened.ok() ? Show((*opened)->ReadRow("row")) : std::string(opened.status().ToString());
}

constexpr const char* kRow = "f:q@2=logged f:q@1=flushed";

// Writes a row that is partly in SSTables.
void Fill(Database* database, const std::string& name) {
  ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable(name));
  ASSERT_OK(table->Apply(RowMutation("row").Set("f:q", Timestamp(1), "flushed")));
  ASSERT_OK(database->Flush(name));
  ASSERT_OK(table->Apply(RowMutation("row").Set("f:q", Timestamp(2), "logged"),
                         {.durability = Durability::kSync}));
}

// Makes a change of table "t", beside a table "bystander", and loses power at each call in turn.
// `check` gets whether the change was acknowledged, and checks the state that is found.
void LosePowerAtEachCall(bool table_exists, const std::function<absl::Status(Database*)>& change,
                         const std::function<void(Database*, bool done)>& check) {
  const auto run = [&](uint64_t call, bool mapped) {
    InMemoryFileSystem memory;
    FaultyFileSystem faulty(&memory, {.hide_log_mappings = !mapped});
    std::unique_ptr<Database> database = OpenOn(&faulty);
    ASSERT_OK(database->CreateTable("bystander", Schema()));
    ASSERT_NO_FATAL_FAILURE(Fill(database.get(), "bystander"));
    if (table_exists) {
      ASSERT_OK(database->CreateTable("t", Schema()));
      ASSERT_NO_FATAL_FAILURE(Fill(database.get(), "t"));
    }
    ASSERT_OK(database->WaitUntilQuiet());
    faulty.CountCalls();
    faulty.FailCall(
        call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn,
        call % 2 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
    const bool done = change(database.get()).ok();
    for (uint64_t seed = 0; seed < kLosses; ++seed) {
      SCOPED_TRACE(Cat("call ", call, mapped ? " mapped" : "", ", seed ", seed));
      const auto found =
          memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
      std::unique_ptr<Database> after = OpenOn(found.get());
      ASSERT_NE(after, nullptr);
      ASSERT_EQ(ReadRow(after.get(), "bystander"), kRow);
      ASSERT_NO_FATAL_FAILURE(check(after.get(), done));
      ASSERT_OK(after->Close());
    }
    database.reset();  // a clean close is not possible any more
  };
  for (const bool mapped : {true, false}) {
    // The calls of the change, and some more, because background threads make calls too, so the
    // number of calls is not fixed.
    for (uint64_t call = 1; call <= 45; call += kStep) ASSERT_NO_FATAL_FAILURE(run(call, mapped));
  }
}

bool IsThere(Database* database) {
  return database->ListTables().value() == std::vector<std::string>{"bystander", "t"};
}

TEST(TablePowerLossTest, ACreatedTableIsThereCompletelyOrNotAtAll) {
  int there = 0, missing = 0;
  LosePowerAtEachCall(
      false, [](Database* database) { return database->CreateTable("t", Schema()); },
      [&](Database* database, bool done) {
        ++(IsThere(database) ? there : missing);
        if (done) {
          ASSERT_TRUE(IsThere(database));
        }
        if (!IsThere(database)) {
          ASSERT_OK(database->CreateTable("t", Schema()));
        }
        ASSERT_TRUE(database->GetSchema("t").value() == Schema());
        ASSERT_EQ(ReadRow(database, "t"), "");
        ASSERT_NO_FATAL_FAILURE(Fill(database, "t"));
        ASSERT_EQ(ReadRow(database, "t"), kRow);
      });
  EXPECT_GT(there, kEnough);
  EXPECT_GT(missing, kEnough);
}

TEST(TablePowerLossTest, ADeletedTableIsGoneOrUnchanged) {
  int there = 0, missing = 0;
  LosePowerAtEachCall(
      true, [](Database* database) { return database->DeleteTable("t"); },
      [&](Database* database, bool done) {
        ++(IsThere(database) ? there : missing);
        if (IsThere(database)) {
          ASSERT_FALSE(done);
          ASSERT_TRUE(database->GetSchema("t").value() == Schema());
          ASSERT_EQ(ReadRow(database, "t"), kRow);
          ASSERT_OK(database->DeleteTable("t"));
        }
        // Leftovers in the log or in METADATA do not appear in the new table.
        ASSERT_OK(database->CreateTable("t", Schema()));
        ASSERT_EQ(ReadRow(database, "t"), "");
      });
  EXPECT_GT(there, kEnough);
  EXPECT_GT(missing, kEnough);
}

TEST(TablePowerLossTest, AChangedSchemaIsTheOldOneOrTheNewOne) {
  int changed = 0, unchanged = 0;
  LosePowerAtEachCall(
      true, [](Database* database) { return database->AddFamily("t", "h", {}); },
      [&](Database* database, bool done) {
        const bool is_changed = database->GetSchema("t").value() == Schema(true);
        ++(is_changed ? changed : unchanged);
        ASSERT_TRUE(is_changed || (!done && database->GetSchema("t").value() == Schema()));
        ASSERT_EQ(ReadRow(database, "t"), kRow);
      });
  EXPECT_GT(changed, kEnough);
  EXPECT_GT(unchanged, kEnough);
}

// One family is replaced by a family of sums in another locality group, one added and one dropped.
TEST(TablePowerLossTest, FamiliesThatAreModifiedTogetherAreTheOldOnesOrTheNewOnes) {
  TableSchema expected = Schema(true);
  expected.families["f"] = {.locality_group = "other", .value_type = ValueType::kInt64Sum};
  expected.families.erase("g");
  int changed = 0, unchanged = 0;
  LosePowerAtEachCall(
      true,
      [&](Database* database) {
        return database->ModifyFamilies(
            "t", {FamilyChange::Drop("f"), FamilyChange::Add("h", {}), FamilyChange::Drop("g"),
                  FamilyChange::Add("f", expected.families["f"])});
      },
      [&](Database* database, bool done) {
        const bool is_changed = database->GetSchema("t").value() == expected;
        ++(is_changed ? changed : unchanged);
        ASSERT_TRUE(is_changed || (!done && database->GetSchema("t").value() == Schema()));
        ASSERT_EQ(ReadRow(database, "t"), is_changed ? "" : kRow);
      });
  EXPECT_GT(changed, kEnough);
  EXPECT_GT(unchanged, kEnough);
}

// The creation of the database itself: the root is its last step.
TEST(TablePowerLossTest, ADatabaseExistsOrCanBeCreated) {
  for (uint64_t call = 1, last = 100; call <= last; ++call) {
    InMemoryFileSystem memory;
    FaultyFileSystem faulty(&memory);
    faulty.FailCall(call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn);
    DatabaseOptions options = TestOptions();
    options.memory_budget = MemoryBudget::kMinimum;
    options.file_system = &faulty;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    if (opened.ok()) last = call;
    for (uint64_t seed = 0; seed < kLosses; ++seed) {
      SCOPED_TRACE(Cat("call ", call, ", seed ", seed));
      const auto found =
          memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
      std::unique_ptr<Database> after = OpenOn(found.get());
      ASSERT_NE(after, nullptr);
      ASSERT_OK(after->CreateTable("t", Schema()));
      ASSERT_NO_FATAL_FAILURE(Fill(after.get(), "t"));
    }
    ASSERT_LT(call, 150u);
  }
}

}  // namespace
}  // namespace bigtable
