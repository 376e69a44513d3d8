// Files that the compactions of several tablets of a table write together, one after the other: a
// file costs a sync, an inode and 1.5 KB of memory, however small it is. Each of the tablets names
// such a file with its share (TabletFile::share), as the halves of a split name a file. What reads
// a tablet reads its own rows of it, and the last tablet that has compacted them deletes the file
// (tablet/shared_files.h). TabletEnvironment::SharesFiles says which of them do.
#ifndef BIGTABLE_BACKGROUND_SHARED_OUTPUT_H_
#define BIGTABLE_BACKGROUND_SHARED_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/entry_cursor.h"
#include "compaction/job.h"
#include "compaction/job_files.h"
#include "sstable/sstable_info.h"
#include "tablet/shared_files.h"

namespace bigtable {

// One thread at a time. The files are removed unless Finish succeeds.
class SharedOutput {
 public:
  // What one of the compactions has in a file.
  struct Piece {
    SSTableInfo info;
    uint64_t share = 0;     // TabletFile::share
    bool is_first = false;  // of those that have a piece of this file
  };

  // The files are as this job says. Both outlive this. `shared` may be null for one compaction.
  SharedOutput(const CompactionJob* job, SharedFiles* shared) : files_(job), shared_(shared) {}

  // Writes what the next compaction keeps of its input. In the order of rows.
  absl::Status Add(const CompactionJob& job, EntryCursor* input);
  // Whether a file could not be written, which is no error of the compaction that was added.
  bool has_failed() const { return files_.has_failed(); }
  // Completes the files, which are counted as shared, and returns the pieces of each compaction.
  // The last call; none after an error of Add.
  absl::StatusOr<std::vector<std::vector<Piece>>> Finish();

 private:
  JobFiles files_;
  SharedFiles* const shared_;
  // What each compaction has added to each file: bytes of keys and values.
  std::vector<std::vector<uint64_t>> added_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_SHARED_OUTPUT_H_
