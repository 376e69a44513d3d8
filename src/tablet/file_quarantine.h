// The files of a tablet that compactions could not read, and the runs that can be compacted around
// them (QuarantinedFile in bigtable/statistics.h).
//
// Only runs that are adjacent in age are merged, because a run between two others may hide entries
// of the older one. So a run with a quarantined file divides the runs of its group: the newer runs
// and the older runs are compacted separately. No file of such a run is merged, even where others
// of its files could be: the case is rare, and the policy bounds the number of runs in each part.
//
// The quarantine is not durable: when the tablet is opened again, compactions try the files again.
#ifndef BIGTABLE_TABLET_FILE_QUARANTINE_H_
#define BIGTABLE_TABLET_FILE_QUARANTINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/mutex.h"
#include "compaction/sorted_run.h"

namespace bigtable {

// Thread-safe.
class FileQuarantine {
 public:
  struct File {
    size_t group = 0;
    uint64_t number = 0;
    absl::Status status;  // why it could not be read
    absl::Time since;
  };
  // Adjacent runs of a group, none of which has a quarantined file.
  struct Stretch {
    size_t first = 0;
    size_t count = 0;
  };

  // Compactions leave the file alone from here on.
  void Add(size_t group, uint64_t number, const absl::Status& status);
  // Compactions try all files again. Returns whether there were any.
  bool Lift();
  // Forgets the files that are not among these numbers.
  void Retain(const std::set<uint64_t>& numbers);

  std::vector<File> List() const;  // by group and number
  // OK, or why a file of the group cannot be read.
  absl::Status Check(size_t group) const;
  // Whether one of these runs of a group has a quarantined file.
  bool HasAny(size_t group, const std::vector<SortedRun>& runs) const;
  // The runs of a group, from new to old, without those that have a quarantined file.
  std::vector<Stretch> StretchesOf(size_t group, const std::vector<SortedRun>& runs) const;

 private:
  using Key = std::pair<size_t, uint64_t>;  // group, number

  std::set<uint64_t> NumbersOf(size_t group) const;

  mutable Mutex mutex_;
  std::map<Key, File> files_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_FILE_QUARANTINE_H_
