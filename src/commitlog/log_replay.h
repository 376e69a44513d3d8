// Reads a commit log after its writer has gone, by Close or by a crash, and decides where it ends.
//
// Segments are read from the `low` that STATE states. The first place without a valid
// record is the end of the log, as after a crash. It is DataLoss instead, naming file and offset,
// if anything says that more was there:
//
//  * a valid record behind that place, in the same segment or in a later one, or STATE, that knows
//    the log to have been synced beyond it;
//  * a segment that is missing: `low`, one between it and the highest, or one that a seal names;
//  * sequence numbers that do not ascend, or a seal that does not fit what it closes;
//  * a sequence number that the caller knows to have been synced (`must_reach`).
//
// Where the writer has switched files (log_format.h), the earlier segments end where the switch
// record says, whatever stands behind: records that are in both files are delivered once, from the
// later one. If something is missing before that place the switch record is one more witness.
//
// Nothing behind the first bad place is ever delivered: after power was lost, what was not synced
// may be there in any mixture, and only a prefix is sound.
//
// Memory: one record at a time, or 256 KiB. Any thread.
#ifndef BIGTABLE_COMMITLOG_LOG_REPLAY_H_
#define BIGTABLE_COMMITLOG_LOG_REPLAY_H_

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
  // A sequence number that is known to have been durable in this log, or released: to end before it
  // is DataLoss. Redo points in METADATA are such.
  SequenceNumber must_reach = 0;
  // Whether the log is known to have been created: then a directory that is missing or empty is
  // DataLoss; otherwise it is an empty log, whose Create was cut short.
  bool must_exist = true;
  FileSystem::ReadMode read_mode = FileSystem::ReadMode::kMapped;
};

struct LogEnd {
  // Of the last record, or up to which records were released, whichever is larger.
  SequenceNumber last_sequence = 0;
  // The log offset behind the last valid record.
  uint64_t offset = 0;
  uint64_t records = 0;   // that were delivered
  uint64_t segments = 0;  // that were read
  bool clean = false;     // the log was closed, or removed: nothing can be missing
};

// Delivers each record once, in the order of sequence numbers; the payload is good until the
// callback returns. Records that were released may be among them. An error that the callback
// returns ends the replay and is returned.
//
// A record of a type other than kMutation and kBatch is FailedPrecondition, as is a log of a
// newer format. Errors in reading are returned as they are.
using ReplayCallback =
    absl::FunctionRef<absl::Status(RecordType, SequenceNumber, std::string_view payload)>;
absl::StatusOr<LogEnd> ReplayLog(FileSystem* file_system, std::string_view directory,
                                 const ReplayOptions& options, ReplayCallback callback);

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_REPLAY_H_
