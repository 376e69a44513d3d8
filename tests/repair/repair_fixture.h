// A database with a bit of everything, its contents as a model, and ways to damage and repair it.
#ifndef BIGTABLE_TESTS_REPAIR_REPAIR_FIXTURE_H_
#define BIGTABLE_TESTS_REPAIR_REPAIR_FIXTURE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {

class RepairFixture : public DatabaseFixture {
 protected:
  static constexpr const char* kRepaired = "/db.repaired";
  static constexpr int kRows = 40;

  // By table and row: the row as text.
  using Contents = std::map<std::pair<std::string, std::string>, std::string>;

  void TearDown() override { database_.reset(); }

  static std::string RowOf(int i) { return absl::StrCat("row", i / 10, i % 10); }
  DatabaseOptions WithTwoServers() {
    DatabaseOptions options = Options();
    options.tablet_servers = 2;
    return options;
  }
  // Writes, and remembers the cell.
  void Write(std::string_view table, std::string_view row, std::string_view column, int64_t time,
             std::string_view value) {
    Set(OpenTable(table), row, column, time, value);
    written_.insert(Cat(table, "/", row, "/", column, "@", time, "=", value));
  }
  // Three tables: "web" of three tablets, with two locality groups and an aggregate; "plain" of one
  // tablet; "empty". Cells are in several runs, in ingested files and in logs; some are deleted, by
  // deletions in later runs.
  void Make() {
    Open(WithTwoServers());
    TableSchema web;
    web.locality_groups["second"] = {.compression = Compression::kZstd};
    web.families["a"] = {};
    web.families["b"] = {.locality_group = "second"};
    web.families["sum"] = {.value_type = ValueType::kInt64Sum};
    CreateTable("web", web);
    CreateTable("plain", {"f"});
    CreateTable("empty", {"f"});
    for (const std::string_view row : {"row14", "row28"}) {
      ASSERT_OK(database_->SplitTablet("web", row));
    }
    for (int run = 0; run < 2; ++run) {
      Fill(run);
      for (const std::string_view table : {"web", "plain"}) ASSERT_OK(database_->Flush(table));
    }
    Delete(RowOf(3), RowOf(20));
    Ingest();
    ASSERT_OK(database_->Flush("web"));
    Fill(2);
    Delete(RowOf(5), RowOf(33));
  }
  void Fill(int run) {
    for (int i = run; i < kRows; i += run + 1) {
      const std::string row = RowOf(i);
      Write("web", row, "a:q", run + 1, Cat("web", run));
      Write("web", row, "b:q", run + 1, Cat("second", run, std::string(50, 'x')));
      if (i % 2 == 0) Write("plain", row, "f:", run + 1, Cat("plain", run));
      ASSERT_OK(OpenTable("web")->Apply(
          RowMutation(row).AddToCell("sum:", Timestamp(), int64_t{1} << run)));
    }
  }
  void Delete(std::string_view row, std::string_view column_of) {
    ASSERT_OK(OpenTable("web")->Apply(RowMutation(row).DeleteRow()));
    ASSERT_OK(OpenTable("web")->Apply(RowMutation(column_of).Delete("a:q")));
  }
  void Ingest() {
    ASSERT_OK(file_system_->CreateDirectory("/in"));
    auto writer = SSTableWriter::Create("/in/1", {.file_system = file_system_.get()}).value();
    for (int i = 0; i < kRows; i += 4) {
      ASSERT_OK(writer->Add({.row = RowOf(i),
                             .family = "a",
                             .qualifier = "in",
                             .timestamp = Timestamp(7),
                             .value = "ingested"}));
      written_.insert(Cat("web/", RowOf(i), "/a:in@7=ingested"));
    }
    ASSERT_OK(writer->Finish());
    ASSERT_OK(OpenTable("web")->Ingest({"/in/1"}));
  }

