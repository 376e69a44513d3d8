// The operations of an engine in the benchmark. An implementation uses the cheapest path through
// the engine's public interface that its experts would use.
#ifndef BIGTABLE_BENCH_PAPER_ENGINE_H_
#define BIGTABLE_BENCH_PAPER_ENGINE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bench {

enum class Checking {
  kDefault,    // the engine's default
  kEveryRead,  // each block is verified whenever it is read from the file or the mapping
};

inline constexpr std::array<Checking, 2> kCheckings = {Checking::kDefault, Checking::kEveryRead};

// The purpose of an opening: engines may be configured for it, as their experts would.
enum class Purpose {
  kWrites,
  kReads,
  kReadsFromMemory,  // all data must be in the engine's own memory
  kReadsAndWrites,
};

struct OpenOptions {
  std::string directory;
  Purpose purpose = Purpose::kWrites;
  // For caches, write buffers, indexes and filters together.
  uint64_t memory_limit = 0;
  // The rows that it has or will have, with the keys of ../common/workload.h.
  uint64_t rows = 0;
  // Every write is kept to be read again, in its order: Engine::CountChanges.
  bool keeps_changes = false;
};

// Point reads. One thread at a time.
class Reader {
 public:
  virtual ~Reader() = default;
  // NotFound if the row does not exist.
  virtual absl::Status Read(std::string_view key) = 0;
  // The value of the last row read, until the next Read.
  std::string_view value() const { return value_; }

 protected:
  std::string_view value_;
};

// All rows, in order. One thread at a time.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // Goes to the next row, the first at the first call. False at the end and after an error.
  virtual bool Next() = 0;
  virtual absl::Status status() const = 0;
  // Of the row, until the next call of Next.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 protected:
  std::string_view key_;
  std::string_view value_;
};

// The ways in which many rows come in at once.
enum class Load {
  kWrites,  // groups of ordinary writes that are not logged, and a flush at the end
  kFiles,   // sorted files that are written outside of the database, and ingested
};

constexpr size_t kRowsOfLoad = 1000;  // in a group of writes

// Takes rows in any order. One thread at a time.
class Loader {
 public:
  virtual ~Loader() = default;
  virtual absl::Status Add(std::string_view key, std::string_view value) = 0;
  // What can be done without the database: the files are written. Before Finish, if it is called.
  virtual absl::Status Prepare() { return absl::OkStatus(); }
  // All rows are in the database, and survive a crash of the machine.
  virtual absl::Status Finish() = 0;
};

// A second opening of a database, which only reads while the first one writes. One thread at a
// time.
class Follower {
 public:
  virtual ~Follower() = default;
  // From here on reads see what was written before.
  virtual absl::Status Refresh() = 0;
  virtual absl::StatusOr<std::string> Read(std::string_view key) = 0;
};

// A second database that becomes what another one is, by its changes. One thread at a time.
class Replica {
 public:
  virtual ~Replica() = default;
  // Until it has what the other one had at the call.
  virtual absl::Status CatchUp() = 0;
  virtual absl::Duration Lag() = 0;
};

// An open database. Readers and cursors must be destroyed before it. Thread-safe.
class Engine {
 public:
  virtual ~Engine() = default;

  // A write that returned OK survives a crash of the process.
  virtual absl::Status Write(std::string_view key, std::string_view value) = 0;
  virtual std::unique_ptr<Reader> NewReader(Checking checking) = 0;
  virtual std::unique_ptr<Cursor> NewCursor(Checking checking) = 0;

  // Waits until nothing is flushed or compacted, nor due to be, and returns the time since which
  // that is so.
  virtual absl::StatusOr<absl::Time> WaitUntilQuiet() = 0;
  virtual absl::Status Close() = 0;
  // Copies the database, at one moment, to a directory that does not exist, by links.
  virtual absl::Status Checkpoint(const std::string& /*directory*/) {
    return absl::UnimplementedError("the engine has no checkpoints");
  }

  // Adds a backup of the database, as it is now, to those in the directory.
  virtual absl::Status Backup(const std::string& /*directory*/) {
    return absl::UnimplementedError("the engine has no backups");
  }

  // `directory` is new: for files that the follower needs. It is destroyed before this.
  virtual absl::StatusOr<std::unique_ptr<Follower>> Follow(const std::string& /*directory*/) {
    return absl::UnimplementedError("the engine cannot be read beside a writer");
  }

  // With OpenOptions::keeps_changes: reads all of them, from the first on, and returns their
  // number.
  virtual absl::StatusOr<uint64_t> CountChanges() {
    return absl::UnimplementedError("the engine keeps no changes");
  }
  // The same for a new database in the directory. It is destroyed before this.
  virtual absl::StatusOr<std::unique_ptr<Replica>> Replicate(const std::string& /*directory*/) {
    return absl::UnimplementedError("the engine has no followers");
  }

  // `directory` exists, for files, on the file system of the database. Uses up to `threads` threads
  // where the engine's experts would. Null: the engine does not have this way.
  virtual std::unique_ptr<Loader> NewLoader(Load /*load*/, const std::string& /*directory*/,
                                            int /*threads*/) {
    return nullptr;
  }

  // Bytes stored into mapped files since the database was opened: writes that the kernel does not
  // count.
  virtual uint64_t MappedBytesWritten() = 0;
};

struct EngineKind {
  std::string name;
  std::string version;
  // Creates the database if the directory is empty.
  std::function<absl::StatusOr<std::unique_ptr<Engine>>(const OpenOptions& options)> open;
  // It has checksums. If not, it has no part in reads that verify each block.
  bool has_checksums = true;
};

// The engines of this build, with bigtable first.
std::vector<EngineKind> BuiltEngines();
std::optional<EngineKind> BuiltEngine(std::string_view name);

EngineKind RocksDBEngine();  // only where it was found
EngineKind LevelDBEngine();  // the same
EngineKind LmdbEngine();     // the same

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_ENGINE_H_
