// The smallest use of the library: opens a database in a new directory, creates a table, writes a
// cell and reads it back.
#include <bigtable/bigtable.h>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdlib.h>
#include <string>
#include <system_error>

namespace {

absl::Status Run(const std::string& directory) {
  absl::StatusOr<std::unique_ptr<bigtable::Database>> db =
      bigtable::Database::Open(directory, bigtable::DatabaseOptions{});
  if (!db.ok()) return db.status();

  bigtable::TableSchema schema;
  schema.families["anchor"] = {};
  absl::Status status = (*db)->CreateTable("webtable", schema);
  if (!status.ok()) return status;
  absl::StatusOr<bigtable::Table*> table = (*db)->OpenTable("webtable");
  if (!table.ok()) return table.status();

  bigtable::RowMutation mutation("com.cnn.www");
  mutation.Set("anchor:www.c-span.org", "CNN");
  status = (*table)->Apply(mutation);
  if (!status.ok()) return status;

  absl::StatusOr<bigtable::Row> row = (*table)->ReadRow("com.cnn.www");
  if (!row.ok()) return row.status();
  if (row->cells().size() != 1 || row->cells()[0].qualifier != "www.c-span.org" ||
      row->cells()[0].value != "CNN") {
    return absl::InternalError("what was read is not what was written");
  }
  return (*db)->Close();
}

}  // namespace

int main() {
  std::string directory = (std::filesystem::temp_directory_path() / "bigtable-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) {
    std::cerr << directory << ": cannot make a directory\n";
    return 1;
  }
  const absl::Status status = Run(directory);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  if (!status.ok()) {
    std::cerr << status << "\n";
    return 1;
  }
  std::cout << "read back what was written\n";
  return 0;
}
