// How a program that embeds the engine tests its own code under faults, with bigtable::testing: the
// power fails, the disk fails, and a day passes. The code that is tested is Sessions.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"
#include "bigtable/testing/manual_clock.h"

namespace {

// The tokens of users, each valid for a day. A session that Start has acknowledged survives a power
// loss.
class Sessions {
 public:
  absl::Status Open(const bigtable::DatabaseOptions& options) {
    absl::StatusOr<std::unique_ptr<bigtable::Database>> opened =
        bigtable::Database::Open("/sessions", options);
    if (!opened.ok()) return opened.status();
    database_ = *std::move(opened);
    bigtable::TableSchema schema;
    schema.families["token"] = {.gc = bigtable::GcRule::MaxAge(absl::Hours(24))};
    absl::StatusOr<bigtable::Table*> table = database_->OpenOrCreateTable("sessions", schema);
    if (table.ok()) table_ = *table;
    return table.status();
  }
  absl::Status Start(std::string_view user, std::string_view token) {
    return table_->Apply(bigtable::RowMutation(user).Set("token:", token),
                         {.durability = bigtable::Durability::kSync});
  }
  // "": there is none.
  std::string TokenOf(std::string_view user) { return table_->Get(user, "token:").value_or(""); }

 private:
  std::unique_ptr<bigtable::Database> database_;
  bigtable::Table* table_ = nullptr;
};

void Expect(bool holds, std::string_view what) {
  std::cout << (holds ? "holds: " : "DOES NOT HOLD: ") << what << std::endl;
  if (!holds) std::exit(EXIT_FAILURE);
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem memory;
  bigtable::FaultyFileSystem disk(&memory);
  bigtable::ManualClock clock(absl::FromUnixSeconds(1'000'000'000));
  bigtable::DatabaseOptions options;
  options.file_system = &disk;
  options.clock = &clock;
  options.log_segment_size = 1 << 20;

  Sessions sessions;
  Expect(sessions.Open(options).ok(), "sessions open");
  Expect(sessions.Start("ann", "secret").ok(), "a session starts");

  // The power fails. Each seed leaves another part of the unsynced data.
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::unique_ptr<bigtable::InMemoryFileSystem> after = memory.CrashClone(seed);
    bigtable::DatabaseOptions options_after = options;
    options_after.file_system = after.get();
    Sessions reopened;
    Expect(reopened.Open(options_after).ok() && reopened.TokenOf("ann") == "secret",
           "an acknowledged session survives a power loss");
  }

  // The disk fails: commit logs cannot be synced any more.
  disk.FailCalls({.kinds = {bigtable::FileCall::kLogSync}}, absl::UnavailableError("I/O error"));
  Expect(!sessions.Start("bob", "other").ok(), "a session that is not durable is not acknowledged");
  Expect(disk.faults() > 0, "the disk has failed");
  Expect(sessions.TokenOf("ann") == "secret", "sessions are read while the disk fails");
  disk.ClearFaults();

  // A day passes.
  clock.Advance(absl::Hours(25));
  Expect(sessions.TokenOf("ann").empty(), "a session ends after a day");
}
