// The description of an SSTable that is known without opening it. METADATA stores one for each file
// of a tablet. Plain value.
#ifndef BIGTABLE_SSTABLE_SSTABLE_INFO_H_
#define BIGTABLE_SSTABLE_SSTABLE_INFO_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "base/sequence.h"

namespace bigtable {

struct SSTableInfo {
  uint64_t file_number = 0;
  uint64_t size = 0;      // of the whole file, in bytes
  uint64_t identity = 0;  // random; distinguishes this file from others with the same number

  // Encoded keys; both empty when there are no entries.
  std::string smallest_key;
  std::string largest_key;

  SequenceNumber min_sequence = 0;
  SequenceNumber max_sequence = 0;

  // Of the entries with a timestamp: cells, shadows, and deletions of single cells. min > max:
  // none.
  int64_t min_timestamp = std::numeric_limits<int64_t>::max();
  int64_t max_timestamp = -1;

  uint64_t entries = 0;
  // EntryTraits::counted_as (base/entry_kind.h) defines which kinds these are.
  uint64_t cell_deletions = 0;
  uint64_t column_deletions = 0;
  uint64_t row_deletions = 0;  // and of families
  // When the oldest deletion in it was written, or earlier, in microseconds since 1970. 0: it has
  // no deletion, or the time is not known.
  int64_t oldest_deletion = 0;
  // It is the output of a flush or a compaction, and ended because it had reached the size, or the
  // memory, at which files end.
  bool is_full = false;
  uint64_t raw_bytes = 0;  // of keys and values, before prefix and other compression
  // The part of `raw_bytes` of each family, by name; deletions of rows belong to none. Storage is
  // charged by these without opening the file (tablet/storage_usage.h).
  struct FamilyBytes {
    std::string name;
    uint64_t bytes = 0;

    friend bool operator==(const FamilyBytes&, const FamilyBytes&) = default;
  };
  std::vector<FamilyBytes> families;

  // Of a file that was not written by this database (Table::Ingest). What is said above holds for
  // the file as the database reads it, and this for the file itself.
  struct Ingested {
    uint64_t file_number = 0;    // in the file
    int64_t sequence_shift = 0;  // is added to the sequence number of each entry

    friend bool operator==(const Ingested&, const Ingested&) = default;
  };
  std::optional<Ingested> ingested;

  int64_t sequence_shift() const { return ingested.has_value() ? ingested->sequence_shift : 0; }
  uint64_t deletions() const { return cell_deletions + column_deletions + row_deletions; }
  // Whether an entry of the file affects a cell whose timestamp is in [first, last]. Deletions of
  // columns, families and rows affect every timestamp.
  bool ConcernsTimestamps(int64_t first, int64_t last) const {
    return column_deletions + row_deletions > 0 ||
           (min_timestamp <= last && max_timestamp >= first);
  }

  void EncodeTo(std::string* out) const;
  // DataLoss if `bytes` is not an encoding, FailedPrecondition if it has a later version.
  static absl::StatusOr<SSTableInfo> Decode(std::string_view bytes);

  friend bool operator==(const SSTableInfo&, const SSTableInfo&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_SSTABLE_INFO_H_
