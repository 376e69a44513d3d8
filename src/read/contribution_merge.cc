#include "read/contribution_merge.h"

#include <memory>
#include <utility>

#include "absl/base/macros.h"

#include "base/status.h"

namespace bigtable {

std::atomic<uint64_t> ContributionMerge::least_kept = kLeastKept;

absl::Status ContributionMerge::Take(const Contribution& contribution, const KeptMerge* kept) {
  ABSL_ASSERT(((taken_ == 0 && !has_total_) || contribution.version < oldest_) &&
              "each contribution is older than all before");
  if (contribution.source != source_) {
    BT_RETURN_IF_ERROR(EndSource());
    source_ = contribution.source;
    place_ = contribution.place;
  }
  if (taken_++ == 0) {
    state_ = kept != nullptr ? std::string_view(kept->state) : contribution.value;
    if (kept == nullptr) BT_RETURN_IF_ERROR(MakeState(op_, contribution.kind, &state_));
  } else if (kept != nullptr) {
    BT_RETURN_IF_ERROR(MergeOlderState(op_, kept->state, &state_));
  } else {
    BT_RETURN_IF_ERROR(MergeOlder(op_, contribution.kind, contribution.value, &state_));
  }
  oldest_ = kept != nullptr ? kept->oldest : contribution.version;
  oldest_kind_ = kept != nullptr ? kept->oldest_kind : contribution.kind;
  return absl::OkStatus();
}

absl::Status ContributionMerge::EndSource() {
  // Large states are kept more seldom, so that they take no more memory than the contributions.
  constexpr uint64_t kBytesOfEach = 64;
  if (taken_ == 0) return absl::OkStatus();
  if (keeps_ && place_ != nullptr && taken_ >= least_kept_ &&
      taken_ * kBytesOfEach >= state_.size()) {
    auto kept = std::make_unique<KeptMerge>();
    kept->oldest = oldest_;
    kept->oldest_kind = oldest_kind_;
    kept->state = state_;
    source_->KeepMerge(place_, std::move(kept));
  }
  taken_ = 0;
  if (has_total_) return MergeOlderState(op_, state_, &total_);
  has_total_ = true;
  total_ = std::move(state_);
  return absl::OkStatus();
}

absl::Status ContributionMerge::Finish(std::string* state) {
  BT_RETURN_IF_ERROR(EndSource());
  ABSL_ASSERT(has_total_ && "there was a contribution");
  *state = std::move(total_);
  return absl::OkStatus();
}

}  // namespace bigtable
