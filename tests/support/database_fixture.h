// A test with a database in memory and a manual clock, and functions that format rows as text.
#ifndef BIGTABLE_TESTS_SUPPORT_DATABASE_FIXTURE_H_
#define BIGTABLE_TESTS_SUPPORT_DATABASE_FIXTURE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "support/expect_status.h"
#include "support/read_mode.h"
#include "support/test_clock.h"

namespace bigtable {

// "f:q@5=v g:@1=w": the cells of a row.
inline std::string Show(const Row& row) {
  std::string text;
  for (const Cell& cell : row.cells()) {
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    Cat(cell.family, ":", absl::CHexEscape(ToAbsl(cell.qualifier)), "@",
                        cell.timestamp.micros(), "=", absl::CHexEscape(ToAbsl(cell.value))));
  }
  return text;
}
inline std::string Show(const absl::StatusOr<Row>& row) {
  return row.ok() ? Show(*row) : std::string(row.status().ToString());
}
// "a b c": the keys of the rows, and the error if there is one.
inline std::string ShowKeys(RowReader reader) {
  std::string text;
  for (const Row& row : reader) {
    absl::StrAppend(&text, text.empty() ? "" : " ", absl::CHexEscape(ToAbsl(row.key())));
  }
  if (!reader.status().ok()) absl::StrAppend(&text, " ", reader.status().ToString());
  return text;
}
// "a/f:q@5=v b/f:q@3=w": the remaining cells of a stream.
inline std::string ShowStream(ScanStream* stream) {
  std::string text;
  for (; !stream->Done(); stream->Next()) {
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    Cat(stream->RowName(), "/", absl::CHexEscape(ToAbsl(stream->ColumnName())), "@",
                        stream->MicroTimestamp(), "=", absl::CHexEscape(ToAbsl(stream->Value()))));
  }
  return text;
}

class DatabaseFixture : public testing::Test {
 protected:
  static constexpr const char* kPath = "/db";

  DatabaseOptions Options() {
    DatabaseOptions options = TestOptions();
    options.memory_budget = 32 << 20;
    options.log_segment_size = 256 << 10;
    options.tablet_servers = 1;  // on every machine
    options.file_system = file_system_.get();
    options.clock = &clock_;
    return options;
  }
  void Open(DatabaseOptions options) {
    options.file_system = file_system_.get();  // Kill() replaces it
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
  }
  void Open() { Open(Options()); }
  void Reopen(const DatabaseOptions& options) {
    ASSERT_OK(database_->Close());
    database_.reset();
    Open(options);
  }
  void Reopen() { Reopen(Options()); }
  // Simulates the death of this process: the next Open() opens a copy of the current files.
  void Kill() {
    std::unique_ptr<InMemoryFileSystem> clone = file_system_->CrashClone(1, Unsynced::kEverything);
    database_.reset();
    file_system_ = std::move(clone);
  }

  // A handle of the currently open database.
  Table* OpenTable(std::string_view name) {
    absl::StatusOr<Table*> table = database_->OpenTable(name);
    EXPECT_OK(table);
    return table.ok() ? *table : nullptr;
  }
  // A new table with these families, all in the default group.
  Table* CreateTable(std::string_view name, const std::vector<std::string>& families) {
    TableSchema schema;
    for (const std::string& family : families) schema.families[family] = {};
    return CreateTable(name, schema);
  }
  Table* CreateTable(std::string_view name, const TableSchema& schema) {
    EXPECT_OK(database_->CreateTable(name, schema));
    return OpenTable(name);
  }
  static void Set(Table* table, std::string_view row, std::string_view column, int64_t timestamp,
                  std::string_view value) {
    EXPECT_OK(table->Apply(RowMutation(row).Set(column, Timestamp(timestamp), value)));
  }

  TestClock clock_{1000};
  std::unique_ptr<InMemoryFileSystem> file_system_ = std::make_unique<InMemoryFileSystem>();
  std::unique_ptr<Database> database_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_DATABASE_FIXTURE_H_
