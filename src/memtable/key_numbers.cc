#include "memtable/key_numbers.h"

#include <algorithm>
#include <memory>
#include <vector>

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

KeyNumbers::KeyNumbers(std::string prefix, std::span<const std::string_view> keys, Arena* arena)
    : prefix_(std::move(prefix)) {
  std::vector<Group> groups;
  for (size_t i = 0, end = 0; i < keys.size(); i = end) {
    end = i + 1;
    const uint64_t eight = KeyNumberBehind(prefix_, keys[i]);
    while (end < keys.size() && KeyNumberBehind(prefix_, keys[end]) == eight) ++end;
    // The smallest and the largest number are also those of keys without the prefix.
    if (end - i < 2 || eight == 0 || eight == UINT64_MAX) continue;
    // The common prefix of the first and the last key is that of all between. As keys may count
    // up, the next one may well differ in its last byte.
    const std::string_view first = RestOf(keys[i]);
    const size_t common = CommonPrefix(first, RestOf(keys[end - 1]));
    groups.push_back({eight, first.substr(0, common > 0 ? common - 1 : 0), end - i});
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

uint64_t KeyNumbers::InGroup(std::string_view key) const {
  const size_t common = CommonPrefix(prefix_, key);
  if (common != prefix_.size()) return LessBehind(prefix_, key, common) ? UINT64_MAX : 0;
  const uint64_t eight = KeyNumber(key.substr(common));
  const size_t i = LowerBound(eights_, eight);
  const bool is_in_group = i < eights_.size() && eights_[i] == eight;
  const uint64_t rank = 2 * i + (is_in_group ? 1 : 0);
  const uint64_t low = is_in_group ? KeyNumberBehind(extensions_[i], RestOf(key)) : eight;
  return rank << kLowBits | low >> (64 - kLowBits);
}

}  // namespace bigtable
