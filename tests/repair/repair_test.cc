// RepairDatabase: what is left of a database after damage to each of its files, and what the report
// says of the rest.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "repair/repair_fixture.h"
#include "support/expect_status.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

class RepairTest : public RepairFixture {
 protected:
  struct Damage {
    std::string name;
    std::function<void(InMemoryFileSystem*, const std::string&)> make;
  };
  static std::vector<Damage> Damages() {
    std::vector<Damage> damages;
    const auto flip = [](size_t numerator, size_t denominator, size_t plus) {
      return [=](InMemoryFileSystem* files, const std::string& path) {
        std::string bytes = files->Contents(path);
        if (bytes.empty()) return;
        const size_t at = std::min(bytes.size() * numerator / denominator + plus, bytes.size() - 1);
        bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
        files->SetContents(path, bytes);
      };
    };
    for (const size_t at : {0, 40, 350}) {
      damages.push_back({Cat("byte ", at), flip(0, 1, at)});
    }
    for (const size_t eighth : {4, 6}) {
      damages.push_back({Cat("byte at ", eighth, "/8"), flip(eighth, 8, 0)});
    }
    for (const size_t back : {9, 60, 140, 300}) {
      damages.push_back({Cat("byte ", back, " from the end"),
                         [back](InMemoryFileSystem* files, const std::string& path) {
                           std::string bytes = files->Contents(path);
                           if (bytes.size() < back) return;
                           bytes[bytes.size() - back] ^= 0x01;
                           files->SetContents(path, bytes);
                         }});
    }
    damages.push_back({"cut", [](InMemoryFileSystem* files, const std::string& path) {
                         std::string bytes = files->Contents(path);
                         files->SetContents(path, bytes.substr(0, bytes.size() / 2));
                       }});
    damages.push_back({"removed", [](InMemoryFileSystem* files, const std::string& path) {
                         EXPECT_OK(files->RemoveFile(path));
                       }});
    return damages;
  }
  // Each file in turn, in each way; with a sanitizer, in some of them.
  void TestEachDamage() {
    const std::vector<std::string> paths = FilesOf(*file_system_);
    size_t number = 0;
    for (const std::string& path : paths) {
      for (const Damage& damage : Damages()) {
        if (kSlow && number++ % 4 != 0) continue;
        SCOPED_TRACE(Cat(path, ", ", damage.name));
        const auto files = file_system_->CrashClone(1, Unsynced::kEverything);
        damage.make(files.get(), path);
        const bool differs = BytesOf(*files) != BytesOf(*file_system_);
        ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair(files.get()));
        const Contents repaired =
            ReadRepaired(files.get(), kRepaired, /*changes=*/damage.name == "cut");
        ExpectOnlyLossesOf(report, repaired);
        if (repaired != model_) {
          EXPECT_TRUE(differs);
          // Of a table without rows, no row is missing.
          EXPECT_TRUE(report.has_losses() ||
                      TextOf(report).find("it was empty") != std::string::npos)
              << TextOf(report);
        }
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
  }
  void RemoveAll(std::string_view prefix) {
    for (const std::string& path : FilesOf(*file_system_)) {
      if (path.starts_with(prefix)) {
        ASSERT_OK(file_system_->RemoveFile(path));
      }
    }
  }
};

TEST_F(RepairTest, ADatabaseWithoutDamageStaysAsItIs) {
  for (const bool is_closed : {false, true}) {
    SCOPED_TRACE(is_closed);
    Make();
    is_closed ? CloseIt() : KillIt();
    const auto before = BytesOf(*file_system_);
    ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair(file_system_.get()));
    EXPECT_EQ(TextOf(report), "");
    EXPECT_FALSE(report.is_metadata_lost);
    EXPECT_EQ(report.target, kRepaired);
    EXPECT_GT(report.files_linked, 5u);
    EXPECT_EQ(report.files_rewritten, 0u);
    EXPECT_EQ(report.mutations > 0, !is_closed);
    ASSERT_EQ(report.tables.size(), 3u);
    EXPECT_EQ(report.tables[2].name, "web");
    EXPECT_EQ(report.tables[2].tablets, 3u);
    EXPECT_EQ(BytesOf(*file_system_), before);
    EXPECT_EQ(ReadRepaired(file_system_.get()), model_);
    file_system_ = std::make_unique<InMemoryFileSystem>();
  }
}

TEST_F(RepairTest, DamageToAFileOfADatabaseThatWasNotClosedLosesWhatTheReportSays) {
  Make();
  KillIt();
  TestEachDamage();
}

TEST_F(RepairTest, DamageToAFileOfAClosedDatabaseLosesWhatTheReportSays) {
  Make();
  CloseIt();
  TestEachDamage();
}

TEST_F(RepairTest, WithoutMetadataEverythingIsFoundButIngestedFiles) {
  Make();
  CloseIt();
  RemoveAll("/db/copies/");
  RemoveAll("/db/lockservice/root");
  // All that METADATA has is in its SSTables, which are found; without these as well:
  for (const std::string& path : FilesOf(*file_system_)) {
    if (!path.starts_with("/db/sst/")) continue;
    auto reader = SSTableReader::Open(path, {.file_system = file_system_.get()});
    ASSERT_OK(reader);
    if ((*reader)->info().families.contains("file")) {
      ASSERT_OK(file_system_->RemoveFile(path));
    }
  }
  ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair(file_system_.get()));
  EXPECT_TRUE(report.is_metadata_lost);
  const Contents repaired = ReadRepaired(file_system_.get());
  ExpectOnlyLossesOf(report, repaired);
  EXPECT_EQ(repaired.at({"web", "row01"}), model_.at({"web", "row01"}));
  EXPECT_FALSE(repaired.contains({"web", "row05"}));  // its deletion was found, too
  EXPECT_EQ(repaired.at({"plain", "row02"}), model_.at({"plain", "row02"}));
  EXPECT_TRUE(IsLost(report, "web", "row04"));  // has an ingested cell
  EXPECT_NE(TextOf(report).find("an ingested file"), std::string::npos) << TextOf(report);
}

