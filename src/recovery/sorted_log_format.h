// The on-disk format of a sorted commit log: the records of the log of a lost server, once each, in
// an order in which the records of each tablet are adjacent, for the servers that take over its
// tablets (section 6 of the paper). log_sorter.h writes it, sorted_log.h reads it.
//
// A sorted log is a few files in a directory, which may be the log's own:
//
//   SORTED            the manifest: the list of pieces; written last
//   SORTED~           the unfinished manifest; not part of the sorted log
//   sorted-00000001   a piece: a range of the log, sorted; pieces are numbered 1, 2, 3 ...
//   sorted-00000002   every sequence number in it is larger than all in the piece before it
//
// Nothing is synced, since the log itself still exists: a sorted log that did not survive is made
// again, and so is one of an earlier version. Checksums form a tree, so that a partial sorted log
// is never taken for a complete one: the manifest has the checksum of each piece's footer, a footer
// has that of its index, and an index has that of each block. A valid block, piece or footer of
// another sort, or at another position, does not verify.
//
// Integers are little-endian. Checksums are those of base/checksum.h, seeded with 0.
//
// Piece
//
//   +-------+-------+-----+-------+-------+--------+
//   | block | block | ... | block | index | footer |      blocks one after another from offset 0
//   +-------+-------+-----+-------+-------+--------+
//
// A block is one or more whole records, in the order (table, row, sequence number), like the whole
// piece. A block ends when it has kSortedBlockSize bytes. A record:
//
//   +------+----------+--------+----------+------------+----------+--------------+---------+
//   | type | sequence | batch  | table id | row offset | row size | payload size | payload |
//   | u8   | varint   | varint | varint   | varint     | varint   | varint       |         |
//   +------+----------+--------+----------+------------+----------+--------------+---------+
//
// The row is stored only as a part of the payload, from `row offset` on. `type` is a RecordType.
// `batch` is 0 for a record that is alone, otherwise 1 and the number of records of its batch that
// come after it, in all logs. Version 1 did not have it.
//
// The index has an entry for each block, in their order, with the key of the block's last record:
//
//   +----------+---------------+------------+----------+
//   | table id | row           | block size | checksum |
//   | varint   | length, bytes | varint     | u64      |
//   +----------+---------------+------------+----------+
//
// The footer is the last 64 bytes of the file:
//
//    0  u64  size of the index
//    8  u64  checksum of the index
//   16  u64  number of records
//   24  u64  smallest sequence number
//   32  u64  largest sequence number
//   40  u32  format version
//   44  u32  size of the footer, 64
//   48  u64  checksum of the bytes [0, 48)
//   56       "BTsorted"
//
// Worked example: a piece with one record, whose payload is the 11 bytes of the example in
// schema/mutation_format.h: table 5, row "r" at offset 3. Its sequence number is 9, and its batch
// ends with 11. CC are bytes of checksums. sorted_log_format_test.cc checks this example.
//
//   01 09 03 05 03 01 0b                     type 1, sequence 9, batch up to 11, table 5, row at 3
//                                            of size 1, 11 bytes
//   05 07 01 72 81 01 66 01 71 01 76         the payload
//   05 01 72 12 CC CC CC CC CC CC CC CC      index: table 5, row "r", block of 18 bytes, checksum
//   0c 00 00 00 00 00 00 00                  footer: the index has 12 bytes
//   CC CC CC CC CC CC CC CC                  its checksum
//   01 00 00 00 00 00 00 00                  one record
//   09 00 00 00 00 00 00 00                  smallest and
//   09 00 00 00 00 00 00 00                  largest sequence number
//   02 00 00 00 40 00 00 00                  version 2, footer of 64 bytes
//   CC CC CC CC CC CC CC CC                  checksum of the footer
//   42 54 73 6f 72 74 65 64                  "BTsorted"
//
// Manifest
//
//    0       "BTsortlg"
//    8  u32  format version. Every version has these 24 bytes, with the same meaning
//   12  u32  number of pieces
//   16  u64  checksum of the bytes [8, 16) and [24, end)
//   24  u64  last sequence number of the log, as LogEnd has it (log_replay.h)
//   32  u64  records that were read from the log
//   40  u64  segments that were read
//   48  u64  1 if the log was closed or removed, otherwise 0
//   56       for each piece:  u64  size of its file
//                             u64  checksum of its footer
//                             u64  number of records, at least 1
//                             u64  smallest sequence number
//                             u64  largest sequence number
//
// Worked example: an empty log, never closed, is 56 bytes: "BTsortlg", 02 00 00 00, 00 00 00 00,
// the checksum, and 32 zeros.
//
// Pure functions and plain values.
#ifndef BIGTABLE_RECOVERY_SORTED_LOG_FORMAT_H_
#define BIGTABLE_RECOVERY_SORTED_LOG_FORMAT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "base/coding.h"
#include "base/sequence.h"
#include "commitlog/log_format.h"

