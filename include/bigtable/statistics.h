// What a database knows about itself.
#ifndef BIGTABLE_STATISTICS_H_
#define BIGTABLE_STATISTICS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/latency_histogram.h"

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
  uint64_t memtables = 0;       // immutable ones included
  uint64_t sorted_runs = 0;
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t entries = 0;  // deletions included
  uint64_t deletions = 0;
};

// The calls of one kind.
struct CallStatistics {
  uint64_t calls = 0;   // exactly
  uint64_t errors = 0;  // of them, that returned one; of ApplyBatch, for any mutation
  // Of one call in 64, each counted for 64, and of every call that waited a millisecond
  // or longer for something the engine knows of (the commit queue, a sync, a file, being held
  // back), each counted for one. So its count is about that of the calls, a percentile is that of
  // a large sample, and no long wait is missed; what a call that was not in the sample did besides
  // waiting is left out of its duration.
  LatencyHistogram latency;
};

// The calls of one table by its users.
struct TableCallStatistics {
  CallStatistics read_row;     // Table::ReadRow
  CallStatistics next_row;     // RowReader::Next
  CallStatistics next_cell;    // steps of a ScanStream, the first included
  CallStatistics apply;        // Table::Apply
  CallStatistics apply_batch;  // Table::ApplyBatch
  uint64_t batch_mutations = 0;
  // Streams begun, of both kinds, and what they returned. Streams under way lag behind by
  // some thousand calls.
  uint64_t streams = 0;
  uint64_t stream_rows = 0;
  uint64_t stream_cells = 0;
};

// What was written to one column family.
struct FamilyStatistics {
  uint64_t cells_written = 0;
  uint64_t deletions_written = 0;  // of cells, columns, and the family; not those of whole rows
  uint64_t bytes_written = 0;      // of qualifiers and values
};

// Compactions of one kind that have ended, well or not. Those that were cancelled are not in it.
struct CompactionStatistics {
  uint64_t finished = 0;
  uint64_t failed = 0;
  uint64_t bytes_read = 0;  // from SSTables
  uint64_t bytes_written = 0;
  absl::Duration time;
};

// One tablet, on the server that it is on.
struct TabletStatistics {
  std::string table;
  // The rows that it has, up to and without `end_row`. The table and the end name the tablet.
  std::string begin_row;
  std::optional<std::string> end_row;  // none: it is the table's last

  LocalityGroupStatistics size;  // of all its locality groups together
  // With those of the tablet that it came from: of a split the left half goes on counting, of a
  // merge the merged one from both. Nothing else is taken over.
  uint64_t rows_written = 0;
  // Of one call in 64, each counted for 64, those that this tablet has served alone: batches that
  // went to several are in none. A step of a stream counts for the tablet in which it ends. So a
  // count is about that of the calls, and unlike CallStatistics::latency, which has all long waits,
  // this has those of the sample.
  LatencyHistogram read_row;
  LatencyHistogram next_row;
  LatencyHistogram next_cell;
  LatencyHistogram apply;
  LatencyHistogram apply_batch;
  CompactionStatistics minor;
  CompactionStatistics merging;  // major ones included
};

// One tablet server. METADATA has two of its own. What its tablets count is theirs: a server's
// reads are those of its tablets together.
struct TabletServerStatistics {
  // Its name, in events and in the info log, which no other server ever had; "": it has none yet.
  std::string name;
  uint64_t rows_written = 0;
  uint64_t writes = 0;        // calls that wrote
  uint64_t write_groups = 0;  // in which they went to the log
  uint64_t log_records = 0;
  uint64_t log_bytes_written = 0;
  uint64_t log_syncs = 0;
  uint64_t log_stalls = 0;    // as of the whole database
  uint64_t log_switches = 0;  // as of the whole database
  uint64_t log_segments_created = 0;
  uint64_t log_segments_reused = 0;
  uint64_t log_bytes_live = 0;  // of segments that are needed or pinned, as it is now

  // As of the whole database; METADATA's writers are never slowed.
  StallReason stall_reason = StallReason::kNone;
  absl::Duration write_delay;
  absl::Duration total_write_delay;

  // Of one write in 64, each counted for 64 (of METADATA's, all): how long it stood
  // behind others, and what the group took in which it went to the log and into the memtables.
  LatencyHistogram queue_wait;
  LatencyHistogram log_append;
  LatencyHistogram memtable_apply;
  // Of each group that had to be synced; once more if it stalled and was done in the log's other
  // file.
  LatencyHistogram log_sync;

  CompactionStatistics minor;
  CompactionStatistics merging;  // major ones included
  LatencyHistogram minor_compaction;
  LatencyHistogram merging_compaction;

  std::vector<TabletStatistics> tablets;
};

