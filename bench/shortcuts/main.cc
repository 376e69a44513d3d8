// What each shortcut gains, on the workloads that it is for and on one that it might harm. Prints a
// table in Markdown (docs/internals/shortcuts.md).
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"

#include "common/flags.h"
#include "common/machine.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "trial.h"
#include "workload.h"

ABSL_FLAG(std::string, shortcuts, "", "of the table, between commas; empty: all");
ABSL_FLAG(std::string, workloads, "", "of each, between commas; empty: those of the table");
ABSL_FLAG(uint32_t, trials, 5, "databases, or pairs of them, of each comparison");
ABSL_FLAG(uint32_t, rounds, 5, "pairs of rounds of each trial");
ABSL_FLAG(std::string, directory, "/var/tmp", "of the databases while it runs");

namespace bench {
namespace {

using bigtable::Shortcut;

struct Entry {
  Shortcut shortcut;
  std::string_view name;
  std::string_view workloads;  // between commas
  // One if every call looks it up, and leaves nothing behind that depends on it.
  Databases databases = Databases::kTwo;
};

constexpr std::array kEntries = {
    Entry{Shortcut::kOneMutation, "kOneMutation", "write_small,write", Databases::kOne},
    Entry{Shortcut::kOneTablet, "kOneTablet", "scan_short,scan_short_syncing", Databases::kOne},
    Entry{Shortcut::kSingleRow, "kSingleRow", "read,read_memtable", Databases::kOne},
    Entry{Shortcut::kScanCache, "kScanCache", "read_hot", Databases::kOne},
    Entry{Shortcut::kRowStorage, "kRowStorage", "read,scan,scan_wide", Databases::kOne},
    Entry{Shortcut::kFilterRows, "kFilterRows", "scan_regex", Databases::kOne},
    Entry{Shortcut::kEnterFirst, "kEnterFirst", "scan,scan_memtable,read,read_row_index",
          Databases::kOne},
    Entry{Shortcut::kEnterSameColumn, "kEnterSameColumn", "scan,scan_wide,scan_overlapping",
          Databases::kOne},
    Entry{Shortcut::kPlainKeys, "kPlainKeys", "scan,scan_wide,read", Databases::kOne},
    Entry{Shortcut::kCountVersions, "kCountVersions", "scan,scan_versions,read", Databases::kOne},
    Entry{Shortcut::kSeekForward, "kSeekForward",
          "read_column,scan_latest,scan_latest_large,scan_history_compacted", Databases::kOne},
    Entry{Shortcut::kPassNewer, "kPassNewer", "read_old_compacted,read_old", Databases::kOne},
    Entry{Shortcut::kLocalityGroups, "kLocalityGroups", "scan_group", Databases::kOne},
    Entry{Shortcut::kKeyRanges, "kKeyRanges", "scan_short_disjoint,scan_short_neighbours",
          Databases::kOne},
    Entry{Shortcut::kTimeRanges, "kTimeRanges", "read_old", Databases::kOne},
    Entry{Shortcut::kFileFilters, "kFileFilters", "read_overlapping,read_absent", Databases::kOne},
    Entry{Shortcut::kRowLocations, "kRowLocations", "read_row_index", Databases::kOne},
    Entry{Shortcut::kReadAhead, "kReadAhead",
          "scan_cold,scan_cold_by_position,scan,scan_by_position", Databases::kOne},
    Entry{Shortcut::kRequests, "kRequests",
          "batch_cold,batch_cold_by_position,scan_short_cold_overlapping,batch,"
          "scan_short_overlapping,read_overlapping",
          Databases::kOne},
    Entry{Shortcut::kEmptyRows, "kEmptyRows", "scan_deleted,scan", Databases::kOne},
    Entry{Shortcut::kKeptMerges, "kKeptMerges", "read_counter", Databases::kOne},
    Entry{Shortcut::kPinnedValues, "kPinnedValues", "write,write_small"},
    Entry{Shortcut::kSharedFiles, "kSharedFiles", "load_tablets"},
    Entry{Shortcut::kMovedFiles, "kMovedFiles", "load_in_order,load"},
    Entry{Shortcut::kMergeOne, "kMergeOne", "scan,scan_disjoint,load_in_order", Databases::kOne},
    Entry{Shortcut::kMergeInOrder, "kMergeInOrder", "scan_overlapping,load", Databases::kOne},
    Entry{Shortcut::kMergeForward, "kMergeForward", "scan_column_overlapping,scan_history",
          Databases::kOne},
    Entry{Shortcut::kMemtableNumbers, "kMemtableNumbers", "write_small,read_memtable"},
    Entry{Shortcut::kMemtablePrefix, "kMemtablePrefix", "write_tenants,read_memtable_tenants"},
    Entry{Shortcut::kMemtableLearning, "kMemtableLearning", "write_small,read_memtable"},
    Entry{Shortcut::kMemtableSplice, "kMemtableSplice", "write_in_order,write_wide,write_small"},
    Entry{Shortcut::kMemtableTogether, "kMemtableTogether", "write_batch,write_wide"},
    Entry{Shortcut::kRowBlocks, "kRowBlocks", "read_large_by_position,read_large_cold,read",
          Databases::kOne},
    Entry{Shortcut::kWholeIndex, "kWholeIndex", "read,read_absent,scan_short"},
    Entry{Shortcut::kIndexNumbers, "kIndexNumbers", "read,read_small_files"},
    Entry{Shortcut::kBlockCache, "kBlockCache", "read_by_position,scan_by_position"},
    Entry{Shortcut::kPastMapping, "kPastMapping", "read_cold,read,scan_cold"},
    Entry{Shortcut::kResidencyTrust, "kResidencyTrust",
          "read,scan,read_cold,read_reopened,scan_reopened,scan_reopened_large"},
};
static_assert(kEntries.size() == static_cast<size_t>(Shortcut::kCount));

absl::Status MeasureEntry(const Entry& entry, int trials, int rounds,
                          const std::string& directory) {
  const std::string chosen = absl::GetFlag(FLAGS_workloads);
  for (const std::string& name : Split(chosen.empty() ? entry.workloads : chosen, ',')) {
    const Workload* const workload = FindWorkload(name);
    if (workload == nullptr) {
      return absl::InvalidArgumentError(Concat(name, ": no such workload"));
    }
    // What a round leaves to compactions is left by both ways.
    const Databases databases = workload->waits_until_quiet ? Databases::kTwo : entry.databases;
    absl::StatusOr<Comparison> result =
        Compare(*workload, entry.shortcut, databases, trials, rounds, directory);
    if (!result.ok()) return result.status();
    absl::PrintF("| `%s` | %s: %s | %.0f | %.0f | %+.1f%% | %+.1f%% |\n", ToAbsl(entry.name), name,
                 ToAbsl(workload->operation), result->with.cpu, result->without.cpu,
                 result->gain.cpu, result->gain.time);
    std::cout.flush();
  }
  return absl::OkStatus();
}

absl::Status Run() {
  std::vector<std::string> known;
  for (const Entry& entry : kEntries) known.emplace_back(entry.name);
  const absl::StatusOr<std::vector<std::string>> chosen =
      Names("shortcuts", absl::GetFlag(FLAGS_shortcuts), known, "a shortcut");
  if (!chosen.ok()) return chosen.status();
  const uint32_t trials = absl::GetFlag(FLAGS_trials);
  if (absl::Status s = CheckRange("trials", trials, 1, 1000); !s.ok()) return s;
  const uint32_t rounds = absl::GetFlag(FLAGS_rounds);
  if (absl::Status s = CheckRange("rounds", rounds, 1, 1000); !s.ok()) return s;
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(absl::GetFlag(FLAGS_directory), "bigtable-shortcuts-");
  if (!directory.ok()) return directory.status();
  absl::PrintF("%s\n%d trials of %d pairs of rounds\n\n", DescribeMachine(), trials, rounds);
  absl::PrintF("| shortcut | workload: operation | ns of CPU | without it | gain | of time |\n");
  absl::PrintF("|---|---|---|---|---|---|\n");
  for (const std::string& name : *chosen) {
    for (const Entry& entry : kEntries) {
      if (entry.name != name) continue;
      if (absl::Status s = MeasureEntry(entry, static_cast<int>(trials), static_cast<int>(rounds),
                                        directory->path());
          !s.ok()) {
        return absl::Status(s.code(), ToAbsl(Concat(name, ": ", s.ToString())));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("What each shortcut gains. See bench/shortcuts/run --help.");
  absl::ParseCommandLine(argc, argv);
  if (const absl::Status s = bench::Run(); !s.ok()) {
    std::cerr << "bench/shortcuts/run: " << s << "\n";
    return absl::IsInvalidArgument(s) ? 2 : EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