  static Contents Read(Database* database) {
    Contents contents;
    const std::vector<std::string> names = database->ListTables().value();
    for (const std::string& name : names) {
      contents[{name, ""}] = "table";
      RowReader reader = database->OpenTable(name).value()->ReadRows(RowRange());
      for (const Row& row : reader) contents[{name, std::string(row.key())}] = Show(row);
      EXPECT_OK(reader.status());
    }
    return contents;
  }
  // Remembers what there is, and ends the process without closing the database.
  void KillIt() {
    model_ = Read(database_.get());
    Kill();
  }
  void CloseIt() {
    model_ = Read(database_.get());
    ASSERT_OK(database_->Close());
    database_.reset();
  }

  static absl::StatusOr<RepairReport> Repair(FileSystem* files, std::string_view target = "") {
    return RepairDatabase(kPath, {.target = std::string(target), .file_system = files});
  }
  Contents ReadRepaired(FileSystem* files, std::string_view path = kRepaired, bool changes = true) {
    DatabaseOptions options = WithTwoServers();
    options.create_if_missing = false;
    options.file_system = files;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(path, options);
    EXPECT_OK(opened);
    if (!opened.ok()) return {};
    const std::vector<std::string> names = (*opened)->ListTables().value();
    const Contents contents = Read(opened->get());
    // It can be written, compacted and opened again.
    if (!changes) return contents;
    for (const std::string& name : names) EXPECT_OK((*opened)->Compact(name));
    EXPECT_EQ(Read(opened->get()), contents);
    EXPECT_OK((*opened)->Close());
    return contents;
  }
  // The paths of the database's files that are no text.
  static std::vector<std::string> FilesOf(const InMemoryFileSystem& files) {
    std::vector<std::string> paths = files.AllFiles();
    std::erase_if(paths, [](const std::string& path) {
      return !path.starts_with("/db/") || path.starts_with("/db/LO") || path == "/db/OPTIONS";
    });
    return paths;
  }
  static std::map<std::string, std::string> BytesOf(const InMemoryFileSystem& files) {
    std::map<std::string, std::string> bytes;
    for (const std::string& path : FilesOf(files)) bytes[path] = files.Contents(path);
    return bytes;
  }
  static bool IsLost(const RepairReport& report, std::string_view table, std::string_view row) {
    for (const RepairFinding& finding : report.findings) {
      for (const LostRows& lost : finding.lost) {
        if ((lost.table.empty() || lost.table == table) && lost.rows.Contains(row)) return true;
      }
    }
    return false;
  }
  static std::string TextOf(const RepairReport& report) {
    std::string text;
    for (const RepairFinding& finding : report.findings) {
      absl::StrAppend(&text, finding.path, ": ", finding.problem);
      for (const LostRows& lost : finding.lost) {
        absl::StrAppend(&text, " [", lost.table, " ", lost.rows.begin(), "..",
                        lost.rows.end().value_or("end"), "]");
      }
      text += "\n";
    }
    return text;
  }
  // Rows that are not reported as lost are as they were. The others have nothing that was never
  // written; aggregates have what is left of their contributions.
  void ExpectOnlyLossesOf(const RepairReport& report, const Contents& repaired) const {
    for (const auto& [key, row] : model_) {
      if (key.second.empty()) continue;
      const auto found = repaired.find(key);
      if (IsLost(report, key.first, key.second)) continue;
      EXPECT_EQ(found == repaired.end() ? "missing" : found->second, row)
          << key.first << " " << key.second << "\n"
          << TextOf(report);
    }
    for (const auto& [key, row] : repaired) {
      if (model_.contains(key) || key.second.empty()) continue;
      EXPECT_TRUE(IsLost(report, key.first, key.second)) << key.first << " " << key.second << "\n"
                                                         << TextOf(report);
    }
    for (const auto& [key, row] : repaired) {
      if (key.second.empty()) continue;
      for (size_t at = 0; at < row.size();) {
        const size_t end = std::min(row.find(' ', at), row.size());
        const std::string cell = row.substr(at, end - at);
        at = end + 1;
        if (cell.starts_with("sum:")) continue;
        EXPECT_TRUE(written_.contains(Cat(key.first, "/", key.second, "/", cell))) << cell;
      }
    }
  }

  Contents model_;
  std::set<std::string> written_;  // cells: "table/row/family:qualifier@time=value"
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_REPAIR_REPAIR_FIXTURE_H_
