#include "bench/policies/paper_policies.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "bigtable/compaction_policy.h"

#include "bench/policies/fluid.h"
#include "bench/policies/lethe.h"
#include "bench/policies/monkey.h"
#include "bench/policies/parameters.h"
#include "bench/policies/partial.h"

namespace policies {
namespace {

using Policy = std::unique_ptr<bigtable::CompactionPolicy>;

Policy MakePartial(int t, FileChoice choice, int compactions = 1) {
  return std::make_unique<PartialLeveling>(t, choice, compactions);
}

using Make = std::function<Policy(int size_ratio)>;

// By the parameters of the name; null: there is none of this name.
Make MakerOf(Parameters* parameters) {
  constexpr int kMost = 99;
  const std::string& name = parameters->name();
  if (name == "tiering") {
    return [](int t) { return std::make_unique<Fluid>(FluidShape::Tiering(t)); };
  }
  if (name == "leveling") {
    return [](int t) { return std::make_unique<Fluid>(FluidShape::Leveling(t)); };
  }
  if (name == "lazy_leveling") {
    return [](int t) { return std::make_unique<Fluid>(FluidShape::LazyLeveling(t)); };
  }
  if (name == "fluid") {
    const int k = parameters->Take("K", 4, 1, kMost);
    const int z = parameters->Take("Z", 2, 1, kMost);
    return [k, z](int t) { return std::make_unique<Fluid>(FluidShape{t, k, z}); };
  }
  if (name == "monkey") {
    const int bits = parameters->Take("bits", 10, 1, 32);
    return [bits](int t) {
      return std::make_unique<Monkey>(std::make_unique<Fluid>(FluidShape::LazyLeveling(t)), bits,
                                      t);
    };
  }
  if (name == "lethe") {
    const absl::Duration deadline = absl::Minutes(parameters->Take("minutes", 60, 1, 1'000'000));
    return [deadline](int t) {
      return std::make_unique<Lethe>(MakePartial(t, FileChoice::kLeastOverlap), deadline, t);
    };
  }
  constexpr std::pair<std::string_view, FileChoice> kPartial[] = {
      {"round_robin", FileChoice::kRoundRobin},
      {"least_overlap", FileChoice::kLeastOverlap},
      {"oldest", FileChoice::kOldest},
      {"most_deleted", FileChoice::kMostDeleted}};
  for (const auto& [of_choice, choice] : kPartial) {
    if (name != of_choice) continue;
    const int compactions =
        parameters->Take("compactions", 1, 1, bigtable::CompactionPolicy::kMostCompactions);
    return [choice = choice, compactions](int t) { return MakePartial(t, choice, compactions); };
  }
  return nullptr;
}

}  // namespace

absl::Status RegisterPaperPolicy(std::string_view name) {
  absl::StatusOr<Parameters> parameters = Parameters::Parse(name);
  if (!parameters.ok()) return parameters.status();
  const Make make = MakerOf(&*parameters);
  if (make == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("no policy ", parameters->name()));
  }
  if (absl::Status s = parameters->Finish(); !s.ok()) return s;
  return bigtable::RegisterCompactionPolicy(name, [make](const bigtable::LocalityGroup& group) {
    constexpr int kSizeRatio = 10;
    return make(group.compaction_factor != 0 ? group.compaction_factor : kSizeRatio);
  });
}

absl::Status RegisterPaperPolicies() {
  for (const std::string_view name :
       {"tiering", "leveling", "lazy_leveling", "fluid", "monkey", "round_robin", "least_overlap",
        "oldest", "most_deleted", "lethe"}) {
    if (absl::Status s = RegisterPaperPolicy(name); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace policies
