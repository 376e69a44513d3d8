// The compaction policies of a tablet: an object for each locality group. It is made when it is
// first asked, and again when the options of its group have changed.
//
// One thread at a time: the lock of the background work is held (background/background_work.h).
#ifndef BIGTABLE_TABLET_GROUP_POLICIES_H_
#define BIGTABLE_TABLET_GROUP_POLICIES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "bigtable/schema.h"

#include "compaction/policies.h"

namespace bigtable {

class GroupPolicies {
 public:
  // The policy of a group with these options. One that has thrown is made again.
  GuardedPolicy* Of(size_t group, const LocalityGroup& options) {
    if (group >= policies_.size()) policies_.resize(group + 1);
    Made& made = policies_[group];
    if (made.policy == nullptr || !made.policy->error().ok() || made.options != options) {
      made = {options, MakePolicy(options)};
    }
    return made.policy.get();
  }

 private:
  struct Made {
    LocalityGroup options;
    std::unique_ptr<GuardedPolicy> policy;
  };
  std::vector<Made> policies_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_GROUP_POLICIES_H_
