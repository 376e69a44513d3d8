// Statistics of a database.
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
#include "bigtable/row_range.h"

namespace bigtable {

// Why writers are slowed or stopped.
enum class StallReason {
  kNone,
  kMemory,      // memtables and the log fill their part of the memory budget faster than flushes
  kSortedRuns,  // a locality group has more sorted runs than compactions can keep up with
};

// One locality group of one table. Sizes are of its SSTables, unless the name says otherwise. Of
// one tablet, sizes and entries of files that it shares with others are estimates of its part.
struct LocalityGroupStatistics {
  uint64_t memtable_bytes = 0;  // with the log bytes that they point into
  uint64_t memtables = 0;       // immutable ones included
  uint64_t sorted_runs = 0;
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t entries = 0;  // deletions included
  uint64_t deletions = 0;
};

// Calls of one kind.
struct CallStatistics {
  uint64_t calls = 0;   // exact
  uint64_t errors = 0;  // calls that returned an error; of ApplyBatch, for any mutation
  // A sample: one call in 64, counted 64 times, and every call that waited a millisecond or longer
  // for something the engine knows (the commit queue, a sync, a file, write throttling), counted
  // once. So its count is about the number of calls, percentiles are those of a large sample, and
  // no long wait is missed. For a call outside the one-in-64 sample, the duration is only the time
  // it waited.
  LatencyHistogram latency;
};

// Users' calls on one table.
struct TableCallStatistics {
  CallStatistics read_row;     // Table::ReadRow
  CallStatistics next_row;     // RowReader::Next
  CallStatistics next_cell;    // steps of a ScanStream, the first included
  CallStatistics apply;        // Table::Apply
  CallStatistics apply_batch;  // Table::ApplyBatch
  uint64_t batch_mutations = 0;
  CallStatistics check_and_mutate_row;   // Table::CheckAndMutateRow
  CallStatistics read_modify_write_row;  // Table::ReadModifyWriteRow
  // Table::MutateRowAtomically. Without latencies, because it runs the caller's function.
  CallStatistics mutate_row_atomically;
  // How often one of these three read its row again, because it was written in between.
  uint64_t row_retries = 0;
  // Streams that were started, of both kinds, and what they returned. The counts of running streams
  // lag by some thousand calls.
  uint64_t streams = 0;
  uint64_t stream_rows = 0;
  uint64_t stream_cells = 0;
};

// The storage that is charged to a family, a table or an owner of families (section 2 of the paper:
// "both disk and memory accounting are performed at the column-family level").
//
// On disk: the sizes of the SSTables that METADATA names. After a flush the sum over tables, with
// METADATA's own, is exactly the sum of the sizes of the files. Each file counts once, also while
// the tablets of a split share it, and also while a tablet is being moved. A tablet that no server
// serves (UnservedTablet), as after a server was lost, does not count until it is loaded again.
// Obsolete files that a reader still pins do not count. The size
// of a file is divided among its families by their bytes of keys and values before compression; the
// parts add up to the size. So a family that has a locality group of its own is charged the real
// sizes. What belongs to no family is charged to the table alone: of dropped families, until a
// compaction has removed them, and a file with nothing but deletions of rows.
//
// In memory: memtables, divided in the same way, with the bytes of the log that they refer to; and
// the blocks of `in_memory` groups that were loaded. The block cache and the indexes of files serve
// all families, and are charged to none.
struct StorageStatistics {
  uint64_t disk_bytes = 0;
  uint64_t memtable_bytes = 0;
  uint64_t loaded_bytes = 0;  // copies of what is on disk, of locality groups with `in_memory`

  // What a quota of storage limits (bigtable/quota.h).
  uint64_t stored_bytes() const { return disk_bytes + memtable_bytes; }

  friend bool operator==(const StorageStatistics&, const StorageStatistics&) = default;
};

// What was written to one column family, and what it takes.
struct FamilyStatistics {
  uint64_t cells_written = 0;
  uint64_t deletions_written = 0;  // of cells, columns, and the family; not of whole rows
  uint64_t bytes_written = 0;      // of qualifiers and values
  StorageStatistics storage = {};  // nothing for a dropped family
};

// Compactions of one kind that have ended, successfully or not. Excludes cancelled ones.
struct CompactionStatistics {
  uint64_t finished = 0;
  uint64_t failed = 0;
  uint64_t bytes_read = 0;  // from SSTables
  uint64_t bytes_written = 0;
  absl::Duration time;
  // Cells of families with a compaction filter that major compactions have kept without passing
  // them to it, because of a snapshot, a stream or a transaction (bigtable/compaction_filter.h).
  uint64_t cells_unfiltered = 0;
};

// One tablet, on its server.
struct TabletStatistics {
  std::string table;
  // The table and the end of the rows identify the tablet.
  RowRange rows;

