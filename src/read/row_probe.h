// A row that a read is about to look up: its key as in memtables and files. One thread at a time.
//
// It is made before the rest of the read. So the first cache line that the read needs of each file,
// in its filter or row index, which is rarely cached, is loaded while the read is set up.
#ifndef BIGTABLE_READ_ROW_PROBE_H_
#define BIGTABLE_READ_ROW_PROBE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/base/macros.h"

#include "base/checksum.h"
#include "base/entry_key.h"
#include "base/key_buffer.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class RowProbe {
 public:
  // Of no row yet. (An std::optional of a probe would clear all its bytes in each read.)
  RowProbe() = default;
  RowProbe(const TabletVersion& version, std::string_view row, bool asks_all) {
    Prepare(version, row, asks_all);
  }
  // Once, for a read through a cursor over `version`, which outlives this object. `asks_all`: the
  // read uses the files of all runs that may have the row. So they are found now, and their filters
  // are prefetched; if there are very many runs, only for the first kMost.
  void Prepare(const TabletVersion& version, std::string_view row, bool asks_all) {
    ABSL_ASSERT(!is_prepared() && "a probe is for one row");
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

  bool is_prepared() const { return !prefix_.empty(); }

  std::string_view prefix() const { return prefix_.view(); }  // base/entry_key.h
  // Whether the prefix is the row's key and the end mark, without escaped bytes.
  bool is_plain() const { return is_plain_; }
  uint64_t hash() const { return hash_; }  // Checksum of the prefix
  // The number of runs whose filters were prefetched. Runs are numbered through all groups of the
  // version.
  size_t asked() const { return asked_; }
  // The index of the file of this run that may have the row; the number of files if none may.
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
  uint32_t files_[kMost];  // by the number of the run, up to asked_
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_ROW_PROBE_H_
