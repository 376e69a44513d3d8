// The table that a policy compacts, in a database of its own: of this engine, or of RocksDB.
#ifndef BIGTABLE_BENCH_COMPACTION_SUBJECT_H_
#define BIGTABLE_BENCH_COMPACTION_SUBJECT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "event_log.h"
#include "policy.h"
#include "read_touches.h"
#include "row_format.h"

namespace bench {

struct SubjectOptions {
  std::string directory;
  Policy policy;
  RowFormat format = {};
  uint64_t memory_budget = 0;
  uint64_t memtable_size = 0;
  int compaction_threads = 1;        // not with RocksDB
  std::string rocksdb_options = {};  // of RocksDB, in its notation: they replace those of here
  uint64_t tablet_size = 0;          // at which a tablet is split; 0: never. Not with RocksDB
  std::optional<uint64_t> lifetime;  // of a row, in steps of the clock; not with RocksDB
  bool positional = false;           // files are read by position
  bool counts_touches = false;       // CountTouches may be called; makes operations slower
};

// What the database has done since it was opened, and the state of the table.
struct SubjectFigures {
  double stall_seconds = 0;  // for which writers were delayed
  double log_bytes = 0;
  double flush_bytes = 0;
  double merge_read_bytes = 0;
  double merge_bytes = 0;
  double moved_bytes = 0;    // 0 with RocksDB, which does not report them
  double dropped_bytes = 0;  // the same

  double tablets = 1;
  double file_bytes = 0;
  double entries = 0;
  double sorted_runs = 0;
  double files = 0;
  double memtables = 0;
};

// One thread at a time.
class Subject {
 public:
  virtual ~Subject() = default;

  // An operation begins: the clock by which rows expire goes on.
  virtual void Step() = 0;
  virtual absl::Status Write(uint64_t row) = 0;
  virtual absl::Status Delete(uint64_t row) = 0;
  // DataLoss if the row does not exist, or has another value than the one written.
  virtual absl::Status Read(uint64_t row) = 0;
  // DataLoss if it exists.
  virtual absl::Status ReadMissing(uint64_t row) = 0;
  // Reads `rows` rows from `first`, fewer only at the end of the table; 0: all. Returns the number
  // of rows read.
  virtual absl::StatusOr<uint64_t> Scan(uint64_t first, uint64_t rows) = 0;

  // Waits until no compaction is due.
  virtual absl::Status WaitUntilQuiet() = 0;
  // Flushes everything, and waits until no compaction is due.
  virtual absl::Status Settle() = 0;
  virtual absl::Status Close() = 0;
  virtual absl::StatusOr<SubjectFigures> Figures() const = 0;

  // What the reads touch from here on, up to TakeTouches().
  virtual void CountTouches() = 0;
  virtual ReadTouches TakeTouches() = 0;
  // The flushes, compactions and stalls since the last call, but for those that have just ended.
  // RocksDB's are not recorded.
  virtual std::vector<Event> TakeEvents() { return {}; }
};

absl::StatusOr<std::unique_ptr<Subject>> OpenSubject(const SubjectOptions& options);

// Each engine's. RocksDB's is only there if this build has RocksDB (BENCH_HAVE_ROCKSDB).
absl::StatusOr<std::unique_ptr<Subject>> OpenBigtableSubject(const SubjectOptions& options);
absl::StatusOr<std::unique_ptr<Subject>> OpenRocksDBSubject(const SubjectOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_SUBJECT_H_
