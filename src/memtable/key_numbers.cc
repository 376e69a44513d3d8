#include "memtable/key_numbers.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/base/macros.h"

namespace bigtable {
namespace {

struct Group {
  uint64_t eight;
  std::string_view extension;
  size_t keys;
};

// The index of the first number that is not below `number`, without branches that depend on it.
size_t LowerBound(std::span<const uint64_t> numbers, uint64_t number) {
  const uint64_t* begin = numbers.data();
  for (size_t n = numbers.size(); n > 1;) {
    const size_t half = n / 2;
    begin += begin[half - 1] < number ? half : 0;
    n -= half;
  }
  return static_cast<size_t>(begin - numbers.data()) + (*begin < number ? 1 : 0);
}

template <typename T>
std::span<T> NewArray(Arena* arena, size_t n) {
  T* const array = reinterpret_cast<T*>(arena->Allocate(n * sizeof(T)));
  std::uninitialized_value_construct_n(array, n);
  return {array, n};
}

}  // namespace

KeyNumbers::KeyNumbers(std::string prefix, std::span<const std::string_view> keys, bool count_up,
                       Arena* arena)
    : prefix_(std::move(prefix)) {
  ABSL_ASSERT(std::is_sorted(keys.begin(), keys.end()) && "the keys ascend");
  std::vector<Group> groups;
  for (size_t i = 0, end = 0; i < keys.size(); i = end) {
    const uint64_t eight = KeyNumberBehind(prefix_, keys[i]);
    while (end < keys.size() && KeyNumberBehind(prefix_, keys[end]) == eight) ++end;
    // The smallest and the largest number are also those of keys without the prefix.
    if (end - i < 2 || eight == 0 || eight == UINT64_MAX) continue;
    const std::string_view first = RestOf(keys[i]);
    groups.push_back(
        {eight, first.substr(0, ExtensionSize(keys.subspan(i, end - i), count_up)), end - i});
  }
  if (groups.size() > kMostGroups) {
    std::nth_element(groups.begin(), groups.begin() + kMostGroups, groups.end(),
                     [](const Group& a, const Group& b) { return a.keys > b.keys; });
    groups.resize(kMostGroups);
    std::sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.eight < b.eight; });
  }
  eights_ = NewArray<uint64_t>(arena, groups.size());
  extensions_ = NewArray<std::string_view>(arena, groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    eights_[i] = groups[i].eight;
    extensions_[i] = groups[i].extension;
  }
}

// Not the whole common prefix: the next keys may well differ in its last byte. Keys that count up
// will differ in the bytes before it, too, and less likely in bytes after those in which they
// differ now. So their extension is as short as it can be while the numbers of as many neighbours
// differ.
size_t KeyNumbers::ExtensionSize(std::span<const std::string_view> keys, bool count_up) const {
  // The common prefix of the first and the last key is that of all between.
  const size_t common = CommonPrefix(RestOf(keys.front()), RestOf(keys.back()));
  const size_t longest = common > 0 ? common - 1 : 0;
  if (!count_up) return longest;
  constexpr size_t kLowBytes = kLowBits / 8;
  size_t size = 0;
  for (size_t i = 1; i < keys.size(); ++i) {
    const size_t same = CommonPrefix(RestOf(keys[i - 1]), RestOf(keys[i]));
    if (same >= longest + kLowBytes) continue;  // hardly in the number, in any case
    size = std::max(size, same + 1 - std::min(same + 1, kLowBytes));
  }
  return size;
}

uint64_t KeyNumbers::InGroup(std::string_view key) const {
  const size_t common = CommonPrefix(prefix_, key);
  if (common != prefix_.size()) return LessBehind(prefix_, key, common) ? UINT64_MAX : 0;
  const uint64_t eight = KeyNumber(key.substr(common));
  const size_t i = LowerBound(eights_, eight);
  const bool is_in_group = i < eights_.size() && eights_[i] == eight;
  const uint64_t rank = 2 * i + (is_in_group ? 1 : 0);
  const uint64_t low = is_in_group ? KeyNumberBehind(extensions_[i], RestOf(key)) : eight;
  ABSL_ASSERT(rank >> (64 - kLowBits) == 0 && "the rank fits above the low bits");
  return rank << kLowBits | low >> (64 - kLowBits);
}

}  // namespace bigtable
