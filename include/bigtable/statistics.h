// What a database knows about itself.
#ifndef BIGTABLE_STATISTICS_H_
#define BIGTABLE_STATISTICS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace bigtable {

// Why writers are being slowed or stopped.
enum class StallReason {
  kNone,
  kMemory,      // memtables and the log fill their part of the memory budget faster than flushes
  kSortedRuns,  // a locality group has more sorted runs than compactions can keep up with
};

// One locality group of one table. The sizes are of its SSTables.
struct LocalityGroupStatistics {
  uint64_t memtable_bytes = 0;  // with the log bytes that they point into
  uint64_t memtables = 0;       // frozen ones included
  uint64_t sorted_runs = 0;
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t entries = 0;  // deletions included
  uint64_t deletions = 0;
};

// A moment's figures; counters count since the database was opened. Plain value.
struct DatabaseStatistics {
  uint64_t rows_written = 0;
  uint64_t log_bytes_written = 0;
  uint64_t log_syncs = 0;
  uint64_t log_stalls = 0;    // writes and syncs of a log file that took 20 ms or longer
  uint64_t log_switches = 0;  // how often a log has gone on in its other file because one hung
  uint64_t minor_compactions = 0;
  uint64_t minor_compaction_bytes_written = 0;
  uint64_t merging_compactions = 0;  // major ones included
  uint64_t merging_compaction_bytes_read = 0;
  uint64_t merging_compaction_bytes_written = 0;
  uint64_t major_compactions = 0;
  uint64_t compaction_bytes_moved = 0;    // to another run, without being read or written
  uint64_t compaction_bytes_dropped = 0;  // with their files, unread, because all of it had expired

  // Of the cache that databases with one memory budget share; rows of the scan cache are looked up
  // in it, too, and count.
  uint64_t block_cache_hits = 0;
  uint64_t block_cache_misses = 0;
  uint64_t scan_cache_hits = 0;
  uint64_t scan_cache_misses = 0;

  // Bytes in use of the memory budget, and its limit.
  uint64_t memory_limit = 0;
  uint64_t memory_memtables = 0;
  uint64_t memory_log = 0;
  uint64_t memory_indexes = 0;
  uint64_t memory_in_memory_groups = 0;
  uint64_t memory_block_cache = 0;

  // The delay of a write that comes now, and why; and what writers have waited in all.
  StallReason stall_reason = StallReason::kNone;
  absl::Duration write_delay;
  absl::Duration total_write_delay;

  // What has stopped background work, if anything: Database::Resume goes on once it is gone.
  absl::Status background_error;

  // By table, then by locality group.
  std::map<std::string, std::map<std::string, LocalityGroupStatistics>> tables;
};

}  // namespace bigtable

#endif  // BIGTABLE_STATISTICS_H_
