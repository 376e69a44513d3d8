// Finds the position of a key among sorted keys. Their common prefix is compared once; then the
// eight bytes that follow decide, as numbers that are adjacent in memory. So a search touches one
// or two cache lines, and needs no branch prediction if the keys are few. Immutable and
// thread-safe.
#ifndef BIGTABLE_BASE_KEY_FENCES_H_
#define BIGTABLE_BASE_KEY_FENCES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"

#include "base/compare.h"

namespace bigtable {

class KeyFences {
 public:
  KeyFences() = default;
  // `keys` ascend; they are not needed afterwards.
  explicit KeyFences(const std::vector<std::string_view>& keys) {
    if (keys.empty()) return;
    ABSL_ASSERT(std::is_sorted(keys.begin(), keys.end()) && "the keys ascend");
    prefix_ = keys.front().substr(0, CommonPrefix(keys.front(), keys.back()));
    numbers_.reserve(keys.size());
    for (const std::string_view key : keys) {
      numbers_.push_back(KeyNumber(key.substr(prefix_.size())));
    }
  }

  size_t size() const { return numbers_.size(); }
  size_t memory() const { return prefix_.capacity() + numbers_.capacity() * sizeof(uint64_t); }

  // The keys before `begin` are smaller than the searched key, those from `end` on are larger. The
  // keys in between, usually none, must be compared.
  struct Bounds {
    size_t begin;
    size_t end;
  };
  Bounds Find(std::string_view key) const {
    const size_t common = CommonPrefix(prefix_, key);
    if (common < prefix_.size()) {
      const size_t all = LessBehind(prefix_, key, common) ? size() : 0;
      return {all, all};
    }
    const uint64_t number = KeyNumber(key.substr(common));
    constexpr size_t kFew = 16;
    size_t begin = 0;
    if (size() <= kFew) {
      for (const uint64_t other : numbers_) begin += other < number ? 1 : 0;
    } else {
      const auto first = std::lower_bound(numbers_.begin(), numbers_.end(), number);
      begin = static_cast<size_t>(first - numbers_.begin());
    }
    if (begin == size() || numbers_[begin] != number) [[likely]]
      return {begin, begin};
    const auto last = std::upper_bound(numbers_.begin(), numbers_.end(), number);
    return {begin, static_cast<size_t>(last - numbers_.begin())};
  }

 private:
  std::string prefix_;  // of all keys
  std::vector<uint64_t> numbers_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_KEY_FENCES_H_
