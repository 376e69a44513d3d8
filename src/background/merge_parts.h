// Writes what a merging compaction puts out, on several threads if its pick wants that
// (CompactionPick::threads): each merges a range of the rows. The ranges are disjoint, so the parts
// share nothing but the inputs, which they only read, and their files together are one sorted run.
#ifndef BIGTABLE_BACKGROUND_MERGE_PARTS_H_
#define BIGTABLE_BACKGROUND_MERGE_PARTS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "background/tablet_compaction.h"
#include "compaction/job.h"
#include "compaction/sorted_run.h"
#include "sstable/key_range.h"
#include "sstable/sstable_info.h"

namespace bigtable {

// The least bytes of input of a part: a thread for less would cost more than it saves. Tests set
// it.
extern std::atomic<uint64_t> least_merge_part;
inline constexpr uint64_t kLeastMergePart = 1 << 20;

// The row prefixes at which the inputs are cut into at most `parts` parts of about as many bytes;
// ascending, and inside of `keys`. Fewer if the inputs are small, have few blocks, or cannot be
// opened: then reading them reports the error.
std::vector<std::string> CutsOf(const std::vector<SortedRun>& inputs, const KeyRange& keys,
                                int parts);

// Runs `job` over the entries of `inputs` in `keys`, on at most `threads` threads, this one
// included. As CompactionJob::Run: after an error no file is left. Adds the cells that were not
// passed to filters, whether rules have removed some, and after an error the unreadable file, to
// the outcome. If the system gives no more threads, this one does their parts.
absl::StatusOr<std::vector<SSTableInfo>> RunMergeParts(const CompactionJob& job,
                                                       const std::vector<SortedRun>& inputs,
                                                       const KeyRange& keys, int threads,
                                                       CompactionOutcome* outcome);

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_MERGE_PARTS_H_
