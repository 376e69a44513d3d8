// A piece of a log in memory, on its way into a file: filled in the log's order, then sorted and
// written. sorted_log_format.h has its bytes.
//
// One thread at a time: one fills it, another one writes it.
#ifndef BIGTABLE_COMMITLOG_LOG_PIECE_H_
#define BIGTABLE_COMMITLOG_LOG_PIECE_H_

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
#include "commitlog/sorted_log_format.h"

namespace bigtable {

class LogPiece {
 public:
  // What a record adds to a piece.
  static uint64_t SizeOf(std::string_view payload) { return payload.size() + sizeof(Entry); }

  // Empties the piece for other records, up to `size` bytes of which take no more memory than it
  // has then.
  void Clear(uint64_t size);

  // Adds a record, whose `row` is a part of its payload. Copies it.
  void Add(const SortedRecord& record);

  // What its records take in memory.
  uint64_t size() const { return payloads_.size() + entries_.size() * sizeof(Entry); }
  bool empty() const { return entries_.empty(); }

  // Sorts the records and writes them to `path`, without a sync. The piece is not empty.
  absl::StatusOr<SortedPieceSummary> Write(FileSystem* file_system, const std::string& path);

 private:
  // What sorting looks at, so that payloads are not touched before they are written.
  struct Entry {
    uint64_t table_id;
    uint64_t row_number;  // see NumberRows
    SequenceNumber sequence;
    uint64_t payload_offset;  // in payloads_
    uint32_t payload_size;
    uint32_t row_offset;  // in the payload
    uint32_t row_size;
    RecordType type;
  };

  // Gives each row the KeyNumber of what follows the prefix that all rows of its table have in
  // common, so that few comparisons have to look at the row itself.
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

#endif  // BIGTABLE_COMMITLOG_LOG_PIECE_H_
