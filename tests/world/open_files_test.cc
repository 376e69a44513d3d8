// Databases with more SSTables than the process may have file descriptors.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"

#include "support/scoped_shortcuts.h"
#include "world_fixture.h"

namespace bigtable {
namespace {

// A table "t" whose files are not compacted unless a test requests it.
class ManyFiles {
 public:
  static constexpr int kRows = 4;  // of each file
  static constexpr size_t kValueSize = 2000;

  static DatabaseOptions Options() {
    DatabaseOptions options;
    options.memory_budget = 16 << 20;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = 2;
    options.read_mode = FileSystem::ReadMode::kPositional;
    return options;
  }
  static absl::Status CreateTable(Database* database) {
    TableSchema schema;
    schema.locality_groups["g"].compaction = CompactionStyle::kNone;
    schema.locality_groups["g"].block_size = 1024;
    schema.families["f"].locality_group = "g";
    return database->CreateTable("t", schema);
  }
  static std::string RowOf(int file, int row) { return Cat(row, "-", file); }
  static std::string ValueOf(int file) {
    return std::string(kValueSize, static_cast<char>('a' + file % 26));
  }
  // Writes files [first, end).
  static absl::Status Write(Database* database, int first, int end) {
    auto table = database->OpenTable("t");
    if (!table.ok()) return table.status();
    for (int file = first; file < end; ++file) {
      for (int row = 0; row < kRows; ++row) {
        const absl::Status written =
            (*table)->Apply(RowMutation(RowOf(file, row)).Set("f:q", ValueOf(file)));
        if (!written.ok()) return written;
      }
      const absl::Status flushed = database->Flush("t");
      if (!flushed.ok()) return flushed;
    }
    return absl::OkStatus();
  }
  // Reads all rows of files [first, end), from the files rather than from the cache.
  static absl::Status Read(Database* database, int first, int end) {
    auto table = database->OpenTable("t");
    if (!table.ok()) return table.status();
    for (int file = first; file < end; ++file) {
      for (int row = 0; row < kRows; ++row) {
        const auto found = (*table)->ReadRow(RowOf(file, row), Filter(), {.fill_cache = false});
        if (!found.ok()) return found.status();
        if (found->cells().size() != 1 || found->cells()[0].value != ValueOf(file)) {
          return absl::InternalError(
              Cat("row ", RowOf(file, row), " differs from the row that was written"));
        }
      }
    }
    return absl::OkStatus();
  }
  // The same by four threads, each of which reads everything.
  static bool ReadByFour(Database* database, int files) {
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        // Each thread begins at a different file.
        const int middle = files * t / 4;
        absl::Status status = Read(database, middle, files);
        if (status.ok()) status = Read(database, 0, middle);
        if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.ToString()).c_str());
        good += status.ok() ? 1 : 0;
      });
    }
    for (std::thread& thread : threads) thread.join();
    return good == 4;
  }
  // Descriptors of this process for SSTables.
  static int OpenSSTables() {
    int count = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
      count += target.find(".sst") != std::string::npos ? 1 : 0;
    }
    return count;
  }
  static uint64_t Files(Database* database) {
    return database->Statistics().tables["t"]["g"].files;
  }
};

class OpenFilesTest : public WorldFixture {
 protected:
  static void LimitDescriptors(uint64_t limit) {
    struct rlimit both = {limit, limit};
    setrlimit(RLIMIT_NOFILE, &both);
  }
  int FilesOnDisk() const {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.database())) {
      count += entry.path().extension() == ".sst" ? 1 : 0;
    }
    return count;
  }
};

bool IsGood(const absl::Status& status) {
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.ToString()).c_str());
  return status.ok();
}

TEST_F(OpenFilesTest, AProcessOpensItsDatabaseWithFewDescriptors) {
  constexpr int kFiles = 400;
  for (const uint64_t limit : {80, 128}) {
    std::filesystem::remove_all(directory_.database());
    EXPECT_TRUE(InChild([&] {
      alarm(120);
      LimitDescriptors(limit);
      {
        auto database = Database::Open(directory_.database(), ManyFiles::Options());
        if (!IsGood(database.status()) || !IsGood(ManyFiles::CreateTable(database->get())) ||
            !IsGood(ManyFiles::Write(database->get(), 0, kFiles)) ||
            ManyFiles::Files(database->get()) != kFiles || !IsGood((*database)->Close())) {
          return false;
        }
      }
      auto database = Database::Open(directory_.database(), ManyFiles::Options());
      if (!IsGood(database.status()) || !ManyFiles::ReadByFour(database->get(), kFiles)) {
        return false;
      }
      if (ManyFiles::OpenSSTables() > static_cast<int>(limit) / 2 + 4) return false;
      // The table can also be compacted.
      return IsGood((*database)->Compact("t")) &&
             IsGood(ManyFiles::Read(database->get(), 0, kFiles)) && IsGood((*database)->Close());
    })) << "limit "
        << limit;
  }
}

