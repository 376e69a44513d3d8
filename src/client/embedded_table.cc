#include "client/embedded_table.h"

#include <algorithm>

#include "schema/mutation_check.h"
#include "transaction/atomic_operations.h"
#include "transaction/observed_write.h"

namespace bigtable {

absl::Status EmbeddedTable::Apply(const RowMutation& mutation, const WriteOptions& options) {
  if (!route->is_observed()) [[likely]] {
    absl::Status status = ApplyMeasured(mutation, options);
    if (!IsNotObserved(status)) [[likely]]
      return status;
    route->SetObserved(true);
  } else {
    monitor.counters.Count(Call::kApply);
  }
  // Not measured: observers may make calls, which do not nest.
  absl::Status status = ObservedWrite::Apply(domain_, public_table, mutation, options);
  if (!status.ok()) monitor.counters.CountError(Call::kApply);
  return status;
}

absl::Status EmbeddedTable::ApplyMeasured(const RowMutation& mutation,
                                          const WriteOptions& options) {
  CallTimer timer(&monitor, Call::kApply, [&](RequestTrace* trace) {
    trace->row = mutation.row();
    trace->mutations = 1;
  });
  absl::Status status;
  ApplyUnobserved(absl::MakeConstSpan(&mutation, 1), options, timer.sample(),
                  absl::MakeSpan(&status, 1));
  if (!status.ok()) [[unlikely]] {
    timer.Failed(status);
  }
  return status;
}

std::vector<absl::Status> EmbeddedTable::ApplyBatch(absl::Span<const RowMutation> mutations,
                                                    const WriteOptions& options) {
  CallCounters& counters = monitor.counters;
  counters.Count(CallCounters::Amount::kBatchMutations, mutations.size());
  std::vector<absl::Status> statuses(mutations.size());
  const bool was_observed = route->is_observed();
  if (!was_observed) [[likely]] {
    ApplyBatchMeasured(mutations, options, absl::MakeSpan(statuses));
    if (std::none_of(statuses.begin(), statuses.end(), IsNotObserved)) return statuses;
    route->SetObserved(true);
  } else {
    counters.Count(Call::kApplyBatch);
  }
  bool has_failed = false;
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (!was_observed && !IsNotObserved(statuses[i])) continue;
    statuses[i] = ObservedWrite::Apply(domain_, public_table, mutations[i], options);
    has_failed |= !statuses[i].ok();
  }
  if (has_failed) counters.CountError(Call::kApplyBatch);
  return statuses;
}

void EmbeddedTable::ApplyBatchMeasured(absl::Span<const RowMutation> mutations,
                                       const WriteOptions& options,
                                       absl::Span<absl::Status> statuses) {
  CallTimer timer(&monitor, Call::kApplyBatch, [&](RequestTrace* trace) {
    if (!mutations.empty()) trace->row = mutations.front().row();
    trace->mutations = mutations.size();
  });
  ApplyUnobserved(mutations, options, timer.sample(), statuses);
  for (const absl::Status& status : statuses) {
    if (!status.ok()) {
      timer.Failed(status);
      break;
    }
  }
}

absl::StatusOr<bool> EmbeddedTable::CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                                      const RowMutation& if_matched,
                                                      const RowMutation& if_not,
                                                      const WriteOptions& options) {
  return AtomicOperations(domain_, this)
      .CheckAndMutateRow(row, predicate, if_matched, if_not, options);
}

absl::StatusOr<Row> EmbeddedTable::ReadModifyWriteRow(const ReadModifyWrite& rules,
                                                      const WriteOptions& options) {
  return AtomicOperations(domain_, this).ReadModifyWriteRow(rules, options);
}

absl::Status EmbeddedTable::MutateRowAtomically(
    std::string_view row, const Filter& filter,
    absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
    const WriteOptions& options) {
  return AtomicOperations(domain_, this).MutateRowAtomically(row, filter, function, options);
}

}  // namespace bigtable
