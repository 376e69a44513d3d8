#include "cache/read_memory.h"

#include <algorithm>

#include "absl/base/macros.h"

#include "base/strings.h"

namespace bigtable {

uint64_t ReadMemory::MostOfAll(const MemoryBudget& budget) {
  constexpr uint64_t kLeast = 32 << 20;
  return std::max(budget.limit() / 2, kLeast);
}

absl::Status ReadMemory::TakeStep(uint64_t bytes) {
  const uint64_t taken = taken_ + bytes;
  const uint64_t charged = taken / kStep * kStep;
  if (taken > kAlways) {
    const uint64_t most = budget_ == nullptr ? kMost : std::min(kMost, MostOfAll(*budget_));
    if (taken > most) {
      return absl::ResourceExhaustedError(
          Cat("the filter of a read may take ", most,
              " bytes for its regular expressions and the cells of a row, and this one needs at "
              "least ",
              taken));
    }
    // Not to be mistaken for a read that will never fit.
    const uint64_t others =
        budget_ == nullptr ? 0 : budget_->used(MemoryBudget::Use::kReads) - charged_;
    if (budget_ != nullptr && others + charged > MostOfAll(*budget_)) {
      return absl::ResourceExhaustedError(
          Cat("the filter of this read needs ", taken, " bytes, those of other reads have ", others,
              ", and all together may have ", MostOfAll(*budget_), "; it can be tried again"));
    }
  }
  taken_ = taken;
  charged_ = charged;
  charge_.Set(charged_);
  return absl::OkStatus();
}

void ReadMemory::ReturnTo(uint64_t taken) {
  ABSL_ASSERT(taken <= taken_ && "it was taken at an earlier time");
  taken_ = taken;
  const uint64_t charged = taken / kStep * kStep;
  if (charged == charged_) return;
  charged_ = charged;
  charge_.Set(charged_);
}

}  // namespace bigtable
