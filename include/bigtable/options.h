// The options of a database, of a read and of a write. Each says what it does and what it costs;
// the defaults are good without reading this. Database::Open checks them all and names the one
// that is out of range.
#ifndef BIGTABLE_OPTIONS_H_
#define BIGTABLE_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/call_options.h"
#include "bigtable/clock.h"
#include "bigtable/event_listener.h"
#include "bigtable/file_system.h"
#include "bigtable/log_sink.h"
#include "bigtable/memory_budget.h"
#include "bigtable/trace.h"

namespace bigtable {

class Snapshot;

// What an acknowledged write survives.
enum class Durability : uint8_t {
  // Nothing: it is not logged. For data that can be loaded again; Flush makes it durable. After a
  // crash a mutation of several locality groups may be there in some of them only.
  kNone = 0,
  // The death of the process, as a write() without fsync() would. Not that of the machine.
  kBuffered = 1,
  // The death of the machine: the log is synced before the write is acknowledged. Writers that wait
  // at the same time share one sync.
  kSync = 2,
};

struct DatabaseOptions {
  // Creates the directory (its parent must exist) when there is no database in it; otherwise that
  // is NotFound. And AlreadyExists when there is one, with `error_if_exists`.
  bool create_if_missing = true;
  bool error_if_exists = false;

  // Opens without writing a byte, beside other read-only users. What the log holds is read into
  // memory. Every write, and every change of a schema, is FailedPrecondition.
  bool read_only = false;

  // What a write survives when WriteOptions say nothing.
  Durability durability = Durability::kBuffered;

  // Bytes of memory for memtables, the log they pin, indexes, filters and caches together, at least
  // 8 MiB. Ignored when `shared_memory_budget` is set, which several databases may share.
  uint64_t memory_budget = uint64_t{512} << 20;
  std::shared_ptr<MemoryBudget> shared_memory_budget = nullptr;

  // Bytes, log included, at which a memtable is rotated and written out, at least 64 KiB. 0 takes a
  // quarter of the memory budget, which is the most, and 64 MiB at most. Larger ones are compacted
  // less often; smaller ones stay in the processor's cache and recover sooner.
  uint64_t memtable_size = 0;

  // Bytes of a segment of the commit log, 64 KiB to 1 GiB. Segments are preallocated and reused.
  uint64_t log_segment_size = 16 << 20;

  // Tablet servers that the tablets are spread over, up to 256; 0 takes the number of processors.
  // Each has a commit log of its own, so that writers of tablets on different servers do not wait
  // for one another; one without tablets has no log yet. May differ from one opening to the next.
  int tablet_servers = 0;

  // How often the master looks whether one tablet server has much more to keep and to do than
  // another; then it moves one tablet, so that a move is never sooner after the one before, either.
  // At least a millisecond; infinite: tablets stay where they are. Databases of much less than a
  // gigabyte that are not busy stay as they are, too.
  absl::Duration balance_interval = absl::Seconds(10);

  // Bytes on disk above which a tablet of METADATA, where the tablets of all tables are found, is
  // split in two; 0: never. A tablet takes some hundred bytes of METADATA, and as many for each of
  // its SSTables.
  uint64_t metadata_tablet_size = 128 << 20;

  // Bytes at which a compaction starts its next output file, at least 1 MiB.
  uint64_t target_file_size = 64 << 20;

  // Threads that merge SSTables, 1 to 64; one more writes memtables out.
  int compaction_threads = 1;

  // Bytes a second that compactions read and write together; 0 is no limit. Minor compactions, for
  // which writers wait, are not limited. Database::SetCompactionRate changes it.
  uint64_t compaction_rate = 0;

  // Keeps rows that Table::ReadRow has read whole, as they came out of the merge of memtables and
  // SSTables, for those who read the same rows again; a write to the row invalidates it. Shares the
  // memory of the block cache. For reads that go to some rows far more often than to others; costs
  // half a megabyte, and otherwise a copy of each row that is read.
  bool scan_cache = false;

  // How SSTables are read. kMapped serves uncompressed blocks in place, from the page cache, which
  // may take all memory that is free; where files exceed that, a block that the system has dropped
  // is read again by one request of its size, whatever readahead is set for the disk. kPositional
  // reads every block into the block cache: for memory that is bounded by the budget alone.
  FileSystem::ReadMode read_mode = FileSystem::ReadMode::kMapped;

  // SSTables that are open at a time, 8 to 2^30, of those that are read by position: with that read
  // mode, or where they cannot be mapped. Those that are mapped hold no descriptor. Reading one
  // that is not open costs opening it first; every thread that reads may hold one more. 0 takes
  // half of the file descriptors that the process may have (RLIMIT_NOFILE, the soft limit) and that
  // other open databases have not taken so, as it is when the database is opened. It needs others:
  // a dozen, two or three for each tablet server, and some for each thread that compacts.
  int max_open_files = 0;

  // Not owned; null takes the machine's own. They must outlive the database and all that came
  // from it.
  FileSystem* file_system = nullptr;
  Clock* clock = nullptr;

  // Null writes to the file LOG in the database's directory (to nowhere if read_only).
  std::shared_ptr<LogSink> log_sink = nullptr;

  // Told of compactions, stalls, errors and changes of tables. Not owned; null: nobody is. Outlives
  // the database. Costs a thread.
  EventListener* event_listener = nullptr;

  // Traces one of so many requests (reads of a row, streams of rows or cells, applications of
  // mutations and batches) and gives the traces to `trace_sink`; 0 traces none, and costs nothing.
  // From 64 on it costs next to nothing; below, every call is looked at by the clock, and its
  // latency counted by itself. The sink is not owned and outlives the database and all that came
  // from it.
  uint64_t trace_one_of = 0;
  TraceSink* trace_sink = nullptr;
};

// Of Database::CreateTable.
struct CreateTableOptions {
  // Rows at which the table is split from the start: each begins a tablet. For tables that many
  // writers fill at once. In any order, not empty, each once.
  std::vector<std::string> split_rows = {};

  // See CallOptions.
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

struct OpenTableOptions {
  // In whose name the table is read and written: what the access lists of its families do not allow
  // them is refused with PermissionDenied, and with what keeps a list from being read (DataLoss,
  // Unavailable). None: in the program's own, which may do everything, and pays nothing for this.
  // See AccessList for what a name is.
  std::optional<std::string> caller = {};
};

struct ReadOptions {
  // Reads the database as it was when the snapshot was taken; null: as it is when the call begins.
  std::shared_ptr<const Snapshot> snapshot = nullptr;

  // Verifies each block whenever it is read from its file, not only at first touch.
  bool verify_checksums = false;
  // Whether blocks that this read brings in stay in the block cache. Turn off for one large scan.
  bool fill_cache = true;

  // For reads of several rows: from the last to the first (the cells of a row keep their order),
  // and how many rows with cells at most (0: all).
  bool reverse = false;
  int64_t row_limit = 0;

  // See CallOptions.
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

struct WriteOptions {
  // Unset: DatabaseOptions::durability.
  std::optional<Durability> durability = std::nullopt;

  // See CallOptions.
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_OPTIONS_H_
