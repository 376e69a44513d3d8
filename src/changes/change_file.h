// A file of changes: the changes of a tablet that memtables had noted when they were flushed, in
// the order of the commits. It is an SSTable, with the number, checksums, identity and ways of one,
// but of a group of its own, kChangesGroupId: its rows are sequence numbers, not rows of the table.
// Reads of the table never see it. Nothing merges it; it is dropped as a whole when it is too old.
//
// Changes that follow one another are packed together into an entry of about 16 KiB, a chunk, so
// that a change costs little more than its bytes. An entry:
//
//   row        the sequence number of the last change of the chunk, 8 bytes big-endian: a search
//              for what comes after a number finds the chunk that has it
//   column     "c:", and "c:0", "c:1" ... of the pieces of a chunk above 128 MiB
//   timestamp  the largest time of a change of the chunk
//   value      1 byte: the version of the form, 1; then the changes:
//
//   +----------+-----------------+--------+---------------+---------------+
//   | number   | microseconds    | batch  | row           | operations    |
//   | varint   | zigzag varint   | varint | length, bytes | length, bytes |
//   +----------+-----------------+--------+---------------+---------------+
//
//   number        less that of the change before it in the chunk
//   microseconds  when it was committed, less those of the change before it
//   batch         0, or the last number of the batch that the change belongs to, minus its own
//                 number, plus 1
//
// The first chunk of a file has one change. So the smallest and the largest number and the largest
// time in SSTableInfo are those of the changes.
//
// Worked example: the change 5 of the row "r", alone, which deletes the row, at microsecond 9:
//   00 00 00 00 00 00 00 05 : c: @9   01 | 05 | 12 | 00 | 01 72 | 01 07
// (the zero bytes of the row are escaped in the key, as base/entry_key.h says).
//
// A tablet that was split shares the file with the other half, so it may have changes of rows
// outside of the tablet.
#ifndef BIGTABLE_CHANGES_CHANGE_FILE_H_
#define BIGTABLE_CHANGES_CHANGE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"

#include "base/coding.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "memtable/change_list.h"
#include "memtable/memtable.h"
#include "sstable/properties.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_info.h"

namespace bigtable {

// The group of files of changes, in METADATA and in the properties of the file. Groups of families
// are numbered from 0 on, and never get there.
inline constexpr uint32_t kChangesGroupId = 0xffffffff;

// How it is written.
struct ChangeFileJob {
  FileSystem* file_system = nullptr;
  std::function<uint64_t()> new_file_number;
  std::function<std::string(uint64_t number)> path_of;
  MemoryBudget* budget = nullptr;  // charged with the builder's memory; may be null
  Compression compression = Compression::kNone;
  SSTableOwner owner;
  RowRange rows = RowRange::All();  // changes of other rows are left out

  // Writes and syncs a file with the changes of these memtables that have numbers up to `through`;
  // nothing if there are none. The directory is not synced. After an error there is no file.
  absl::StatusOr<std::optional<SSTableInfo>> Write(const std::vector<Ref<Memtable>>& memtables,
                                                   SequenceNumber through = kMaxSequence) const;

  // For tests: smaller chunks and pieces.
  size_t chunk_size = size_t{16} << 10;
  size_t most_piece = size_t{128} << 20;
};

// The changes of a memtable, or of the part of one, in the order of their numbers.
std::vector<LoggedChange> InOrder(const ChangeList& list, SequenceNumber after,
                                  SequenceNumber through);

// Reads a file of changes from the first one after a sequence number on. One thread. Cost of a
// change: decoding five numbers; its bytes are not copied unless its chunk is in pieces.
class ChangeFileCursor {
 public:
  // `file` outlives this.
  explicit ChangeFileCursor(const SSTable* file) : cursor_(file, {.fill_cache = false}) {}

  void SeekAfter(SequenceNumber sequence);
  void Next();
  bool valid() const { return valid_; }
  // Valid until the next call.
  const LoggedChange& change() const { return change_; }
  // DataLoss: the file is damaged. Errors of opening it.
  const absl::Status& status() const { return status_; }

 private:
  // Reads the chunk at the cursor, up to its first change.
  void ReadChunk();
  // Reads the next change of the chunk. If there is none, those of the next chunk follow.
  void Read();
  void Fail(const absl::Status& status);

  SSTableCursor cursor_;
  std::string pieces_;  // the chunk, if it is in pieces: then the cursor is behind it
  bool is_in_pieces_ = false;
  Decoder chunk_{{}};  // what is left of the chunk
  SequenceNumber last_of_chunk_ = 0;
  LoggedChange change_;
  bool valid_ = false;
  absl::Status status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CHANGES_CHANGE_FILE_H_
