// What is done to a table: one operation after another, the same for every policy, and which rows
// are there after each.
//
// A workload is about N rows:
//
//   load_random      N new rows in random order
//   load_sequential  N new rows in key order
//   overwrite        N rows are there; 3 N times a row at random is written again
//   overwrite_zipf   the same, but some rows are written far more often than others: those of rank
//   r
//                    in proportion to r^-0.99
//   read_mix         N rows are there; of 2 N operations a half overwrites a row at random, nine in
//                    twenty read one, and one in twenty scans 50
//   deletes          N rows are there; 2 N times one at random is deleted and a new one written
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
  // For how many of its operations a row is there; nothing: for ever.
  virtual std::optional<uint64_t> lifetime() const { return std::nullopt; }

  // How many operations there are, and the next of them.
  virtual uint64_t operations() const = 0;
  virtual Operation Next() = 0;

  // After the operations so far: how many rows there are, and one of them.
  virtual uint64_t live_rows() const = 0;
  virtual uint64_t DrawLiveRow(Random& random) const = 0;
};

// In the order in which they are run and told about.
std::vector<std::string> WorkloadNames();
// `name` is one of those, `rows` is N.
std::unique_ptr<Workload> MakeWorkload(std::string_view name, uint64_t rows);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_WORKLOADS_H_
