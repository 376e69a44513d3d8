// Where a read looks: of a tablet's memtables and sorted runs those that may have what it asks for,
// each with a cursor, added to the read's MergingCursor. One thread at a time.
//
// A read of one row costs what this leaves in: filters, row indexes, bounds of keys and timestamps
// are asked first, and what they exclude gets no cursor.
#ifndef BIGTABLE_READ_READ_SOURCES_H_
#define BIGTABLE_READ_READ_SOURCES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"

#include "base/shortcuts.h"
#include "compaction/cursor_pool.h"
#include "compaction/merging_cursor.h"
#include "read/filter_program.h"
#include "read/row_probe.h"
#include "sstable/read_settings.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_info.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class ReadSources {
 public:
  // All of them outlive this object. Cursors are added to `input`, and it is to be cleared here.
  ReadSources(const TabletVersion* version, const ReadSettings& settings,
              const FilterProgram* filter, MergingCursor* input)
      : version_(version), settings_(settings), filter_(filter), input_(input) {
    settings_.read_ahead &= shortcuts_.Has(Shortcut::kReadAhead);
  }
  ReadSources(const ReadSources&) = delete;
  ReadSources& operator=(const ReadSources&) = delete;

  // Those of one row; the probe is of this version. Memtables' are put where the row begins. Of the
  // files, what has to be looked at is only asked for from memory, which SeekPlanned() then waits
  // for: best after other work.
  void AddRow(const RowProbe& row);
  // Puts the files' cursors where the row begins; then the input can start.
  void SeekPlanned(std::string_view row_prefix);
  // Those of the encoded keys [begin, end), an empty end being none. They stand nowhere yet.
  void AddRange(std::string_view begin, std::string_view end);
  // Without any, and the input too.
  void Clear();

  // Whether there is nothing to be read.
  bool empty() const { return input_->children() == 0 && planned_.empty(); }

 private:
  // What a read of one row asks filters for.
  struct RowQuestion {
    const RowProbe& row;
    bool one_column = false;  // only one can pass the read's filter
    uint64_t column_hash = 0;
  };

  bool GroupIsWanted(size_t group) const;
  bool MayHaveTimestamps(const SSTableInfo& info) const;
  // `first_run`: the number of this group's first run among those of all groups.
  void AddGroupOfRow(const GroupVersion& group, const RowQuestion& question, size_t first_run);
  void AddMemtableOfRow(const Memtable& memtable, std::string_view row_prefix);
  void AddGroupOfRange(const GroupVersion& group, std::string_view begin, std::string_view end);
  void AddIfInRow(EntryCursor* cursor, std::string_view row_prefix);
  // For the trace of the read.
  void NoteMemtables() const;
  void NoteFilters(const RowQuestion& question) const;

  const TabletVersion* const version_;
  const ShortcutSet shortcuts_ = Shortcuts();
  ReadSettings settings_;
  const FilterProgram* const filter_;
  MergingCursor* const input_;
  CursorPool pool_;
  absl::InlinedVector<SSTableCursor*, 8> planned_;  // of a single row: not yet in the input
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_READ_SOURCES_H_