TEST_F(OpenFilesTest, NoMoreFilesAreOpenThanTheOptionAllows) {
  constexpr int kFiles = 100;
  constexpr int kMost = 10;
  DatabaseOptions options = ManyFiles::Options();
  options.max_open_files = kMost;
  std::unique_ptr<Database> database = Open(directory_.database(), options);
  ASSERT_OK(ManyFiles::CreateTable(database.get()));
  EXPECT_OK(ManyFiles::Write(database.get(), 0, kFiles));
  EXPECT_LE(ManyFiles::OpenSSTables(), kMost);
  std::atomic<bool> done{false};
  int most = 0;
  std::thread watcher([&] {
    while (!done.load()) most = std::max(most, ManyFiles::OpenSSTables());
  });
  EXPECT_TRUE(ManyFiles::ReadByFour(database.get(), kFiles));
  done.store(true);
  watcher.join();
  EXPECT_LE(most, kMost + 4);
  const DatabaseStatistics statistics = database->Statistics();
  EXPECT_LE(statistics.open_files, uint64_t{kMost});
  EXPECT_GT(statistics.file_reopens, uint64_t{kFiles});
  EXPECT_OK(database->Close());
  EXPECT_EQ(ManyFiles::OpenSSTables(), 0);
}

TEST_F(OpenFilesTest, AScannerContinuesAfterACompactionHasRemovedItsFiles) {
  constexpr int kFiles = 60;
  DatabaseOptions options = ManyFiles::Options();
  options.max_open_files = 8;
  std::unique_ptr<Database> database = Open(directory_.database(), options);
  ASSERT_OK(ManyFiles::CreateTable(database.get()));
  EXPECT_OK(ManyFiles::Write(database.get(), 0, kFiles));
  database.reset();
  database = Open(directory_.database(), options);  // so that no file has been used
  {
    Scanner scanner(OpenTable(database.get()), {.fill_cache = false});
    ScanStream* const stream = scanner.FetchColumnFamily("f");
    int found = 0;
    for (; !stream->Done() && found < kFiles / 2; stream->Next()) ++found;
    EXPECT_EQ(found, kFiles / 2);
    EXPECT_OK(database->Compact("t"));
    EXPECT_EQ(ManyFiles::Files(database.get()), 1u);
    for (; !stream->Done(); stream->Next()) ++found;
    EXPECT_OK(scanner.status());
    EXPECT_EQ(found, kFiles * ManyFiles::kRows);
    EXPECT_LE(ManyFiles::OpenSSTables(), 9);
    // Most of them could not be kept open, so they still have their names.
    EXPECT_GT(FilesOnDisk(), kFiles / 2);
  }
  EXPECT_LT(FilesOnDisk(), 20);
  EXPECT_OK(ManyFiles::Read(database.get(), 0, kFiles));
}

TEST_F(OpenFilesTest, FilesOfAScannerAreRemovedWhenTheDatabaseIsClosed) {
  constexpr int kFiles = 40;
  DatabaseOptions options = ManyFiles::Options();
  options.max_open_files = 8;
  std::unique_ptr<Database> database = Open(directory_.database(), options);
  ASSERT_OK(ManyFiles::CreateTable(database.get()));
  EXPECT_OK(ManyFiles::Write(database.get(), 0, kFiles));
  Scanner scanner(OpenTable(database.get()), {.fill_cache = false});
  ScanStream* const stream = scanner.FetchColumnFamily("f");
  EXPECT_FALSE(stream->Done());
  const absl::StatusOr<Row> row = OpenTable(database.get())->ReadRow(ManyFiles::RowOf(7, 1));
  EXPECT_OK(row);
  EXPECT_OK(database->Compact("t"));
  EXPECT_GT(FilesOnDisk(), kFiles / 2);
  EXPECT_OK(database->Close());
  EXPECT_LT(FilesOnDisk(), 20);
  EXPECT_EQ(ManyFiles::OpenSSTables(), 0);
  EXPECT_EQ(row->cells()[0].value, ManyFiles::ValueOf(7));
  while (!stream->Done()) stream->Next();
  EXPECT_EQ(scanner.status().code(), absl::StatusCode::kFailedPrecondition);
  database = Open(directory_.database(), options);
  EXPECT_OK(ManyFiles::Read(database.get(), 0, kFiles));
}

