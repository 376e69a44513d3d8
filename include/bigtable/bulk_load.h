// Bulk load: SSTables that are written outside of a database, and then become part of a table with
// Table::Ingest. This is how much data comes in at once: nothing goes through the commit log and
// the memtables, and nothing is merged that does not overlap.
//
//   absl::StatusOr<TableSchema> schema = db->GetSchema("web");
//   absl::StatusOr<std::unique_ptr<SSTableSorter>> sorter =
//       SSTableSorter::Create("/data/load", *schema);
//   while (...) {
//     absl::Status s = (*sorter)->Add(RowMutation(row).Set("anchor:cnn", value));  // in any order
//   }
//   absl::StatusOr<std::vector<std::string>> files = (*sorter)->Finish();
//   absl::StatusOr<IngestSummary> done = table->Ingest(*files, {.moves_files = true});
//
// Rows that are sorted already can be written with an SSTableWriter (bigtable/sstable.h).
#ifndef BIGTABLE_BULK_LOAD_H_
#define BIGTABLE_BULK_LOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/call_options.h"
#include "bigtable/clock.h"
#include "bigtable/export.h"
#include "bigtable/file_system.h"
#include "bigtable/row_mutation.h"
#include "bigtable/schema.h"
#include "bigtable/timestamp.h"

namespace bigtable {

// Plain value. The first two members are those of CallOptions. Until the files begin to be added,
// the call can end at any time; then it is finished.
struct IngestOptions {
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;

  // Which of two entries for the same thing wins: a cell with the same row, column and timestamp, a
  // deletion and what it hides, contributions to an aggregate and what they follow.
  enum class Wins {
    // The files, as if everything in them were written now. Of two files, the later one in the
    // list.
    kNewest,
    // What the table has: the files are as if written before everything else. Deletions that a
    // compaction has dropped already hide nothing of them, and snapshots see them too.
    // FailedPrecondition after some thousand such calls for rows of one table.
    kOldest,
  };
  Wins wins = Wins::kNewest;
  // The files are linked into the database, if they are on its file system, or else copied; then
  // their names are removed. False: they are copied, and stay as they are.
  bool moves_files = false;
  // Each file is read as a whole, and its checksums, the order of its entries and each entry are
  // checked. False: only its index and description are, unless it has deletions of rows. What the
  // program wrote itself with this library is right.
  bool verifies = true;
  // Where the files are; outlives the call. Null: where the database is.
  FileSystem* file_system = nullptr;
};

// What Table::Ingest has done. Plain value.
struct IngestSummary {
  uint64_t files = 0;  // that the table has now and did not have before
  uint64_t entries = 0;
  uint64_t bytes = 0;   // of the files
  uint64_t linked = 0;  // of the given files
  uint64_t copied = 0;
  uint64_t rewritten = 0;  // copied entry by entry: see Table::Ingest

  friend bool operator==(const IngestSummary&, const IngestSummary&) = default;
};

// Plain value.
struct SSTableSorterOptions {
  // What is added is kept in memory up to this; then it is sorted and goes to a file. From 1 MiB.
  uint64_t memory = 256 << 20;
  // A file ends at the end of a row once it has about this size. From 64 KiB.
  uint64_t file_size = 64 << 20;
  // How many threads Finish and the sorting use, at least 1.
  int threads = 2;
  // The time of cells that are set without a timestamp: when they are added. Outlives the sorter.
  // Null: Clock::System().
  Clock* clock = nullptr;
  // Outlives the sorter. Null: FileSystem::Posix().
  FileSystem* file_system = nullptr;
};

// Sorts mutations of rows that come in any order into SSTables for Table::Ingest. Needs
// `options.memory`, and disk space for all that is added: what does not fit into memory is written
// to files, and merged by Finish. One thread at a time; several sorters can work at the same time,
// and their files be ingested together.
class BIGTABLE_EXPORT SSTableSorter {
 public:
  // `directory` must exist; the files get names in it that begin with "sorted-" and that no file
  // has. The schema is that of the table to be loaded: its families, and the options of its
  // locality groups. InvalidArgument names an option that is out of its bounds, or what is wrong
  // with the schema.
  static absl::StatusOr<std::unique_ptr<SSTableSorter>> Create(
      std::string_view directory, const TableSchema& schema,
      const SSTableSorterOptions& options = {});
  // Without Finish, removes what it has written.
  ~SSTableSorter();
  SSTableSorter(const SSTableSorter&) = delete;
  SSTableSorter& operator=(const SSTableSorter&) = delete;

  // Adds a mutation and copies it. What is added later is newer. DeleteRow deletes the families
  // that the schema has. Errors of Table::Apply for a mutation that the schema does not allow; then
  // nothing is added. After an error of the file system, every call returns it.
  //
  // Cost: a copy of keys and values; now and then a sort, and the writing of a file.
  absl::Status Add(const RowMutation& mutation);
  // The same for one cell: Set(column, timestamp, value).
  absl::Status Add(std::string_view row, std::string_view column, Timestamp timestamp,
                   std::string_view value);

  uint64_t mutations() const;  // that were added

  // Writes the files, durable, and returns their paths, in the order for Table::Ingest. None if
  // nothing was added. Afterwards every call returns FailedPrecondition.
  absl::StatusOr<std::vector<std::string>> Finish();

 private:
  class Impl;
  explicit SSTableSorter(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BULK_LOAD_H_
