// The storage that is charged to families, tables and owners: exact on disk after a flush, through
// splits, compactions, drops and openings.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/random.h"
#include "support/seeds.h"
#include "tablet/storage_usage.h"

namespace bigtable {
namespace {

// Families: "a" of ann and "b" of bob in one locality group, "c" of ann in a group of its own, and
// "d" of nobody in the default group.
class AccountingTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    TableSchema schema;
    schema.locality_groups["shared"] = {};
    schema.locality_groups["own"] = {.compression = Compression::kZstd};
    schema.families["a"] = {.locality_group = "shared", .owner = "ann"};
    schema.families["b"] = {.locality_group = "shared", .owner = "bob"};
    schema.families["c"] = {.locality_group = "own", .owner = "ann"};
    schema.families["d"] = {};
    schema.split.tablet_size = 0;
    table_ = CreateTable("t", schema);
  }
  void TearDown() override { database_.reset(); }

  void Write(Table* table, int begin, int end, const std::vector<std::string>& families,
             size_t size = 100) {
    for (int i = begin; i < end; ++i) {
      RowMutation mutation(Cat("row", 1000 + i));
      for (const std::string& family : families) {
        mutation.Set(family + ":q", Timestamp(1), random_.Bytes(size));
      }
      ASSERT_OK(table->Apply(mutation));
    }
  }
  StorageStatistics Of(const std::string& family) {
    return database_->Statistics().families["t"][family].storage;
  }
  StorageStatistics OfTable(const std::string& table = "t") {
    return database_->Statistics().storage[table];
  }
  StorageStatistics OfOwner(const std::string& owner) {
    return database_->Statistics().owner_storage[owner];
  }
  uint64_t BytesOfFiles() {
    const std::string directory = Cat(kPath, "/sst");
    uint64_t bytes = 0;
    const auto names = file_system_->ListDirectory(directory);
    EXPECT_OK(names);
    for (const std::string& name : *names) {
      bytes += file_system_->FileSize(Cat(directory, "/", name)).value();
    }
    return bytes;
  }
  // Everything that is charged on disk is a file, and every file is charged.
  void ExpectExact() {
    const DatabaseStatistics statistics = database_->Statistics();
    uint64_t tables = statistics.metadata_storage.disk_bytes;
    for (const auto& [name, storage] : statistics.storage) {
      tables += storage.disk_bytes;
      uint64_t families = 0;
      for (const auto& [family, of] : statistics.families.at(name))
        families += of.storage.disk_bytes;
      EXPECT_LE(families, storage.disk_bytes);
    }
    EXPECT_EQ(tables, BytesOfFiles());
  }
  uint64_t SumOfFamilies() {
    const DatabaseStatistics statistics = database_->Statistics();
    uint64_t sum = 0;
    for (const auto& [name, family] : statistics.families.at("t")) {
      sum += family.storage.disk_bytes;
    }
    return sum;
  }

  Random random_{1};
  Table* table_ = nullptr;
};

TEST_F(AccountingTest, AnEmptyTableTakesNothing) {
  EXPECT_EQ(OfTable(), StorageStatistics());
  EXPECT_EQ(Of("a"), StorageStatistics());
}

