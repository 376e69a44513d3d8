// A database can be opened and closed on a file system on which an open file cannot really be
// unlinked.
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/hiding_file_system.h"
#include "world_fixture.h"

namespace bigtable {
namespace {

class UnlinkTest : public WorldFixture {
 protected:
  DatabaseOptions Options() {
    DatabaseOptions options = SmallOptions();
    options.file_system = &file_system_;
    return options;
  }
  std::unique_ptr<Database> Open() { return WorldFixture::Open("/db", Options()); }
  // The paths of log files.
  std::vector<std::string> LogFiles() const {
    std::vector<std::string> logs = memory_.AllFiles();
    std::erase_if(logs, [](const std::string& path) { return !path.starts_with("/db/log/"); });
    return logs;
  }

  InMemoryFileSystem memory_;
  HidingFileSystem file_system_{&memory_};
};

TEST_F(UnlinkTest, CloseLeavesNoLog) {
  for (int i = 0; i < 3; ++i) {
    std::unique_ptr<Database> database = i == 0 ? Create("/db", Options()) : Open();
    EXPECT_OK(Write(database.get(), Cat("r", i), 2000));
    EXPECT_OK(database->Close());
    EXPECT_EQ(LogFiles(), std::vector<std::string>());
    EXPECT_EQ(*memory_.ListDirectory("/db/log"), std::vector<std::string>());
  }
  std::unique_ptr<Database> database = Open();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Count(database.get(), Cat("r", i), 2000), 2000);
}

TEST_F(UnlinkTest, CloseSucceedsWhileAReaderUsesTheLog) {
  std::unique_ptr<Database> database = Create("/db", Options());
  EXPECT_OK(Write(database.get(), "r", 100));
  {
    const absl::StatusOr<Row> row = OpenTable(database.get())->ReadRow("r5");
    EXPECT_OK(row);
    EXPECT_OK(database->Close());
    EXPECT_EQ(row->cells()[0].value, "r");
    // The next process finds the files that the system has hidden, and ignores them.
    database = Open();
    EXPECT_EQ(Count(database.get(), "r", 100), 100);
    EXPECT_OK(database->Close());
  }
  database = Open();
  EXPECT_OK(database->Close());
  EXPECT_EQ(*memory_.ListDirectory("/db/log"), std::vector<std::string>());
}

TEST_F(UnlinkTest, WithoutMappingsToo) {
  FaultyFileSystem unmapped(&memory_, {.hide_log_mappings = true, .hide_file_mappings = true});
  HidingFileSystem hiding(&unmapped);
  DatabaseOptions options = SmallOptions();
  options.file_system = &hiding;
  std::unique_ptr<Database> database = Create("/db", options);
  EXPECT_OK(Write(database.get(), "r", 2000));
  EXPECT_OK(database->Flush("t"));
  EXPECT_OK(database->Compact("t"));
  EXPECT_OK(Write(database.get(), "s", 2000));
  EXPECT_OK(database->Close());
  EXPECT_EQ(*memory_.ListDirectory("/db/log"), std::vector<std::string>());
  database = WorldFixture::Open("/db", options);
  EXPECT_EQ(Count(database.get(), "r", 2000), 2000);
  EXPECT_EQ(Count(database.get(), "s", 2000), 2000);
}

}  // namespace
}  // namespace bigtable
