// How much the files of a tablet hold of its rows, and which part of that is overwritten: what
// compaction policies, balancing and splits go by. A file may reach beyond the tablet
// (tablet/halves.h), and then what it has of the tablet's rows is estimated from keys of its index,
// once.
#ifndef BIGTABLE_TABLET_FILE_ESTIMATES_H_
#define BIGTABLE_TABLET_FILE_ESTIMATES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "compaction/sorted_run.h"
#include "sstable/sstable.h"
#include "tablet/key_range.h"

namespace bigtable {

// A key, and the bytes of its file that it stands for.
struct FileSample {
  std::string key;
  uint64_t bytes = 0;
};

// Samples of a file, those of its keys that are in the range.
std::vector<FileSample> SampleFile(const SSTable& file, const KeyRange& keys);

// Thread-safe.
class FileEstimates {
 public:
  // `keys`, which outlives this, is the tablet's.
  explicit FileEstimates(const KeyRange* keys) : keys_(keys) {}

  // The bytes of the tablet's rows in the file.
  uint64_t BytesWithin(const SSTable& file) const;
  // Which part of the rows of a file in `runs[run]`, from 0 to 1, is also in older runs. Once
  // estimated it stays: what is older is merged now and then, but stays about the same.
  double Overwriting(const SSTable& file, const std::vector<SortedRun>& runs, size_t run) const;

  // Takes over what holds for a half of a tablet as it does for the whole.
  void Inherit(const FileEstimates& whole);
  // Forgets the files that are not among these numbers.
  void Retain(const std::set<uint64_t>& numbers);

 private:
  struct Estimate {
    std::optional<double> overwriting;
    std::optional<uint64_t> bytes_within;
  };

  const KeyRange* const keys_;
  mutable Mutex mutex_;
  mutable std::map<uint64_t, Estimate> estimates_ ABSL_GUARDED_BY(mutex_);  // by file number
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_FILE_ESTIMATES_H_
