// Reads a commit log past damage: every record that is valid, wherever it is.
//
// The search goes on behind each position without a valid record, also where an opening takes that
// position for the end of the log, because nothing shows that it had been synced further. Only if
// no record follows is it the end, which a crash may have torn. A record is valid only at one
// position of one use of one file, so nothing that is found is anything else. What a later segment
// repeats of an earlier one, after a switch, is delivered once.
//
// Not possible without the log's STATE: its secret is needed to verify records.
#ifndef BIGTABLE_REPAIR_LOG_SALVAGE_H_
#define BIGTABLE_REPAIR_LOG_SALVAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/sequence.h"
#include "recovery/log_replay.h"

namespace bigtable {

// A part of a log without valid records. Those that may have been there have sequence numbers above
// `after` and below `before`.
struct LogGap {
  std::string path;  // of the segment, or of the log
  std::string problem;
  SequenceNumber after = 0;
  SequenceNumber before = kMaxSequence;  // kMaxSequence: perhaps all later ones
};

struct SalvagedLog {
  std::vector<LogGap> gaps;
  SequenceNumber last = 0;  // as LogEnd::last_sequence
};

// Delivers the records in the order of their sequence numbers. `must_reach` and `must_exist`: as
// ReplayOptions. An
// error of the callback ends it and is returned, and so do errors that are no damage
// (read_errors.h).
absl::StatusOr<SalvagedLog> SalvageLog(FileSystem* file_system, const std::string& directory,
                                       SequenceNumber must_reach, bool must_exist,
                                       ReplayCallback callback);

}  // namespace bigtable

#endif  // BIGTABLE_REPAIR_LOG_SALVAGE_H_
