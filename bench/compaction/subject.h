// The table that a policy compacts, in a database of its own.
#ifndef BIGTABLE_BENCH_COMPACTION_SUBJECT_H_
#define BIGTABLE_BENCH_COMPACTION_SUBJECT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "common/workload.h"
#include "policy.h"

namespace bench {

// A clock that advances by a second with each operation, so that the same cells expire at the same
// time in each run.
class OperationClock final : public bigtable::Clock {
 public:
  static constexpr absl::Duration kStep = absl::Seconds(1);

  absl::Time Now() override {
    return absl::FromUnixSeconds(kStart) + kStep * steps_.load(std::memory_order_relaxed);
  }
  void Step() { steps_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr int64_t kStart = 1'600'000'000;
  std::atomic<int64_t> steps_{0};
};

struct SubjectOptions {
  std::string directory;
  Policy policy;
  uint64_t memory_budget = 0;
  uint64_t memtable_size = 0;
  std::optional<uint64_t> lifetime;  // of a row, in steps of the clock
};

// One thread at a time. A row number of the workload is an even key, so that odd keys between them
// are missing.
class Subject {
 public:
  static absl::StatusOr<std::unique_ptr<Subject>> Open(const SubjectOptions& options);

  OperationClock& clock() { return clock_; }
  bigtable::Database& database() { return *database_; }

  absl::Status Write(uint64_t row);
  absl::Status Delete(uint64_t row);
  // DataLoss if the row does not exist, or has another value than the one written.
  absl::Status Read(uint64_t row);
  // DataLoss if it exists.
  absl::Status ReadMissing(uint64_t row);
  // Reads `rows` rows from `first`, fewer only at the end of the table; 0: all. Returns the number
  // of rows read.
  absl::StatusOr<uint64_t> Scan(uint64_t first, uint64_t rows);

  // Flushes everything, and waits until no compaction is due.
  absl::Status Settle();
  absl::Status Close() { return database_->Close(); }
  bigtable::LocalityGroupStatistics GroupStatistics(const bigtable::DatabaseStatistics& all) const;

 private:
  Subject() = default;

  const Values values_;
  OperationClock clock_;
  std::unique_ptr<bigtable::Database> database_;
  bigtable::Table* table_ = nullptr;  // the database's
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_SUBJECT_H_
