// A compaction: reads sorted entries, drops those that no read can see any more, and writes
// SSTables. The job is a minor compaction if its input is a memtable, and a merging or major one if
// its input is sorted runs. It changes nothing but the files that it creates.
#ifndef BIGTABLE_COMPACTION_JOB_H_
#define BIGTABLE_COMPACTION_JOB_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"

#include "base/call_limits.h"
#include "base/entry_cursor.h"
#include "compaction/rate_limiter.h"
#include "retention/retention.h"
#include "sstable/properties.h"
#include "sstable/sstable_info.h"

namespace bigtable {

class JobFiles;

struct CompactionJob {
  FileSystem* file_system = nullptr;
  MemoryBudget* budget = nullptr;  // charged for the files that are being written; may be null
  // A file number that is not used yet, and the path of the SSTable with a number.
  std::function<uint64_t()> new_file_number;
  std::function<std::string(uint64_t)> path_of;

  // Called for each file once it is complete and synced. Its error ends the job. May be null.
  std::function<absl::Status(uint64_t number)> on_written = nullptr;

  LocalityGroup group;
  std::optional<SSTableOwner> owner = std::nullopt;  // of the files
  Retention retention;
  bool major = false;
  // A file ends at the end of a row once it has this size, at the end of a column at twice the
  // size, and anywhere at four times.
  uint64_t target_file_size = 64 << 20;
  // When the oldest deletion among the entries was written (SSTableInfo::oldest_deletion).
  int64_t oldest_deletion = 0;
  // Ascending keys. An output file ends before each, so that another file can be between two. Views
  // of keys that outlive the run.
  std::vector<std::string_view> split_at;

  // Null: no limit, or not cancellable. Each of the flags cancels. The rate limit counts bytes
  // read and written together. All are checked at least once in 64 KiB of input, even if none of it
  // is written.
  RateLimiter* rate_limiter = nullptr;
  const std::atomic<bool>* cancelled = nullptr;
  const std::atomic<bool>* abandoned = nullptr;
  const std::atomic<bool>* stopped = nullptr;  // another part of the compaction has failed
  // Limits of the call that requested the compaction.
  CallLimits limits;

  // Set by Run: the cells that were not passed to their filters because of a snapshot
  // (CollectingCursor::cells_unfiltered). May be null.
  uint64_t* cells_unfiltered = nullptr;

  // Set by Run: whether rules have removed cells (CollectingCursor::has_collected). May be null.
  bool* has_collected = nullptr;

  // Writes the files, syncs each, and returns them in key order; none if nothing is left. After an
  // error (of the input, of the file system, of the limits, Cancelled) it removes what it wrote.
  // The caller syncs the directory, possibly after several jobs.
  absl::StatusOr<std::vector<SSTableInfo>> Run(EntryCursor* input) const;
  // The same into files that several jobs write one after the other, in key order. The files have
  // the options of the job that JobFiles was made for. After an error they are not to be finished.
  absl::Status RunInto(EntryCursor* input, JobFiles* files) const;
};

// Makes it durable that files were created in the directory of `path`.
absl::Status SyncDirectoryOf(FileSystem* file_system, std::string_view path);

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_JOB_H_
