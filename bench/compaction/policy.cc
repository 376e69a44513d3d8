#include "policy.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"

#include "common/strings.h"

namespace bench {
namespace {

using bigtable::CompactionStyle;

constexpr int kLeastFactor = 2;
constexpr int kMostFactor = 100;

bool HasFactor(const Policy& policy) {
  return !policy.is_rocksdb && (policy.value == CompactionStyle::kSizeTiered ||
                                policy.value == CompactionStyle::kLeveled);
}

absl::StatusOr<Policy> ParsePolicy(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string style = text.substr(0, colon);
  const std::vector<Policy> all = AllPolicies();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Policy& p) { return p.style == style; });
  if (found == all.end()) {
    const std::string known = absl::StrJoin(
        all, ", ", [](std::string* out, const Policy& policy) { out->append(policy.style); });
    return absl::InvalidArgumentError(
        Concat("--styles: \"", style, "\" is not a compaction style: ", known));
  }
  Policy policy = *found;
  if (colon == std::string::npos) return policy;
  if (!HasFactor(policy)) {
    return absl::InvalidArgumentError(Concat("--styles ", text, ": ", style, " has no factor"));
  }
  if (!absl::SimpleAtoi(text.substr(colon + 1), &policy.factor) || policy.factor < kLeastFactor ||
      policy.factor > kMostFactor) {
    return absl::InvalidArgumentError(
        Concat("--styles ", text, ": the factor must be ", kLeastFactor, " to ", kMostFactor));
  }
  return policy;
}

}  // namespace

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

absl::StatusOr<std::vector<Policy>> ParsePolicies(std::string_view list) {
  if (list.empty()) return AllPolicies();
  std::vector<Policy> policies;
  for (const std::string& text : Split(list, ',')) {
    absl::StatusOr<Policy> policy = ParsePolicy(text);
    if (!policy.ok()) return policy.status();
    const auto is_it = [&](const Policy& p) { return p.Name() == policy->Name(); };
    if (std::any_of(policies.begin(), policies.end(), is_it)) {
      return absl::InvalidArgumentError(Concat("--styles: ", policy->Name(), " is given twice"));
    }
    policies.push_back(*std::move(policy));
  }
  return policies;
}

}  // namespace bench
