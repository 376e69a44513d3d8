// A database keeps the directory that it has opened, whatever happens to the path. It writes
// nothing into a directory that another process may have opened.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <unistd.h>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "world_fixture.h"

namespace bigtable {
namespace {

namespace fs = std::filesystem;

class MovedDirectory : public WorldFixture {
 protected:
  MovedDirectory() { EXPECT_EQ(chdir(directory_.path().c_str()), 0); }
  ~MovedDirectory() override { EXPECT_EQ(chdir(before_.c_str()), 0); }

  static void Work(Database* database, std::string_view prefix) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_OK(Write(database, Cat(prefix, i), 50));
      EXPECT_OK(database->Flush("t"));
    }
    EXPECT_OK(database->Compact("t"));
    EXPECT_OK(Write(database, Cat(prefix, 3), 50));
  }
  static void ExpectWork(Database* database, std::string_view prefix) {
    for (int i = 0; i < 4; ++i) EXPECT_EQ(Count(database, Cat(prefix, i), 50), 50);
  }

  const std::string before_ = fs::current_path();
};

TEST_F(MovedDirectory, ARelativePathSurvivesAChangeOfTheWorkingDirectory) {
  fs::create_directory("a");
  fs::create_directory("b");
  ASSERT_EQ(chdir("b"), 0);
  std::unique_ptr<Database> other = Create("db");
  Work(other.get(), "other");
  EXPECT_OK(other->Close());

  ASSERT_EQ(chdir("../a"), 0);
  std::unique_ptr<Database> database = Create("db");
  EXPECT_OK(Write(database.get(), "early", 50));
  ASSERT_EQ(chdir("../b"), 0);  // where "db" is another database
  Work(database.get(), "late");
  EXPECT_OK(database->Close());

  other = Open("db");
  ExpectWork(other.get(), "other");
  EXPECT_EQ(Count(other.get(), "early", 50), 0);
  database = Open("../a/db");
  EXPECT_EQ(Count(database.get(), "early", 50), 50);
  ExpectWork(database.get(), "late");
}

TEST_F(MovedDirectory, ADatabaseFollowsItsRenamedDirectory) {
  const std::string path = directory_.path() + "/db";
  std::unique_ptr<Database> database = Create(path);
  EXPECT_OK(Write(database.get(), "early", 50));
  fs::rename(path, path + ".moved");
  std::unique_ptr<Database> other = Create(path);  // another one at its path

  Work(database.get(), "mine");
  Work(other.get(), "other");
  EXPECT_OK(database->Close());
  EXPECT_OK(other->Close());

  database = Open(path + ".moved");
  EXPECT_EQ(Count(database.get(), "early", 50), 50);
  ExpectWork(database.get(), "mine");
  EXPECT_EQ(Count(database.get(), "other0", 50), 0);
  other = Open(path);
  ExpectWork(other.get(), "other");
  EXPECT_EQ(Count(other.get(), "mine0", 50), 0);
}

TEST_F(MovedDirectory, ARenamedDatabaseCannotBeOpenedTwice) {
  std::unique_ptr<Database> database = Create("db");
  fs::rename("db", "moved");
  EXPECT_STATUS(kFailedPrecondition, "moved/LOCK: lock: held by process",
                Database::Open("moved", SmallOptions()));
}

TEST_F(MovedDirectory, TheInfoLogStaysInTheDirectory) {
  std::unique_ptr<Database> database = Create("db");
  fs::rename("db", "moved");
  EXPECT_OK(database->Close());
  EXPECT_TRUE(fs::exists("moved/LOG"));
  EXPECT_FALSE(fs::exists("db"));
}

TEST_F(MovedDirectory, WhenItsLockFileIsReplacedItStopsWriting) {
  std::unique_ptr<Database> database = Create("db");
  EXPECT_OK(Write(database.get(), "early", 50));
  EXPECT_OK(database->Flush("t"));
  // A careless script does this. Another process can open the database now.
  fs::remove("db/LOCK");
  {
    std::unique_ptr<Database> other = Open("db");
    EXPECT_OK(Write(other.get(), "other", 50));
    EXPECT_OK(other->Flush("t"));
    const auto contents = directory_.Contents();

    // The first one can neither flush memtables nor change METADATA.
    OpenTable(database.get())->Apply(RowMutation("late").Set("f:q", "v")).IgnoreError();
    EXPECT_STATUS(kFailedPrecondition, "db/LOCK: lock: the locked file was removed or replaced",
                  database->Flush("t"));
    TableSchema schema;
    schema.families["f"] = {};
    EXPECT_STATUS(kFailedPrecondition, "db/LOCK", database->CreateTable("u", schema));
    EXPECT_STATUS(kFailedPrecondition, "db/LOCK", database->SplitTablet("t", "m"));
    EXPECT_STATUS(kFailedPrecondition, "db/LOCK", database->Close());
    auto after = directory_.Contents();
    // The info logs may report it.
    for (const auto& [path, bytes] : contents) {
      if (path.find("/LOG") != path.npos) continue;
      EXPECT_EQ(after[path], bytes) << path;
    }
    EXPECT_EQ(after.size(), contents.size());
    EXPECT_OK(other->Close());
  }
  database = Open("db");
  EXPECT_EQ(Count(database.get(), "early", 50), 50);
  EXPECT_EQ(Count(database.get(), "other", 50), 50);
}

TEST_F(MovedDirectory, WhenItsDirectoryIsDeletedItReturnsAnError) {
  std::unique_ptr<Database> database = Create("db");
  EXPECT_OK(Write(database.get(), "early", 50));
  // A log segment that is being made ahead may be renamed, or appear, meanwhile.
  for (int i = 0; i < 1000 && fs::exists("db"); ++i) {
    std::error_code renamed;
    fs::remove_all("db", renamed);
  }
  ASSERT_FALSE(fs::exists("db"));
  std::unique_ptr<Database> other = Create("db");
  EXPECT_OK(Write(other.get(), "other", 50));
  EXPECT_STATUS(kFailedPrecondition, "db/LOCK: lock: the locked file was removed or replaced",
                database->Flush("t"));
  EXPECT_STATUS(kFailedPrecondition, "db/LOCK", database->Close());
  EXPECT_EQ(Count(other.get(), "other", 50), 50);
  EXPECT_OK(other->Flush("t"));
  EXPECT_OK(other->Close());
  other = Open("db");
  EXPECT_EQ(Count(other.get(), "other", 50), 50);
}

}  // namespace
}  // namespace bigtable
