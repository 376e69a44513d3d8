// A database that is read while another process writes it: a report of how far the writer is, each
// time at one moment. Here both are in one process, and the files are in memory; in two processes,
// both name the directory, and the reader needs nothing but the permission to read it.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

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

}  // namespace

int main() {
  bigtable::InMemoryFileSystem disk;

  // The writer moves coins from one account to the other.
  auto database = Value(bigtable::Database::Open("/bank", {.file_system = &disk}));
  auto* accounts = Value(database->OpenOrCreateTable("accounts", {.families = {{"coins", {}}}}));
  const auto set = [&](int left) {
    bigtable::WriteBatch batch;
    batch.Apply(accounts, bigtable::RowMutation("a").Set("coins:", absl::StrFormat("%d", left)));
    batch.Apply(accounts,
                bigtable::RowMutation("b").Set("coins:", absl::StrFormat("%d", 1000 - left)));
    Check(database->Apply(batch));
  };
  set(1000);
  std::atomic<bool> ends = false;
  std::thread writer([&] {
    for (int left = 999; !ends; left = (left + 999) % 1000) set(left);
  });

  // The reader sees no moment at which a coin is on its way.
  auto reader = Value(bigtable::Database::Open(
      "/bank",
      {.follow = true, .follow_interval = absl::InfiniteDuration(), .file_system = &disk}));
  auto* table = Value(reader->OpenTable("accounts"));
  bool is_right = true;
  for (int i = 0; i < 5; ++i) {
    Check(reader->Refresh());
    const auto snapshot = Value(reader->TakeSnapshot());
    int coins = 0;
    for (const char* const row : {"a", "b"}) {
      const bigtable::Row read =
          Value(table->ReadRow(row, bigtable::Filter(), {.snapshot = snapshot}));
      coins += std::stoi(std::string(read.cells()[0].value));
    }
    is_right = is_right && coins == 1000;
  }
  ends = true;
  writer.join();
  Check(reader->Refresh());
  const bool is_same = Value(table->Get("a", "coins:")) == Value(accounts->Get("a", "coins:"));
  std::cout << "five moments, each with 1000 coins: " << (is_right ? "yes" : "no")
            << "; the last one is the writer's: " << (is_same ? "yes" : "no") << "\n";
  return is_right && is_same ? EXIT_SUCCESS : EXIT_FAILURE;
}
