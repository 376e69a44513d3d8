#include "policy.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"

#include "common/strings.h"

namespace bench {
namespace {

using bigtable::CompactionStyle;

absl::StatusOr<int> ParseFactor(std::string_view flag, std::string_view text) {
  int factor = 0;
  if (absl::SimpleAtoi(ToAbsl(text), &factor) && factor >= Policy::kLeastFactor &&
      factor <= Policy::kMostFactor) {
    return factor;
  }
  return absl::InvalidArgumentError(Concat(flag, ": a factor must be ", Policy::kLeastFactor,
                                           " to ", Policy::kMostFactor, ", not \"", text, "\""));
}

absl::StatusOr<Policy> ParsePolicy(const std::string& text, const std::vector<Policy>& known,
                                   const FindPolicy& find) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Policy& p) { return p.style == name; });
  Policy policy;
  if (found != known.end()) {
    policy = *found;
  } else if (name.find('(') != std::string::npos && find(name)) {
    policy = {.style = name, .registered = name};
  } else {
    const std::string names = absl::StrJoin(
        known, ", ", [](std::string* out, const Policy& one) { out->append(one.style); });
    return absl::InvalidArgumentError(
        Concat("--styles: \"", name, "\" is not a compaction style: ", names));
  }
  if (colon == std::string::npos) return policy;
  if (!policy.TakesFactor()) {
    return absl::InvalidArgumentError(Concat("--styles ", text, ": ", name, " has no factor"));
  }
  const absl::StatusOr<int> factor = ParseFactor(Concat("--styles ", text), text.substr(colon + 1));
  if (!factor.ok()) return factor.status();
  policy.factor = *factor;
  return policy;
}

constexpr std::string_view kFactor = "factor";

absl::StatusOr<int> ParseNumber(std::string_view flag, std::string_view key,
                                std::string_view text) {
  if (key == kFactor) return ParseFactor(flag, text);
  int number = 0;
  if (absl::SimpleAtoi(ToAbsl(text), &number) && number >= 0) return number;
  return absl::InvalidArgumentError(Concat(flag, ": \"", text, "\" is not a whole number"));
}