namespace bigtable {

inline constexpr uint32_t kSortedLogFormatVersion = 2;
inline constexpr size_t kSortedBlockSize = size_t{64} << 10;

// A record of a block. It does not own its row and payload.
struct SortedRecord {
  RecordType type = RecordType::kMutation;
  SequenceNumber sequence = 0;
  uint64_t table_id = 0;
  std::string_view row;  // a part of `payload`
  std::string_view payload;
  SequenceNumber batch = 0;  // as MutationRecord::batch; not less than `sequence`, or 0
};

void AppendSortedRecord(std::string* out, const SortedRecord& record);
// Reads the next record of a block. False if these bytes are not a record.
bool ParseSortedRecord(Decoder* block, SortedRecord* record);

struct SortedBlock {
  uint64_t table_id = 0;  // of the last record
  std::string_view row;
  uint64_t offset = 0;  // in the file; the sum of the sizes before it
  uint64_t size = 0;
  uint64_t checksum = 0;
};

void AppendSortedIndexEntry(std::string* out, const SortedBlock& block);
// The entries of an index; their rows point into `index`. Nullopt if it cannot be an index of a
// file whose blocks take `blocks_size` bytes.
std::optional<std::vector<SortedBlock>> ParseSortedIndex(std::string_view index,
                                                         uint64_t blocks_size);

struct SortedPieceFooter {
  static constexpr size_t kSize = 64;

  uint64_t index_size = 0;
  uint64_t index_checksum = 0;
  uint64_t records = 0;
  SequenceNumber smallest = 0;
  SequenceNumber largest = 0;
};

// Returns the footer's checksum, for the manifest.
uint64_t AppendSortedPieceFooter(std::string* out, const SortedPieceFooter& footer);
// Decodes the last kSize bytes of the file `path` of `file_size` bytes. The manifest's checksum is
// `expected_checksum`. DataLoss, also if the format is older, or FailedPrecondition if it is newer.
absl::StatusOr<SortedPieceFooter> DecodeSortedPieceFooter(std::string_view bytes,
                                                          std::string_view path, uint64_t file_size,
                                                          uint64_t expected_checksum);

// The manifest's description of a piece.
struct SortedPieceSummary {
  uint64_t size = 0;
  uint64_t footer_checksum = 0;
  uint64_t records = 0;
  SequenceNumber smallest = 0;
  SequenceNumber largest = 0;
};

struct SortedManifest {
  SequenceNumber last_sequence = 0;
  uint64_t log_records = 0;
  uint64_t log_segments = 0;
  bool clean = false;
  std::vector<SortedPieceSummary> pieces;
};

std::string EncodeSortedManifest(const SortedManifest& manifest);
// DataLoss that names `path` and the offset, also if the format is older, since the log can be
// sorted again; FailedPrecondition if it is newer.
absl::StatusOr<SortedManifest> DecodeSortedManifest(std::string_view bytes, std::string_view path);

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_SORTED_LOG_FORMAT_H_
