// One row that a read is about to look for: its key as memtables and files have it. One thread at a
// time.
//
// It is made before the rest of the read, so that what the read looks at first in each file, a line
// of its filter or row index that is rarely at hand, comes from memory while the read is set up.
#ifndef BIGTABLE_TABLET_ROW_PROBE_H_
#define BIGTABLE_TABLET_ROW_PROBE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"

#include "base/checksum.h"
#include "base/entry_key.h"
#include "base/key_buffer.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class RowProbe {
 public:
  // Finds the row in the runs of `version`, which outlives this object. `asks_all`: the read looks
  // at the filters of all of them, so that they are asked for from memory now.
  RowProbe(const TabletVersion& version, std::string_view row, bool asks_all) {
    AppendRowPrefix(&prefix_, row);
    is_plain_ = prefix_.size() == row.size() + 2;
    hash_ = Checksum(prefix_.view());
    for (const GroupVersion& group : version.groups()) {
      for (const SortedRun& run : group.runs) {
        const size_t file = run.files.size() == 1 ? 0 : run.FindFile(prefix_.view());
        if (asks_all && file < run.files.size()) run.files[file]->PrefetchRow(hash_);
        files_.push_back(static_cast<uint32_t>(file));
      }
    }
  }
  RowProbe(const RowProbe&) = delete;
  RowProbe& operator=(const RowProbe&) = delete;

  std::string_view prefix() const { return prefix_.view(); }  // base/entry_key.h
  // Whether the prefix is the row's key and the end mark, and nothing had to be escaped.
  bool is_plain() const { return is_plain_; }
  uint64_t hash() const { return hash_; }  // Checksum of the prefix
  // For each run of each group of the version, in order: SortedRun::FindFile of the prefix.
  const absl::InlinedVector<uint32_t, 16>& files() const { return files_; }

 private:
  KeyBuffer prefix_;
  bool is_plain_;
  uint64_t hash_;
  absl::InlinedVector<uint32_t, 16> files_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_ROW_PROBE_H_
