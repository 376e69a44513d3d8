// The workloads by name. Each is about N rows:
//
//   load_random      N new rows in random order
//   load_sequential  N new rows in key order
//   overwrite        N rows exist; 3 N times a random row is written again
//   overwrite_zipf   the same, but some rows are written far more often than others: those of
//                    rank r in proportion to r^-skew
//   read_mix         N rows exist; of 2 N operations half overwrite a random row, nine in twenty
//                    read one, and one in twenty scans 50
//   deletes          N rows exist; 2 N times a random one is deleted and a new one written
//   time_series      3 N new rows in key order, which is that of time; a row expires when N more
//                    have been written
//   sensors          the same, but the key begins with one of 100 sources, which write in turn
//
// The others run only if they are named:
//
//   ycsb_a           N rows exist; of 2 N operations half read a row and half overwrite one, drawn
//                    as in overwrite_zipf
//   ycsb_b           the same, with 95% reads
//   ycsb_c           only reads
//   ycsb_d           95% reads, in proportion to r^-skew of the row that is the r-th latest, and 5%
//                    new rows
//   ycsb_e           95% scans of 1 to 100 rows, and 5% new rows
//   ycsb_f           half read a row, and half read a row and then write it
//   wide_deletes     N rows exist; in turn, a hundredth of them, which are adjacent, is deleted in
//                    key order, and a hundredth that was deleted before is written again: 4 N
//                    operations
//   phases           N new rows in random order, N times a random row is written again, N times one
//                    is read, N/2 random rows are deleted, and these are written again
#ifndef BIGTABLE_BENCH_COMPACTION_WORKLOADS_WORKLOADS_H_
#define BIGTABLE_BENCH_COMPACTION_WORKLOADS_WORKLOADS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workload.h"

namespace bench {

// In the order in which they are run and reported: all of them, and those that run if none is
// named.
std::vector<std::string> WorkloadNames();
std::vector<std::string> DefaultWorkloadNames();

// `name` is one of those.
std::unique_ptr<Workload> MakeWorkload(std::string_view name, const WorkloadOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_WORKLOADS_WORKLOADS_H_
