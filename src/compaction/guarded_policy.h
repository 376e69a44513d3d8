// A policy of a locality group that is the program's: what its functions throw is kept as an error,
// and they return what changes nothing. A policy of the engine passes through.
#ifndef BIGTABLE_COMPACTION_GUARDED_POLICY_H_
#define BIGTABLE_COMPACTION_GUARDED_POLICY_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/compaction_policy.h"

#include "base/catch_thrown.h"

namespace bigtable {

// One thread at a time.
class GuardedPolicy final : public CompactionPolicy {
 public:
  // `policy` may be an error, of its factory.
  explicit GuardedPolicy(absl::StatusOr<std::unique_ptr<CompactionPolicy>> policy)
      : error_(policy.status()), policy_(policy.ok() ? *std::move(policy) : nullptr) {}

  std::optional<CompactionPick> Pick(const GroupSummary& group) const override {
    std::optional<CompactionPick> pick;
    Call("CompactionPolicy::Pick", [&] { pick = policy_->Pick(group); });
    return error_.ok() ? pick : std::nullopt;
  }
  bool DropsExpired() const override {
    bool drops = false;
    Call("CompactionPolicy::DropsExpired", [&] { drops = policy_->DropsExpired(); });
    return drops;
  }
  bool BoundsRuns() const override {
    bool bounds = false;
    Call("CompactionPolicy::BoundsRuns", [&] { bounds = policy_->BoundsRuns(); });
    return bounds;
  }
  // What it or its factory has thrown first; OK if nothing.
  const absl::Status& error() const { return error_; }

 private:
  template <typename Function>
  void Call(std::string_view name, const Function& function) const {
    if (error_.ok()) error_ = CatchThrown(name, function);
  }

  mutable absl::Status error_;
  const std::unique_ptr<CompactionPolicy> policy_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_GUARDED_POLICY_H_
