#include "workloads.h"

#include "kinds.h"

namespace bench {
namespace {

constexpr uint64_t kSources = 100;

using MadeWorkload = std::unique_ptr<Workload>;

struct WorkloadKind {
  std::string_view name;
  bool is_default;
  MadeWorkload (*make)(const WorkloadOptions& options);
};

template <YcsbMix mix>
MadeWorkload MakeYcsbOf(const WorkloadOptions& options) {
  return MakeYcsb(options, mix);
}

constexpr WorkloadKind kKinds[] = {
    {"load_random", true, MakeLoadRandom},
    {"load_sequential", true, MakeLoadSequential},
    {"overwrite", true, MakeOverwrite},
    {"overwrite_zipf", true, MakeOverwriteZipf},
    {"read_mix", true, MakeReadMix},
    {"deletes", true, MakeDeletes},
    {"time_series", true,
     [](const WorkloadOptions& options) { return MakeTimeSeries(options, 1); }},
    {"sensors", true,
     [](const WorkloadOptions& options) { return MakeTimeSeries(options, kSources); }},
    {"ycsb_a", false, MakeYcsbOf<YcsbMix{.reads = 50, .updates = 50}>},
    {"ycsb_b", false, MakeYcsbOf<YcsbMix{.reads = 95, .updates = 5}>},
    {"ycsb_c", false, MakeYcsbOf<YcsbMix{.reads = 100}>},
    {"ycsb_d", false,
     MakeYcsbOf<YcsbMix{
         .reads = 95, .inserts = 5, .distribution = YcsbMix::Distribution::kLatest}>},
    {"ycsb_e", false, MakeYcsbOf<YcsbMix{.inserts = 5, .scans = 95}>},
    {"ycsb_f", false, MakeYcsbOf<YcsbMix{.reads = 50, .read_modify_writes = 50}>},
    {"wide_deletes", false, MakeWideDeletes},
    {"phases", false, MakePhases},
};

}  // namespace

std::vector<std::string> WorkloadNames() {
  std::vector<std::string> names;
  for (const WorkloadKind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> DefaultWorkloadNames() {
  std::vector<std::string> names;
  for (const WorkloadKind& kind : kKinds) {
    if (kind.is_default) names.emplace_back(kind.name);
  }
  return names;
}

std::unique_ptr<Workload> MakeWorkload(std::string_view name, const WorkloadOptions& options) {
  for (const WorkloadKind& kind : kKinds) {
    if (kind.name == name) return kind.make(options);
  }
  return nullptr;
}

}  // namespace bench
