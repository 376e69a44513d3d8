// What a commit log looks like on disk: the bytes of segments and records. Only this room knows.
//
// A log is a directory:
//
//   STATE          one small file for the whole log: log_state.h
//   00000007.log   a segment; the number has 8 or more digits and grows by one
//   00000008.log   the last one may be a spare: prepared, without a record yet
//   00000003.log   below `low` of STATE: not part of the log, kept to be used again
//   *.tmp          a file in the making; not part of the log
//   REMOVED        somebody has begun to remove the log: nothing in it is needed any more
//
// A segment is a file of fixed size with one record behind the other from its first byte on, the
// last of them a seal if it is full, the first of them a switch record if a call on the file before
// it took too long. Behind them stand zeros, or what the file held before. It has
// no header: all that a reader has to know follows from its number and the log's secret, so that a
// recycled file needs not be synced, which would write out all its old bytes, before it is used.
//
//   +--------+--------+-----+------+----------------------+
//   | record | record | ... | seal | old bytes, or zeros  |      each record at a multiple of 8
//   +--------+--------+-----+------+----------------------+
//
// A *log offset* is a position in the whole log: number of the segment * 2^36 + position in its
// file. The salt of a segment is the checksum of its number (u64), seeded with the log's secret.
//
// All integers are little-endian.
//
// Record
//
//    0  u64  checksum of the bytes [8, 32 + n), seeded with salt + position in the file
//    8  u32  check of the header: low half of the checksum of [12, 32), same seed
//   12  u32  n, size of the payload
//   16  u64  sequence number in the low 7 bytes, record type in the highest
//   24  u64  synced: the log was known to be durable up to this log offset
//   32       payload, then up to 7 bytes nobody looks at, to the next multiple of 8
//
// * The seed makes a record valid in one place of one use of one file: stale bytes of a recycled
//   segment, and log bytes that somebody stored as a value, are never taken for records.
// * The check of the header makes the length believable by itself, so that the search behind a bad
//   record (log_replay.h) costs a few nanoseconds a place, whatever users wrote into their values.
// * Sequence numbers ascend. A seal carries the last record's.
// * A seal's payload is a u64: the number of the next segment, or 0 when the log was closed. Every
//   segment keeps room for it.
// * A switch record stands only at the beginning of a segment. Its payload is a u64, a log offset
//   below the segment at which a record of an earlier segment begins or would begin: the log goes
//   on from there behind the switch record. What is behind that offset in earlier segments, whole,
//   torn or missing, is not part of the log: its records, as far as they count, stand here again,
//   with the same sequence numbers. Carries the last sequence number among them.
//
// Worked example: a mutation "hello" with sequence number 5 as the first record of segment 1 of a
// log whose secret is 0; the log is known to be synced up to this place. The test
// tests/commitlog/log_format_test.cc holds these bytes.
//
//   45 52 93 17 22 64 6f 82   checksum
//   98 b7 36 3f               check of the header
//   05 00 00 00               payload size
//   05 00 00 00 00 00 00 01   sequence number 5, type 1
//   00 00 00 00 10 00 00 00   synced up to log offset 2^36: segment 1, position 0
//   68 65 6c 6c 6f            "hello"
//   .. .. ..                  to the multiple of 8
//
// An example of a switch: the log is synced up to S when a sync of segment 7 stalls.
//
//   00000007.log  ... | 41 | 42 | S | 43 | 44 | old bytes
//   00000008.log      | switch: S | 43 | 44 | 45 | 46 ...
//   the log           ... 41, 42, 43, 44, 45, 46 ...
#ifndef BIGTABLE_COMMITLOG_LOG_FORMAT_H_
#define BIGTABLE_COMMITLOG_LOG_FORMAT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/sequence.h"

namespace bigtable {

// On disk: never renumber.
enum class RecordType : uint8_t {
  kMutation = 1,  // one row mutation
  kBatch = 2,     // several row mutations, all or none; the sequence number is the last one's
  kPrepare = 3,   // 3 to 5: reserved for batches over several servers
  kCommit = 4,
  kAbort = 5,
  // The log's own, never seen outside this room.
  kEnd = 16,     // the segment ends here
  kSwitch = 17,  // the segment repeats the end of the log before it; since version 2
};

inline constexpr bool IsLogsOwn(uint8_t type) {
  return type == static_cast<uint8_t>(RecordType::kEnd) ||
         type == static_cast<uint8_t>(RecordType::kSwitch);
}

inline constexpr int kSegmentShift = 36;
inline constexpr size_t kRecordHeaderSize = 32;
inline constexpr size_t kEndPayloadSize = 8;
inline constexpr uint64_t kEndRecordSize = kRecordHeaderSize + kEndPayloadSize;
inline constexpr size_t kSwitchPayloadSize = 8;
inline constexpr uint64_t kSwitchRecordSize = kRecordHeaderSize + kSwitchPayloadSize;
inline constexpr uint64_t kMaxPayloadSize = uint64_t{1} << 30;

inline constexpr std::string_view kRemovedMarker = "REMOVED";
// A segment that is being made.
inline constexpr std::string_view kTemporarySegmentName = "segment.tmp";

inline constexpr uint64_t LogOffset(uint64_t number, uint64_t position) {
  return (number << kSegmentShift) + position;
}
uint64_t SegmentSalt(uint64_t secret, uint64_t number);

// "00000007.log" for 7, and back; nothing for any other name.
std::string SegmentName(uint64_t number);
std::optional<uint64_t> ParseSegmentName(std::string_view name);

// The bytes that a record with a payload of `n` bytes takes.
inline constexpr uint64_t RecordSize(uint64_t n) { return (kRecordHeaderSize + n + 7) & ~7ull; }
inline uint64_t RecordSeed(uint64_t salt, uint64_t position) { return salt + position; }

struct RecordHeader {
  uint32_t payload_size = 0;
  uint8_t type = 0;
  SequenceNumber sequence = 0;
  uint64_t synced = 0;
};

// Makes a record of the payload that stands at `at` + kRecordHeaderSize, by writing its header at
// `at`: the checksum last, so that the record is not valid before it is complete.
void FinishRecord(char* at, const RecordHeader& header, uint64_t seed);
// Whether the kRecordHeaderSize bytes at `at` are a record's header. The payload is not looked at.
bool DecodeRecordHeader(const char* at, uint64_t seed, RecordHeader* header);
// Whether a record is valid as a whole, of which DecodeRecordHeader has said that it begins at
// `at`.
bool IsRecordIntact(const char* at, const RecordHeader& header, uint64_t seed);

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_FORMAT_H_
