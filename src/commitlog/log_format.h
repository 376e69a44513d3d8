// The on-disk format of a commit log: the bytes of segments and records. Only this layer knows it.
//
// A log is a directory:
//
//   STATE          one small file for the whole log: log_state.h
//   00000007.log   a segment; the number has 8 or more digits and grows by one
//   00000008.log   the last one may be a spare: prepared, without records
//   00000003.log   below `low` of STATE: not part of the log, kept for reuse
//   *.tmp          an unfinished file; not part of the log
//   REMOVED        the removal of the log has begun: nothing in it is needed
//
// A segment is a file of fixed size. Its records are adjacent, from its first byte. The last record
// is an end record if the segment is full. The first one is a switch record if a call on the
// previous file stalled. After the records there are zeros, or the previous contents of the file.
// The segment has no header: everything that a reader must know follows from its number and the
// log's secret. So a recycled file need not be synced before it is used, which would write all its
// old bytes.
//
//   +--------+--------+-----+-----+----------------------+
//   | record | record | ... | end | old bytes, or zeros  |      each record at a multiple of 8
//   +--------+--------+-----+-----+----------------------+
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
//   24  u64  synced: the log was known to be synced up to this log offset
//   32       payload, then up to 7 unused bytes, to the next multiple of 8
//
// * The seed makes a record valid only at one position of one use of one file: stale bytes of a
//   recycled segment, and log bytes that were stored as a value, are never taken for records.
// * The check of the header covers the length, so that the search after a bad record (log_replay.h)
//   costs a few nanoseconds for each position, whatever is in users' values.
// * Sequence numbers ascend. An end record has that of the last record.
// * The payload of an end record is a u64: the number of the next segment, or 0 if the log was
//   closed. Every segment reserves room for an end record.
// * A switch record is always the first of a segment. Its payload is a u64, a log offset below this
//   segment at which a record of an earlier segment begins or would begin. The log continues from
//   that offset after the switch record. Bytes after that offset in earlier segments are not part
//   of the log, whether complete, torn or missing: the records among them that count are copied
//   here, with the same sequence numbers. The switch record has the last sequence number among
//   them.
//
// Worked example: a mutation "hello" with sequence number 5 as the first record of segment 1 of a
// log whose secret is 0; the log is known to be synced up to this position. The test
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
  // A part of a batch over several logs; the sequence number is the last one's of the part.
  kBatchPart = 3,
  // The log's own, never seen outside this layer.
  kEnd = 16,     // the last record of a full or closed segment
  kSwitch = 17,  // the segment repeats the end of the log before it; since version 2
};

// Whether the log's user appends records of this type, and a replay delivers them.
inline constexpr bool IsUsers(RecordType type) {
  return type == RecordType::kMutation || type == RecordType::kBatch ||
         type == RecordType::kBatchPart;
}
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
// A segment file while it is created.
inline constexpr std::string_view kTemporarySegmentName = "segment.tmp";

inline constexpr uint64_t LogOffset(uint64_t number, uint64_t position) {
  return (number << kSegmentShift) + position;
}
uint64_t SegmentSalt(uint64_t secret, uint64_t number);

// "00000007.log" for 7, and back; nullopt for any other name.
std::string SegmentName(uint64_t number);
std::optional<uint64_t> ParseSegmentName(std::string_view name);

// A log of a server that ended may be sorted in its own directory (recovery/sorted_log_format.h).
inline constexpr std::string_view kSortedManifestName = "SORTED";
inline constexpr std::string_view kSortedManifestTemporaryName = "SORTED~";
// "sorted-00000001" for 1, and back; nullopt for any other name.
std::string SortedPieceName(uint64_t number);
std::optional<uint64_t> ParseSortedPieceName(std::string_view name);

// The size of a record with a payload of `n` bytes.
inline constexpr uint64_t RecordSize(uint64_t n) { return (kRecordHeaderSize + n + 7) & ~7ull; }
inline uint64_t RecordSeed(uint64_t salt, uint64_t position) { return salt + position; }

struct RecordHeader {
  uint32_t payload_size = 0;
  uint8_t type = 0;
  SequenceNumber sequence = 0;
  uint64_t synced = 0;
};

// Completes a record whose payload is at `at` + kRecordHeaderSize: writes its header at `at`, the
// checksum last, so that the record is not valid before it is complete.
void FinishRecord(char* at, const RecordHeader& header, uint64_t seed);
// Whether the kRecordHeaderSize bytes at `at` are a record's header. Does not check the payload.
bool DecodeRecordHeader(const char* at, uint64_t seed, RecordHeader* header);
// Whether the whole record at `at` is valid. Requires that DecodeRecordHeader returned true for it.
bool IsRecordIntact(const char* at, const RecordHeader& header, uint64_t seed);

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_FORMAT_H_