  LocalityGroupStatistics size;  // sum over its locality groups
  // Continues the counts of the tablets that it came from: after a split, the left tablet continues
  // the parent's count; after a merge, the merged tablet has the sum of both. The other counts
  // start at zero.
  uint64_t rows_written = 0;
  // One call in 64, counted 64 times, of the calls that this tablet served alone; batches that went
  // to several tablets are not included. A step of a stream counts for the tablet in which it ends.
  // So a count is about the number of calls. Unlike CallStatistics::latency, this has only the long
  // waits of the sample.
  LatencyHistogram read_row;
  LatencyHistogram next_row;
  LatencyHistogram next_cell;
  LatencyHistogram apply;
  LatencyHistogram apply_batch;
  LatencyHistogram check_and_mutate_row;
  LatencyHistogram read_modify_write_row;
  CompactionStatistics minor;
  CompactionStatistics merging;  // major ones included
};

// One tablet server. METADATA has two of its own. Tablets have counts of their own: a server's
// reads are the sum over its tablets.
struct TabletServerStatistics {
  // Its unique name in events and in the info log; no other server ever had it. Empty: no name yet.
  std::string name;
  uint64_t rows_written = 0;
  uint64_t writes = 0;        // write calls
  uint64_t write_groups = 0;  // groups in which they were committed
  uint64_t log_records = 0;
  uint64_t log_bytes_written = 0;
  uint64_t log_syncs = 0;
  uint64_t log_stalls = 0;    // as for the whole database
  uint64_t log_switches = 0;  // as for the whole database
  uint64_t log_segments_created = 0;
  uint64_t log_segments_reused = 0;
  uint64_t log_bytes_live = 0;  // current; of segments that are needed or pinned

  // As for the whole database; METADATA's writers are never slowed.
  StallReason stall_reason = StallReason::kNone;
  absl::Duration write_delay;
  absl::Duration total_write_delay;

  // One write in 64, counted 64 times (all writes of METADATA): its time in the queue, and the time
  // its group took to append to the log and to insert into memtables.
  LatencyHistogram queue_wait;
  LatencyHistogram log_append;
  LatencyHistogram memtable_apply;
  // Each group that was synced; a group is counted twice if its sync stalled and was repeated in
  // the log's other file.
  LatencyHistogram log_sync;

  CompactionStatistics minor;
  CompactionStatistics merging;  // major ones included
  LatencyHistogram minor_compaction;
  LatencyHistogram merging_compaction;

  std::vector<TabletStatistics> tablets;
};

// Background work that failed and is retried automatically, after pauses that grow up to ten
// seconds: the disk is full, no file descriptors are left, an I/O error, a compaction policy whose
// pick broke a rule (bigtable/compaction_policy.h). It is retried at once by
// Database::Resume, by a requested flush, and, if space was missing, when a compaction or a deleted
// table frees space. The first success removes it from this list.
struct FailingWork {
  enum class Kind : uint8_t {
    kFlush,  // of all tablets of the server together: none was flushed
    kCompaction,
  };

  Kind kind = Kind::kFlush;
  std::string server;
  // Only for a compaction.
  std::string table;
  std::string locality_group;
  std::optional<std::string> end_row;  // of the tablet; none: it is the last of the table
  absl::Status status;                 // of the last attempt
  uint64_t failures = 0;               // consecutive
  absl::Time since;                    // time of the first failure
};

// An SSTable that a compaction could not read. Compactions then leave it and its sorted run alone.
// They still compact the runs above it and those below it, separately, so that the number of runs
// stays bounded; other groups, tablets and tables are not affected. A read that needs the damaged
// part returns its error; other reads are not affected. Database::Compact returns the error. The
// file is retried after Database::Resume, and when the tablet is split, moved or loaded again.
struct QuarantinedFile {
  std::string server;
  std::string table;
  std::string locality_group;
  std::optional<std::string> end_row;  // of the tablet; none: it is the last of the table
  uint64_t number = 0;                 // of the file
  absl::Status status;                 // why; names the file
  absl::Time since;
};

// A tablet that no server serves, because loading it failed. Loading is retried automatically,
// after pauses that grow up to some seconds. Calls to its rows wait, up to their deadlines; after
// five seconds of failures they return Unavailable. Both errors name the tablet and the reason.
struct UnservedTablet {
  // Empty: no unserved tablet can be assigned, whichever they are.
  std::string table;
  RowRange rows;
  absl::Status status;  // of the last attempt
  uint64_t failures = 0;
  absl::Time since;
};

// How tablets were found (section 5.1 of the paper). A client caches the locations of tablets, and
// looks up only unknown ones in METADATA.
struct LocationStatistics {
  // Each level of the hierarchy is queried only for what the caches do not have (section 5.1 of the
  // paper): METADATA, for tablets; its root tablet, for the tablets of METADATA; the lock service's
  // file, for the root tablet. The last two also count lookups of servers and masters.
  uint64_t lookups = 0;
  uint64_t root_tablet_lookups = 0;
  uint64_t root_file_lookups = 0;
  uint64_t found = 0;      // tablets that these lookups found; a lookup also returns neighbours
  uint64_t forgotten = 0;  // because the tablet was split, merged or moved, or its server was lost
};

// The changes of a table that are kept for its change stream (bigtable/change_stream.h). Those that
// are only in memtables do not count. Plain value.
struct ChangeStreamStatistics {
  // ChangeStreamRule, as it is now.
  absl::Duration retention;
  uint64_t max_bytes = 0;
  // On disk.
  uint64_t files = 0;
  uint64_t bytes = 0;
  // When the oldest of the changes was committed; InfiniteFuture(): there is none.
  absl::Time oldest = absl::InfiniteFuture();
  // Of each registered reader (Table::SetChangeReader) the bytes of the files that it has not read,
  // or not all of it. A reader that has as much to read as `max_bytes` is about to lose changes.
  std::map<std::string, uint64_t> unread_bytes;
};

// Current values; counters count since the database was opened. Plain value.
struct DatabaseStatistics {
  LocationStatistics locations;

