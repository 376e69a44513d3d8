// Objects that the program registers under names, for all databases of the process: compaction
// filters and observers. A registered object is never removed, so it may be used without a lock.
#ifndef BIGTABLE_BASE_NAMED_REGISTRY_H_
#define BIGTABLE_BASE_NAMED_REGISTRY_H_

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "base/mutex.h"
#include "base/strings.h"

namespace bigtable {

// InvalidArgument unless it is 1 to 64 printable ASCII characters without space and colon. `what`
// begins the message: "the name of a compaction filter".
inline absl::Status CheckRegisteredName(std::string_view what, std::string_view name) {
  const bool is_printable =
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f && c != ':'; });
  if (!name.empty() && name.size() <= 64 && is_printable) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat(what, " must be 1 to 64 printable ASCII characters without space and colon, and is ",
          Quoted(name)));
}

// Thread-safe.
template <typename T>
class NamedRegistry {
 public:
  // `what`: "compaction filter".
  explicit NamedRegistry(std::string_view what) : what_(what) {}
  NamedRegistry(const NamedRegistry&) = delete;
  NamedRegistry& operator=(const NamedRegistry&) = delete;

  absl::Status Register(std::string_view name, std::unique_ptr<T> object) {
    if (absl::Status checked = CheckRegisteredName(Cat("the name of a ", what_), name);
        !checked.ok()) {
      return checked;
    }
    if (object == nullptr) {
      return absl::InvalidArgumentError(Cat(what_, " ", Quoted(name), " must not be null"));
    }
    MutexLock lock(&mutex_);
    if (!by_name_.try_emplace(std::string(name), object.get()).second) {
      return absl::AlreadyExistsError(
          Cat("a ", what_, " ", Quoted(name), " is already registered"));
    }
    owned_.push_back(std::move(object));
    return absl::OkStatus();
  }
  // Null if there is none.
  T* Find(std::string_view name) const {
    MutexLock lock(&mutex_);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  std::vector<std::string> Names() const {
    MutexLock lock(&mutex_);
    std::vector<std::string> names;
    for (const auto& [name, object] : by_name_) names.push_back(name);
    return names;
  }
  // For tests: as if the name had never been registered. The object is not deleted.
  void Forget(std::string_view name) {
    MutexLock lock(&mutex_);
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) by_name_.erase(found);
  }

 private:
  const std::string what_;
  mutable Mutex mutex_;
  std::map<std::string, T*, std::less<>> by_name_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<T>> owned_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_NAMED_REGISTRY_H_
