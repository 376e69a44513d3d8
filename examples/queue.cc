// A queue: the jobs are rows in the order of their keys, producers append behind the last one, and
// consumers take the first. (In claim_queue.cc, jobs are claimed in any order, and stay as a
// record.)
//
// A job that was taken is deleted, and each deletion is a mark that a reader of the front passes.
// The engine remembers such rows, but not for the first reader after an opening. So a consumer
// remembers where the head was, and reads from there; and the rows in front of it are dropped now
// and then, for consumers that are new.
// The database is in memory; with a path and without `file_system` it would be on disk.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

constexpr int kJobs = 1000;  // of each of two producers

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

// The number of the next job and the job are one transaction. So jobs appear in the order of their
// keys, and none appears in front of a job that somebody has seen.
void Append(bigtable::Database* database, bigtable::Table* queue, bigtable::Table* numbers) {
  Check(database->RunTransaction([&](bigtable::Transaction* transaction) {
    const bigtable::Row row = Value(transaction->ReadRow(numbers, "next"));
    const int64_t number = row.empty() ? 0 : Value(bigtable::DecodeBigEndian(row.cells()[0].value));
    bigtable::RowMutation next("next"), job(absl::StrFormat("%012d", number));
    Check(transaction->Apply(numbers, next.Set("f:", bigtable::EncodeBigEndian(number + 1))));
    return transaction->Apply(queue, job.Set("f:work", "..."));
  }));
}

// Takes the first job from *head on, which moves behind it; nothing if the queue is empty. Not in a
// transaction: it would read all rows from the head on, and conflict with each job that is
// appended.
std::optional<std::string> Take(bigtable::Table* queue, std::string* head) {
  while (true) {
    bigtable::RowReader first =
        queue->ReadRows(bigtable::RowRange::StartingAt(*head), {.row_limit = 1});
    const bool found = first.Next();
    Check(first.status());
    if (!found) return std::nullopt;
    const std::string job(first.row().key());
    *head = job + '\0';  // the next possible key
    // If it is still there. A job that must outlive this process is marked first: claim_queue.cc.
    bigtable::RowMutation nothing(job), remove(job);
    if (Value(queue->CheckAndMutateRow(job, {}, remove.DeleteRow(), nothing))) return job;
  }
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem memory;
  const auto database = Value(bigtable::Database::Open("/queue", {.file_system = &memory}));
  bigtable::TableSchema schema;
  schema.families["f"] = {.gc = bigtable::GcRule::MaxVersions(1)};
  bigtable::Table* const queue = Value(database->OpenOrCreateTable("queue", schema));
  bigtable::Table* const numbers = Value(database->OpenOrCreateTable("numbers", schema));
  std::atomic<int> taken = 0;
  std::atomic<bool> in_order = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int job = 0; job < kJobs; ++job) Append(database.get(), queue, numbers);
    });
    threads.emplace_back([&] {
      std::string head, last;
      while (taken < 2 * kJobs) {
        const std::optional<std::string> job = Take(queue, &head);
        if (!job.has_value()) continue;
        if (*job <= last) in_order = false;
        last = *job;
        // All before the head was taken, whoever took it.
        if (++taken % 500 == 0) Check(queue->DropRowRange(bigtable::RowRange::RightOpen("", head)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << taken << " jobs were taken\n";
  return taken == 2 * kJobs && in_order ? EXIT_SUCCESS : EXIT_FAILURE;
}
