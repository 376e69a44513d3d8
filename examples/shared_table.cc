// A table that several groups share, as in section 8.3 of the paper: each group owns the column
// families that it has added, and a quota keeps one group from taking the place, or the time, of
// the others. The database is in memory; with a path and without `file_system` it would be on disk.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

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

// Applies the mutation, waiting as long as a quota of a rate says.
absl::Status Apply(bigtable::Table* table, const bigtable::RowMutation& mutation) {
  while (true) {
    const absl::Status status = table->Apply(mutation);
    const std::optional<absl::Duration> wait = bigtable::RetryAfter(status);
    if (!wait.has_value()) return status;
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(*wait));
  }
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem memory;
  bigtable::DatabaseOptions options;
  options.file_system = &memory;
  const auto database = Value(bigtable::Database::Open("/users", options));

  // The table of the users, with a family of each group. More groups may come.
  bigtable::TableSchema schema;
  schema.families["settings"] = {.owner = "search"};
  Check(database->CreateTable("users", schema));
  Check(database->AddFamily("users", "playlist", {.owner = "music"}));
  Check(database->SetCallerQuota("search", {.requests_per_second = 5000}));
  Check(database->SetCallerQuota("music", {.storage_bytes = 100'000, .requests_per_second = 200}));
  bigtable::Table* const search = Value(database->OpenTable("users", {.caller = "search"}));
  bigtable::Table* const music = Value(database->OpenTable("users", {.caller = "music"}));

  // Music writes more than its quota has room for.
  absl::Status status;
  int written = 0;
  for (; written < 1000 && status.ok(); ++written) {
    status = Apply(music, bigtable::RowMutation("user" + std::to_string(written))
                              .Set("playlist:all", std::string(2000, 'x')));
  }
  std::cout << "after " << written << " playlists: " << status << "\n";
  if (!absl::IsResourceExhausted(status)) return EXIT_FAILURE;

  // That is no concern of search, in the same rows.
  Check(Apply(search, bigtable::RowMutation("user1").Set("settings:language", "de")));

  // How much each group takes.
  Check(database->Flush("users"));
  const bigtable::DatabaseStatistics statistics = database->Statistics();
  for (const auto& [owner, storage] : statistics.owner_storage) {
    std::cout << owner << " has " << storage.stored_bytes() << " bytes\n";
  }

  // Music deletes its playlists, and a compaction removes them.
  for (int i = 0; i < written; ++i) {
    Check(Apply(music, bigtable::RowMutation("user" + std::to_string(i)).DeleteFamily("playlist")));
  }
  Check(database->Compact("users"));
  Check(Apply(music, bigtable::RowMutation("user1").Set("playlist:all", "jazz")));
  std::cout << "user1 hears " << Value(search->Get("user1", "playlist:all")) << "\n";
  return EXIT_SUCCESS;
}
