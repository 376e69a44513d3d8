// Where the tablets of a table are: a ServedTable that is replaced when tablets are split,
// moved or merged.
//
// Calls of clients look at it without a lock and without counting: they are inside the database's
// gate (base/call_gate.h), and what was replaced is deleted only after two advances of the gate.
#ifndef BIGTABLE_MASTER_TABLE_ROUTE_H_
#define BIGTABLE_MASTER_TABLE_ROUTE_H_

#include <atomic>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "master/served_table.h"

namespace bigtable {

// Thread-safe.
class TableRoute {
 public:
  explicit TableRoute(std::shared_ptr<const ServedTable> table)
      : current_(table.get()), shared_(std::move(table)) {}
  TableRoute(const TableRoute&) = delete;
  TableRoute& operator=(const TableRoute&) = delete;

  // Stays as long as the caller is inside the gate with a CallGate::Pass that is no LongPass.
  const ServedTable* Get() const { return current_.load(std::memory_order_seq_cst); }
  std::shared_ptr<const ServedTable> Share() const {
    MutexLock lock(&mutex_);
    return shared_;
  }
  // Returns the one before, for the caller to keep as long as somebody may look at it.
  [[nodiscard]] std::shared_ptr<const ServedTable> Replace(
      std::shared_ptr<const ServedTable> table) {
    MutexLock lock(&mutex_);
    current_.store(table.get(), std::memory_order_seq_cst);
    return std::exchange(shared_, std::move(table));
  }

 private:
  std::atomic<const ServedTable*> current_;
  mutable Mutex mutex_;
  std::shared_ptr<const ServedTable> shared_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_TABLE_ROUTE_H_
