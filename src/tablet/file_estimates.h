// Estimates of how many bytes of a tablet's rows are in its files, and which part of them is
// overwritten. Compaction policies, balancing and splits use them. A file may reach beyond the
// tablet (tablet/tablet_state.h). The bytes of the tablet's rows in it are estimated from keys of
// its index, once.
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
#include "sstable/key_range.h"
#include "sstable/sstable.h"

namespace bigtable {

// A key, and how many bytes of its file it represents.
struct FileSample {
  std::string key;
  uint64_t bytes = 0;
};

// The bytes of a file, which is open, between the two ends of the range, in whole blocks.
uint64_t BytesBetween(const SSTable& file, const KeyRange& keys);

// The samples of a file whose keys are in the range.
std::vector<FileSample> SampleFile(const SSTable& file, const KeyRange& keys);

// Thread-safe.
class FileEstimates {
 public:
  // `keys`, which outlives this, is the tablet's.
  explicit FileEstimates(const KeyRange* keys) : keys_(keys) {}

  // The bytes of the tablet's rows in the file: its share, if that is known. Of a file with others
  // too, half, as long as nothing has opened it: this is called under locks that no thread should
  // hold while it opens a file.
  uint64_t BytesWithin(const SSTable& file) const;
  // The part of `count`, a number of entries of the file, that is in proportion to these bytes.
  uint64_t PartOf(uint64_t count, const SSTable& file) const;
  // TabletFile::share; 0 is not known.
  void SetShare(uint64_t number, uint64_t share);
  // The part of the rows of a file in `runs[run]`, from 0 to 1, that older runs have too. It is
  // estimated once: merges of older runs change it little.
  double Overwriting(const SSTable& file, const std::vector<SortedRun>& runs, size_t run) const;

  // Copies the estimates that are valid for a half of a tablet too.
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
