// A test with a database of two servers, backups of it on a disk of their own, and restored
// databases beside them.
#ifndef BIGTABLE_TESTS_TRANSFER_BACKUPS_FIXTURE_H_
#define BIGTABLE_TESTS_TRANSFER_BACKUPS_FIXTURE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/expect_status.h"
#include "support/tablets_fixture.h"

namespace bigtable {

class BackupsFixture : public TabletsFixture {
 protected:
  static constexpr const char* kBackups = "/backups";
  static constexpr const char* kRestored = "/restored";

  void SetUp() override {
    DatabaseOptions options = Options();
    options.tablet_servers = 2;
    Open(options);
    OpenBackups();
  }
  void TearDown() override {
    backups_.reset();
    database_.reset();
  }
  // Backups and restored databases are on another file system than the database.
  void OpenBackups() {
    backups_.reset();
    absl::StatusOr<std::unique_ptr<BackupEngine>> opened = BackupEngine::Open(kBackups, &faulty_);
    ASSERT_OK(opened);
    backups_ = *std::move(opened);
  }
  void FillTables() {
    Table* const rows = CreateSplitTable("rows", 3, 10);
    Fill(rows, 0, 30);
    ASSERT_OK(database_->Flush("rows"));
    ASSERT_OK(database_->SplitTablet("rows", RowOf(15)));
    Fill(rows, 10, 20, "second");
    Table* const other = CreateTable("other", {"f"});
    Set(other, "r", "f:q", 1, "v");
  }
  BackupInfo Create(std::string_view description = "") {
    const absl::StatusOr<BackupInfo> made =
        backups_->Create(database_.get(), {.description = std::string(description)});
    EXPECT_OK(made);
    return made.value_or(BackupInfo());
  }
  static std::string DumpTable(Database* database, std::string_view name,
                               const ReadOptions& options = {}) {
    std::string dump;
    RowReader reader = (*database->OpenTable(name))->ReadRows(RowRange(), Filter(), options);
    for (const Row& row : reader) {
      absl::StrAppend(&dump, "  ", ToAbsl(row.key()), ": ", Show(row), "\n");
    }
    EXPECT_OK(reader.status());
    return dump;
  }
  static std::string Dump(Database* database) {
    std::string dump;
    const std::vector<std::string> names = database->ListTables().value();
    for (const std::string& name : names) {
      absl::StrAppend(&dump, name, "\n", DumpTable(database, name));
    }
    return dump;
  }
  std::string Dump() { return Dump(database_.get()); }
  absl::Status Restore(uint64_t id, const std::map<std::string, std::string>& tables = {}) {
    ++restored_;
    return backups_->Restore(id, Restored(), {.file_system = &faulty_, .tables = tables});
  }
  std::string Restored() const { return absl::StrCat(kRestored, restored_); }
  std::string DumpRestored(FileSystem* file_system = nullptr) {
    DatabaseOptions options = Options();
    options.create_if_missing = false;
    options.file_system = file_system != nullptr ? file_system : &disk_;
    const absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(Restored(), options);
    EXPECT_OK(opened);
    return opened.ok() ? Dump(opened->get()) : "";
  }
  size_t FilesIn(std::string_view directory) const {
    size_t files = 0;
    for (const std::string& file : disk_.AllFiles()) {
      files += file.starts_with(absl::StrCat(ToAbsl(directory), "/")) ? 1 : 0;
    }
    return files;
  }
  static constexpr const char* kFiles = "/backups/files";

  InMemoryFileSystem disk_;
  FaultyFileSystem faulty_{&disk_};
  std::unique_ptr<BackupEngine> backups_;
  int restored_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_TRANSFER_BACKUPS_FIXTURE_H_
