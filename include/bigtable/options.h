// The options of a database, of a read and of a write, with what each does and costs. The defaults
// are good without reading this. Database::Open checks all options and names the one that is out of
// range.
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

class CallRecorder;
class Snapshot;

// Which failures an acknowledged write survives.
enum class Durability : uint8_t {
  // None: it is not logged. For data that can be loaded again; Flush makes it durable. After a
  // crash, a mutation of several locality groups may be present in some of them only.
  kNone = 0,
  // A crash of the process, like a write() without fsync(); not a crash of the machine.
  kBuffered = 1,
  // A crash of the machine: the log is synced before the write is acknowledged. Writers that wait
  // at the same time share one sync.
  kSync = 2,
};

// Options of Database::Open.
struct DatabaseOptions {
  // Creates the directory (its parent must exist) if there is no database in it; if false, Open
  // returns NotFound. With `error_if_exists`, Open returns AlreadyExists if there is a database.
  bool create_if_missing = true;
  bool error_if_exists = false;
  // Whether a database may be created in a directory that has files of something else. If false,
  // Open returns FailedPrecondition before it writes anything: /etc does not become a database by a
  // slip. What a new file system may have (lost+found, hidden files, quota files) is never in the
  // way, and what the directory of an existing database has does not matter.
  bool allow_foreign_files = false;

  // Opens without writing a byte, concurrently with other read-only users. The log is read into
  // memory. Every write, and every change of a schema, returns FailedPrecondition.
  bool read_only = false;
  // Opens a database that another process may be writing at the same time, and follows it: without
  // writing a byte, and without its help. Implies `read_only`. Every read sees one moment: each
  // write that was acknowledged before it, batches whole. Streams and snapshots stay at theirs, and
  // need files that the writer has removed meanwhile: the system frees these when this process no
  // longer has them open, however it ends. A table is found by its name in each call. There are no
  // transactions.
  //
  // Database::Refresh goes on to the present, and so does a thread, each `follow_interval` after
  // the last time (at least 1 ms; InfiniteDuration: never). If nothing has changed, this reads some
  // small files. Otherwise it reads what was appended to the logs, and rebuilds memtables from
  // them, whatever the size of the SSTables: these stay open, and their blocks cached. It needs
  // memory for the writer's logs three times for a while.
  bool follow = false;
  absl::Duration follow_interval = absl::Seconds(1);

  // The durability of a write whose WriteOptions do not set one.
  Durability durability = Durability::kBuffered;

  // Bytes of memory for memtables, the log they pin, indexes, filters and caches together, at least
  // 8 MiB. Ignored if `shared_memory_budget` is set, which several databases may share.
  uint64_t memory_budget = uint64_t{512} << 20;
  std::shared_ptr<MemoryBudget> shared_memory_budget = nullptr;

  // Size in bytes, log included, at which a memtable is rotated and flushed; at least 64 KiB and at
  // most a quarter of the memory budget. 0 means a quarter of the budget, but not more than 64 MiB.
  // Larger memtables are compacted less often; smaller ones stay in the processor's cache and
  // recover sooner.
  uint64_t memtable_size = 0;

  // Size in bytes of a segment of the commit log, 64 KiB to 1 GiB. Segments are preallocated and
  // reused.
  uint64_t log_segment_size = 16 << 20;

  // The number of tablet servers that share the tablets, up to 256; 0 means the number of
  // processors. Each has a commit log of its own, so that writers of tablets on different servers
  // do not wait for each other. A server without tablets has no log yet. May differ from one
  // opening to the next.
  int tablet_servers = 0;

  // How often the master checks whether one tablet server has much more data and load than another.
  // If so, it moves one tablet; so this is also the least time between two moves. At least a
  // millisecond; infinite: tablets are not moved. Idle databases of much less than a gigabyte are
  // not balanced either.
  absl::Duration balance_interval = absl::Seconds(10);

  // Size on disk, in bytes, above which a tablet of METADATA is split, at least 4 KiB; 0: never.
  // METADATA needs some hundred bytes for each tablet, and as many for each of its SSTables.
  uint64_t metadata_tablet_size = 128 << 20;

  // Bytes at which a compaction starts its next output file, at least 1 MiB.
  uint64_t target_file_size = 64 << 20;

  // Threads that merge SSTables, 1 to 64; one more thread flushes memtables.
  int compaction_threads = 1;

  // Bytes per second that compactions read and write together; 0 is no limit. Flushes, for which
  // writers wait, are not limited.
  uint64_t compaction_rate = 0;

