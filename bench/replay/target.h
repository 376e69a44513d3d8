// A database on which recorded calls are made again.
#ifndef BIGTABLE_BENCH_REPLAY_TARGET_H_
#define BIGTABLE_BENCH_REPLAY_TARGET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "compaction/policy.h"
#include "overview.h"

namespace bench {

struct TargetOptions {
  std::string directory;  // does not exist, or is a database of this engine to begin with
  Policy policy;
  bool keeps_policies = false;  // of the recorded schemas, rather than `policy`
  bigtable::DatabaseOptions database;
  // These replace what the recorded schemas say.
  std::optional<bigtable::Compression> compression;
  std::optional<uint64_t> block_size;
  std::optional<bigtable::FilterKind> filter;
};

struct Returned {
  uint64_t rows = 0;
  uint64_t cells = 0;
};

struct TargetFigures {
  double written_bytes = 0;  // to log and files
  double file_bytes = 0;
  double sorted_runs = 0;
  double stall_seconds = 0;
};

// Thread-safe, but for Close.
class Target {
 public:
  virtual ~Target() = default;
  // Makes the call again, and reads as many rows as it had returned. What a write returns depends
  // on values, which are others, so it counts as what was recorded.
  absl::StatusOr<Returned> Do(const bigtable::RecordedCall& call);
  // Flushes everything, and waits until no compaction is due.
  virtual absl::Status Settle() = 0;
  virtual absl::StatusOr<TargetFigures> Figures() = 0;
  virtual absl::Status Close() = 0;

 private:
  // Of a kind that ReadsOnly, and of another.
  virtual absl::StatusOr<Returned> Read(const bigtable::RecordedCall& call) = 0;
  virtual absl::Status Write(const bigtable::RecordedCall& call) = 0;
};

// The tables of the recording are created, unless they exist.
absl::StatusOr<std::unique_ptr<Target>> OpenTarget(const Overview& recording,
                                                   const TargetOptions& options);

// Each engine's. RocksDB's is only there if this build has RocksDB (BENCH_HAVE_ROCKSDB).
absl::StatusOr<std::unique_ptr<Target>> OpenBigtableTarget(const Overview& recording,
                                                           const TargetOptions& options);
absl::StatusOr<std::unique_ptr<Target>> OpenRocksDBTarget(const Overview& recording,
                                                          const TargetOptions& options);

}  // namespace bench

#endif  // BIGTABLE_BENCH_REPLAY_TARGET_H_
