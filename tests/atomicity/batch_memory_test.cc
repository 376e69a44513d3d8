// Batches over several servers when there is no memory to log them: std::bad_alloc on the way to
// the logs.
#include <memory>
#include <new>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/file_system_wrapper.h"

#include "support/expect_status.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

// The threads for which a new log file finds no memory. Not all, because the background work needs
// log files, too.
thread_local bool has_no_memory_for_logs = false;

class NoMemoryForLogsOfSome final : public FileSystemWrapper {
 public:
  explicit NoMemoryForLogsOfSome(FileSystem* base) : FileSystemWrapper(base) {}

  absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                      uint64_t size) override {
    if (has_no_memory_for_logs) throw std::bad_alloc();
    return FileSystemWrapper::NewLogFile(path, size);
  }
};

class BatchMemoryTest : public TabletsFixture {
 protected:
  void SetUp() override {
    no_memory_ = std::make_unique<NoMemoryForLogsOfSome>(file_system_.get());
    DatabaseOptions options = WithServers(3);
    options.file_system = no_memory_.get();
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
    table_ = CreateSplitTable("t", 4, 10);
  }
  void TearDown() override { database_.reset(); }
  // A row of each tablet. The last one needs a new segment of its log if it is large.
  absl::Status WriteBatchOf(std::string_view value, size_t size) {
    WriteBatch batch;
    for (const int row : {1, 11, 21, 31}) {
      batch.Apply(table_, RowMutation(RowOf(row)).Set("f:q", Timestamp(1), value));
    }
    if (size > 0) {
      batch.Apply(table_, RowMutation(RowOf(31)).Set("f:r", Timestamp(1), std::string(size, 'v')));
    }
    return database_->Apply(batch);
  }

  std::unique_ptr<NoMemoryForLogsOfSome> no_memory_;
  Table* table_ = nullptr;
};

TEST_F(BatchMemoryTest, ABatchThatCannotBeLoggedIsRefusedAndLaterOnesGoOn) {
  ASSERT_OK(WriteBatchOf("a", 0));
  has_no_memory_for_logs = true;
  EXPECT_STATUS(kResourceExhausted, "no memory", WriteBatchOf("b", 600'000));
  EXPECT_OK(WriteBatchOf("c", 0));
  has_no_memory_for_logs = false;
  for (const int row : {1, 11, 21, 31}) {
    EXPECT_EQ(Show(table_->ReadRow(RowOf(row))), "f:q@1=c");
  }
  EXPECT_OK(WriteBatchOf("d", 600'000));
}

}  // namespace
}  // namespace bigtable
