// A wrapper changes only what it overrides, and a database works on it.
#include "bigtable/file_system_wrapper.h"

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

using testing::ElementsAre;

TEST(FileSystemWrapperTest, PassesEachCallOn) {
  InMemoryFileSystem memory;
  FaultyFileSystem counted(&memory);
  FileSystemWrapper wrapper(&counted);
  // The calls that reach the base, and that each of these made one.
  uint64_t calls = 0;
  const auto expect_one_more = [&](const char* what) {
    EXPECT_GT(counted.calls(), calls) << what;
    calls = counted.calls();
  };
  counted.CountCalls();
  ASSERT_OK(wrapper.CreateDirectory("/d"));
  expect_one_more("CreateDirectory");
  ASSERT_OK_AND_ASSIGN(auto file, wrapper.NewWritableFile("/d/a"));
  expect_one_more("NewWritableFile");
  ASSERT_OK(file->Append("text"));
  ASSERT_OK(file->Close());
  calls = counted.calls();
  ASSERT_OK(wrapper.SyncFile("/d/a"));
  expect_one_more("SyncFile");
  ASSERT_OK(wrapper.RenameFile("/d/a", "/d/b"));
  expect_one_more("RenameFile");
  ASSERT_OK(wrapper.LinkFile("/d/b", "/d/c"));
  expect_one_more("LinkFile");
  ASSERT_OK(wrapper.RemoveFile("/d/c"));
  expect_one_more("RemoveFile");
  ASSERT_OK(wrapper.SyncDirectory("/d"));
  expect_one_more("SyncDirectory");
  ASSERT_OK_AND_ASSIGN(const std::string text, wrapper.ReadFile("/d/b"));
  EXPECT_EQ(text, "text");
  expect_one_more("ReadFile");
  ASSERT_OK_AND_ASSIGN(const uint64_t size, wrapper.FileSize("/d/b"));
  EXPECT_EQ(size, 4u);
  expect_one_more("FileSize");
  EXPECT_TRUE(wrapper.FileExists("/d/b"));
  EXPECT_FALSE(wrapper.FileExists("/d/a"));
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> names, wrapper.ListDirectory("/d"));
  EXPECT_THAT(names, ElementsAre("b"));
  expect_one_more("ListDirectory");
  ASSERT_OK_AND_ASSIGN(const auto read,
                       wrapper.NewRandomAccessFile("/d/b", FileSystem::ReadMode::kPositional));
  EXPECT_EQ(read->size(), 4u);
  expect_one_more("NewRandomAccessFile");
  ASSERT_OK_AND_ASSIGN(const auto log, wrapper.NewLogFile("/d/log", 4096));
  EXPECT_EQ(log->size(), 4096u);
  expect_one_more("NewLogFile");
  ASSERT_OK_AND_ASSIGN(auto lock, wrapper.LockFile("/d/lock", FileSystem::LockMode::kExclusive));
  EXPECT_STATUS(kFailedPrecondition, "/d/lock",
                memory.LockFile("/d/lock", FileSystem::LockMode::kShared).status());
  lock.reset();
  for (const char* name : {"/d/b", "/d/log", "/d/lock"}) ASSERT_OK(wrapper.RemoveFile(name));
  calls = counted.calls();
  ASSERT_OK(wrapper.RemoveDirectory("/d"));
  expect_one_more("RemoveDirectory");
  EXPECT_FALSE(memory.FileExists("/d"));
}

// What it returned would go around the derived class.
TEST(FileSystemWrapperTest, DoesNotPassOnTheHoldingOfADirectory) {
  FileSystemWrapper wrapper(FileSystem::Posix());
  ASSERT_OK_AND_ASSIGN(const auto held, wrapper.HoldDirectory("/"));
  EXPECT_EQ(held, nullptr);
}

class SyncCounter final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  absl::Status SyncDirectory(std::string_view path) override {
    ++syncs;
    return FileSystemWrapper::SyncDirectory(path);
  }
  std::atomic<int> syncs = 0;
};

TEST(FileSystemWrapperTest, ADatabaseIsWrittenThroughAWrapper) {
  InMemoryFileSystem memory;
  SyncCounter counter(&memory);
  DatabaseOptions options;
  options.file_system = &counter;
  {
    ASSERT_OK_AND_ASSIGN(const auto database, Database::Open("/db", options));
    TableSchema schema;
    schema.families["f"];
    ASSERT_OK_AND_ASSIGN(Table* const table, database->OpenOrCreateTable("t", schema));
    ASSERT_OK(table->Apply(RowMutation("row").Set("f:q", "value")));
    ASSERT_OK(database->Close());
  }
  EXPECT_GT(counter.syncs, 0);
  options.file_system = &memory;
  ASSERT_OK_AND_ASSIGN(const auto database, Database::Open("/db", options));
  ASSERT_OK_AND_ASSIGN(Table* const table, database->OpenTable("t"));
  ASSERT_OK_AND_ASSIGN(const auto row, table->ReadRow("row"));
  EXPECT_EQ(row.cells().front().value, "value");
}

}  // namespace
}  // namespace bigtable
