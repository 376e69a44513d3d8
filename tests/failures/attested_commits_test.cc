// Once a flush has removed its log, METADATA's record of the flush is the only trace of the flushed
// data. Damage to this record is an error, even if it is the last record of METADATA's log.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class AttestedCommitsTest : public TabletsFixture {
 protected:
  static constexpr int kRows = 60;

  DatabaseOptions SmallLogs() {
    DatabaseOptions options = WithServers(1);
    options.log_segment_size = 64 << 10;
    return options;
  }
  static std::string Value(std::string_view word) {
    return std::string(word) + std::string(4000, '.');
  }
  // Every row has the value, or reading it is an error.
  void ExpectRightOrDataLoss(const std::string& value) {
    const absl::StatusOr<Table*> table = database_->OpenTable("t");
    if (!table.ok()) {
      EXPECT_STATUS(kDataLoss, "", table.status());
      return;
    }
    int rows = 0;
    RowReader reader = (*table)->ReadRows(RowRange::All());
    for (const Row& row : reader) {
      ASSERT_EQ(row.cells().size(), 1u);
      ASSERT_EQ(row.cells()[0].value.substr(0, 3), value.substr(0, 3)) << row.key();
      ++rows;
    }
    if (reader.status().ok()) {
      EXPECT_EQ(rows, kRows);
    } else {
      EXPECT_STATUS(kDataLoss, "", reader.status());
    }
  }
  // The log files of METADATA's servers, with their last bytes.
  std::vector<std::string> LogFiles() {
    std::vector<std::string> files;
    const std::string logs = Cat(kPath, "/log");
    const absl::StatusOr<std::vector<std::string>> servers = file_system_->ListDirectory(logs);
    EXPECT_OK(servers);
    for (const std::string& server : *servers) {
      if (server.starts_with("server")) continue;
      const auto names = file_system_->ListDirectory(Cat(logs, "/", server));
      EXPECT_OK(names);
      for (const std::string& name : *names) {
        if (name.ends_with(".log")) files.push_back(Cat(logs, "/", server, "/", name));
      }
    }
    return files;
  }
};

TEST_F(AttestedCommitsTest, AFlippedByteInTheLastCommitLosesNothingWithoutAnError) {
  ASSERT_NO_FATAL_FAILURE(Open(SmallLogs()));
  Table* const table = CreateStillTable();
  for (const std::string& value : {Value("old"), Value("new")}) {
    for (int i = 0; i < kRows; ++i) Set(table, RowOf(i), "f:q", 1, value);
    ASSERT_OK(database_->Flush("t"));
  }
  ASSERT_OK(database_->WaitUntilQuiet());
  Kill();
  const std::unique_ptr<InMemoryFileSystem> disk =
      file_system_->CrashClone(1, Unsynced::kEverything);
  int flips = 0;
  for (const std::string& file : LogFiles()) {
    const std::string sound = disk->Contents(file);
    const size_t end = sound.find_last_not_of('\0');
    if (end == std::string::npos) continue;
    for (size_t i = end - std::min<size_t>(end, 1000); i <= end; i += 9) {
      SCOPED_TRACE(Cat(file, " at ", i));
      file_system_ = disk->CrashClone(1, Unsynced::kEverything);
      std::string broken = sound;
      broken[i] = static_cast<char>(broken[i] ^ 0x10);
      file_system_->SetContents(file, broken);
      ++flips;
      DatabaseOptions options = SmallLogs();
      options.file_system = file_system_.get();
      absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
      if (!opened.ok()) {
        EXPECT_STATUS(kDataLoss, "", opened.status());
        continue;
      }
      database_ = *std::move(opened);
      ASSERT_NO_FATAL_FAILURE(ExpectRightOrDataLoss(Value("new")));
      database_.reset();
    }
  }
  EXPECT_GT(flips, 50);
}

}  // namespace
}  // namespace bigtable
