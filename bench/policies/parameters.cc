#include "bench/policies/parameters.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace policies {

absl::StatusOr<Parameters> Parameters::Parse(std::string_view text) {
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("\"", std::string(text), "\" must be as in fluid or fluid(K=2/Z=1)"));
  Parameters parsed;
  const size_t open = text.find('(');
  parsed.name_ = text.substr(0, open);
  if (parsed.name_.empty()) return bad;
  if (open == std::string_view::npos) return parsed;
  if (text.back() != ')') return bad;
  const std::string inner(text.substr(open + 1, text.size() - open - 2));
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(inner, '/'))) {
    const size_t equals = part.find('=');
    int number = 0;
    if (equals == 0 || equals == std::string::npos ||
        !absl::SimpleAtoi(part.substr(equals + 1), &number) ||
        !parsed.numbers_.emplace(part.substr(0, equals), number).second) {
      return bad;
    }
  }
  return parsed;
}

int Parameters::Take(const std::string& key, int otherwise, int least, int most) {
  const auto found = numbers_.find(key);
  if (found == numbers_.end()) return otherwise;
  const int number = found->second;
  numbers_.erase(found);
  if (number >= least && number <= most) return number;
  if (status_.ok()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat(name_, ": ", key, " must be ", least, " to ", most, ", and is ", number));
  }
  return otherwise;
}

absl::Status Parameters::Finish() const {
  if (!status_.ok() || numbers_.empty()) return status_;
  return absl::InvalidArgumentError(
      absl::StrCat(name_, " has no parameter ", numbers_.begin()->first));
}

}  // namespace policies