TEST_F(RepairTest, WithoutTheLockServiceTablesAndFamiliesAreFoundAgain) {
  for (const bool is_closed : {false, true}) {
    SCOPED_TRACE(is_closed);
    Make();
    is_closed ? CloseIt() : KillIt();
    RemoveAll("/db/copies/");
    RemoveAll("/db/lockservice/");
    ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair(file_system_.get()));
    EXPECT_TRUE(report.is_metadata_lost);
    ASSERT_EQ(report.tables.size(), 2u);  // of the empty one there is nothing
    EXPECT_EQ(report.tables[0].name, "plain");
    EXPECT_TRUE(report.tables[0].has_new_schema);
    EXPECT_EQ(report.tables[1].name, "web");
    EXPECT_EQ(report.tables[1].tablets, 3u);  // METADATA's rows were found
    DatabaseOptions options = WithTwoServers();
    options.file_system = file_system_.get();
    ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(kRepaired, options));
    ASSERT_OK_AND_ASSIGN(const TableSchema schema, database->GetSchema("web"));
    EXPECT_EQ(schema.families.at("b").locality_group, "second");
    // What its operator was, nobody knows.
    EXPECT_EQ(schema.families.at("sum").value_operator, "unknown");
    Table* const table = database->OpenTable("web").value();
    EXPECT_EQ(Show(table->ReadRow("row01", Filter::Family("a"))), "a:q@2=web1 a:q@1=web0");
    EXPECT_EQ(Show(table->ReadRow("row04", Filter::Family("a"))), "a:in@7=ingested a:q@1=web0");
    EXPECT_STATUS(kFailedPrecondition, "unknown", table->ReadRow("row01"));
    EXPECT_EQ(Show(database->OpenTable("plain").value()->ReadRow("row02")),
              model_.at({"plain", "row02"}));
    ASSERT_OK(database->Close());
    file_system_ = std::make_unique<InMemoryFileSystem>();
    written_.clear();
  }
}

TEST_F(RepairTest, WithoutLogsWhatWasNotFlushedIsLost) {
  Make();
  KillIt();
  RemoveAll("/db/log/server-");
  ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair(file_system_.get()));
  const Contents repaired = ReadRepaired(file_system_.get());
  EXPECT_EQ(repaired.at({"web", "row01"}), model_.at({"web", "row01"}));
  EXPECT_TRUE(report.has_losses()) << TextOf(report);
}

TEST_F(RepairTest, WithoutSSTablesLogsAreLeft) {
  Make();
  KillIt();
  RemoveAll("/db/sst/");
  ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair(file_system_.get()));
  const Contents repaired = ReadRepaired(file_system_.get());
  EXPECT_TRUE(report.has_losses());
  EXPECT_NE(repaired.at({"web", "row02"}).find("a:q@3=web2"), std::string::npos);
}

TEST_F(RepairTest, RepeatedItGivesTheSame) {
  Make();
  KillIt();
  RemoveAll("/db/copies/");
  RemoveAll("/db/lockservice/root");
  ASSERT_OK(Repair(file_system_.get(), "/one"));
  ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair(file_system_.get(), "/two"));
  EXPECT_EQ(report.target, "/two");
  const Contents one = ReadRepaired(file_system_.get(), "/one");
  EXPECT_EQ(ReadRepaired(file_system_.get(), "/two"), one);
  // A repaired database can be repaired.
  ASSERT_OK(RepairDatabase("/two", {.file_system = file_system_.get()}));
  EXPECT_EQ(ReadRepaired(file_system_.get(), "/two.repaired"), one);
}

TEST_F(RepairTest, RefusesWhatItMustNotTouch) {
  FileSystem* const files = file_system_.get();
  EXPECT_STATUS(kNotFound, "no such directory", Repair(files));
  ASSERT_OK(file_system_->CreateDirectory(kPath));
  EXPECT_STATUS(kNotFound, "nothing of a database", Repair(files));
  EXPECT_FALSE(file_system_->FileExists(kRepaired));
  Make();
  EXPECT_STATUS(kFailedPrecondition, "", Repair(files));
  CloseIt();
  EXPECT_STATUS(kInvalidArgument, "outside", Repair(files, "/db"));
  EXPECT_STATUS(kInvalidArgument, "outside", Repair(files, "/db/repaired/"));
  file_system_->SetContents("/other/file", "something");
  EXPECT_STATUS(kAlreadyExists, "file", Repair(files, "/other"));
  EXPECT_EQ(file_system_->Contents("/other/file"), "something");
  ASSERT_OK(Repair(files));
  EXPECT_STATUS(kAlreadyExists, "", Repair(files));
  Cancellation cancelled;
  cancelled.Cancel();
  EXPECT_STATUS(
      kCancelled, "",
      RepairDatabase(kPath, {.target = "/new", .file_system = files, .cancellation = &cancelled}));
}

}  // namespace
}  // namespace bigtable
