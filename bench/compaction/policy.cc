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

absl::StatusOr<Policy> ParsePolicy(const std::string& text, const std::vector<Policy>& known) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Policy& p) { return p.style == name; });
  if (found == known.end()) {
    const std::string names = absl::StrJoin(
        known, ", ", [](std::string* out, const Policy& policy) { out->append(policy.style); });
    return absl::InvalidArgumentError(
        Concat("--styles: \"", name, "\" is not a compaction style: ", names));
  }
  Policy policy = *found;
  if (colon == std::string::npos) return policy;
  if (!policy.TakesFactor()) {
    return absl::InvalidArgumentError(Concat("--styles ", text, ": ", name, " has no factor"));
  }
  const absl::StatusOr<int> factor = ParseFactor(Concat("--styles ", text), text.substr(colon + 1));
  if (!factor.ok()) return factor.status();
  policy.factor = *factor;
  return policy;
}

// "2..10" or "2,4,8".
absl::StatusOr<std::vector<int>> ParseFactors(std::string_view flag, std::string_view text) {
  std::vector<int> factors;
  if (const size_t dots = text.find(".."); dots != std::string_view::npos) {
    const absl::StatusOr<int> first = ParseFactor(flag, text.substr(0, dots));
    if (!first.ok()) return first.status();
    const absl::StatusOr<int> last = ParseFactor(flag, text.substr(dots + 2));
    if (!last.ok()) return last.status();
    if (*first > *last) {
      return absl::InvalidArgumentError(Concat(flag, ": ", *first, " is more than ", *last));
    }
    for (int factor = *first; factor <= *last; ++factor) factors.push_back(factor);
    return factors;
  }
  for (const std::string& part : Split(text, ',')) {
    const absl::StatusOr<int> factor = ParseFactor(flag, part);
    if (!factor.ok()) return factor.status();
    if (std::find(factors.begin(), factors.end(), *factor) != factors.end()) {
      return absl::InvalidArgumentError(Concat(flag, ": ", *factor, " is given twice"));
    }
    factors.push_back(*factor);
  }
  return factors;
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
                                                  const std::vector<Policy>& loaded) {
  std::vector<Policy> known = AllPolicies();
  known.insert(known.end(), loaded.begin(), loaded.end());
  if (list.empty()) return known;
  std::vector<Policy> policies;
  for (const std::string& text : Split(list, ',')) {
    absl::StatusOr<Policy> policy = ParsePolicy(text, known);
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
                                          std::string_view sweep) {
  if (sweep.empty()) return policies;
  constexpr std::string_view kKey = "factor=";
  const std::string flag = Concat("--sweep ", sweep);
  if (sweep.substr(0, kKey.size()) != kKey) {
    return absl::InvalidArgumentError(Concat(flag, ": must begin with ", kKey));
  }
  const absl::StatusOr<std::vector<int>> factors = ParseFactors(flag, sweep.substr(kKey.size()));
  if (!factors.ok()) return factors.status();
  std::vector<Policy> swept;
  for (const Policy& policy : policies) {
    if (!policy.TakesFactor() || policy.factor != 0) {
      swept.push_back(policy);
      continue;
    }
    for (const int factor : *factors) {
      swept.push_back(policy);
      swept.back().factor = factor;
    }
  }
  return swept;
}

}  // namespace bench