  uint64_t rows_written = 0;
  uint64_t log_bytes_written = 0;
  uint64_t log_syncs = 0;
  uint64_t log_stalls = 0;    // writes and syncs of a log file that took 20 ms or longer
  uint64_t log_switches = 0;  // switches of a log to its other file because one stalled
  uint64_t minor_compactions = 0;
  uint64_t minor_compaction_bytes_written = 0;
  uint64_t merging_compactions = 0;  // major ones included
  uint64_t merging_compaction_bytes_read = 0;
  uint64_t merging_compaction_bytes_written = 0;
  uint64_t major_compactions = 0;
  uint64_t compaction_bytes_moved = 0;  // to another run, without being read or written
  uint64_t compaction_bytes_dropped =
      0;  // whole files, unread, because all data in them had expired

  // Of the cache that databases with one memory budget share. Rows of the scan cache are looked up
  // in the same cache, and are counted too.
  uint64_t block_cache_hits = 0;
  uint64_t block_cache_misses = 0;
  uint64_t scan_cache_hits = 0;
  uint64_t scan_cache_misses = 0;

  // SSTables that are read by position: how many are open now (DatabaseOptions::max_open_files),
  // and how often one was opened again after it was closed to stay below the limit.
  uint64_t open_files = 0;
  uint64_t file_reopens = 0;
  // Open SSTables of all databases of the budget whose index and filter found no room in it
  // (MemoryBudget::files_in_parts).
  uint64_t files_in_parts = 0;

  // Bytes of the memory budget in use, and its limit.
  uint64_t memory_limit = 0;
  uint64_t memory_memtables = 0;
  uint64_t memory_log = 0;
  uint64_t memory_indexes = 0;
  uint64_t memory_in_memory_groups = 0;
  uint64_t memory_writers = 0;  // of SSTables that are being written
  uint64_t memory_reads = 0;    // of reads under way: of their filters, and read ahead of streams
  uint64_t memory_block_cache = 0;

  // The delay of a write of a thousand bytes at present, while memory has room for it, and its
  // reason; and the total delay of all writers.
  StallReason stall_reason = StallReason::kNone;
  absl::Duration write_delay;
  absl::Duration total_write_delay;

  // The error that stopped writes to a server, or all compactions; Database::Resume continues once
  // its cause is removed. Failures that are retried automatically or affect one file are listed
  // below.
  absl::Status background_error;
  std::vector<FailingWork> failing_work;
  std::vector<QuarantinedFile> quarantined_files;
  std::vector<UnservedTablet> unserved_tablets;

  // By table, then by locality group.
  std::map<std::string, std::map<std::string, LocalityGroupStatistics>> tables;
  // By table; those opened with Database::OpenTable.
  std::map<std::string, TableCallStatistics> calls;
  // By table, then by column family; includes dropped ones.
  std::map<std::string, std::map<std::string, FamilyStatistics>> families;
  // What each table takes: its families, and what belongs to none of them. What families take is in
  // `families`.
  std::map<std::string, StorageStatistics> storage;
  // By owner (Family::owner): the sum over its families, in all tables.
  std::map<std::string, StorageStatistics> owner_storage;
  StorageStatistics metadata_storage;  // of METADATA
  // By table; those that have a change stream.
  std::map<std::string, ChangeStreamStatistics> change_streams;
  // By the server's label, which is the same after every opening and when a lost server is
  // replaced: "user-0", "user-1", and so on, by the number in TabletInfo::server, and METADATA's
  // two, "root" and "metadata".
  std::map<std::string, TabletServerStatistics> servers;
};

}  // namespace bigtable

#endif  // BIGTABLE_STATISTICS_H_