TEST_F(OpenFilesTest, AFileThatWasRemovedByOthersIsDataLoss) {
  constexpr int kFiles = 40;
  DatabaseOptions options = ManyFiles::Options();
  options.max_open_files = 8;
  std::unique_ptr<Database> database = Open(directory_.database(), options);
  ASSERT_OK(ManyFiles::CreateTable(database.get()));
  EXPECT_OK(ManyFiles::Write(database.get(), 0, kFiles));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.database())) {
    if (entry.path().extension() == ".sst") std::filesystem::remove(entry.path());
  }
  const absl::Status status = ManyFiles::Read(database.get(), 0, kFiles);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_NE(status.message().find(".sst"), std::string::npos) << status;
}

TEST_F(OpenFilesTest, OpeningADatabaseOpensNoSSTableOfATableThatIsNotRead) {
  constexpr int kFiles = 100;
  {
    std::unique_ptr<Database> database = Open(directory_.database(), ManyFiles::Options());
    ASSERT_OK(ManyFiles::CreateTable(database.get()));
    EXPECT_OK(ManyFiles::Write(database.get(), 0, kFiles));
    EXPECT_OK(database->Close());
  }
  FaultyFileSystem counting(FileSystem::Posix());
  counting.CountCalls({.kinds = {FileCall::kNewRandomAccessFile}, .path_contains = ".sst"});
  DatabaseOptions options = ManyFiles::Options();
  options.file_system = &counting;
  std::unique_ptr<Database> database = Open(directory_.database(), options);
  EXPECT_EQ(ManyFiles::Files(database.get()), uint64_t{kFiles});
  const uint64_t opened = counting.calls();
  EXPECT_LT(opened, 20u);  // METADATA's
  EXPECT_OK(ManyFiles::Read(database.get(), 0, 1));
  EXPECT_GT(counting.calls(), opened);
  EXPECT_OK(ManyFiles::Read(database.get(), 0, kFiles));
  EXPECT_LE(counting.calls(), opened + kFiles);
  EXPECT_OK(database->Close());
}

TEST_F(OpenFilesTest, ADamagedFileIsAnErrorOfReadsThatNeedIt) {
  constexpr int kFiles = 5;
  {
    std::unique_ptr<Database> database = Open(directory_.database(), ManyFiles::Options());
    ASSERT_OK(ManyFiles::CreateTable(database.get()));
    EXPECT_OK(ManyFiles::Write(database.get(), 0, kFiles));
    EXPECT_OK(database->Close());
  }
  // The footer of the table's last file, which is the newest that is this large.
  std::string damaged;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.database())) {
    if (entry.path().extension() == ".sst" && entry.file_size() > ManyFiles::kRows * 2000) {
      damaged = std::max(damaged, entry.path().string());
    }
  }
  ASSERT_NE(damaged, "");
  {
    std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('x');
  }
  std::unique_ptr<Database> database = Open(directory_.database(), ManyFiles::Options());
  const absl::Status status = ManyFiles::Read(database.get(), kFiles - 1, kFiles);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_NE(status.message().find(damaged.substr(damaged.rfind('/'))), std::string::npos);
  // The file is not needed for a row that is before all of its keys.
  const ScopedShortcutsOn on;
  EXPECT_OK(OpenTable(database.get())->ReadRow("0"));
  EXPECT_OK(ManyFiles::Write(database.get(), kFiles, kFiles + 1));
  EXPECT_EQ(database->Compact("t").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(database->Statistics().quarantined_files.size(), 1u);
}

// Without a child, for ThreadSanitizer.
TEST(OpenFilesConcurrencyTest, ConcurrentReadsFlushesAndCompactionsShareFewDescriptors) {
  constexpr int kFiles = 40;
  const TempDirectory directory(TempDirectory::Where::kMemory);
  DatabaseOptions options = ManyFiles::Options();
  options.max_open_files = 8;
  auto opened = Database::Open(directory.database(), options);
  ASSERT_OK(opened);
  Database* const database = opened->get();
  ASSERT_OK(ManyFiles::CreateTable(database));
  ASSERT_OK(ManyFiles::Write(database, 0, kFiles));
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!done.load()) EXPECT_OK(ManyFiles::Read(database, 0, kFiles));
    });
  }
  readers.emplace_back([&] {
    while (!done.load()) {
      auto table = database->OpenTable("t");
      Scanner scanner(*table, {.fill_cache = false});
      ScanStream* const stream = scanner.FetchColumnFamily("f");
      int found = 0;
      for (; !stream->Done(); stream->Next()) ++found;
      EXPECT_OK(scanner.status());
      EXPECT_GE(found, kFiles * ManyFiles::kRows);
    }
  });
  for (int round = 1; round <= 4; ++round) {
    EXPECT_OK(ManyFiles::Write(database, kFiles * round, kFiles * round + 10));
    EXPECT_OK(database->Compact("t"));
  }
  done.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_LE(database->Statistics().open_files, 8u);
}

}  // namespace
}  // namespace bigtable
