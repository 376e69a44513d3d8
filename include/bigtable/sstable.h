// SSTables as files of their own, without a database: to measure a block size, a compression or a
// filter, to look at a file of a database, and to write sorted data that other programs read. The
// files are those of the engine, byte for byte (docs/formats.md).
//
//   absl::StatusOr<std::unique_ptr<SSTableWriter>> writer =
//       SSTableWriter::Create("/data/pages.sst", {.compression = Compression::kZstd});
//   absl::Status s = (*writer)->Add({.row = "com.cnn.www", .family = "anchor", .value = "CNN"});
//   absl::StatusOr<SSTableFileInfo> info = (*writer)->Finish();
//
//   absl::StatusOr<std::unique_ptr<SSTableReader>> reader = SSTableReader::Open("/data/pages.sst");
//   SSTableReader::Cursor cursor(reader->get());
//   for (cursor.SeekToRow("com.cnn.www"); cursor.valid(); cursor.Next()) {
//     Use(cursor.entry());
//   }
//   if (!cursor.status().ok()) ...
#ifndef BIGTABLE_SSTABLE_H_
#define BIGTABLE_SSTABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/export.h"
#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"
#include "bigtable/timestamp.h"

namespace bigtable {

// One entry of an SSTable: a cell or a deletion. Views: those of a cursor are valid until it moves.
//
// The order of entries in a file:
//
//   row ascending, then family, then qualifier ascending, then timestamp descending,
//   then (sequence, ordinal) descending
//
// Text compares as unsigned bytes. A deletion comes before all that it can hide: that of a column
// before the column's timestamps, that of a family before its columns, that of a row before its
// families. No two entries have the same row, family, qualifier, timestamp, sequence and ordinal.
struct SSTableEntry {
  enum class Kind : uint8_t {
    kCell,
    kDeleteCell,    // hides older entries with exactly this timestamp
    kDeleteColumn,  // hides every older entry of the column; has no timestamp
    kDeleteFamily,  // ... of the family; has no qualifier and no timestamp
    // ... of one locality group of the row. Has `locality_group`, and neither family, qualifier nor
    // timestamp.
    kDeleteRow,
    // Remnants that compactions keep because MaxVersions counts them. They have no value.
    kGhost,   // a kDeleteCell of a cell that existed
    kShadow,  // a cell that is hidden
    // Contributions to a cell of an aggregate family: an input, and a state.
    kAddToCell,
    kMergeToCell,
    // The cell before it at its timestamp no longer counts for MaxVersions. It has no value.
    kCountedOut,
    // Hides the older entries of the column with timestamps in [begin, end), which are its value as
    // two big-endian numbers of 8 bytes; the largest timestamp as the end is no end. Has no
    // timestamp.
    kDeleteTimeRange,
  };

  Kind kind = Kind::kCell;
  std::string_view row;             // 1 byte to 64 KiB
  std::string_view family = {};     // 1 to 64 printable ASCII characters without space and colon
  std::string_view qualifier = {};  // at most 16 KiB
  Timestamp timestamp = {};         // not negative
  // When it was written: the number of its mutation (1 to 2^56 - 1), and its position in it (less
  // than 2^24). "Older" means that (sequence, ordinal) is smaller.
  uint64_t sequence = 1;
  uint32_t ordinal = 0;
  std::string_view value = {};  // of a cell, a contribution, a range; at most 256 MiB
  // The number that the schema of the file's table gave to the group.
  uint32_t locality_group = 0;
};

// row/family:qualifier@timestamp#sequence.ordinal kind, with unprintable bytes escaped: for
// messages.
BIGTABLE_EXPORT std::string DebugString(const SSTableEntry& entry);

// What a file has. Plain value.
struct SSTableFileInfo {
  // What a file has of a family.
  struct FamilyCounts {
    uint64_t entries = 0;
    uint64_t bytes = 0;  // of keys and values, before any compression

    friend bool operator==(const FamilyCounts&, const FamilyCounts&) = default;
  };

  uint64_t file_size = 0;
  uint64_t entries = 0;
  uint64_t cell_deletions = 0;  // kDeleteCell and kGhost
  uint64_t column_deletions = 0;
  uint64_t row_deletions = 0;  // and of families
  uint64_t key_bytes = 0;      // as the engine encodes keys, before any compression
  uint64_t value_bytes = 0;

  std::string smallest_row;  // both are empty if there are no entries
  std::string largest_row;
  uint64_t min_sequence = 0;
  uint64_t max_sequence = 0;
  // Of the entries that have a timestamp; min > max if none has.
  Timestamp min_timestamp = Timestamp::Max();
  Timestamp max_timestamp = Timestamp(-1);

  Compression compression = Compression::kNone;
  FilterKind filter = FilterKind::kNone;  // kNone also if there are no entries
  uint64_t blocks = 0;
  uint64_t largest_block = 0;     // before compression
  uint64_t data_bytes = 0;        // of all blocks as they are in the file
  uint64_t index_bytes = 0;       // before compression
  uint64_t dictionary_bytes = 0;  // of kZstdLongWindow, before compression
  std::map<std::string, FamilyCounts, std::less<>> families;  // without deletions of rows

