// A tablet store that takes a limited number of steps at a time, and fails on demand.
#ifndef BIGTABLE_TESTS_SUPPORT_LIMITED_STORE_H_
#define BIGTABLE_TESTS_SUPPORT_LIMITED_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"

#include "tablet/tablet_state.h"

namespace bigtable {

class LimitedStore final : public TabletStore {
 public:
  // Takes at most `most` steps together. `base` outlives this.
  LimitedStore(TabletStore* base, size_t most) : base_(base), most_(most) {}
  bool TakesTogether(absl::Span<const TabletStep> steps) const override {
    return steps.size() <= most_;
  }
  absl::Status Commit(absl::Span<const TabletStep> steps) override {
    EXPECT_LE(steps.size(), most_);
    ++commits;
    if (steps.size() > most_by_now) return absl::FailedPreconditionError("in two tablets by now");
    if (meanwhile) meanwhile();
    return status.ok() ? base_->Commit(steps) : status;
  }
  bool IsInDoubt(const absl::Status&) const override { return is_in_doubt; }

  int commits = 0;
  size_t most_by_now = SIZE_MAX;    // Commit refuses more, although TakesTogether allows them
  absl::Status status;              // of each Commit, if it is an error
  bool is_in_doubt = true;          // after that error
  std::function<void()> meanwhile;  // called in each Commit

 private:
  TabletStore* const base_;
  const size_t most_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_LIMITED_STORE_H_
