// Claims tablets that are about to be changed, so that background work leaves them alone.
#ifndef BIGTABLE_CLUSTER_TABLET_CLAIM_H_
#define BIGTABLE_CLUSTER_TABLET_CLAIM_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "background/background_work.h"
#include "base/call_limits.h"
#include "tablet/tablet.h"

namespace bigtable {

class TabletClaim {
 public:
  // `tablets` in key order. Waits until no work on them is under way.
  TabletClaim(BackgroundWork* background, std::vector<std::shared_ptr<Tablet>> tablets,
              const CallLimits& limits)
      : background_(background), tablets_(std::move(tablets)) {
    ABSL_ASSERT(std::is_sorted(tablets_.begin(), tablets_.end(),
                               [](const auto& a, const auto& b) { return a->id() < b->id(); }) &&
                "claims are taken in key order, so that no two threads wait for each other");
    for (; claimed_ < tablets_.size(); ++claimed_) {
      status_ = background_->ClaimTablet(tablets_[claimed_].get(), limits);
      if (!status_.ok()) return;
    }
  }
  ~TabletClaim() {
    while (claimed_ > 0) background_->ReleaseTablet(tablets_[--claimed_].get());
  }
  TabletClaim(const TabletClaim&) = delete;
  TabletClaim& operator=(const TabletClaim&) = delete;

  // Errors of BackgroundWork::ClaimTablet.
  const absl::Status& status() const { return status_; }
  // With the mutex of their host, under which alone tablets change: whether none of these was
  // superseded or removed since it was looked up.
  bool AreServed() const {
    return std::none_of(
        tablets_.begin(), tablets_.end(),
        [](const std::shared_ptr<Tablet>& tablet) { return tablet->flags().ended(); });
  }

 private:
  BackgroundWork* const background_;
  const std::vector<std::shared_ptr<Tablet>> tablets_;
  size_t claimed_ = 0;
  absl::Status status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_TABLET_CLAIM_H_
