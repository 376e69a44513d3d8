// The current ServedTable of a table. It is replaced when more locations become known, or when one
// becomes obsolete.
//
// Calls of clients read it without a lock and without a reference count. They are inside the
// database's gate (base/call_gate.h), and a replaced ServedTable is deleted only after two advances
// of the gate.
#ifndef BIGTABLE_ROUTING_TABLE_ROUTE_H_
#define BIGTABLE_ROUTING_TABLE_ROUTE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "routing/served_table.h"

namespace bigtable {

// Thread-safe.
class TableRoute {
 public:
  TableRoute(uint64_t table_id, std::shared_ptr<const ServedTable> table)
      : table_id_(table_id), current_(table.get()), shared_(std::move(table)) {}
  TableRoute(const TableRoute&) = delete;
  TableRoute& operator=(const TableRoute&) = delete;

  uint64_t table_id() const { return table_id_; }
  // Whether the table has observers, as far as the client knows: see transaction/observed_write.h.
  bool is_observed() const { return is_observed_.load(std::memory_order_relaxed); }
  void SetObserved(bool is) { is_observed_.store(is, std::memory_order_relaxed); }
  // Valid as long as the caller is inside the gate with a CallGate::Pass that is not a LongPass.
  const ServedTable* Get() const { return current_.load(std::memory_order_seq_cst); }
  std::shared_ptr<const ServedTable> Share() const {
    MutexLock lock(&mutex_);
    return shared_;
  }
  // Returns the previous table, which the caller must keep as long as a call may use it.
  [[nodiscard]] std::shared_ptr<const ServedTable> Replace(
      std::shared_ptr<const ServedTable> table) {
    MutexLock lock(&mutex_);
    current_.store(table.get(), std::memory_order_seq_cst);
    return std::exchange(shared_, std::move(table));
  }

 private:
  const uint64_t table_id_;
  std::atomic<const ServedTable*> current_;
  std::atomic<bool> is_observed_{false};
  mutable Mutex mutex_;
  std::shared_ptr<const ServedTable> shared_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_TABLE_ROUTE_H_
