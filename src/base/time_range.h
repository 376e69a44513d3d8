// A range of timestamps, and its encoding: the value of an EntryKind::kDeleteTimeRange. Two
// numbers of 8 bytes, big-endian: the first timestamp, and the one after the last. An end of the
// largest timestamp is no end: nothing is after that timestamp, so no other end could cover it.
//
//   [1, 256):      00 00 00 00 00 00 00 01 | 00 00 00 00 00 00 01 00
//   1 and later:   00 00 00 00 00 00 00 01 | 7f ff ff ff ff ff ff ff
#ifndef BIGTABLE_BASE_TIME_RANGE_H_
#define BIGTABLE_BASE_TIME_RANGE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/base/macros.h"

#include "base/coding.h"

namespace bigtable {

struct TimeRange {
  static constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

  int64_t begin = 0;
  int64_t end = 0;

  bool EndsAfter(int64_t timestamp) const { return timestamp < end || end == kNoEnd; }
  bool Contains(int64_t timestamp) const { return begin <= timestamp && EndsAfter(timestamp); }
  bool empty() const { return !EndsAfter(begin); }
};

inline std::string EncodeTimeRange(const TimeRange& range) {
  ABSL_ASSERT(0 <= range.begin && !range.empty() && "an encoding of it must be valid");
  std::string bytes(16, '\0');
  StoreBigEndian64(bytes.data(), static_cast<uint64_t>(range.begin));
  StoreBigEndian64(bytes.data() + 8, static_cast<uint64_t>(range.end));
  return bytes;
}

// False if the bytes are not an encoding: of another size, negative, or empty.
inline bool ParseTimeRange(std::string_view bytes, TimeRange* range) {
  if (bytes.size() != 16) return false;
  range->begin = static_cast<int64_t>(LoadBigEndian64(bytes.data()));
  range->end = static_cast<int64_t>(LoadBigEndian64(bytes.data() + 8));
  return 0 <= range->begin && !range->empty();
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_TIME_RANGE_H_
