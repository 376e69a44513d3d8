// Backups of a database that is written to: one each "night", of which three are kept. Then a
// mistake is found, and the rows that it has deleted come back from a backup, while the database
// stays open. Everything is in memory; with paths and without the file systems it would be on disk,
// the backups best on another one.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

constexpr int kNights = 5;
constexpr int kRows = 1000;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << std::endl;
  std::exit(EXIT_FAILURE);
}

template <typename T>
T Value(absl::StatusOr<T> result) {
  Check(result.status());
  return *std::move(result);
}

std::string RowOf(int i) { return absl::StrFormat("user%04d", i); }

uint64_t CountRows(bigtable::Table* table) {
  uint64_t rows = 0;
  bigtable::RowReader reader = table->ReadRows(bigtable::RowRange());
  while (reader.Next()) ++rows;
  Check(reader.status());
  return rows;
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem disk, other_disk;
  auto database = Value(bigtable::Database::Open("/database", {.file_system = &disk}));
  auto* table = Value(database->OpenOrCreateTable("users", {.families = {{"f", {}}}}));
  auto backups = Value(bigtable::BackupEngine::Open("/backups", &other_disk));
  for (int i = 0; i < kRows; ++i) {
    Check(table->Apply(bigtable::RowMutation(RowOf(i)).Set("f:name", std::string(100, 'n'))));
  }
  Check(database->Flush("users"));

  // A user goes on writing meanwhile, and does not wait for the backups.
  std::atomic<bool> ends = false;
  std::thread user([&] {
    for (int i = 0; !ends; i = (i + 1) % 10) {
      Check(table->Apply(bigtable::RowMutation(RowOf(i)).Set("f:seen", "today")));
    }
  });
  for (int night = 1; night <= kNights; ++night) {
    Check(table->Apply(bigtable::RowMutation(RowOf(100 + night)).Set("f:seen", "today")));
    const bigtable::BackupInfo made =
        Value(backups->Create(database.get(), {.description = absl::StrFormat("night %d", night)}));
    Check(backups->Verify(made.id));
    std::cout << absl::StrFormat("%s: %d files, of which %d are new\n", made.description,
                                 made.files, made.new_files);
  }
  Check(backups->DeleteOld(3));

  // The mistake.
  Check(table->DropRowRange(bigtable::RowRange::Prefix("user05")));
  std::cout << absl::StrFormat("after the mistake: %d rows\n", CountRows(table));

  // The table of the newest backup comes back beside the other, and the rows are copied from there.
  const std::vector<bigtable::BackupInfo> list = Value(backups->List());
  Check(backups->RestoreTable(list.back().id, "users", database.get(), "restored"));
  auto* before = Value(database->OpenTable("restored"));
  bigtable::RowReader lost = before->ReadRows(bigtable::RowRange::Prefix("user05"));
  for (const bigtable::Row& row : lost) {
    bigtable::RowMutation mutation(row.key());
    for (const bigtable::Cell& cell : row.cells()) {
      mutation.Set(absl::StrFormat("%s:%s", cell.family, cell.qualifier), cell.timestamp,
                   cell.value);
    }
    Check(table->Apply(mutation));
  }
  Check(lost.status());
  Check(database->DeleteTable("restored"));
  ends = true;
  user.join();
  const uint64_t rows = CountRows(table);
  std::cout << absl::StrFormat("restored from %s: %d rows\n", list.back().description, rows);
  return list.size() == 3 && rows == kRows ? EXIT_SUCCESS : EXIT_FAILURE;
}