TEST_F(AccountingTest, MemtablesAreChargedInTheProportionOfTheirFamilies) {
  Write(table_, 0, 100, {"a"}, 900);
  Write(table_, 0, 100, {"b"}, 100);
  Write(table_, 0, 100, {"c"}, 500);

  const StorageStatistics a = Of("a"), b = Of("b"), c = Of("c");

  EXPECT_GT(a.memtable_bytes, 90'000u);
  EXPECT_GT(b.memtable_bytes, 10'000u);
  EXPECT_GT(c.memtable_bytes, 50'000u);
  EXPECT_GT(a.memtable_bytes, 6 * b.memtable_bytes);
  EXPECT_EQ(Of("d").memtable_bytes, 0u);
  EXPECT_EQ(OfTable().memtable_bytes, a.memtable_bytes + b.memtable_bytes + c.memtable_bytes);
  EXPECT_EQ(OfTable().disk_bytes, 0u);
  EXPECT_EQ(OfOwner("ann").memtable_bytes, a.memtable_bytes + c.memtable_bytes);
  EXPECT_EQ(OfOwner("bob").memtable_bytes, b.memtable_bytes);
}

TEST_F(AccountingTest, AMemtableThatWasReplayedIsChargedToItsFamilies) {
  Write(table_, 0, 100, {"a", "b"});
  Kill();
  // A memtable that is flushed at the opening, and one that is not.
  Open();
  table_ = OpenTable("t");
  EXPECT_EQ(OfTable().disk_bytes, SumOfFamilies());
  EXPECT_GT(Of("a").stored_bytes(), 0u);
  EXPECT_GT(Of("b").stored_bytes(), 0u);
}

TEST_F(AccountingTest, AfterAFlushTheChargesAreTheSizesOfTheFiles) {
  Write(table_, 0, 300, {"a", "b", "c", "d"});
  Write(table_, 0, 300, {"a"}, 700);
  Table* const other = CreateTable("other", {"f"});
  Write(other, 0, 100, {"f"});
  for (const char* name : {"t", "other"}) ASSERT_OK(database_->Flush(name));

  ExpectExact();
  EXPECT_EQ(OfTable().memtable_bytes, 0u);
  EXPECT_EQ(OfTable().disk_bytes, SumOfFamilies());
  const DatabaseStatistics statistics = database_->Statistics();
  const auto& groups = statistics.tables.at("t");
  EXPECT_EQ(Of("c").disk_bytes, groups.at("own").file_bytes);
  EXPECT_EQ(Of("d").disk_bytes, groups.at("default").file_bytes);
  EXPECT_EQ(Of("a").disk_bytes + Of("b").disk_bytes, groups.at("shared").file_bytes);
  EXPECT_GT(Of("a").disk_bytes, 5 * Of("b").disk_bytes);
  EXPECT_EQ(OfOwner("ann").disk_bytes, Of("a").disk_bytes + Of("c").disk_bytes);
  EXPECT_EQ(OfOwner("bob").disk_bytes, Of("b").disk_bytes);
  EXPECT_FALSE(statistics.owner_storage.contains(""));
}

TEST_F(AccountingTest, AFileThatTabletsShareCountsOnce) {
  Write(table_, 0, 300, {"a", "b"});
  ASSERT_OK(database_->Flush("t"));
  const uint64_t before = OfTable().disk_bytes;
  database_->PauseCompactions();
  ASSERT_OK(database_->SplitTablet("t", "row1100"));
  ASSERT_OK(database_->SplitTablet("t", "row1200"));

  EXPECT_EQ(OfTable().disk_bytes, before);
  EXPECT_EQ(SumOfFamilies(), before);
  ExpectExact();

  database_->ContinueCompactions();
  ASSERT_OK(database_->Compact("t"));
  ExpectExact();
  EXPECT_EQ(SumOfFamilies(), OfTable().disk_bytes);
}

TEST_F(AccountingTest, AMemtableThatTabletsShareCountsOnce) {
  Write(table_, 0, 300, {"a", "b"}, 1000);
  const uint64_t before = OfTable().memtable_bytes;
  ASSERT_OK(database_->SplitTablet("t", "row1100"));
  EXPECT_LE(OfTable().stored_bytes(), before + before / 4);
}

TEST_F(AccountingTest, ACompactionThatRemovesDataIsSeenAtOnce) {
  Write(table_, 0, 300, {"a", "b"}, 1000);
  ASSERT_OK(database_->Flush("t"));
  const uint64_t a = Of("a").disk_bytes;
  for (int i = 0; i < 300; ++i) {
    ASSERT_OK(table_->Apply(RowMutation(Cat("row", 1000 + i)).DeleteFamily("b")));
  }
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Of("b").disk_bytes, 0u);
  EXPECT_NEAR(static_cast<double>(Of("a").disk_bytes), static_cast<double>(a), 0.02 * 300'000);
  ExpectExact();
}

TEST_F(AccountingTest, AFileOfRowDeletionsIsChargedToTheTableAlone) {
  ASSERT_OK(table_->Apply(RowMutation("row").DeleteRow()));
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(SumOfFamilies(), 0u);
  ExpectExact();
}

TEST_F(AccountingTest, ADroppedFamilyIsChargedToTheTableUntilACompaction) {
  Write(table_, 0, 300, {"a", "b"}, 1000);
  ASSERT_OK(database_->Flush("t"));
  const uint64_t total = OfTable().disk_bytes;
  const uint64_t a = Of("a").disk_bytes;

  ASSERT_OK(database_->DropFamily("t", "b"));

  EXPECT_EQ(OfTable().disk_bytes, total);
  EXPECT_EQ(SumOfFamilies(), a);
  EXPECT_EQ(Of("b").disk_bytes, 0u);
  EXPECT_EQ(OfOwner("bob"), StorageStatistics());
  ExpectExact();
  // A new family of this name does not pay for the old one.
  ASSERT_OK(database_->AddFamily("t", "b", {.locality_group = "shared", .owner = "bob"}));
  EXPECT_EQ(Of("b").disk_bytes, 0u);

  ASSERT_OK(database_->Compact("t"));
  EXPECT_LT(OfTable().disk_bytes, total - 250'000);
  EXPECT_EQ(SumOfFamilies(), OfTable().disk_bytes);
  ExpectExact();
}

TEST_F(AccountingTest, AnOwnerCanBeReplacedAndRemoved) {
  Write(table_, 0, 10, {"a"});
  ASSERT_OK(database_->Flush("t"));
  const uint64_t bytes = Of("a").disk_bytes;
  ASSERT_OK(database_->UpdateFamily("t", "a", {.owner = "carl"}));
  EXPECT_EQ(OfOwner("carl").disk_bytes, bytes);
  EXPECT_EQ(OfOwner("ann").disk_bytes, 0u);
  EXPECT_EQ(database_->GetSchema("t")->families.at("a").owner, "carl");
  ASSERT_OK(database_->UpdateFamily("t", "a", {.gc = GcRule::MaxVersions(1)}));
  EXPECT_EQ(database_->GetSchema("t")->families.at("a").owner, "carl");
  ASSERT_OK(database_->UpdateFamily("t", "a", {.owner = ""}));
  EXPECT_FALSE(database_->Statistics().owner_storage.contains("carl"));
}

TEST_F(AccountingTest, AnOwnerHasTheNameOfACaller) {
  EXPECT_STATUS(kInvalidArgument,
                "the owner of family \"x\": the name of a caller must be 1 to 128",
                database_->AddFamily("t", "x", {.owner = "two words"}));
  EXPECT_STATUS(kInvalidArgument, "the owner of family \"a\"",
                database_->UpdateFamily("t", "a", {.owner = std::string(129, 'x')}));
  TableSchema schema;
  schema.families["f"] = {.owner = "\n"};
  EXPECT_STATUS(kInvalidArgument, "the owner of family \"f\"", database_->CreateTable("u", schema));
}

TEST_F(AccountingTest, ChargesSurviveReopeningWithoutOpeningFiles) {
  Write(table_, 0, 300, {"a", "b", "c", "d"});
  ASSERT_OK(database_->Flush("t"));
  const DatabaseStatistics before = database_->Statistics();

  Reopen();

  const DatabaseStatistics after = database_->Statistics();
  EXPECT_EQ(after.storage, before.storage);
  EXPECT_EQ(after.owner_storage, before.owner_storage);
  for (const auto& [name, family] : before.families.at("t")) {
    EXPECT_EQ(after.families.at("t").at(name).storage, family.storage) << name;
  }
  ExpectExact();
}

TEST_F(AccountingTest, ADeletedTableTakesNothing) {
  Write(table_, 0, 300, {"a", "b"});
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->DeleteTable("t"));
  EXPECT_TRUE(database_->Statistics().storage.empty());
  EXPECT_TRUE(database_->Statistics().owner_storage.empty());
  ExpectExact();
}

TEST_F(AccountingTest, DroppedRowsTakeNothing) {
  Write(table_, 0, 300, {"a", "b"});
  ASSERT_OK(database_->Flush("t"));
  Write(table_, 0, 300, {"a"});
  ASSERT_OK(table_->DropRowRange(RowRange::All()));
  EXPECT_EQ(OfTable(), StorageStatistics());
  ExpectExact();
}

TEST_F(AccountingTest, AnObsoleteFileThatAReaderPinsIsNotCharged) {
  Write(table_, 0, 300, {"a"}, 1000);
  ASSERT_OK(database_->Flush("t"));
  RowReader reader = table_->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());
  ASSERT_OK(table_->DropRowRange(RowRange::All()));
  EXPECT_EQ(OfTable().disk_bytes, 0u);
  while (reader.Next()) {
  }
  EXPECT_OK(reader.status());
}

TEST_F(AccountingTest, LoadedFilesOfInMemoryGroupsAreCharged) {
  TableSchema schema;
  schema.locality_groups["m"] = {.in_memory = true};
  schema.families["x"] = {.locality_group = "m", .owner = "ann"};
  schema.families["y"] = {.locality_group = "m"};
  Table* const table = CreateTable("m", schema);
  Write(table, 0, 100, {"x", "y"});
  ASSERT_OK(database_->Flush("m"));
  ASSERT_OK(table->ReadRow("row1000"));

  DatabaseStatistics statistics = database_->Statistics();

  EXPECT_GT(statistics.storage["m"].loaded_bytes, 20'000u);
  EXPECT_EQ(statistics.storage["m"].loaded_bytes,
            statistics.families["m"]["x"].storage.loaded_bytes +
                statistics.families["m"]["y"].storage.loaded_bytes);
  EXPECT_EQ(statistics.storage["m"].stored_bytes(), statistics.storage["m"].disk_bytes);
  EXPECT_EQ(statistics.owner_storage["ann"].loaded_bytes,
            statistics.families["m"]["x"].storage.loaded_bytes);
}

TEST_F(AccountingTest, PrometheusTextHasTheCharges) {
  Write(table_, 0, 10, {"a"});
  ASSERT_OK(database_->Flush("t"));
  const DatabaseStatistics statistics = database_->Statistics();
  const std::string text = ToPrometheusText(statistics);
  const uint64_t a = statistics.families.at("t").at("a").storage.disk_bytes;
  for (const std::string& line :
       {Cat("bigtable_family_disk_bytes{table=\"t\",family=\"a\"} ", a, "\n"),
        Cat("bigtable_table_disk_bytes{table=\"t\"} ", a, "\n"),
        Cat("bigtable_table_disk_bytes{table=\"METADATA\"} ",
            statistics.metadata_storage.disk_bytes, "\n"),
        Cat("bigtable_owner_disk_bytes{owner=\"ann\"} ", a, "\n"),
        std::string("bigtable_owner_memtable_bytes{owner=\"bob\"} 0\n")}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

TEST_F(AccountingTest, ChargesStayExactThroughRandomChanges) {
  ForEachSeed(kSlow ? 2 : 6, [&](uint64_t seed) {
    Random random(seed);
    const std::string families[] = {"a", "b", "c", "d"};
    for (int step = 0; step < 12; ++step) {
      const int row = static_cast<int>(random.Below(900));
      switch (random.Below(5)) {
        case 0:
          ASSERT_OK(database_->Compact("t"));
          break;
        case 1:
          (void)database_->SplitTablet("t", Cat("row", 1000 + row));
          break;
        case 2:
          ASSERT_OK(table_->DropRowRange(
              RowRange::RightOpen(Cat("row", 1000 + row), Cat("row", 1050 + row))));
          break;
        default:
          Write(table_, row, row + 30, {families[random.Below(4)], families[random.Below(4)]},
                random.Below(300));
      }
    }
    ASSERT_OK(database_->Flush("t"));
    ASSERT_OK(database_->WaitUntilQuiet());
    ExpectExact();
    EXPECT_EQ(OfTable().memtable_bytes, 0u);
  });
}

TEST(ApportionTest, PartsAddUpAndAreNearTheirShares) {
  EXPECT_EQ(Apportion(10, {1, 1, 1}), std::vector<uint64_t>({3, 3, 4}));
  EXPECT_EQ(Apportion(10, {0, 5, 0}), std::vector<uint64_t>({0, 10, 0}));
  EXPECT_EQ(Apportion(UINT64_MAX, {UINT64_MAX / 2, UINT64_MAX / 2}),
            std::vector<uint64_t>({UINT64_MAX / 2, UINT64_MAX / 2 + 1}));
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const uint64_t total = random.Below(1'000'000);
    std::vector<uint64_t> weights(1 + random.Below(9));
    for (uint64_t& weight : weights) weight = random.Below(1000);
    weights[0] += 1;
    double sum = 0;
    for (const uint64_t weight : weights) sum += static_cast<double>(weight);
    const std::vector<uint64_t> parts = Apportion(total, weights);
    uint64_t all = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      all += parts[i];
      EXPECT_NEAR(static_cast<double>(parts[i]),
                  static_cast<double>(total) * static_cast<double>(weights[i]) / sum, 1.0001);
    }
    EXPECT_EQ(all, total);
  }
}

}  // namespace
}  // namespace bigtable
