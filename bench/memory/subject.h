// One engine under test: a table of rows in one of the engine's ways of reading. The rows have the
// keys and values of ../common/workload.h.
//
// An implementation uses the cheapest path through the engine's public interface that its experts
// would use. Each engine has a file of its own; nothing else knows the engines apart.
#ifndef BIGTABLE_BENCH_MEMORY_SUBJECT_H_
#define BIGTABLE_BENCH_MEMORY_SUBJECT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace bench {

// Rows in key order. One thread at a time.
class RowCursor {
 public:
  virtual ~RowCursor() = default;
  // Moves to the next row; the first call moves to the first. False at the end and after an error.
  virtual bool Next() = 0;
  virtual absl::Status status() const = 0;
  // Of the row, until the next call of Next.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 protected:
  std::string_view key_;
  std::string_view value_;
};

inline constexpr uint64_t kNoLimit = 0;

// An open table. One thread at a time, and no other call while a cursor exists.
class Subject {
 public:
  virtual ~Subject() = default;

  // The value, until the next call. NotFound if the row does not exist.
  virtual absl::StatusOr<std::string_view> Get(std::string_view key) = 0;
  // Reads all of these rows, in one call of the engine if it has such a call. The values are in the
  // order of the keys, and valid until the next call. NotFound if a row does not exist.
  virtual absl::Status GetBatch(absl::Span<const std::string_view> keys,
                                std::vector<std::string_view>* values) = 0;
  // Asks for the value of the row. `done` is called with it once, which is valid until it returns;
  // by a thread of the engine, or before this returns. An engine without such a call reads it here.
  using Done = std::function<void(const absl::StatusOr<std::string_view>&)>;
  virtual void GetAsync(std::string_view key, const Done& done) { done(Get(key)); }
  // The first `limit` rows from `from` on. A cursor may return more: its caller stops.
  virtual std::unique_ptr<RowCursor> Scan(std::string_view from, uint64_t limit) = 0;
  // A write that returned OK survives a crash of the process. Only with SubjectOptions::writes.
  virtual absl::Status Write(std::string_view key, std::string_view value) = 0;
  virtual absl::Status Close() = 0;
};

struct SubjectOptions {
  std::string directory;
  std::string way;
  // For caches, write buffers, indexes and filters together. A way that reads past the page cache,
  // and leaves that empty, may take kShareOfPageCache times as much.
  uint64_t memory_budget = 0;
  bool writes = false;    // rows are written too
  bool in_order = false;  // all rows are read, in key order
};

inline constexpr uint64_t kShareOfPageCache = 3;

struct SubjectKind {
  std::string engine;
  std::vector<std::string> ways;  // of reading, by names that are unique among all engines
  bool writes = false;            // Subject::Write is implemented
  // Creates a table of `rows` rows in a directory that does not exist. Nothing is left to flush or
  // compact.
  absl::Status (*make)(const std::string& directory, uint64_t rows) = nullptr;
  // Opens such a table.
  absl::StatusOr<std::unique_ptr<Subject>> (*open)(const SubjectOptions& options) = nullptr;
};

// The engines of this build, with bigtable first.
const std::vector<SubjectKind>& BuiltSubjects();
// All of their ways, in that order.
std::vector<std::string> BuiltWays();
// The engine that has the way, which must be one of BuiltWays.
const SubjectKind& SubjectOfWay(std::string_view way);

// The way that reports compare with others: bigtable as it is without settings.
inline constexpr std::string_view kDefaultWay = "default";
// The same with kShareOfPageCache times the budget.
inline constexpr std::string_view kLargeBudgetWay = "large_budget";
// The other engines are its peers.
bool IsPeer(std::string_view way);

SubjectKind BigtableSubject();
SubjectKind RocksDBSubject();  // only where it was found
SubjectKind LmdbSubject();     // the same

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_SUBJECT_H_
