// The file of a recording (bigtable/call_recording.h): blocks, one after another.
//
//   +---------+----------+--------------+
//   | length  | checksum | records      |
//   | fixed32 | fixed64  | length bytes |
//   +---------+----------+--------------+
//
// The checksum (base/checksum.h) covers the records; its seed is the block's offset in the file. A
// file that ends within a block was cut off there. A block has whole records:
//
//   kBegin   0 | version | keys, 1 byte | fixed64 µs since 1970     first, in a block of its own
//   kTable   1 | number | name text | layout text (schema/table_layout.h)
//   kLost    2 | number of calls
//   kEnd     3                                                       last
//   a call   RecordedCall::Kind | table | thread | begin µs | duration µs | code | flags |
//            ranges:    count, each: flags (1 has an end, 2 one row), key [, key: the end]
//            limits:    row limit, cell limit                        if kHasLimits
//            results:   rows, cells, bytes
//            filter:    text (rpc/filter_format.h)                   if kHasFilter
//            mutations: count, each: table, key, count of operations, each:
//                       kind | family text | key: qualifier | time + 1, or 0 for none | end |
//                       value size
//
// Numbers are varints unless stated otherwise, texts and keys have their length before them. A
// table that a call names was defined before it; a later definition of a number replaces it. Times
// are since kBegin's.
//
// Worked example: in table 1, thread 2 read the row "r" from 16 to 21 µs, and found one cell of 9
// bytes:
//   10 01 02 10 05 00 00 | 01 02 01 72 | 01 01 09 | 00
#ifndef BIGTABLE_RECORDING_RECORDING_FORMAT_H_
#define BIGTABLE_RECORDING_RECORDING_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/call_recording.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row_range.h"

#include "base/coding.h"
#include "schema/mutation_format.h"

namespace bigtable {

inline constexpr uint64_t kRecordingVersion = 1;
inline constexpr size_t kRecordingBlockHeader = 4 + 8;
inline constexpr size_t kMostRecord = size_t{16} << 20;
// Of a block that is written; a reader believes no larger length.
inline constexpr size_t kMostRecordingBlock = 2 * kMostRecord;

enum class RecordKind : uint8_t { kBegin = 0, kTable = 1, kLost = 2, kEnd = 3 };

// How keys are recorded. Plain value.
class KeyMask {
 public:
  // `secret` is used if keys are hashed.
  KeyMask(RecordedKeys keys, uint64_t secret) : keys_(keys), secret_(secret) {}
  bool hashes() const { return keys_ == RecordedKeys::kHashed; }
  // With its length.
  void Append(std::string* out, std::string_view key) const;

 private:
  RecordedKeys keys_;
  uint64_t secret_;
};

// A call for AppendCall; the bytes come from the functions below. Plain value.
struct CallRecord {
  RecordedCall::Kind kind = RecordedCall::Kind::kReadRow;
  uint64_t table = 0;
  uint64_t thread = 0;
  int64_t begin_micros = 0;
  int64_t duration_micros = 0;
  absl::StatusCode code = absl::StatusCode::kOk;
  uint64_t range_count = 0;
  std::string_view ranges = {};
  std::string_view filter = {};
  bool filter_left_out = false;
  bool reverse = false;
  bool synced = false;
  int64_t row_limit = 0;
  int64_t cell_limit = 0;
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;
  uint64_t mutation_count = 0;
  std::string_view mutations = {};
};

void AppendCall(std::string* out, const CallRecord& call);
void AppendRecordedRow(std::string* out, std::string_view row, const KeyMask& mask);
void AppendRecordedRange(std::string* out, const RowRange& range, const KeyMask& mask);
void AppendRecordedMutation(std::string* out, uint64_t table, const EncodedMutation& mutation,
                            const KeyMask& mask);
void AppendRecordedRules(std::string* out, uint64_t table, const ReadModifyWrite& rules,
                         const KeyMask& mask);
void AppendRecordedTable(std::string* out, uint64_t number, std::string_view name,
                         std::string_view layout);

// Reads a call after its kind. `tables` has the names of the tables by their numbers. False: the
// bytes are not a call.
bool ParseCall(Decoder* decoder, const std::map<uint64_t, std::string>& tables, RecordedCall* call);

// The header of a block with these records at this offset, in place of its first
// kRecordingBlockHeader bytes.
void FinishBlock(std::string* block, uint64_t offset);

}  // namespace bigtable

#endif  // BIGTABLE_RECORDING_RECORDING_FORMAT_H_