  // Caches the whole rows that Table::ReadRow returns, after the merge of memtables and SSTables. A
  // write to a row invalidates it. Shares the memory of the block cache. For reads that go to some
  // rows far more often than to others; costs half a megabyte, and a copy of each row that is read
  // and not found in the cache.
  bool scan_cache = false;

  // How SSTables are read. kMapped serves uncompressed blocks in place, from the page cache, which
  // may take all free memory. If the files exceed it, a block that the system dropped is read again
  // with one request of the block's size, whatever readahead is set for the disk. kPositional reads
  // every block into the block cache, so that the budget alone bounds the memory.
  FileSystem::ReadMode read_mode = FileSystem::ReadMode::kMapped;

  // How many SSTables that are read by position may be open at a time, 8 to 2^30. These are all
  // SSTables with kPositional, and those that cannot be mapped. Mapped files hold no descriptor.
  // Reading a file that is not open opens it first; every reading thread may hold one more. 0 takes
  // half of the file descriptors that the process may have (RLIMIT_NOFILE, the soft limit) and that
  // other open databases have not taken this way, as of the opening. The database needs other
  // descriptors too: a dozen, two or three for each tablet server, and some for each compaction
  // thread.
  int max_open_files = 0;

  // Not owned; null means the machine's own. They must outlive the database and all objects that
  // came from it.
  FileSystem* file_system = nullptr;
  Clock* clock = nullptr;

  // Null writes to the file LOG in the database's directory (or nowhere if read_only).
  std::shared_ptr<LogSink> log_sink = nullptr;

  // Receives compactions, stalls, errors and changes of tables. Not owned; may be null. Must
  // outlive the database. Costs a thread.
  EventListener* event_listener = nullptr;

  // Traces one request in this many (reads of a row, streams of rows or cells, applications of
  // mutations and batches) and passes the traces to `trace_sink`; 0 traces none, and costs nothing.
  // At 64 or more it costs next to nothing. Below 64, every call is timed and its latency counted
  // individually. The sink is not owned, and must outlive the database and all objects that came
  // from it.
  uint64_t trace_one_of = 0;
  TraceSink* trace_sink = nullptr;

  // Records the calls of the program in a file, to be made again (bigtable/call_recording.h). Null
  // records nothing, and costs nothing. FailedPrecondition if it has recorded a database
  // before, or has ended.
  std::shared_ptr<CallRecorder> recorder = nullptr;
};

// Options of Database::CreateTable.
struct CreateTableOptions {
  // InvalidArgument beyond it: each costs a synced mutation of METADATA, for which other changes of
  // tables wait.
  static constexpr size_t kMaxSplitRows = 10'000;

  // Rows at which the table is split from the start; each begins a tablet. For tables that many
  // writers fill at once. In any order, not empty, without duplicates.
  std::vector<std::string> split_rows = {};

  // See CallOptions.
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

// Options of Database::OpenTable.
struct OpenTableOptions {
  // The user in whose name the table is read and written. A call that the access lists of its
  // families do not permit returns PermissionDenied; if a list cannot be read, the call returns
  // that error (DataLoss, Unavailable). None: the program itself, which may do everything, at no
  // cost. See AccessList for the form of a name. The user's quota applies too (bigtable/quota.h).
  std::optional<std::string> caller = {};

  // See CallOptions.
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

// Options of a read.
struct ReadOptions {
  // Reads the database at the snapshot; null: as it is when the call begins.
  std::shared_ptr<const Snapshot> snapshot = nullptr;

  // Verifies each block whenever it is read from its file, not only on first use.
  bool verify_checksums = false;
  // Whether blocks that this read loads stay in the block cache. Turn off for one large scan.
  bool fill_cache = true;

  // For reads of several rows: reads from the last row to the first (the cells of a row keep their
  // order), and returns at most this many rows that have cells (0: all).
  bool reverse = false;
  int64_t row_limit = 0;
  // The same for cells, over all rows, also for a read of one row: at most this many of those that
  // pass the filter (0: all). The last row may lack some of its cells, which are not read: the last
  // five points of a series that has many in a row are the first five cells in reverse order. A
  // Scanner counts the rows and cells of each stream by itself.
  int64_t cell_limit = 0;

  // See CallOptions.
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

// Options of a write.
struct WriteOptions {
  // Unset: DatabaseOptions::durability.
  std::optional<Durability> durability = std::nullopt;

  // See CallOptions.
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_OPTIONS_H_
