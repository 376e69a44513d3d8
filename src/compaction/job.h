// A compaction: reads sorted entries, drops what nobody can see any more, and writes SSTables. The
// same job is a minor compaction when its input is a memtable, a merging or a major one when it is
// sorted runs. It changes nothing but the files that it creates.
#ifndef BIGTABLE_COMPACTION_JOB_H_
#define BIGTABLE_COMPACTION_JOB_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"

#include "base/call_limits.h"
#include "base/entry_cursor.h"
#include "compaction/rate_limiter.h"
#include "compaction/retention.h"
#include "sstable/sstable_info.h"

namespace bigtable {

struct CompactionJob {
  FileSystem* file_system = nullptr;
  MemoryBudget* budget = nullptr;  // charged with the files that are being written; may be null
  // A number that no other file has, and the path of the SSTable with a number.
  std::function<uint64_t()> new_file_number;
  std::function<std::string(uint64_t)> path_of;

  LocalityGroup group;
  Retention retention;
  bool major = false;
  // A file ends at a row's end once it is as large as this, at a column's end at twice the size,
  // and anywhere at four times.
  uint64_t target_file_size = 64 << 20;
  // Keys, ascending: a file ends before each, so that another can stand between. Views of keys that
  // outlive the run.
  std::vector<std::string_view> split_at;

  // Null: no limit, cannot be cancelled. Either of the two flags cancels. The limit is on what is
  // read and what is written together. Both are heeded at least once in 64 KiB of input, also where
  // nothing of it is written.
  RateLimiter* rate_limiter = nullptr;
  const std::atomic<bool>* cancelled = nullptr;
  const std::atomic<bool>* abandoned = nullptr;
  // Of the call that wants it.
  CallLimits limits;

  // Writes the files, synced each, and returns them in key order; none when nothing is left. After
  // an error (of input, of the file system, of the limits, Cancelled) it removes what it wrote.
  // Their directory is the caller's to sync, who may run several jobs first.
  absl::StatusOr<std::vector<SSTableInfo>> Run(EntryCursor* input) const;
};

// Makes it durable that a file has been written there, and others beside it.
absl::Status SyncDirectoryOf(FileSystem* file_system, std::string_view path);

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_JOB_H_
