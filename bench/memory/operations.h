// The operations that are measured, the same for every engine.
#ifndef BIGTABLE_BENCH_MEMORY_OPERATIONS_H_
#define BIGTABLE_BENCH_MEMORY_OPERATIONS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

#include "common/workload.h"
#include "subject.h"
#include "zipf.h"

namespace bench {

struct OperationKind {
  std::string_view name;
  bool is_default = false;  // is run if no kinds are named
  bool writes = false;
  bool in_order = false;  // SubjectOptions::in_order
};

// Zipf rows are drawn with the exponent 0.99 of YCSB, over all rows, and scattered by a hash, so
// that hot rows are not neighbours. Overwrites write the value that the row has. New rows are
// behind all others.
inline constexpr auto kOperationKinds = std::to_array<OperationKind>({
    {.name = "random_reads", .is_default = true},                 // single random rows
    {.name = "zipf_reads", .is_default = true},                   // single zipf rows
    {.name = "batches", .is_default = true},                      // 64 random rows in one call
    {.name = "scans_10", .is_default = true},                     // ten rows from a random one
    {.name = "short_scans", .is_default = true},                  // a hundred
    {.name = "long_scan", .is_default = true, .in_order = true},  // all rows in order, repeatedly
    {.name = "async_reads"},                                      // random rows, 64 under way
    {.name = "mixed"},                                            // 9 random reads, 1 short scan
    {.name = "half_zipf", .writes = true},                        // 1 zipf read, 1 overwrite
    {.name = "ycsb_a", .writes = true},                           // 50% reads, 50% overwrites
    {.name = "ycsb_b", .writes = true},                           // 95% reads, 5% overwrites
    {.name = "ycsb_c"},                                           // reads
    {.name = "ycsb_d", .writes = true},                           // 95% of the latest, 5% new rows
    {.name = "ycsb_e", .writes = true},                           // 95% scans of 1 to 100, 5% new
    {.name = "ycsb_f", .writes = true},                           // 50% reads, 50% read and write
});
// One of kOperationKinds.
const OperationKind& OperationKindNamed(std::string_view name);

// Runs operations of one kind on a table, and checks what they read: that each row exists, that
// scans have the right number of rows, and keys and values of a part of the rows. One thread.
class Operations {
 public:
  // The table has `rows` rows, at least a hundred. Destroyed before the table is closed.
  Operations(Subject* subject, std::string_view kind, uint64_t rows);
  ~Operations();

  // Runs the next operation; returns the number for which it counts: of rows for batches and the
  // scan of all rows, otherwise one.
  absl::StatusOr<int64_t> Next() { return (this->*run_)(); }

 private:
  using Run = absl::StatusOr<int64_t> (Operations::*)();
  static Run RunOf(std::string_view kind);

  absl::StatusOr<int64_t> RandomRead() { return Read(random_.Below(rows_)); }
  absl::StatusOr<int64_t> ZipfRead() { return Read(ZipfRow()); }
  absl::StatusOr<int64_t> Batch();
  absl::StatusOr<int64_t> AsyncRead();
  absl::StatusOr<int64_t> Scan10() { return RandomScan(10); }
  absl::StatusOr<int64_t> ShortScan() { return RandomScan(100); }
  absl::StatusOr<int64_t> LongScan();
  absl::StatusOr<int64_t> Mixed() { return ++count_ % 10 == 0 ? ShortScan() : RandomRead(); }
  absl::StatusOr<int64_t> HalfZipf() { return ++count_ % 2 == 0 ? ZipfWrite() : ZipfRead(); }
  absl::StatusOr<int64_t> YcsbA() { return Draw(50) ? ZipfWrite() : ZipfRead(); }
  absl::StatusOr<int64_t> YcsbB() { return Draw(5) ? ZipfWrite() : ZipfRead(); }
  absl::StatusOr<int64_t> YcsbD() { return Draw(5) ? WriteNew() : ReadLatest(); }
  absl::StatusOr<int64_t> YcsbE() { return Draw(5) ? WriteNew() : ZipfScan(); }
  absl::StatusOr<int64_t> YcsbF() { return Draw(50) ? ReadAndWrite() : ZipfRead(); }

  // Parts of the kinds above.
  bool Draw(uint64_t percent) { return random_.Below(100) < percent; }
  uint64_t ZipfRow() { return Random::Mix(ranks_.Draw(random_)) % first_rows_; }
  absl::StatusOr<int64_t> Read(uint64_t row);
  absl::StatusOr<int64_t> ReadLatest() { return Read(rows_ - 1 - ranks_.Draw(random_)); }
  absl::StatusOr<int64_t> RandomScan(uint64_t limit) {
    return Scan(random_.Below(rows_ - limit + 1), limit);
  }
  absl::StatusOr<int64_t> ZipfScan();
  absl::StatusOr<int64_t> Scan(uint64_t first, uint64_t limit);
  absl::StatusOr<int64_t> Write(uint64_t row);
  absl::StatusOr<int64_t> ZipfWrite() { return Write(ZipfRow()); }
  absl::StatusOr<int64_t> ReadAndWrite();
  absl::StatusOr<int64_t> WriteNew();

  absl::Status Check(uint64_t row, std::string_view value);
  absl::Status CheckRow(uint64_t row, const RowCursor& cursor);

  Subject* const subject_;
  const Run run_;
  const uint64_t first_rows_;  // those of the table at first, of which zipf rows are drawn
  uint64_t rows_;              // with new rows
  const ZipfRanks ranks_;
  const Values values_;
  Random random_{42};
  uint64_t count_ = 0;   // of operations, for kinds that take turns
  uint64_t checks_ = 0;  // of rows read
  // Of a scan of all rows.
  std::unique_ptr<RowCursor> cursor_;
  uint64_t next_row_ = 0;
  // Of a batch.
  std::vector<uint64_t> batch_rows_;
  std::vector<Key> batch_keys_;
  std::vector<std::string_view> batch_views_;
  std::vector<std::string_view> batch_values_;
  // Of reads that are under way.
  absl::Mutex mutex_;
  int64_t under_way_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status failed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_OPERATIONS_H_
