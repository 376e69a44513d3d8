// A bulk load: a million rows in any order become part of a table at one moment. See
// docs/bulk-load.md.
//
//   bulk_load DIRECTORY [ROWS]
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "bigtable/bigtable.h"

namespace {

using bigtable::Table;

std::string RowOf(uint64_t i) {
  std::string digits = std::to_string(i);
  return "page" + std::string(9 - digits.size(), '0') + digits;
}

absl::Status Load(Table* table, const bigtable::TableSchema& schema, const std::string& directory,
                  uint64_t rows) {
  absl::StatusOr<std::unique_ptr<bigtable::SSTableSorter>> sorter =
      bigtable::SSTableSorter::Create(directory, schema);
  if (!sorter.ok()) return sorter.status();
  for (uint64_t i = 0; i < rows; ++i) {
    // Any order: a prime that does not divide the number of rows.
    const uint64_t row = i * 7919 % rows;
    absl::Status s = (*sorter)->Add(RowOf(row), "contents:", bigtable::Timestamp(1),
                                    "page " + std::to_string(row));
    if (!s.ok()) return s;
  }
  absl::StatusOr<std::vector<std::string>> files = (*sorter)->Finish();
  if (!files.ok()) return files.status();
  absl::StatusOr<bigtable::IngestSummary> done = table->Ingest(*files, {.moves_files = true});
  if (!done.ok()) return done.status();
  std::cout << done->entries << " cells in " << done->files << " files are there\n";
  return absl::OkStatus();
}

absl::Status Run(const std::string& directory, uint64_t rows) {
  absl::StatusOr<std::unique_ptr<bigtable::Database>> db =
      bigtable::Database::Open(directory + "/database");
  if (!db.ok()) return db.status();
  bigtable::TableSchema schema;
  schema.families["contents"] = {.gc = bigtable::GcRule::MaxVersions(1)};
  absl::StatusOr<Table*> table = (*db)->OpenOrCreateTable("webtable", schema);
  if (!table.ok()) return table.status();
  // Written before, so the file's cell at the same time wins; and after, so this one wins.
  absl::Status s = (*table)->Apply(
      bigtable::RowMutation(RowOf(1)).Set("contents:", bigtable::Timestamp(1), "before"));
  if (!s.ok()) return s;
  std::filesystem::create_directory(directory + "/load");
  if (s = Load(*table, schema, directory + "/load", rows); !s.ok()) return s;
  s = (*table)->Apply(
      bigtable::RowMutation(RowOf(2)).Set("contents:", bigtable::Timestamp(1), "after"));
  if (!s.ok()) return s;
  for (const uint64_t row : {uint64_t{1}, uint64_t{2}, rows - 1}) {
    absl::StatusOr<std::string> value = (*table)->Get(RowOf(row), "contents:");
    if (!value.ok()) return value.status();
    std::cout << RowOf(row) << ": " << *value << "\n";
  }
  return (*db)->Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: bulk_load DIRECTORY [ROWS]\n";
    return EXIT_FAILURE;
  }
  const absl::Status s = Run(argv[1], argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000);
  if (s.ok()) return EXIT_SUCCESS;
  std::cerr << s << "\n";
  return EXIT_FAILURE;
}
