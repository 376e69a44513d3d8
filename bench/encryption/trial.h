// One database, on the machine's files or on encrypted ones: what writes, reads and scans take.
#ifndef BIGTABLE_BENCH_ENCRYPTION_TRIAL_H_
#define BIGTABLE_BENCH_ENCRYPTION_TRIAL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

namespace bench {

struct Trial {
  bool is_encrypted = false;
  bigtable::FileSystem::ReadMode read_mode = bigtable::FileSystem::ReadMode::kMapped;
  uint64_t rows = 0;
  std::string directory;  // that of the database is made in it
};

// Microseconds of one operation, by the clock but for the CPU.
struct TrialResult {
  double write = 0;
  double write_cpu = 0;  // of all threads, until the database is quiet
  double synced_write = 0;
  double cached_read = 0;    // the block cache holds all blocks
  double uncached_read = 0;  // it holds few; the files are in the page cache
  double scanned_row = 0;    // the same
};

absl::StatusOr<TrialResult> RunTrial(const Trial& trial);

}  // namespace bench

#endif  // BIGTABLE_BENCH_ENCRYPTION_TRIAL_H_
