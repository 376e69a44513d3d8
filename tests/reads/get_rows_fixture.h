// A database with a table of numbered rows, whose GetRows is compared with ReadRow of each row: on
// a real file system that is mapped, with pages that seem to have been dropped, and in memory with
// positional reads; with and without requests ahead of the reads.
#ifndef BIGTABLE_TESTS_READS_GET_ROWS_FIXTURE_H_
#define BIGTABLE_TESTS_READS_GET_ROWS_FIXTURE_H_

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "reads/file_call_recorder.h"
#include "support/database_fixture.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"
#include "support/temp_directory.h"
#include "support/test_clock.h"

namespace bigtable {

enum class Disk {
  kMapped,      // the real file system
  kCold,        // the same, where nothing seems to be in memory
  kPositional,  // in memory
};

inline std::string Name(Disk disk) {
  return disk == Disk::kMapped ? "Mapped" : disk == Disk::kCold ? "Cold" : "Positional";
}

// The parameters: the disk, and whether Shortcut::kRequests is on.
class GetRowsFixture : public testing::TestWithParam<std::tuple<Disk, bool>> {
 protected:
  static constexpr int kRows = 200;

  void SetUp() override {
    const Disk disk = std::get<0>(GetParam());
    FileSystem* base = &memory_;
    path_ = "/db";
    if (disk != Disk::kPositional) {
      directory_ = std::make_unique<TempDirectory>(TempDirectory::Where::kMemory);
      path_ = directory_->database();
      base = FileSystem::Posix();
    }
    recorder_ = std::make_unique<FileCallRecorder>(base);
    recorder_->SetCold(disk == Disk::kCold);
    faulty_ = std::make_unique<FaultyFileSystem>(recorder_.get());
    ASSERT_NO_FATAL_FAILURE(Open());
  }
  void TearDown() override {
    database_.reset();
    faulty_.reset();
  }

  DatabaseOptions Options() {
    DatabaseOptions options;
    options.memory_budget = 32 << 20;
    options.log_segment_size = 256 << 10;
    options.tablet_servers = 2;
    options.balance_interval = absl::InfiniteDuration();
    options.read_mode = std::get<0>(GetParam()) == Disk::kPositional
                            ? FileSystem::ReadMode::kPositional
                            : FileSystem::ReadMode::kMapped;
    options.file_system = faulty_.get();
    options.clock = &clock_;
    return options;
  }
  void Open() {
    auto opened = Database::Open(path_, Options());
    ASSERT_OK(opened);
    database_ = *std::move(opened);
  }
  // The caches are empty, and no file is open.
  void Reopen() {
    ASSERT_OK(database_->Close());
    database_.reset();
    ASSERT_NO_FATAL_FAILURE(Open());
    table_ = OpenTable();
  }

