#include "server/data/spare_mutations.h"

#include <utility>

namespace bigtable::server {

SpareMutations::SpareMutations() : mutations_(std::exchange(OfThread(), {})) {}

// No mutation that is kept was ever larger: one that was once is gone since then.
SpareMutations::~SpareMutations() {
  if (is_kept_ && mutations_.capacity() <= kMostKept) OfThread() = std::move(mutations_);
}

RowMutation* SpareMutations::At(size_t place) {
  if (place == mutations_.size()) {
    if (mutations_.empty()) mutations_.reserve(kMostKept);
    mutations_.emplace_back("row");
  }
  return &mutations_[place];
}

std::vector<RowMutation>& SpareMutations::OfThread() {
  thread_local std::vector<RowMutation> mutations;
  return mutations;
}

}  // namespace bigtable::server
