// Numbers for the keys of a memtable, so that most comparisons of two keys compare two words, and
// do not wait for the keys' memory.
//
// A number decides if it differs: keys with unequal numbers compare as their numbers do. Equal
// numbers decide nothing, and the keys themselves are compared. So any function is right that never
// decreases from a key to a larger one. A good one seldom gives two keys the same number.
//
// 1. All keys are expected to begin with `prefix`. The number is the eight bytes after it, as a
//    big-endian integer. Keys before and after those with the prefix have the smallest and the
//    largest number.
// 2. Where many keys have the same eight bytes there, as below names of hosts or tenants, groups of
//    keys are learned. A group has the keys with the same eight bytes after the prefix, and is
//    expected to have a prefix of its own after these, its extension. The number is then
//
//      | rank (12 bits) | 52 bits |
//
//    The rank of group i, from 0 on, is 2 * i + 1. Its keys' low bits are the 52 bits after the
//    extension, smallest or largest for keys before or after those with the extension. Keys between
//    groups i - 1 and i have rank 2 * i, and the first 52 bits after the prefix.
//
// Example: prefix "user/", one group of "tenant-a" with extension "/0000".
//
//   user/tenant-a/000012   rank 1, low bits "12"
//   user/tenant-a/1        rank 1, low bits all ones: after the extension
//   user/tenant-b/7        rank 2, low bits "tenant" and half of "-"
//
// Plain value; const functions may be called concurrently.
#ifndef BIGTABLE_MEMTABLE_KEY_NUMBERS_H_
#define BIGTABLE_MEMTABLE_KEY_NUMBERS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/macros.h"

#include "base/arena.h"
#include "base/compare.h"

namespace bigtable {

class KeyNumbers {
 public:
  // Without groups.
  explicit KeyNumbers(std::string prefix) : prefix_(std::move(prefix)) {}
  // With groups as in `keys`, which ascend. `count_up`: later keys are expected to be larger. The
  // keys, and memory from the arena, must stay valid as long as the numbers.
  KeyNumbers(std::string prefix, std::span<const std::string_view> keys, bool count_up,
             Arena* arena);

  // Shortens the prefix to what it shares with the key. Only without groups.
  void FitPrefix(std::string_view key) {
    ABSL_ASSERT(eights_.empty() && "groups depend on the prefix");
    prefix_.resize(CommonPrefix(prefix_, key));
  }
  const std::string& prefix() const { return prefix_; }
  size_t groups() const { return eights_.size(); }

  uint64_t Of(std::string_view key) const {
    if (eights_.empty()) [[likely]]
      return KeyNumberBehind(prefix_, key);
    return InGroup(key);
  }

 private:
  static constexpr int kLowBits = 52;
  static constexpr size_t kMostGroups = 1024;

  // Of the extension of a group with these keys, two or more, in order.
  size_t ExtensionSize(std::span<const std::string_view> keys, bool count_up) const;
  uint64_t InGroup(std::string_view key) const;
  // What follows the prefix and the eight bytes.
  std::string_view RestOf(std::string_view key) const {
    return key.substr(std::min(key.size(), prefix_.size() + 8));
  }

  std::string prefix_;
  // Of each group, ascending. Two arrays, because the search for a group reads only the first.
  std::span<uint64_t> eights_;
  std::span<std::string_view> extensions_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMTABLE_KEY_NUMBERS_H_