  Table* OpenTable() {
    const absl::StatusOr<Table*> table = database_->OpenTable("t");
    EXPECT_OK(table);
    return table.ok() ? *table : nullptr;
  }
  // Families "f" to "h" in groups that read their files in different ways. Files are merged on
  // request only.
  static TableSchema Schema() {
    TableSchema schema;
    schema.locality_groups["plain"] = {.block_size = 1 << 10, .compaction = CompactionStyle::kNone};
    schema.locality_groups["packed"] = {.compression = Compression::kZstd,
                                        .block_size = 1 << 10,
                                        .filter = FilterKind::kRowIndex,
                                        .compaction = CompactionStyle::kNone};
    schema.locality_groups["loaded"] = {.filter = FilterKind::kRowAndColumn,
                                        .in_memory = true,
                                        .compaction = CompactionStyle::kNone};
    schema.families["f"] = {.locality_group = "plain"};
    schema.families["g"] = {.locality_group = "packed"};
    schema.families["h"] = {.locality_group = "loaded"};
    schema.split.tablet_size = schema.split.merge_size = 0;
    return schema;
  }
  void CreateTable(const std::vector<std::string>& split_rows = {}) {
    ASSERT_OK(database_->CreateTable("t", Schema(), {.split_rows = split_rows}));
    table_ = OpenTable();
  }
  static std::string RowOf(int i) { return absl::StrFormat("row%05d", i); }
  // The value in f of row i is `value` and the number, and then bytes that fill a block with a few
  // rows.
  static std::string ValueOf(std::string_view value, int i) {
    return Cat(value, i, std::string(200, '.'));
  }
  // Writes every third row of each family, from a different one on.
  void Fill(int begin, int end, int64_t timestamp, const std::string& value) {
    std::vector<RowMutation> mutations;
    for (int i = begin; i < end; ++i) {
      RowMutation& mutation = mutations.emplace_back(RowOf(i));
      mutation.Set("f:q", Timestamp(timestamp), ValueOf(value, i));
      if (i % 3 == 0) mutation.Set("g:q", Timestamp(timestamp), value);
      if (i % 3 == 1) mutation.Set("h:q", Timestamp(timestamp), value);
    }
    for (const absl::Status& status : table_->ApplyBatch(mutations)) ASSERT_OK(status);
  }
  // Rows 0 to kRows, of which the odd ones beyond 100 are absent, in a random order.
  std::vector<std::string> RandomRows() {
    std::vector<std::string> rows;
    for (int i = 0; i < kRows; ++i) rows.push_back(i > 100 && i % 2 == 1 ? Absent(i) : RowOf(i));
    for (size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random_.Below(i)]);
    return rows;
  }
  static std::string Absent(int i) { return RowOf(i) + "x"; }

  static std::vector<std::string_view> Views(const std::vector<std::string>& rows) {
    return {rows.begin(), rows.end()};
  }
  static std::string Text(const absl::StatusOr<Row>& row) {
    if (!row.ok()) return std::string(row.status().ToString());
    return Cat(absl::CHexEscape(ToAbsl(row->key())), ": ", Show(*row));
  }
  std::vector<absl::StatusOr<Row>> GetRows(const std::vector<std::string>& rows,
                                           const Filter& filter = {},
                                           const ReadOptions& options = {}) {
    return table_->GetRows(Views(rows), filter, options);
  }
  // GetRows is first: the reads of single rows would leave it nothing to request.
  void ExpectAsReadRow(const std::vector<std::string>& rows, const Filter& filter = {},
                       const ReadOptions& options = {}) {
    const std::vector<absl::StatusOr<Row>> found = GetRows(rows, filter, options);
    ASSERT_EQ(found.size(), rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(Text(found[i]), Text(table_->ReadRow(rows[i], filter, options))) << i;
    }
  }
  // Each row that `has_row` names has the value that Fill wrote, the others have no cells.
  template <typename HasRow>
  void ExpectValues(const std::vector<std::string>& rows, std::string_view value, HasRow has_row) {
    const std::vector<absl::StatusOr<Row>> found = GetRows(rows, Filter::Family("f"));
    ASSERT_EQ(found.size(), rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      ASSERT_OK(found[i]);
      ASSERT_EQ(found[i]->key(), rows[i]);
      if (!has_row(rows[i])) {
        ASSERT_TRUE(found[i]->empty()) << rows[i];
        continue;
      }
      const int number = std::stoi(rows[i].substr(3));
      ASSERT_EQ(found[i]->cells().size(), 1u) << rows[i];
      ASSERT_EQ(found[i]->cells()[0].value, ValueOf(value, number)) << rows[i];
    }
  }

  TestClock clock_{1000};
  InMemoryFileSystem memory_;
  std::unique_ptr<TempDirectory> directory_;
  std::string path_;
  std::unique_ptr<FileCallRecorder> recorder_;
  std::unique_ptr<FaultyFileSystem> faulty_;
  const ScopedShortcuts shortcuts_{
      std::get<1>(GetParam()) ? 0 : ScopedShortcuts::Bit(Shortcut::kRequests)};
  Random random_{1};
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_READS_GET_ROWS_FIXTURE_H_
