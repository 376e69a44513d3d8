// Backups of a database, and how much of one that has changed a little is written again.
#ifndef BIGTABLE_BENCH_TRANSFER_BACKUPS_H_
#define BIGTABLE_BENCH_TRANSFER_BACKUPS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "paper/engine.h"

namespace bench {

struct BackupsOptions {
  EngineKind engine;
  std::string directory;  // new ones are made in it, and removed
  uint64_t rows = 0;      // of the table, of a kilobyte each
  uint64_t memory_limit = 0;
};

struct BackupsResult {
  struct Backup {
    absl::Duration time;
    uint64_t bytes = 0;  // that the directory of the backups has more
  };
  Backup first;
  Backup tenth;  // each after a hundredth of the rows, adjacent ones, were written again
};

absl::StatusOr<BackupsResult> MeasureBackups(const BackupsOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_TRANSFER_BACKUPS_H_