  friend bool operator==(const SSTableFileInfo&, const SSTableFileInfo&) = default;
};

// Plain value.
struct SSTableWriterOptions {
  // These are described, with their bounds, in LocalityGroup (bigtable/schema.h).
  Compression compression = Compression::kNone;
  int compression_level = 3;
  size_t block_size = 16 << 10;
  FilterKind filter = FilterKind::kRow;
  int filter_bits = 10;
  // Outlives the writer. Null: FileSystem::Posix().
  FileSystem* file_system = nullptr;
  // Charged with the writer's memory (MemoryBudget::Use::kWriters). Null: nothing is charged.
  std::shared_ptr<MemoryBudget> memory_budget = nullptr;
};

// Writes one SSTable. Needs memory for a block, the index and the filter, and with kZstdLongWindow
// for some megabytes of the file's first blocks. One thread at a time; writers of different files
// are independent.
class BIGTABLE_EXPORT SSTableWriter {
 public:
  // Creates `path`, or empties it if it exists. InvalidArgument names an option that is out of its
  // bounds; then nothing was changed. Errors of the file system otherwise.
  static absl::StatusOr<std::unique_ptr<SSTableWriter>> Create(
      std::string_view path, const SSTableWriterOptions& options = {});
  // Without Finish, removes the incomplete file.
  ~SSTableWriter();
  SSTableWriter(const SSTableWriter&) = delete;
  SSTableWriter& operator=(const SSTableWriter&) = delete;

  // Adds an entry and copies it. InvalidArgument if it has a field that its kind does not have, or
  // one that is out of bounds, or if it is not after the last entry (the message has both); then
  // it is not added, and the next call may add another. After an error of the file system, every
  // call returns that error.
  absl::Status Add(const SSTableEntry& entry);

  // About the size of the file if it were finished now.
  uint64_t EstimatedSize() const;

  // Writes the rest, and syncs the file and its directory. Afterwards the file never changes, and
  // Add and Finish return FailedPrecondition.
  absl::StatusOr<SSTableFileInfo> Finish();

 private:
  class Impl;
  explicit SSTableWriter(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

// Plain value.
struct SSTableReaderOptions {
  // Blocks are read in place from a mapping of the file, or by position. Blocks that are compressed
  // or were read by position go through the block cache of the budget.
  FileSystem::ReadMode read_mode = FileSystem::ReadMode::kMapped;
  // Outlives the reader. Null: FileSystem::Posix().
  FileSystem* file_system = nullptr;
  // Charged with index and filter; has the block cache. Several readers and databases can share
  // one. Null: a budget of kDefaultBudget bytes for this reader alone.
  std::shared_ptr<MemoryBudget> memory_budget = nullptr;

  static constexpr uint64_t kDefaultBudget = 64 << 20;
};

// Reads one SSTable, also one of a database that is open, as long as the file exists. Every byte is
// covered by a checksum: that of a mapped block is verified when the reader first touches it, that
// of every other part whenever it is read. DataLoss names the file and the offset of what is
// damaged. Thread-safe: any number of threads may each use a cursor of their own.
class BIGTABLE_EXPORT SSTableReader {
 public:
  // Reads index, filter and properties, but no block. NotFound if there is no file; DataLoss if it
  // is damaged, or is no SSTable; FailedPrecondition if its format is newer than this library.
  static absl::StatusOr<std::unique_ptr<SSTableReader>> Open(
      std::string_view path, const SSTableReaderOptions& options = {});
  // No cursor of it may be left.
  ~SSTableReader();
  SSTableReader(const SSTableReader&) = delete;
  SSTableReader& operator=(const SSTableReader&) = delete;

  const SSTableFileInfo& info() const;

  // Whether the file may have an entry of the row, according to its key range and filter. False is
  // certain. Reads no block.
  bool MayContainRow(std::string_view row) const;
  // The same for an entry that affects the column: of the column itself, or a deletion of its
  // family or row. Better than MayContainRow only with FilterKind::kRowAndColumn.
  bool MayContainColumn(std::string_view row, std::string_view family,
                        std::string_view qualifier) const;

  // Reads the whole file again, past the block cache and the mapping, and verifies every checksum,
  // the order of the entries and their number. DataLoss describes the first damage.
  absl::Status Verify() const;

  // A position in the file. It is cheap to create, and may be used for any number of seeks. After a
  // call that finds no entry, or that could not read one, valid() is false, and status() is OK or
  // the error. One thread at a time. The reader outlives it.
  class Cursor {
   public:
    explicit Cursor(const SSTableReader* reader);
    ~Cursor();
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;

    // To the first, or last, entry of the file.
    void SeekToFirst();
    void SeekToLast();
    // To the first entry at or after the row, or after the beginning of the column, and to the
    // last entry before the row. Each reads a block or two.
    void Seek(std::string_view row);
    void Seek(std::string_view row, std::string_view family, std::string_view qualifier);
    void SeekBefore(std::string_view row);
    // To the first entry of the row, and limits the cursor to the row until the next seek. Uses the
    // filter: of a row that the file does not have, usually no block is read.
    void SeekToRow(std::string_view row);

    // To the next entry, or the one before. Require valid(). Prev costs about as much as a seek,
    // because blocks can be read only forward.
    void Next();
    void Prev();

    bool valid() const;
    const absl::Status& status() const;
    // Requires valid().
    const SSTableEntry& entry() const;

   private:
    class Impl;
    const std::unique_ptr<Impl> impl_;
  };

 private:
  class Impl;
  explicit SSTableReader(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_H_
