// Waits until RocksDB 7 has nothing to flush or compact, which it tells nobody: by asking.
#ifndef BIGTABLE_BENCH_PAPER_ROCKSDB_QUIET_H_
#define BIGTABLE_BENCH_PAPER_ROCKSDB_QUIET_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "common/strings.h"
#include "rocksdb/db.h"

namespace bench {

inline absl::StatusOr<bool> IsRocksDBBusy(rocksdb::DB* db, bool is_universal) {
  for (const std::string& property :
       {rocksdb::DB::Properties::kMemTableFlushPending, rocksdb::DB::Properties::kCompactionPending,
        rocksdb::DB::Properties::kNumRunningFlushes,
        rocksdb::DB::Properties::kNumRunningCompactions}) {
    uint64_t value = 0;
    if (!db->GetIntProperty(property, &value)) {
      return absl::InternalError(Concat("RocksDB has no property ", property));
    }
    // Universal compaction reports work as pending for which it then finds no pick.
    if (is_universal && property == rocksdb::DB::Properties::kCompactionPending) continue;
    if (value != 0) return true;
  }
  return false;
}

// The thread that ends some work queues the next: a short rest suffices.
inline absl::Status WaitUntilRocksDBIsQuiet(rocksdb::DB* db, bool is_universal) {
  constexpr absl::Duration kRest = absl::Milliseconds(5);
  constexpr absl::Duration kStep = absl::Microseconds(100);
  absl::Time last_busy = absl::Now();
  while (absl::Now() - last_busy < kRest) {
    absl::StatusOr<bool> busy = IsRocksDBBusy(db, is_universal);
    if (!busy.ok()) return busy.status();
    if (*busy) last_busy = absl::Now();
    absl::SleepFor(kStep);
  }
  return absl::OkStatus();
}

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_ROCKSDB_QUIET_H_
