// A queue of jobs that several workers share: each job is claimed by one worker, its result is
// reported once, and counters say how much each worker has done. It uses the three atomic
// operations on a row. The database is in memory; with a path and without `file_system` it would be
// on disk, and nothing else would change.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

constexpr int kJobs = 1000;
constexpr int kWorkers = 4;

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

// True if nobody had the job; then this worker has it.
bool Claim(bigtable::Table* table, std::string_view job, std::string_view worker) {
  const bool is_taken = Value(table->CheckAndMutateRow(
      job, bigtable::Filter::Column("job", "owner"), bigtable::RowMutation(job),
      bigtable::RowMutation(job).Set("job:owner", worker)));
  return !is_taken;
}

// The value depends on what the row has, so it is a transaction: the function may run again.
void Finish(bigtable::Table* table, std::string_view job) {
  Check(table->MutateRowAtomically(
      job, bigtable::Filter::Family("job"),
      [&](const bigtable::Row& row) -> absl::StatusOr<bigtable::RowMutation> {
        for (const bigtable::Cell& cell : row.cells()) {
          if (cell.qualifier == "result") return absl::AlreadyExistsError("finished twice");
        }
        const std::string owner(row.cells()[0].value);
        return bigtable::RowMutation(job).Set("job:result", "done by " + owner);
      }));
}

void Work(bigtable::Table* table, const std::string& worker) {
  for (int i = 0; i < kJobs; ++i) {
    const std::string job = "job/" + std::to_string(i);
    if (!Claim(table, job, worker)) continue;
    Finish(table, job);
    const bigtable::Row counters =
        Value(table->ReadModifyWriteRow(bigtable::ReadModifyWrite("counters")
                                            .Increment("count:all", 1)
                                            .Increment("count:" + worker, 1)));
    if (counters.cells().size() != 2) std::exit(EXIT_FAILURE);
  }
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem memory;
  bigtable::DatabaseOptions options;
  options.file_system = &memory;
  const std::unique_ptr<bigtable::Database> database =
      Value(bigtable::Database::Open("/queue", options));
  bigtable::TableSchema schema;
  schema.families["job"] = {};
  schema.families["count"] = {.gc = bigtable::GcRule::MaxVersions(1)};
  bigtable::Table* const table = Value(database->OpenOrCreateTable("queue", schema));

  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&, i] { Work(table, "worker-" + std::to_string(i)); });
  }
  for (std::thread& worker : workers) worker.join();

  const bigtable::Row counters = Value(table->ReadRow("counters"));
  for (const bigtable::Cell& cell : counters.cells()) {
    std::cout << cell.qualifier << " " << Value(bigtable::DecodeBigEndian(cell.value)) << "\n";
  }
  const std::string all = Value(table->Get("counters", "count:all"));
  return Value(bigtable::DecodeBigEndian(all)) == kJobs ? EXIT_SUCCESS : EXIT_FAILURE;
}
