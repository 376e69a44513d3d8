// A piece of a log in memory, before it is written to a file: filled in log order, then sorted and
// written. sorted_log_format.h describes its bytes.
//
// One thread at a time: one fills it, another writes it.
#ifndef BIGTABLE_RECOVERY_LOG_PIECE_H_
#define BIGTABLE_RECOVERY_LOG_PIECE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/sequence.h"
#include "commitlog/log_format.h"
#include "recovery/sorted_log_format.h"

namespace bigtable {

class LogPiece {
 public:
  // The memory that a record adds to a piece.
  static uint64_t SizeOf(std::string_view payload) { return payload.size() + sizeof(Entry); }

  // How many records of its batch may come after a record. Batches of the log are far smaller
  // (WriteBatch::kMaxMutations).
  static constexpr uint64_t kMaxLeftOfBatch = (uint64_t{1} << 24) - 2;

  // Empties the piece for new records. Records of up to `size` bytes then need no more memory than
  // it has.
  void Clear(uint64_t size);

  // Adds a copy of a record. Its `row` is a part of its payload, and its batch ends at most
  // kMaxLeftOfBatch after it.
  void Add(const SortedRecord& record);

  // The memory of its records.
  uint64_t size() const { return payloads_.size() + entries_.size() * sizeof(Entry); }
  bool empty() const { return entries_.empty(); }

  // Sorts the records and writes them to `path`, without a sync. Requires a non-empty piece.
  absl::StatusOr<SortedPieceSummary> Write(FileSystem* file_system, const std::string& path);

 private:
  // The fields that sorting needs, so that payloads are not touched before they are written.
  struct Entry {
    uint64_t table_id;
    uint64_t row_number;  // see NumberRows
    SequenceNumber sequence;
    uint64_t payload_offset;  // in payloads_
    uint32_t payload_size;
    uint32_t row_offset;  // in the payload
    uint32_t row_size;
    uint32_t batch : 24;  // up to its last record, counting this one; 0: it is alone
    RecordType type;
  };
  static_assert(sizeof(Entry) == 48, "no byte is lost to padding");

  // Sets row_number to the KeyNumber of what follows the common prefix of all rows of the table, so
  // that few comparisons read the row itself.
  void NumberRows();
  void Sort();
  SortedRecord RecordOf(const Entry& entry) const;
  std::string_view RowOf(const Entry& entry) const {
    return {payloads_.data() + entry.payload_offset + entry.row_offset, entry.row_size};
  }

  std::string payloads_;
  std::vector<Entry> entries_;
};

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_LOG_PIECE_H_
