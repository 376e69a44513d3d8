#include "monitoring/call_counters.h"

namespace bigtable {

uint64_t CallCounters::Sum(size_t count) const {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) {
    sum += stripe.counts[count].load(std::memory_order_relaxed);
  }
  return sum;
}

CallStatistics CallCounters::Read(Call call) const {
  const auto i = static_cast<size_t>(call);
  return {.calls = Sum(i),
          .errors = errors_[i].load(std::memory_order_relaxed),
          .latency = latencies_[i].Read()};
}

TableCallStatistics CallCounters::Read() const {
  TableCallStatistics statistics;
  statistics.read_row = Read(Call::kReadRow);
  statistics.next_row = Read(Call::kNextRow);
  statistics.next_cell = Read(Call::kNextCell);
  statistics.apply = Read(Call::kApply);
  statistics.apply_batch = Read(Call::kApplyBatch);
  statistics.check_and_mutate_row = Read(Call::kCheckAndMutateRow);
  statistics.read_modify_write_row = Read(Call::kReadModifyWriteRow);
  statistics.mutate_row_atomically = Read(Call::kMutateRowAtomically);
  statistics.row_retries = Sum(static_cast<size_t>(Amount::kRowRetries));
  statistics.streams = Sum(static_cast<size_t>(Amount::kStreams));
  statistics.stream_rows = Sum(static_cast<size_t>(Amount::kRows));
  statistics.stream_cells = Sum(static_cast<size_t>(Amount::kCells));
  statistics.batch_mutations = Sum(static_cast<size_t>(Amount::kBatchMutations));
  return statistics;
}

}  // namespace bigtable
