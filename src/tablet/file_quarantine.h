// The files of a tablet that compactions could not read, and what is left to compact around them
// (QuarantinedFile in bigtable/statistics.h).
//
// Only runs that are neighbours in age are merged, because what lies between two runs may hide what
// is in the older one. So a run with a quarantined file parts the runs of its group: the newer runs
// and the older ones are each compacted as if there were no others. A run counts as a whole, also
// where its other files could be merged: it is rare, and the number of runs in each part is bounded
// by the policy.
//
// Not a part of the tablet's durable state: when the tablet is opened again, compactions try the
// files again.
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
  // Neighbouring runs of a group, none of which has a quarantined file.
  struct Stretch {
    size_t first = 0;
    size_t count = 0;
  };

  // From now on compactions leave the file alone.
  void Add(size_t group, uint64_t number, const absl::Status& status);
  // All files are tried again. Whether there were any.
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