// "2..10" or "2,4,8".
absl::StatusOr<std::vector<int>> ParseNumbers(std::string_view flag, std::string_view key,
                                              std::string_view text) {
  constexpr int kMost = 1000;
  std::vector<int> numbers;
  if (const size_t dots = text.find(".."); dots != std::string_view::npos) {
    const absl::StatusOr<int> first = ParseNumber(flag, key, text.substr(0, dots));
    if (!first.ok()) return first.status();
    const absl::StatusOr<int> last = ParseNumber(flag, key, text.substr(dots + 2));
    if (!last.ok()) return last.status();
    if (*first > *last || *last - *first >= kMost) {
      return absl::InvalidArgumentError(
          Concat(flag, ": ", *first, "..", *last, " must ascend by less than ", kMost));
    }
    for (int number = *first; number <= *last; ++number) numbers.push_back(number);
    return numbers;
  }
  for (const std::string& part : Split(text, ',')) {
    const absl::StatusOr<int> number = ParseNumber(flag, key, part);
    if (!number.ok()) return number.status();
    if (std::find(numbers.begin(), numbers.end(), *number) != numbers.end()) {
      return absl::InvalidArgumentError(Concat(flag, ": ", *number, " is given twice"));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

// The policy with the parameter in its name.
Policy WithParameter(Policy policy, const std::string& key, int number) {
  std::string& name = policy.registered;
  const std::string parameter = Concat(key, "=", number);
  if (!name.empty() && name.back() == ')') {
    name = Concat(name.substr(0, name.size() - 1), "/", parameter, ")");
  } else {
    name = Concat(name, "(", parameter, ")");
  }
  policy.style = name;
  return policy;
}

// The policies in place of one.
std::vector<Policy> SweepOne(const Policy& policy, const std::string& key,
                             const std::vector<int>& numbers, const FindPolicy& find) {
  std::vector<Policy> swept;
  if (key == kFactor) {
    if (!policy.TakesFactor() || policy.factor != 0) return {policy};
    for (const int number : numbers) {
      swept.push_back(policy);
      swept.back().factor = number;
    }
    return swept;
  }
  for (const int number : numbers) {
    if (policy.registered.empty()) break;
    Policy with = WithParameter(policy, key, number);
    if (!find(with.registered)) break;
    swept.push_back(std::move(with));
  }
  return swept.size() == numbers.size() ? swept : std::vector<Policy>{policy};
}

}  // namespace

bool Policy::TakesFactor() const {
  return !registered.empty() || value == CompactionStyle::kSizeTiered ||
         value == CompactionStyle::kLeveled;
}

std::string Policy::Name() const { return factor == 0 ? style : Concat(style, ":", factor); }

std::vector<Policy> AllPolicies() {
  std::vector<Policy> all = {{.style = "size_tiered", .value = CompactionStyle::kSizeTiered},
                             {.style = "leveled", .value = CompactionStyle::kLeveled},
                             {.style = "fifo", .value = CompactionStyle::kFifo},
                             {.style = "none", .value = CompactionStyle::kNone}};
#ifdef BENCH_HAVE_ROCKSDB
  all.push_back(
      {.style = "rocksdb_leveled", .value = CompactionStyle::kLeveled, .is_rocksdb = true});
  all.push_back(
      {.style = "rocksdb_universal", .value = CompactionStyle::kSizeTiered, .is_rocksdb = true});
#endif
  return all;
}

absl::StatusOr<std::vector<Policy>> ParsePolicies(std::string_view list,
                                                  const std::vector<Policy>& loaded,
                                                  const FindPolicy& find) {
  std::vector<Policy> known = AllPolicies();
  known.insert(known.end(), loaded.begin(), loaded.end());
  if (list.empty()) return known;
  std::vector<Policy> policies;
  for (const std::string& text : Split(list, ',')) {
    absl::StatusOr<Policy> policy = ParsePolicy(text, known, find);
    if (!policy.ok()) return policy.status();
    const auto is_it = [&](const Policy& p) { return p.Name() == policy->Name(); };
    if (std::any_of(policies.begin(), policies.end(), is_it)) {
      return absl::InvalidArgumentError(Concat("--styles: ", policy->Name(), " is given twice"));
    }
    policies.push_back(*std::move(policy));
  }
  std::copy_if(loaded.begin(), loaded.end(), std::back_inserter(policies),
               [&, named = policies](const Policy& p) {
                 return std::none_of(named.begin(), named.end(),
                                     [&](const Policy& n) { return n.style == p.style; });
               });
  return policies;
}

absl::StatusOr<std::vector<Policy>> Sweep(const std::vector<Policy>& policies,
                                          std::string_view sweep, const FindPolicy& find) {
  std::vector<Policy> all = policies;
  if (sweep.empty()) return all;
  for (const std::string& part : Split(sweep, ';')) {
    const std::string flag = Concat("--sweep ", part);
    const size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return absl::InvalidArgumentError(Concat(flag, ": must be as in factor=2..10 or K=1,2,4"));
    }
    const std::string key = part.substr(0, equals);
    const absl::StatusOr<std::vector<int>> numbers =
        ParseNumbers(flag, key, part.substr(equals + 1));
    if (!numbers.ok()) return numbers.status();
    std::vector<Policy> swept;
    for (const Policy& policy : all) {
      const std::vector<Policy> instead = SweepOne(policy, key, *numbers, find);
      swept.insert(swept.end(), instead.begin(), instead.end());
    }
    const auto same = [](const Policy& a, const Policy& b) { return a.Name() == b.Name(); };
    if (std::equal(swept.begin(), swept.end(), all.begin(), all.end(), same)) {
      return absl::InvalidArgumentError(
          Concat(flag, ": no policy takes ", key, ", or not these numbers of it"));
    }
    all = std::move(swept);
  }
  return all;
}

}  // namespace bench
