// Selects the memtables and sorted runs of a tablet that may have what a read requests, and adds a
// cursor for each to the read's MergingCursor. One thread at a time.
//
// The sources that are left determine the cost of a single-row read. So filters, row indexes, and
// bounds of keys and timestamps are checked first, and the sources that they exclude get no cursor.
#ifndef BIGTABLE_READ_READ_SOURCES_H_
#define BIGTABLE_READ_READ_SOURCES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"

#include "base/shortcuts.h"
#include "blocks/read_settings.h"
#include "compaction/cursor_pool.h"
#include "compaction/merging_cursor.h"
#include "read/filter_program.h"
#include "read/row_probe.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_info.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class ReadSources {
 public:
  // All arguments outlive this object. Cursors are added to `input`, which must be cleared here.
  ReadSources(const TabletVersion* version, const ReadSettings& settings,
              const FilterProgram* filter, MergingCursor* input)
      : version_(version), settings_(settings), filter_(filter), input_(input) {
    settings_.read_ahead &= shortcuts_.Has(Shortcut::kReadAhead);
  }
  ReadSources(const ReadSources&) = delete;
  ReadSources& operator=(const ReadSources&) = delete;

  // Adds the sources of one row. The probe must be for this version. Cursors of memtables are
  // positioned at the beginning of the row. For files it only prefetches what SeekPlanned() reads,
  // so other work should come in between.
  void AddRow(const RowProbe& row);
  // Begins to read from the disk what the files have of a row that will be read, and does not wait
  // for it; only for a file that is not open yet. Adds no source.
  void RequestRow(const RowProbe& row) const;
  // What a read of the row would wait for, as far as is known.
  enum class Waits {
    kNothing,
    kRequests,  // for blocks that RequestRow would request
    kOthers,    // perhaps for others: a file is not open yet, or in parts
  };
  // Opens no file.
  Waits WaitsOf(const RowProbe& row) const;
  // Positions the files' cursors at the beginning of the row; then the input can start.
  void SeekPlanned(std::string_view row_prefix);
  // Adds the sources of the encoded keys [begin, end); an empty end means no limit. Their cursors
  // are not positioned. is_complete(): none was left out because of the filter.
  void AddRange(std::string_view begin, std::string_view end);
  // A range of which so many rows are read: if they are few, what they take in each file is
  // requested from the disk at once. 0: their number is not known.
  void ExpectRows(uint64_t rows) { expected_rows_ = rows <= kFewRows ? rows : 0; }
  bool is_complete() const { return is_complete_; }
  // Removes all sources, also from the input.
  void Clear();

  // Whether there is nothing to read.
  bool empty() const { return input_->children() == 0 && planned_.empty(); }

 private:
  static constexpr uint64_t kFewRows = 4096;

  // The lookup of a single-row read in filters.
  struct RowQuestion {
    const RowProbe& row;
    bool one_column = false;  // only one column can pass the read's filter
    uint64_t column_hash = 0;
  };

  RowQuestion QuestionOf(const RowProbe& row) const;
  // Calls `use(file, location)` for each file that may have the row, with its location there if
  // that is known, or else null. False: `use` has returned false, or a file is not open and is not
  // to be opened.
  template <typename Use>
  bool EachFileOf(const RowProbe& row, bool opens, Use use) const;
  bool GroupIsWanted(size_t group) const;
  bool MayHaveTimestamps(const SSTableInfo& info) const;
  // `first_run`: the number of this group's first run among those of all groups.
  void AddGroupOfRow(const GroupVersion& group, const RowQuestion& question, size_t first_run);
  // Whether LookUp waits for no disk, as far as is known.
  static bool IsFilterInMemory(const SSTable& file, const RowQuestion& question);
  // Whether the file may have the row, by its bounds and its filter; with kFound, in this block.
  RowIndex::Answer LookUp(const SSTable& file, const RowQuestion& question,
                          RowIndex::Location* location) const;
  void AddMemtableOfRow(const Memtable& memtable, std::string_view row_prefix);
  void AddGroupOfRange(const GroupVersion& group, std::string_view begin, std::string_view end);
  // A run of several files, without those that the filter excludes by their timestamps.
  void AddRun(const SortedRun& run, const ReadSettings& settings);
  void AddIfInRow(EntryCursor* cursor, std::string_view row_prefix);
  // For the trace of the read.
  void RecordMemtables() const;
  void RecordFilters(const RowQuestion& question) const;

  const TabletVersion* const version_;
  const ShortcutSet shortcuts_ = Shortcuts();
  ReadSettings settings_;
  const FilterProgram* const filter_;
  MergingCursor* const input_;
  bool is_complete_ = true;
  uint64_t expected_rows_ = 0;
  CursorPool pool_;
  absl::InlinedVector<SSTableCursor*, 8> planned_;  // for a single row: not yet in the input
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_READ_SOURCES_H_
