// Makes the calls of a recording again, on one database.
#ifndef BIGTABLE_BENCH_REPLAY_REPLAY_H_
#define BIGTABLE_BENCH_REPLAY_REPLAY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "common/measure.h"
#include "target.h"

namespace bench {

struct ReplayOptions {
  std::string recording;
  // The calls of a recorded thread are made by one thread, in their order. With one thread, all are
  // made in the order in which they ended.
  uint64_t threads = 1;
  // How many times faster than recorded; 0: each call as soon as a thread is free.
  double speed = 0;
  uint64_t most_calls = 0;  // 0: all
};

struct ReplayResult {
  ReplayResult() : reads(1, 0), scans(1, 0), writes(1, 0) {}

  uint64_t calls = 0;
  uint64_t skipped = 0;     // they had failed, or need keys that are hashed
  uint64_t user_bytes = 0;  // written: rows, qualifiers, values
  uint64_t recorded_rows = 0;
  uint64_t rows = 0;
  absl::Duration time;  // until the last call has ended
  absl::Duration cpu;   // of all threads, until no compaction is due
  // Times of calls: of one row; of several; everything that writes. Paced calls count from when
  // they were due.
  Latencies reads;
  Latencies scans;
  Latencies writes;
  TargetFigures figures;  // at the end
};

// A call that succeeded when it was recorded and fails now ends it with that error.
absl::StatusOr<ReplayResult> Replay(const ReplayOptions& options, const Overview& overview,
                                    Target* target);

}  // namespace bench

#endif  // BIGTABLE_BENCH_REPLAY_REPLAY_H_
