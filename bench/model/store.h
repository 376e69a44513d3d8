// The operations of a store in the benchmarks of the data model. An implementation uses the
// cheapest way through the public interface that its experts would use.
#ifndef BIGTABLE_BENCH_MODEL_STORE_H_
#define BIGTABLE_BENCH_MODEL_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bench {

// An open database. Counters are numbered from 0; one that was never incremented is zero.
class Store {
 public:
  virtual ~Store() = default;

  // Adds 1. Thread-safe. An increment that returned OK survives a crash of the process.
  virtual absl::Status Increment(uint64_t counter) = 0;
  virtual absl::StatusOr<int64_t> Value(uint64_t counter) = 0;
};

struct StoreKind {
  std::string name;
  // How it increments: for the table of results.
  std::string way;
  // Opens a new database in an empty directory.
  std::function<absl::StatusOr<std::unique_ptr<Store>>(const std::string& directory)> open;
};

// Those that were built: this library's, then RocksDB's if it was installed.
std::vector<StoreKind> BuiltStores();
std::vector<StoreKind> BigtableStores();
std::vector<StoreKind> RocksDBStores();

// The memory of each store, for write buffers and caches.
inline constexpr uint64_t kMemoryLimit = uint64_t{256} << 20;

}  // namespace bench

#endif  // BIGTABLE_BENCH_MODEL_STORE_H_
