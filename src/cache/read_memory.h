// The memory that a read takes for its filter, charged to the budget (MemoryBudget::Use::kReads):
// what the regular expressions may take, and the cells of a row that is read whole
// (read/filter_evaluator.h). What it returns is not charged: it is the caller's.
//
// A read may always take kAlways. What it takes beyond is refused with ResourceExhausted if it
// would be more than kMost, or more than MostOfAll() together with all other reads of the budget.
// Two reads at the same moment may exceed that by a step each.
//
// One thread at a time.
#ifndef BIGTABLE_CACHE_READ_MEMORY_H_
#define BIGTABLE_CACHE_READ_MEMORY_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"

#include "bigtable/memory_budget.h"

#include "cache/budget_charge.h"

namespace bigtable {

class ReadMemory {
 public:
  static constexpr uint64_t kAlways = 4 << 20;
  static constexpr uint64_t kMost = 256 << 20;
  // Half of the budget, and at least 32 MiB.
  static uint64_t MostOfAll(const MemoryBudget& budget);

  // Null: nothing is charged, and only kMost is a limit.
  explicit ReadMemory(std::shared_ptr<MemoryBudget> budget)
      : budget_(std::move(budget)), charge_(budget_.get(), MemoryBudget::Use::kReads) {}

  // Takes more. After an error as much is taken as before.
  absl::Status Take(uint64_t bytes) {
    if (taken_ + bytes < charged_ + kStep) {
      taken_ += bytes;
      return absl::OkStatus();
    }
    return TakeStep(bytes);
  }
  uint64_t taken() const { return taken_; }
  // Leaves as much as was taken at an earlier time.
  void ReturnTo(uint64_t taken);

 private:
  // A budget is charged in steps, and not for what is less than one.
  static constexpr uint64_t kStep = 64 << 10;

  [[gnu::noinline]] absl::Status TakeStep(uint64_t bytes);

  const std::shared_ptr<MemoryBudget> budget_;
  BudgetCharge charge_;
  uint64_t taken_ = 0;
  uint64_t charged_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_READ_MEMORY_H_
