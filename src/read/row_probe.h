// One row that a read is about to look for: its key as memtables and files have it. One thread at a
// time.
//
// It is made before the rest of the read, so that what the read looks at first in each file, a line
// of its filter or row index that is rarely at hand, comes from memory while the read is set up.
#ifndef BIGTABLE_READ_ROW_PROBE_H_
#define BIGTABLE_READ_ROW_PROBE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/checksum.h"
#include "base/entry_key.h"
#include "base/key_buffer.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class RowProbe {
 public:
  // Of a read that goes through a cursor over `version`, which outlives this object. `asks_all`: it
  // looks at the files of all runs that may have the row, so they are found now, and their filters
  // asked for from memory; of very many runs, of the first kMost.
  RowProbe(const TabletVersion& version, std::string_view row, bool asks_all) {
    AppendRowPrefix(&prefix_, row);
    is_plain_ = prefix_.size() == row.size() + 2;
    hash_ = Checksum(prefix_.view());
    if (!asks_all) return;
    for (const GroupVersion& group : version.groups()) {
      for (const SortedRun& run : group.runs) {
        if (asked_ == kMost) return;
        const size_t file = FileOf(run);
        if (file < run.files.size()) run.files[file]->PrefetchRow(hash_);
        files_[asked_++] = static_cast<uint32_t>(file);
      }
    }
  }
  RowProbe(const RowProbe&) = delete;
  RowProbe& operator=(const RowProbe&) = delete;

  std::string_view prefix() const { return prefix_.view(); }  // base/entry_key.h
  // Whether the prefix is the row's key and the end mark, and nothing had to be escaped.
  bool is_plain() const { return is_plain_; }
  uint64_t hash() const { return hash_; }  // Checksum of the prefix
  // The runs are numbered through all groups of the version. Of the first so many the filters were
  // asked for.
  size_t asked() const { return asked_; }
  // The file of this run that may have the row; as many as there are files: none may.
  size_t FileOf(const SortedRun& run, size_t run_number) const {
    return run_number < asked_ ? files_[run_number] : FileOf(run);
  }

 private:
  static constexpr size_t kMost = 24;

  size_t FileOf(const SortedRun& run) const {
    return run.files.size() == 1 ? 0 : run.FindFile(prefix_.view());
  }

  KeyBuffer prefix_;
  bool is_plain_;
  uint64_t hash_;
  size_t asked_ = 0;
  uint32_t files_[kMost];  // by the number of the run, as far as asked
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_ROW_PROBE_H_
