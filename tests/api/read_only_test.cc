// Databases that are opened read-only.
#include <map>
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

class ReadOnlyTest : public DatabaseFixture {
 protected:
  absl::Status TryOpen(const DatabaseOptions& options) {
    return Database::Open(kPath, options).status();
  }
  DatabaseOptions ReadOnly() {
    DatabaseOptions options = Options();
    options.read_only = true;
    return options;
  }
  std::map<std::string, std::string> Files() {
    std::map<std::string, std::string> files;
    for (const std::string& path : file_system_->AllFiles()) {
      files[path] = file_system_->Contents(path);
    }
    return files;
  }
  // A database with one row in an SSTable and one row only in the log.
  void MakeDatabaseWithALog() {
    Open();
    Table* const table = CreateTable("t", {"f"});
    Set(table, "file", "f:q", 1, "v");
    ASSERT_OK(database_->Flush("t"));
    Set(table, "log", "f:q", 1, "v");
    Kill();
  }
};

TEST_F(ReadOnlyTest, ReadsFilesAndLogAndWritesNothing) {
  MakeDatabaseWithALog();
  const std::map<std::string, std::string> before = Files();

  Open(ReadOnly());
  EXPECT_EQ(ShowKeys(OpenTable("t")->ReadRows(RowRange::All())), "file log");
  ASSERT_OK(database_->Close());
  database_.reset();

  const std::map<std::string, std::string> after = Files();
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [path, bytes] : before) {
    ASSERT_TRUE(after.contains(path)) << path;
    EXPECT_TRUE(after.at(path) == bytes) << path;
  }
}

TEST(ReadOnlyOnDiskTest, WritesNothing) {
  const TempDirectory directory;
  {
    ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(directory.database(), TestOptions()));
    TableSchema schema;
    schema.families["f"] = {};
    ASSERT_OK(database->CreateTable("t", schema));
    ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
    ASSERT_OK(table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  }
  const std::map<std::string, std::string> before = directory.Contents();

  for (int i = 0; i < 2; ++i) {
    DatabaseOptions options = TestOptions();
    options.read_only = true;
    ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(directory.database(), options));
    ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
    EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=v");
  }

  EXPECT_TRUE(directory.Contents() == before);
}

TEST_F(ReadOnlyTest, UsersShareADirectoryAndKeepWritersOut) {
  MakeDatabaseWithALog();
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> first, Database::Open(kPath, ReadOnly()));
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> second, Database::Open(kPath, ReadOnly()));

  EXPECT_STATUS(kFailedPrecondition, kPath, TryOpen(Options()));

  first.reset();
  second.reset();
  EXPECT_OK(TryOpen(Options()));
}

TEST_F(ReadOnlyTest, CreatesNothing) {
  EXPECT_STATUS(kNotFound, kPath, TryOpen(ReadOnly()));
  EXPECT_TRUE(file_system_->AllFiles().empty());
}

TEST_F(ReadOnlyTest, RefusesWritesAndChangesOfSchemas) {
  MakeDatabaseWithALog();
  Open(ReadOnly());
  Table* const table = OpenTable("t");
  const RowMutation mutation = RowMutation("r").Set("f:q", "v");

  EXPECT_STATUS(kFailedPrecondition, "read", table->Apply(mutation));
  EXPECT_STATUS(kFailedPrecondition, "read", table->ApplyBatch({mutation})[0]);
  EXPECT_STATUS(kFailedPrecondition, "read", database_->CreateTable("u", TableSchema{}));
  EXPECT_STATUS(kFailedPrecondition, "read", database_->DeleteTable("t"));
  EXPECT_STATUS(kFailedPrecondition, "read", database_->AddFamily("t", "g", {}));
  EXPECT_STATUS(kFailedPrecondition, "read", database_->DropFamily("t", "f"));
  EXPECT_STATUS(kFailedPrecondition, "read", database_->UpdateFamily("t", "f", {}));
  EXPECT_STATUS(kFailedPrecondition, "read", database_->SetLocalityGroup("t", "g", {}));
}

TEST_F(ReadOnlyTest, SnapshotsAndScansWork) {
  MakeDatabaseWithALog();
  Open(ReadOnly());
  ASSERT_OK_AND_ASSIGN(const auto snapshot, database_->TakeSnapshot());

  Scanner scanner(OpenTable("t"), {.snapshot = snapshot});
  EXPECT_EQ(ShowStream(scanner.FetchColumnFamily("f")), "file/f:q@1=v log/f:q@1=v");
  EXPECT_OK(database_->WaitUntilQuiet());
}

}  // namespace
}  // namespace bigtable
