#include "common/flags.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "common/strings.h"

namespace bench {
namespace {

constexpr uint64_t kMostOfRange = 1000;

struct Range {
  uint64_t first = 0;
  uint64_t last = 0;
};

// "4", or "4..9".
absl::StatusOr<Range> ParseRange(std::string_view flag, const std::string& text) {
  Range range;
  const size_t dots = text.find("..");
  const std::string last = dots == std::string::npos ? text : text.substr(dots + 2);
  if (!absl::SimpleAtoi(text.substr(0, dots), &range.first) ||
      !absl::SimpleAtoi(last, &range.last)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--%s: \"%s\" is not a whole number, nor a range as in 2..10", flag, text));
  }
  if (range.first > range.last) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--%s %s: %d is more than %d", flag, text, range.first, range.last));
  }
  return range;
}

}  // namespace

absl::Status CheckRange(std::string_view flag, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("--%s %d: must be %d to %d", flag, value, least, most));
}

absl::StatusOr<std::vector<std::string>> Names(std::string_view flag, const std::string& list,
                                               const std::vector<std::string>& known,
                                               std::string_view rule) {
  if (list.empty()) return known;
  std::vector<std::string> names = Split(list, ',');
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(absl::StrFormat("--%s: \"%s\" is not %s: %s", flag, name,
                                                        rule, absl::StrJoin(known, ", ")));
    }
    if (std::count(names.begin(), names.end(), name) > 1) {
      return absl::InvalidArgumentError(absl::StrFormat("--%s: %s is given twice", flag, name));
    }
  }
  return names;
}

absl::StatusOr<std::vector<uint64_t>> Numbers(std::string_view flag, const std::string& list,
                                              uint64_t least, uint64_t most) {
  std::vector<uint64_t> numbers;
  for (const std::string& text : Split(list, ',')) {
    const absl::StatusOr<Range> range = ParseRange(flag, text);
    if (!range.ok()) return range.status();
    for (const uint64_t end : {range->first, range->last}) {
      if (absl::Status s = CheckRange(flag, end, least, most); !s.ok()) return s;
    }
    if (range->last - range->first >= kMostOfRange) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "--%s %s: a range must have at most %d numbers", flag, text, kMostOfRange));
    }
    for (uint64_t number = range->first; number <= range->last; ++number) {
      if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
        return absl::InvalidArgumentError(absl::StrFormat("--%s: %d is given twice", flag, number));
      }
      numbers.push_back(number);
    }
  }
  return numbers;
}

}  // namespace bench
