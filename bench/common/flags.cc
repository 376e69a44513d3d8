#include "common/flags.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "common/strings.h"

namespace bench {

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
    uint64_t number = 0;
    if (!absl::SimpleAtoi(text, &number)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("--%s: \"%s\" is not a whole number", flag, text));
    }
    if (absl::Status s = CheckRange(flag, number, least, most); !s.ok()) return s;
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
      return absl::InvalidArgumentError(absl::StrFormat("--%s: %d is given twice", flag, number));
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace bench
