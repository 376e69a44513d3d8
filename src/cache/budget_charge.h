// A charge to a memory budget, released by the destructor. A member of this type must be declared
// before the memory that it charges, so that it is destroyed after it. One thread at a time.
#ifndef BIGTABLE_CACHE_BUDGET_CHARGE_H_
#define BIGTABLE_CACHE_BUDGET_CHARGE_H_

#include <cstdint>

#include "bigtable/memory_budget.h"

#include "cache/budget_access.h"

namespace bigtable {

class BudgetCharge {
 public:
  // `budget` must outlive this; null: nothing is charged.
  BudgetCharge(MemoryBudget* budget, MemoryBudget::Use use) : budget_(budget), use_(use) {}
  ~BudgetCharge() { Set(0); }
  BudgetCharge(const BudgetCharge&) = delete;
  BudgetCharge& operator=(const BudgetCharge&) = delete;

  // Sets the charge to `bytes`.
  void Set(uint64_t bytes) {
    if (budget_ == nullptr || bytes == charged_) return;
    BudgetAccess::Charge(*budget_, use_,
                         static_cast<int64_t>(bytes) - static_cast<int64_t>(charged_));
    charged_ = bytes;
  }

 private:
  MemoryBudget* const budget_;
  const MemoryBudget::Use use_;
  uint64_t charged_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_BUDGET_CHARGE_H_
