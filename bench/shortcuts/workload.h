// Operations on a database of their own whose cost is measured with and without a shortcut.
#ifndef BIGTABLE_BENCH_SHORTCUTS_WORKLOAD_H_
#define BIGTABLE_BENCH_SHORTCUTS_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "common/workload.h"

namespace bench {

// The database of a workload, and what its rounds need. One thread.
struct Subject {
  std::unique_ptr<bigtable::Database> database;
  bigtable::Table* table = nullptr;
  Random random{42};
  uint64_t rounds = 0;  // that have begun
};

// What a round finds.
enum class Start : uint8_t {
  kOpen,      // the database as the round before has left it
  kReopened,  // opened again, and its files are in the page cache
  kCold,      // opened again, and nothing of its files is in the page cache
};

struct Workload {
  std::string_view name;
  std::string_view operation;  // what is counted
  // Changes the defaults: a budget of 256 MiB, one server, one family f in one locality group
  // without compression that keeps one version, no splits. May be null.
  void (*settings)(bigtable::DatabaseOptions* options, bigtable::TableSchema* schema);
  // Fills the table. Afterwards the database is quiet before the first round. May be null.
  absl::Status (*load)(Subject* subject);
  // One round, of a twentieth of a second or more; returns the number of operations.
  absl::StatusOr<uint64_t> (*run)(Subject* subject);
  Start start = Start::kOpen;
  // Background work that a round has caused counts with it.
  bool waits_until_quiet = false;
};

// Null if there is none of this name.
const Workload* FindWorkload(std::string_view name);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SHORTCUTS_WORKLOAD_H_
