#include "bench/policies/paper_policies.h"

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/time/time.h"

#include "bigtable/compaction_policy.h"

#include "bench/policies/fluid.h"
#include "bench/policies/lethe.h"
#include "bench/policies/monkey.h"
#include "bench/policies/partial.h"

namespace policies {
namespace {

using Policy = std::unique_ptr<bigtable::CompactionPolicy>;

Policy MakePartial(int t, FileChoice choice) {
  return std::make_unique<PartialLeveling>(t, choice);
}

}  // namespace

absl::Status RegisterPaperPolicies() {
  // By the size ratio.
  const std::pair<std::string_view, std::function<Policy(int)>> all[] = {
      {"tiering", [](int t) { return std::make_unique<Fluid>(FluidShape::Tiering(t)); }},
      {"leveling", [](int t) { return std::make_unique<Fluid>(FluidShape::Leveling(t)); }},
      {"lazy_leveling", [](int t) { return std::make_unique<Fluid>(FluidShape::LazyLeveling(t)); }},
      {"fluid",
       [](int t) {
         return std::make_unique<Fluid>(FluidShape{t, 4, 2});
       }},
      {"monkey",
       [](int t) {
         constexpr double kBits = 10;
         return std::make_unique<Monkey>(std::make_unique<Fluid>(FluidShape::LazyLeveling(t)),
                                         kBits, t);
       }},
      {"round_robin", [](int t) { return MakePartial(t, FileChoice::kRoundRobin); }},
      {"least_overlap", [](int t) { return MakePartial(t, FileChoice::kLeastOverlap); }},
      {"oldest", [](int t) { return MakePartial(t, FileChoice::kOldest); }},
      {"most_deleted", [](int t) { return MakePartial(t, FileChoice::kMostDeleted); }},
      {"lethe",
       [](int t) {
         return std::make_unique<Lethe>(MakePartial(t, FileChoice::kLeastOverlap), absl::Hours(1),
                                        t);
       }},
  };
  for (const auto& [name, make] : all) {
    absl::Status registered = bigtable::RegisterCompactionPolicy(
        name, [make = make](const bigtable::LocalityGroup& group) {
          constexpr int kSizeRatio = 10;
          return make(group.compaction_factor != 0 ? group.compaction_factor : kSizeRatio);
        });
    if (!registered.ok()) return registered;
  }
  return absl::OkStatus();
}

}  // namespace policies
