// Reads a commit log after its writer has ended, by Close or by a crash, and determines where it
// ends.
//
// Segments are read from `low` in STATE. The first position without a valid record is the end of
// the log, as after a crash. But it is DataLoss, with the file and offset, if anything shows that
// the log was longer:
//
//  * a valid record after that position, in the same segment or a later one, or STATE, with a
//    synced offset beyond it;
//  * a missing segment: `low`, one between `low` and the highest, or one that an end record names;
//  * sequence numbers that do not ascend, or an end record that does not fit its segment;
//  * a sequence number that the caller knows to have been synced (`must_reach`).
//
// Where the writer switched files (log_format.h), earlier segments end at the offset in the switch
// record, whatever follows it. Records that are in both files are delivered once, from the later
// file. If something is missing before that offset, the switch record shows it too.
//
// Nothing after the first invalid position is ever delivered: after a power loss, any mixture of
// unsynced data may be present, and only a prefix is valid.
//
// Memory: one record at a time, or 256 KiB. Any thread.
#ifndef BIGTABLE_RECOVERY_LOG_REPLAY_H_
#define BIGTABLE_RECOVERY_LOG_REPLAY_H_

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/sequence.h"
#include "commitlog/log_format.h"

namespace bigtable {

struct ReplayOptions {
  // A sequence number that is known to have been durable in this log, or released: an end before it
  // is DataLoss. For example, a redo point in METADATA.
  SequenceNumber must_reach = 0;
  // Whether the log is known to have been created. If so, a missing or empty directory is DataLoss.
  // Otherwise it is an empty log, whose Create was interrupted.
  bool must_exist = true;
  FileSystem::ReadMode read_mode = FileSystem::ReadMode::kMapped;
};

struct LogEnd {
  // The sequence number of the last record, or the released one if that is larger.
  SequenceNumber last_sequence = 0;
  // The log offset after the last valid record.
  uint64_t offset = 0;
  uint64_t records = 0;   // delivered
  uint64_t segments = 0;  // read
  bool clean = false;     // the log was closed, or removed: nothing can be missing
};

// Delivers each record once, in the order of sequence numbers. The payload is valid until the
// callback returns. Released records may be among them. An error of the callback ends the replay
// and is returned.
//
// FailedPrecondition: a record type that is unknown, or a log in a newer format.
// Read errors are returned unchanged.
using ReplayCallback =
    absl::FunctionRef<absl::Status(RecordType, SequenceNumber, std::string_view payload)>;
absl::StatusOr<LogEnd> ReplayLog(FileSystem* file_system, std::string_view directory,
                                 const ReplayOptions& options, ReplayCallback callback);

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_LOG_REPLAY_H_
