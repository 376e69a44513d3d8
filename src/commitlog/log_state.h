// The file STATE of a commit log: what recovery must know about the log as a whole.
//
// It is a log file with two slots, at 0 and 4096. It is written in place: first one slot, synced,
// then the other, synced. So one slot is always valid, no space is needed on a full disk, and a
// flipped bit does no harm. The valid slot with the higher generation counts. After a write error,
// a new file replaces it.
//
//    0  u64  checksum of the bytes [8, 64)
//    8  u64  magic, "BTLOGSTA"
//   16  u64  format version of the log. Every version keeps these fields, and the 64 bytes.
//            1: as below. 2: a segment may begin with a switch record (log_format.h)
//   24  u64  generation: how often the state was written
//   32  u64  secret: random, one for each log; the salts of segments are derived from it
//   40  u64  low: the lowest segment that is needed
//   48  u64  released: no record up to this sequence number is needed
//   56  u64  synced: the log was known to be synced up to this log offset
//
// Worked example: the state of a new log with the secret 0; log_format_test.cc holds these bytes.
//
//   4f 4b 27 15 6e 1e e3 b6   checksum
//   42 54 4c 4f 47 53 54 41   "BTLOGSTA"
//   02 00 00 00 00 00 00 00   version 2
//   01 00 00 00 00 00 00 00   generation 1
//   00 00 00 00 00 00 00 00   secret
//   01 00 00 00 00 00 00 00   segment 1 is the lowest
//   00 00 00 00 00 00 00 00   nothing is released
//   00 00 00 00 00 00 00 00   nothing is known to be synced
#ifndef BIGTABLE_COMMITLOG_LOG_STATE_H_
#define BIGTABLE_COMMITLOG_LOG_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/sequence.h"

namespace bigtable {

inline constexpr uint64_t kLogFormatVersion = 2;
inline constexpr std::string_view kLogStateName = "STATE";
inline constexpr std::string_view kTemporaryLogStateName = "STATE.tmp";

struct LogState {
  uint64_t version = kLogFormatVersion;
  uint64_t generation = 0;
  uint64_t secret = 0;
  uint64_t low = 1;
  SequenceNumber released = 0;
  uint64_t synced = 0;
};

std::string EncodeLogState(const LogState& state);
// Returns nullopt unless the bytes are a valid slot, of any version.
std::optional<LogState> DecodeLogState(std::string_view bytes);

// Writes the state of one log. One thread at a time.
class LogStateFile {
 public:
  LogStateFile(FileSystem* file_system, std::string directory);

  // When this returns OK the state is durable. After an error either the previous state is valid or
  // this one. Sets the generation.
  absl::Status Write(LogState state);

 private:
  absl::Status WriteSlots(const LogState& state);
  absl::Status Replace(const LogState& state);

  FileSystem* const file_system_;
  const std::string directory_;
  std::unique_ptr<LogFile> file_;  // null before the first write, and after an error
  uint64_t generation_ = 0;
};

// NotFound if there is no such file; DataLoss if it has no valid slot; FailedPrecondition if its
// format is newer than this program.
absl::StatusOr<LogState> ReadLogState(FileSystem* file_system, std::string_view directory);

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_STATE_H_
