// Decides whether a call keeps within the quotas of its table and its caller (bigtable/quota.h).
// One for all servers of a process, since a quota is of a table or a caller and not of a server.
//
// * Rates are checked when a call begins, once for each call, however many tablets it has and
//   however often it finds them again: by the client for calls in place, and by the server for each
//   message (TableImpl::rates in routing/table_impl.h, serving/data_server.h).
// * Storage is checked with the schema, for each mutation, by the path of all writes
//   (serving/data_path.h), before anything of a batch is written.
//
// Callers test limits_rates() and limits_storage() first, and nothing else is called without such a
// quota. The quotas are immutable and published, so that calls look them up without a lock. What
// changes with each call is a few atomic numbers (rate_meter.h).
#ifndef BIGTABLE_ADMISSION_QUOTA_CONTROL_H_
#define BIGTABLE_ADMISSION_QUOTA_CONTROL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/quota.h"

#include "admission/quota_store.h"
#include "admission/rate_meter.h"
#include "base/mutex.h"
#include "base/published.h"
#include "base/ref_counted.h"
#include "base/steady_time.h"
#include "rpc/data_service.h"
#include "schema/table_layout.h"

namespace bigtable {

// The bytes that quotas of storage limit.
struct StoredBytes {
  std::map<uint64_t, uint64_t> tables;  // by id
  std::map<std::string, uint64_t> owners;
};

// Thread-safe.
class QuotaControl {
 public:
  // `now`: nanoseconds of a clock that does not go backwards.
  explicit QuotaControl(std::function<int64_t()> now = NowNanos);
  QuotaControl(const QuotaControl&) = delete;
  QuotaControl& operator=(const QuotaControl&) = delete;

  // Whether there is any quota of this kind.
  bool limits_rates() const { return limits_rates_.load(std::memory_order_relaxed); }
  bool limits_storage() const { return limits_storage_.load(std::memory_order_relaxed); }

  // Replaces the quotas, for calls that begin after it. One that stays the same keeps its state.
  void Use(const QuotaSet& quotas);
  // Replaces the clock. Before the first call; for tests.
  void SetNow(std::function<int64_t()> now) { now_ = std::move(now); }
  // How storage is added up. Before the first call.
  void SetStorage(std::function<StoredBytes()> add_up) { add_up_ = std::move(add_up); }

  // --- Rates. Errors are ResourceExhausted. ---

  // What a call takes of the quotas of a table and of a caller.
  struct Demand {
    uint64_t table_id = 0;
    Caller caller;
    uint64_t requests = 0;
    uint64_t bytes = 0;
  };
  // Takes all of it or nothing.
  absl::Status Take(absl::Span<const Demand> demands);
  // Takes the requests, for a call whose bytes are known afterwards. Refuses it if there is a debt
  // of bytes. No requests: only looks for a debt.
  absl::Status Begin(const Demand& demand);
  // Takes the bytes, which may leave a debt.
  void Charge(const Demand& demand);

  // --- Storage ---

  // Anything that takes storage has changed.
  void MarkChanged() { changes_.fetch_add(1, std::memory_order_release); }
  // Adds the storage up if the last sum is too old. No lock may be held.
  void RefreshStorage();
  // ResourceExhausted if the mutation, which is well formed, adds data to the table or to a family
  // whose quota is exceeded. Otherwise counts what it adds until storage is added up again.
  absl::Status TakeStorage(const TableLayout& layout, std::string_view operations) const;
  // For data that come in other ways, to all families of a table: ResourceExhausted if a quota is
  // exceeded already. No lock may be held.
  absl::Status CheckStorage(const TableLayout& layout);

 private:
  // The quota of a table or a caller, and its state.
  struct Limits final : public RefCounted {
    Limits(std::string w, const Quota& q)
        : whose(std::move(w)),
          quota(q),
          requests(q.requests_per_second),
          bytes(q.bytes_per_second) {}

    const std::string whose;  // "table t", for messages
    const Quota quota;
    RateMeter requests;
    RateMeter bytes;
    std::atomic<uint64_t> stored{0};  // as last added up, and written since
  };
  struct Current final : public Publishable {
    Limits* OfTable(uint64_t table_id) const;         // null: it has no quota
    Limits* OfCaller(std::string_view caller) const;  // null, too

    std::map<uint64_t, Ref<Limits>> tables;
    std::map<std::string, Ref<Limits>, std::less<>> callers;
  };

  template <typename Function>
  static void ForEach(const Current& current, const Demand& demand, const Function& function);
  void AddUp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::function<int64_t()> now_;
  std::function<StoredBytes()> add_up_;
  std::atomic<bool> limits_rates_{false};
  std::atomic<bool> limits_storage_{false};
  std::atomic<uint64_t> changes_{0};
  std::atomic<uint64_t> added_up_at_change_{0};
  std::atomic<int64_t> next_time_{0};  // to add up

  Mutex mutex_;  // while quotas are replaced and storage is added up
  Published<Current> current_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ADMISSION_QUOTA_CONTROL_H_
