// A scan of a whole table by several threads. SampleRowKeys gives rows that divide the table into
// parts of about equal size; each thread takes the next part that nobody has read yet. All read the
// same snapshot, so together they see each row once, as one scan would. The database is in memory;
// with a path and without `file_system` it would be on disk, and nothing else would change.
#include <atomic>
#include <cstdint>
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

constexpr int kRows = 20'000;
constexpr int kStep = 100;

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

// The parts of the table as ranges of rows.
std::vector<bigtable::RowRange> Divide(bigtable::Table* table) {
  std::vector<bigtable::RowRange> parts;
  std::string begin;
  for (const bigtable::RowKeySample& sample : Value(table->SampleRowKeys())) {
    const bool is_last = sample.row.empty();
    parts.push_back(is_last ? bigtable::RowRange::StartingAt(begin)
                            : bigtable::RowRange::RightOpen(begin, sample.row));
    begin = sample.row;
  }
  return parts;
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem files;
  const std::unique_ptr<bigtable::Database> database =
      Value(bigtable::Database::Open("/visits", {.file_system = &files}));
  bigtable::TableSchema schema;
  schema.families["visit"] = {};
  bigtable::Table* const table = Value(database->OpenOrCreateTable("visits", schema));
  for (int i = 0; i < kRows; ++i) {
    bigtable::RowMutation visit(absl::StrFormat("user%06d", i));
    visit.Set("visit:pages", std::string(static_cast<size_t>(i % 300), '.'));
    Check(table->Apply(visit));
  }

  const std::vector<bigtable::RowRange> parts = Divide(table);
  const std::shared_ptr<const bigtable::Snapshot> snapshot = Value(database->TakeSnapshot());
  std::atomic<size_t> next = 0;
  std::atomic<int> users = 0;
  std::atomic<int64_t> pages = 0;
  const auto scan = [&] {
    for (size_t i; (i = next++) < parts.size();) {
      // In steps of a hundred rows. The token is what a step needs to know of the one before, so
      // the next one could be taken later, or by another process.
      const bigtable::ReadOptions step = {.snapshot = snapshot, .row_limit = kStep};
      bigtable::RowReader reader = table->ReadRows(parts[i], step);
      for (int rows = 0;; rows = 0) {
        for (const bigtable::Row& row : reader) {
          ++rows;
          pages += static_cast<int64_t>(row.cells().front().value.size());
        }
        Check(reader.status());
        users += rows;
        if (rows < kStep) break;
        reader = table->ResumeRows(reader.ResumeToken(), {}, step);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(scan);
  for (std::thread& thread : threads) thread.join();

  const uint64_t bytes = Value(table->ApproximateSizes({bigtable::RowRange::All()})).front();
  absl::PrintF("%d users saw %d pages; %d parts of about %d bytes\n", users.load(), pages.load(),
               parts.size(), bytes / parts.size());
  return users == kRows && parts.size() > 50 ? EXIT_SUCCESS : EXIT_FAILURE;
}
