// The operations on a table, the same for every policy, and the rows that exist after each.
//
// A workload is about N rows:
//
//   load_random      N new rows in random order
//   load_sequential  N new rows in key order
//   overwrite        N rows exist; 3 N times a random row is written again
//   overwrite_zipf   the same, but some rows are written far more often than others: those of
//                    rank r in proportion to r^-0.99
//   read_mix         N rows exist; of 2 N operations half overwrite a random row, nine in twenty
//                    read one, and one in twenty scans 50
//   deletes          N rows exist; 2 N times a random one is deleted and a new one written
//   time_series      3 N new rows in key order, which is that of time; a row expires when N more
//                    have been written
//   sensors          the same, but the key begins with one of 100 sources, which write in turn
#ifndef BIGTABLE_BENCH_COMPACTION_WORKLOADS_H_
#define BIGTABLE_BENCH_COMPACTION_WORKLOADS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/workload.h"

namespace bench {

struct Operation {
  enum class Kind { kWrite, kDelete, kRead, kScan };
  Kind kind = Kind::kWrite;
  uint64_t row = 0;
};
constexpr uint64_t kScannedRows = 50;

// One thread at a time.
class Workload {
 public:
  virtual ~Workload() = default;

  // The rows that are written beforehand, which is not measured.
  virtual std::vector<uint32_t> Preparation() const { return {}; }
  // The number of operations for which a row exists; nullopt: without limit.
  virtual std::optional<uint64_t> lifetime() const { return std::nullopt; }

  // The number of operations, and the next operation.
  virtual uint64_t operations() const = 0;
  virtual Operation Next() = 0;

  // After the operations so far: the number of rows, and a random one of them.
  virtual uint64_t live_rows() const = 0;
  virtual uint64_t DrawLiveRow(Random& random) const = 0;
};

// In the order in which they are run and reported.
std::vector<std::string> WorkloadNames();
// `name` is one of those, `rows` is N.
std::unique_ptr<Workload> MakeWorkload(std::string_view name, uint64_t rows);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_WORKLOADS_H_