// Background work that has failed and is tried again by itself, after pauses that grow up to ten
// seconds: a disk that is full, no file descriptors, an I/O error. Database::Resume, a flush by
// request, and, where space was missing, space that a compaction or a deleted table has made have
// it tried at once. It disappears from here with the first success.
struct FailingWork {
  enum class Kind : uint8_t {
    kFlush,  // of all tablets of the server together: nothing of it has happened
    kCompaction,
  };

  Kind kind = Kind::kFlush;
  std::string server;
  // Of a compaction only.
  std::string table;
  std::string locality_group;
  std::optional<std::string> end_row;  // of the tablet; none: it is the table's last
  absl::Status status;                 // of the last try
  uint64_t failures = 0;               // in a row
  absl::Time since;                    // the first of them
};

// An SSTable that a compaction could not read. Compactions leave it alone from then on, with the
// sorted run that it is in: the runs above it and those below it are compacted for themselves, so
// that their number stays bounded, and so do all other groups, tablets and tables. Reads that need
// the damaged part return its error; others do not notice. Database::Compact returns it. It is
// tried again after Database::Resume, and when the tablet is split, moved or loaded anew.
struct QuarantinedFile {
  std::string server;
  std::string table;
  std::string locality_group;
  std::optional<std::string> end_row;  // of the tablet; none: it is the table's last
  uint64_t number = 0;                 // of the file
  absl::Status status;                 // why: names the file
  absl::Time since;
};

// A tablet that nobody serves, because loading it has failed: it is tried again by itself, after
// pauses that grow up to some seconds. Calls to its rows wait, with their deadlines; once it has
// gone on for five seconds they return Unavailable. Both errors name the tablet and the reason.
struct UnservedTablet {
  // None: no tablet that is not served can be assigned, whichever there are.
  std::string table;
  std::string begin_row;
  std::optional<std::string> end_row;  // none: it is the table's last
  absl::Status status;                 // of the last try
  uint64_t failures = 0;
  absl::Time since;
};

// How tablets were found (section 5.1 of the paper). A client remembers where a tablet is; only
// what it does not know it looks up in METADATA.
struct LocationStatistics {
  // Each level of the hierarchy is asked only for what those below it do not know (section 5.1 of
  // the paper): METADATA, for tablets; its root tablet, for the tablets of METADATA; the lock
  // service's file, for the root tablet. The last two also count what servers and masters look up.
  uint64_t lookups = 0;
  uint64_t root_tablet_lookups = 0;
  uint64_t root_file_lookups = 0;
  uint64_t found = 0;      // tablets that these lookups found: a lookup brings neighbours, too
  uint64_t forgotten = 0;  // because the tablet was split, merged or moved, or its server was lost
};

// A moment's figures; counters count since the database was opened. Plain value.
struct DatabaseStatistics {
  LocationStatistics locations;

  uint64_t rows_written = 0;
  uint64_t log_bytes_written = 0;
  uint64_t log_syncs = 0;
  uint64_t log_stalls = 0;    // writes and syncs of a log file that took 20 ms or longer
  uint64_t log_switches = 0;  // how often a log has gone on in its other file because one stalled
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

  // SSTables that are read by position: how many are open now (DatabaseOptions::max_open_files),
  // and how often one was opened again because it had been closed for others.
  uint64_t open_files = 0;
  uint64_t file_reopens = 0;

  // Bytes in use of the memory budget, and its limit.
  uint64_t memory_limit = 0;
  uint64_t memory_memtables = 0;
  uint64_t memory_log = 0;
  uint64_t memory_indexes = 0;
  uint64_t memory_in_memory_groups = 0;
  uint64_t memory_writers = 0;  // of SSTables that are being written
  uint64_t memory_block_cache = 0;

  // The delay of a thousand bytes that are written now, while memory has room for them, and why;
  // and what writers have waited in all.
  StallReason stall_reason = StallReason::kNone;
  absl::Duration write_delay;
  absl::Duration total_write_delay;

  // What has stopped writes to a server, or all compactions, if anything: Database::Resume goes on
  // once it is gone. Not what goes on by itself, or concerns a file only: that is in what follows.
  absl::Status background_error;
  std::vector<FailingWork> failing_work;
  std::vector<QuarantinedFile> quarantined_files;
  std::vector<UnservedTablet> unserved_tablets;

  // By table, then by locality group.
  std::map<std::string, std::map<std::string, LocalityGroupStatistics>> tables;
  // By table; those that were opened with Database::OpenTable.
  std::map<std::string, TableCallStatistics> calls;
  // By table, then by column family; those that were dropped are still in it.
  std::map<std::string, std::map<std::string, FamilyStatistics>> families;
  // By the server's label, which is the same in every opening, and when a lost server is replaced:
  // "user-0", "user-1", and so on, by the number in TabletInfo::server, and METADATA's two, "root"
  // and "metadata".
  std::map<std::string, TabletServerStatistics> servers;
};

}  // namespace bigtable

#endif  // BIGTABLE_STATISTICS_H_
