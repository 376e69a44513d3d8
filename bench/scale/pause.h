// The effect of splits and moves on clients: the latency of reads and writes in a run in which
// tablets are split, in one in which they are moved, and in one without either.
#ifndef BIGTABLE_BENCH_SCALE_PAUSE_H_
#define BIGTABLE_BENCH_SCALE_PAUSE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bench {

enum class Change { kNone, kSplits, kMoves };
inline constexpr std::array<Change, 3> kAllChanges = {Change::kNone, Change::kSplits,
                                                      Change::kMoves};

// "none", "splits", "moves"; and back.
std::string_view ChangeName(Change change);
std::optional<Change> ChangeNamed(std::string_view name);

// The initial number of tablets, with the same number of rows each, and the number of servers.
inline constexpr uint64_t kPauseTablets = 16;
inline constexpr int kPauseServers = 2;
// The reader and the writer each do one operation in the period, and there is one change in the
// interval.
inline constexpr absl::Duration kPausePeriod = absl::Microseconds(100);
inline constexpr absl::Duration kChangeInterval = absl::Milliseconds(100);

struct PauseOptions {
  Change change = Change::kNone;
  uint64_t rows = 0;
  uint64_t memory_limit = 0;
  absl::Duration time;
  std::string directory;  // empty
};

// NaN: not available. Plain value.
struct PauseFigures {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  double read_p50_us = kNone;
  double read_p99_us = kNone;
  double read_p999_us = kNone;
  double read_longest_us = kNone;
  double write_p50_us = kNone;
  double write_p99_us = kNone;
  double write_p999_us = kNone;
  double write_longest_us = kNone;
  // The changes themselves: their number, and the duration of the call that makes one.
  double changes = kNone;
  double change_p50_us = kNone;
  double change_longest_us = kNone;
};

struct PauseFigureName {
  std::string_view name;
  double PauseFigures::*figure;
  bool is_longest;  // of all rounds; others are the median of the rounds
};
inline constexpr std::array<PauseFigureName, 11> kPauseFigures = {{
    {"read_p50_us", &PauseFigures::read_p50_us, false},
    {"read_p99_us", &PauseFigures::read_p99_us, false},
    {"read_p999_us", &PauseFigures::read_p999_us, false},
    {"read_longest_us", &PauseFigures::read_longest_us, true},
    {"write_p50_us", &PauseFigures::write_p50_us, false},
    {"write_p99_us", &PauseFigures::write_p99_us, false},
    {"write_p999_us", &PauseFigures::write_p999_us, false},
    {"write_longest_us", &PauseFigures::write_longest_us, true},
    {"changes", &PauseFigures::changes, false},
    {"change_p50_us", &PauseFigures::change_p50_us, false},
    {"change_longest_us", &PauseFigures::change_longest_us, true},
}};

// Loads a table, waits until it is quiet, and runs a reader and a writer on random rows while
// tablets change. A missing row, or a change that did not happen, is an error. The directory's
// contents stay.
//
// Each operation is due at a fixed time, and its latency counts from then, so operations that wait
// for a slow one count the wait, too. A client that sends its next request only after a response
// would count a pause of 20 ms as one operation among a hundred thousand.
absl::StatusOr<PauseFigures> MeasurePause(const PauseOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SCALE_PAUSE_H_
