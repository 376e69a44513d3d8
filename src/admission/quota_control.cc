#include "admission/quota_control.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"
#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"

#include "admission/quota_error.h"
#include "base/entry_kind.h"
#include "base/status.h"
#include "base/strings.h"
#include "schema/mutation_format.h"

namespace bigtable {
namespace {

constexpr int64_t kRefreshNanos = 100'000'000;
// Adding up takes at most this part of the time.
constexpr int64_t kRefreshShare = 20;

absl::Status RateError(uint64_t rate, std::string_view what, std::string_view whose, int64_t wait) {
  return RateQuotaError(Cat("the quota of ", rate, " ", what, " a second of ", whose), wait);
}

}  // namespace

QuotaControl::Limits* QuotaControl::Current::OfTable(uint64_t table_id) const {
  const auto found = tables.find(table_id);
  return found == tables.end() ? nullptr : found->second.get();
}

QuotaControl::Limits* QuotaControl::Current::OfCaller(std::string_view caller) const {
  const auto found = callers.find(caller);
  return found == callers.end() ? nullptr : found->second.get();
}

QuotaControl::QuotaControl(std::function<int64_t()> now)
    : now_(std::move(now)), current_(new Current) {}

void QuotaControl::Use(const QuotaSet& quotas) {
  MutexLock lock(&mutex_);
  const Pin<Current> before = current_.Get();
  auto next = std::make_unique<Current>();
  bool rates = false;
  bool storage = false;
  const auto make = [&](Limits* was, std::string whose, const Quota& quota) {
    rates |= quota.requests_per_second > 0 || quota.bytes_per_second > 0;
    storage |= quota.storage_bytes > 0;
    if (was != nullptr && was->quota == quota) return Ref<Limits>(was);
    return MakeRef<Limits>(std::move(whose), quota);
  };
  for (const auto& [id, table] : quotas.tables) {
    next->tables[id] = make(before->OfTable(id), Cat("table ", table.name), table.quota);
  }
  for (const auto& [name, quota] : quotas.callers) {
    next->callers[name] = make(before->OfCaller(name), Cat("caller ", Quoted(name)), quota);
  }
  current_.Publish(next.release());
  limits_rates_.store(rates, std::memory_order_relaxed);
  limits_storage_.store(storage, std::memory_order_relaxed);
  MarkChanged();
}

// --- Rates ---

// The caller's first: a caller beyond its own quota does not disturb others of the table.
template <typename Function>
void QuotaControl::ForEach(const Current& current, const Demand& demand, const Function& function) {
  if (demand.caller.has_value()) {
    if (Limits* const limits = current.OfCaller(*demand.caller)) function(limits);
  }
  if (Limits* const limits = current.OfTable(demand.table_id)) function(limits);
}

absl::Status QuotaControl::Take(absl::Span<const Demand> demands) {
  struct Total {
    Limits* limits;
    uint64_t requests;
    uint64_t bytes;
  };
  const Pin<Current> current = current_.Get();
  // A bucket is asked once for the whole call, since it admits what it cannot hold when it is full.
  absl::InlinedVector<Total, 4> totals;
  for (const Demand& demand : demands) {
    ForEach(*current, demand, [&](Limits* limits) {
      auto found = std::find_if(totals.begin(), totals.end(),
                                [&](const Total& total) { return total.limits == limits; });
      if (found == totals.end()) found = totals.insert(found, {limits, 0, 0});
      found->requests += demand.requests;
      found->bytes += demand.bytes;
    });
  }
  if (totals.empty()) return absl::OkStatus();
  const int64_t now = now_();
  for (auto total = totals.begin(); total != totals.end(); ++total) {
    Limits* const limits = total->limits;
    absl::Status refused;
    if (const int64_t wait = limits->requests.Take(total->requests, now); wait > 0) {
      refused = RateError(limits->requests.rate(), "requests", limits->whose, wait);
    } else if (const int64_t more = limits->bytes.Take(total->bytes, now); more > 0) {
      limits->requests.GiveBack(total->requests);
      refused = RateError(limits->bytes.rate(), "bytes", limits->whose, more);
    }
    if (refused.ok()) continue;
    for (auto taken = totals.begin(); taken != total; ++taken) {
      taken->limits->requests.GiveBack(taken->requests);
      taken->limits->bytes.GiveBack(taken->bytes);
    }
    return refused;
  }
  return absl::OkStatus();
}

absl::Status QuotaControl::Begin(const Demand& demand) {
  const Pin<Current> current = current_.Get();
  absl::Status refused;
  ForEach(*current, demand, [&](const Limits* limits) {
    if (!refused.ok() || limits->bytes.rate() == 0) return;
    const int64_t wait = limits->bytes.WaitForAny(now_());
    if (wait > 0) refused = RateError(limits->bytes.rate(), "bytes", limits->whose, wait);
  });
  if (!refused.ok() || demand.requests == 0) return refused;
  const Demand requests{
      .table_id = demand.table_id, .caller = demand.caller, .requests = demand.requests};
  return Take(absl::MakeConstSpan(&requests, 1));
}

void QuotaControl::Charge(const Demand& demand) {
  const Pin<Current> current = current_.Get();
  ForEach(*current, demand, [&](Limits* limits) {
    if (limits->bytes.rate() > 0) limits->bytes.Charge(demand.bytes, now_());
  });
}

// --- Storage ---

void QuotaControl::RefreshStorage() {
  const uint64_t changes = changes_.load(std::memory_order_acquire);
  if (changes == added_up_at_change_.load(std::memory_order_acquire)) {
    // One thread adds up, and others go on with the last sum.
    int64_t due = next_time_.load(std::memory_order_relaxed);
    const int64_t now = now_();
    if (now < due) return;
    if (!next_time_.compare_exchange_strong(due, now + kRefreshNanos, std::memory_order_relaxed)) {
      return;
    }
    MutexLock lock(&mutex_);
    return AddUp();
  }
  MutexLock lock(&mutex_);
  // Another thread may have added up meanwhile.
  if (added_up_at_change_.load(std::memory_order_relaxed) < changes) AddUp();
}

void QuotaControl::AddUp() {
  const uint64_t changes = changes_.load(std::memory_order_acquire);
  const int64_t begin = now_();
  ABSL_ASSERT(add_up_ != nullptr && "it is set before quotas of storage are used");
  const StoredBytes stored = add_up_();
  const Pin<Current> current = current_.Get();
  const auto set = [&](Limits* limits, const auto& sums, const auto& key) {
    const auto found = sums.find(key);
    limits->stored.store(found == sums.end() ? 0 : found->second, std::memory_order_relaxed);
  };
  for (const auto& [id, limits] : current->tables) set(limits.get(), stored.tables, id);
  for (const auto& [name, limits] : current->callers) set(limits.get(), stored.owners, name);
  const int64_t end = now_();
  next_time_.store(end + std::max(kRefreshNanos, kRefreshShare * (end - begin)),
                   std::memory_order_relaxed);
  added_up_at_change_.store(changes, std::memory_order_release);
}

absl::Status QuotaControl::CheckStorage(const TableLayout& layout) {
  if (!limits_storage()) return absl::OkStatus();
  RefreshStorage();
  std::string operations;
  for (const FamilyLayout& family : layout.families) {
    AppendOperation(&operations, {.kind = EntryKind::kCell, .family = family.name});
  }
  return TakeStorage(layout, operations);
}

absl::Status QuotaControl::TakeStorage(const TableLayout& layout,
                                       std::string_view operations) const {
  struct Growth {
    Limits* limits;
    uint64_t bytes;
  };
  const Pin<Current> current = current_.Get();
  absl::InlinedVector<Growth, 4> growths;
  const auto grow = [&](Limits* limits, uint64_t bytes) {
    if (limits == nullptr || limits->quota.storage_bytes == 0) return absl::OkStatus();
    const uint64_t stored = limits->stored.load(std::memory_order_relaxed);
    if (stored > limits->quota.storage_bytes) {
      return StorageQuotaError(limits->quota.storage_bytes, limits->whose, stored);
    }
    auto found = std::find_if(growths.begin(), growths.end(),
                              [&](const Growth& growth) { return growth.limits == limits; });
    if (found == growths.end()) found = growths.insert(found, {limits, 0});
    found->bytes += bytes;
    return absl::OkStatus();
  };
  Limits* const of_table = current->OfTable(layout.table_id);
  const FamilyLayout* last = nullptr;  // the next operation mostly has the same
  Limits* of_owner = nullptr;
  OperationReader reader(operations);
  for (MutationOperation operation; reader.Next(&operation);) {
    if (TraitsOf(operation.kind).is_deletion) continue;
    const uint64_t bytes = operation.qualifier.size() + operation.value.size();
    BT_RETURN_IF_ERROR(grow(of_table, bytes));
    if (last == nullptr || last->name != operation.family) {
      last = layout.FindFamily(operation.family);
      of_owner = last == nullptr || last->owner.empty() ? nullptr : current->OfCaller(last->owner);
    }
    BT_RETURN_IF_ERROR(grow(of_owner, bytes));
  }
  for (const Growth& growth : growths) {
    growth.limits->stored.fetch_add(growth.bytes, std::memory_order_relaxed);
  }
  return absl::OkStatus();
}

}  // namespace bigtable
