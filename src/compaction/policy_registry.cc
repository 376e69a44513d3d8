// The policies of the process by name: the engine's, and those that the program registers.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/compaction_policy.h"

#include "base/catch_thrown.h"
#include "base/entry_key.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/strings.h"
#include "compaction/policies.h"

namespace bigtable {
namespace {

// Thread-safe.
class PolicyRegistry {
 public:
  static PolicyRegistry& OfProcess() {
    static auto* const registry = new PolicyRegistry;  // for threads that outlive static objects
    return *registry;
  }

  absl::Status Add(std::string_view name, CompactionPolicyFactory factory) {
    MutexLock lock(&mutex_);
    if (factories_.try_emplace(std::string(name), std::move(factory)).second) {
      return absl::OkStatus();
    }
    return absl::AlreadyExistsError(
        Cat("a compaction policy ", Quoted(name), " is already registered"));
  }
  void Remove(std::string_view name) {
    MutexLock lock(&mutex_);
    const auto found = factories_.find(name);
    if (found != factories_.end()) factories_.erase(found);
  }
  // Empty if there is none.
  CompactionPolicyFactory Find(std::string_view name) const {
    MutexLock lock(&mutex_);
    const auto found = factories_.find(name);
    return found == factories_.end() ? CompactionPolicyFactory() : found->second;
  }
  std::vector<std::string> Names() const {
    MutexLock lock(&mutex_);
    std::vector<std::string> names;
    for (const auto& [name, factory] : factories_) names.push_back(name);
    return names;
  }

 private:
  PolicyRegistry() {
    for (int i = 0; i <= static_cast<int>(kLastCompactionStyle); ++i) {
      const auto style = static_cast<CompactionStyle>(i);
      factories_[std::string(NameOf(style))] = [style](const LocalityGroup& group) {
        return MakePolicyOfStyle(style, group.compaction_factor);
      };
    }
  }

  mutable Mutex mutex_;
  std::map<std::string, CompactionPolicyFactory, std::less<>> factories_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

bool IsPolicyName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != ':';
  });
}

void ForgetPolicy(std::string_view name) { PolicyRegistry::OfProcess().Remove(name); }

std::string RowOfKey(std::string_view key) {
  if (!IsWellFormed(key)) return std::string(key);
  std::string scratch;
  return std::string(RowOf(key, &scratch));
}

absl::Status RegisterCompactionPolicy(std::string_view name, CompactionPolicyFactory factory) {
  if (!IsPolicyName(name)) {
    return absl::InvalidArgumentError(
        Cat("the name of a compaction policy must be 1 to 64 printable ASCII characters without "
            "space and colon, and is ",
            Quoted(name)));
  }
  if (factory == nullptr) {
    return absl::InvalidArgumentError(
        Cat("the factory of compaction policy ", Quoted(name), " must not be null"));
  }
  return PolicyRegistry::OfProcess().Add(name, std::move(factory));
}

std::vector<std::string> CompactionPolicyNames() { return PolicyRegistry::OfProcess().Names(); }

absl::StatusOr<std::unique_ptr<CompactionPolicy>> MakeCompactionPolicy(std::string_view name,
                                                                       const LocalityGroup& group) {
  // The factory runs without the registry's lock: it may call this function.
  const CompactionPolicyFactory factory = PolicyRegistry::OfProcess().Find(name);
  if (factory == nullptr) {
    return absl::InvalidArgumentError(Cat("there is no compaction policy ", Quoted(name),
                                          "; registered are: ", Listed(CompactionPolicyNames())));
  }
  std::unique_ptr<CompactionPolicy> policy;
  BT_RETURN_IF_ERROR(
      CatchThrown([&] { return Cat("the factory of compaction policy ", Quoted(name)); },
                  [&] { policy = factory(group); }));
  if (policy != nullptr) return policy;
  return absl::InvalidArgumentError(
      Cat("the factory of compaction policy ", Quoted(name), " has returned null"));
}

}  // namespace bigtable
