// The operations of a store in the benchmarks of the data model. An implementation uses the
// cheapest way through the public interface that its experts would use.
#ifndef BIGTABLE_BENCH_MODEL_STORE_H_
#define BIGTABLE_BENCH_MODEL_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bench {

// What is measured.
enum class Work {
  kIncrements,    // one row: read, add 1, write
  kBatches,       // ten rows, together or not at all
  kTransactions,  // read two rows, subtract 1 from one and add it to the other
};

// An open database. Rows are numbered from 0. An operation that returned OK survives a crash of the
// process. Thread-safe. A store has the operations of its works.
class Store {
 public:
  virtual ~Store() = default;

  virtual absl::Status Increment(uint64_t row);
  // Sets all of these rows to the value.
  virtual absl::Status WriteBatch(std::span<const uint64_t> rows, std::string_view value);
  virtual absl::Status Transfer(uint64_t from, uint64_t to);

  // The number in the row; 0 if it was never written.
  virtual absl::StatusOr<int64_t> Number(uint64_t row);
  // What WriteBatch wrote.
  virtual absl::StatusOr<std::string> Value(uint64_t row);
};

struct StoreKind {
  Work work;
  std::string name;
  std::string way;  // how it does the work: for the table of results
  // Opens a new database in an empty directory.
  std::function<absl::StatusOr<std::unique_ptr<Store>>(const std::string& directory)> open;
};

// Those that were built: this library's, then RocksDB's if it was installed.
std::vector<StoreKind> BuiltStores(Work work);
std::vector<StoreKind> BigtableStores();
std::vector<StoreKind> RocksDBStores();

// The memory of each store, for write buffers and caches.
inline constexpr uint64_t kMemoryLimit = uint64_t{256} << 20;
// Rows of the largest cases: a store may divide its table by them.
inline constexpr uint64_t kMostRows = 1'000'000;

}  // namespace bench

#endif  // BIGTABLE_BENCH_MODEL_STORE_H_
