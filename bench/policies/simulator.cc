#include "bench/policies/simulator.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace policies {
namespace {

using bigtable::CompactionPick;
using bigtable::FileSummary;
using bigtable::GroupSummary;
using bigtable::RunSummary;

// A part of a run: keys are numbers from 0 to 1, and its rows are spread evenly over its range.
struct File {
  uint64_t number = 0;
  double first = 0;
  double last = 1;
  double rows = 0;       // that are there
  double deletions = 0;  // of rows that are not
  uint64_t min_sequence = 0;
  uint64_t max_sequence = 0;
  std::optional<absl::Time> oldest_deletion = {};

  double RowsIn(double from, double to) const { return rows * Part(from, to); }
  double DeletionsIn(double from, double to) const { return deletions * Part(from, to); }
  bool Overlaps(const File& other) const { return first < other.last && other.first < last; }

 private:
  double Part(double from, double to) const {
    const double within = std::min(to, last) - std::max(from, first);
    return within <= 0 ? 0 : within / (last - first);
  }
};
using Run = std::vector<File>;  // in key order

// What a merge keeps of a range of keys.
struct Kept {
  double first = 0;
  double last = 0;
  double rows = 0;
  double deletions = 0;
};

bool AreDisjoint(const Run& a, const Run& b) {
  return std::none_of(a.begin(), a.end(), [&](const File& file) {
    return std::any_of(b.begin(), b.end(), [&](const File& f) { return f.Overlaps(file); });
  });
}

class Simulation {
 public:
  Simulation(const SimulatedWorkload& workload, bigtable::CompactionPolicy* policy)
      : workload_(workload), policy_(*policy) {
    if (!workload.begins_full) return;
    Run all;
    AddFiles({{0, 1, static_cast<double>(workload.rows), 0}}, {}, &all);
    runs_.push_back(std::move(all));
  }

  absl::StatusOr<SimulationResult> Execute() {
    for (uint64_t i = 0; i < workload_.flushes; ++i) {
      Flush();
      if (absl::Status s = Compact(); !s.ok()) return s;
      Measure();
    }
    const double flushes = static_cast<double>(workload_.flushes);
    result_.mean_runs /= flushes;
    result_.mean_space /= flushes;
    result_.write_amplification = (result_.flush_bytes + result_.merge_bytes) / result_.flush_bytes;
    return result_;
  }

 private:
  double Bytes(const File& file) const {
    return file.rows * workload_.bytes_per_row + file.deletions * workload_.bytes_per_deletion;
  }
  double Bytes(const Run& run) const {
    double bytes = 0;
    for (const File& file : run) bytes += Bytes(file);
    return bytes;
  }

  void Flush() {
    const double written = static_cast<double>(workload_.rows_per_flush);
    double different = written;
    if (workload_.rows > 0) different = Different(1, {written});
    now_ += workload_.time_per_flush;
    File file{.number = next_number_++,
              .rows = different * (1 - workload_.deletions),
              .deletions = different * workload_.deletions,
              .min_sequence = sequence_ + 1};
    sequence_ += workload_.rows_per_flush;
    file.max_sequence = sequence_;
    if (file.deletions > 0) file.oldest_deletion = now_;
    result_.flush_bytes += Bytes(file);
    runs_.insert(runs_.begin(), Run{file});
  }

  // The different rows among so many in each run, of a part of all rows.
  double Different(double part, const std::vector<double>& counts) const {
    const double all = static_cast<double>(workload_.rows) * part;
    double missing = 1;
    for (const double count : counts) missing *= std::max(0.0, 1 - count / all);
    return all * (1 - missing);
  }

  absl::Status Compact() {
    constexpr int kMostPicks = 10'000;
    for (int i = 0; i < kMostPicks; ++i) {
      const GroupSummary summary = Summarize();
      const std::optional<CompactionPick> pick = policy_.Pick(summary);
      if (!pick.has_value() || pick->kind == CompactionPick::Kind::kWait) return absl::OkStatus();
      if (absl::Status s = Do(*pick); !s.ok()) return s;
      if (pick->state.has_value()) state_ = *pick->state;
      ++result_.compactions;
    }
    return absl::FailedPreconditionError("the policy does not come to rest");
  }

  absl::Status Do(const CompactionPick& pick) {
    const bool is_whole_merge = pick.kind != CompactionPick::Kind::kMerge || pick.files.empty();
    if (!is_whole_merge || pick.rows != bigtable::RowRange()) {
      return absl::UnimplementedError("the simulator merges whole runs and pushes whole files");
    }
    if (pick.kind == CompactionPick::Kind::kMerge && pick.count >= 2 &&
        pick.first + pick.count <= runs_.size()) {
      const auto first = runs_.begin() + static_cast<std::ptrdiff_t>(pick.first);
      const auto last = first + static_cast<std::ptrdiff_t>(pick.count);
      const bool is_major = last == runs_.end();
      Run output;
      Merge({first, last}, is_major, &output);
      runs_.erase(first + 1, last);
      *first = std::move(output);
      return Settle();
    }
    if (pick.kind == CompactionPick::Kind::kPush && pick.first + 1 < runs_.size()) {
      Run& from = runs_[pick.first];
      Run& to = runs_[pick.first + 1];
      const Run pushed = Take(&from, [&](const File& file) {
        return std::count(pick.files.begin(), pick.files.end(), file.number) > 0;
      });
      if (pushed.empty()) return absl::FailedPreconditionError("a push of no file of the run");
      const Run below = Take(&to, [&](const File& file) {
        return std::any_of(pushed.begin(), pushed.end(),
                           [&](const File& f) { return f.Overlaps(file); });
      });
      Merge({pushed, below}, pick.first + 2 == runs_.size(), &to);
      return Settle();
    }
    return absl::FailedPreconditionError(
        absl::StrCat("a pick that is refused, of runs from ", pick.first, " on"));
  }

  template <typename Takes>
  static Run Take(Run* run, const Takes& takes) {
    Run taken;
    std::copy_if(run->begin(), run->end(), std::back_inserter(taken), takes);
    std::erase_if(*run, takes);
    return taken;
  }

  // Empty runs end, and files that do not overlap become one run.
  absl::Status Settle() {
    std::erase_if(runs_, [](const Run& run) { return run.empty(); });
    for (size_t i = 0; i + 1 < runs_.size();) {
      if (!AreDisjoint(runs_[i], runs_[i + 1])) {
        ++i;
        continue;
      }
      runs_[i].insert(runs_[i].end(), runs_[i + 1].begin(), runs_[i + 1].end());
      Sort(&runs_[i]);
      runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    return absl::OkStatus();
  }
  static void Sort(Run* run) {
    std::sort(run->begin(), run->end(),
              [](const File& a, const File& b) { return a.first < b.first; });
  }

  // Merges the inputs, from new to old, and adds the output to `run`.
  void Merge(const std::vector<Run>& inputs, bool is_major, Run* run) {
    std::set<double> borders;
    Run moved;
    std::vector<Run> merged(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (const File& file : inputs[i]) {
        const auto overlaps = [&](const Run& other) {
          return &other != &inputs[i] &&
                 std::any_of(other.begin(), other.end(),
                             [&](const File& f) { return f.Overlaps(file); });
        };
        if (std::none_of(inputs.begin(), inputs.end(), overlaps) &&
            !(is_major && file.deletions > 0)) {
          moved.push_back(file);
          continue;
        }
        merged[i].push_back(file);
        borders.insert(file.first);
        borders.insert(file.last);
      }
    }
    std::vector<Kept> kept;
    for (auto at = borders.begin(); at != borders.end() && std::next(at) != borders.end(); ++at) {
      const Kept part = MergeRange(merged, *at, *std::next(at), is_major);
      if (part.rows + part.deletions > 0) kept.push_back(part);
    }
    AddFiles(kept, merged, run);
    run->insert(run->end(), moved.begin(), moved.end());
    Sort(run);
  }

  // For each row, the newest input that has it decides.
  Kept MergeRange(const std::vector<Run>& inputs, double from, double to, bool is_major) const {
    Kept kept{from, to, 0, 0};
    const double all = static_cast<double>(workload_.rows) * (to - from);
    double missing = 1;  // the probability that no newer input has a row
    for (const Run& input : inputs) {
      double rows = 0, deletions = 0;
      for (const File& file : input) {
        rows += file.RowsIn(from, to);
        deletions += file.DeletionsIn(from, to);
      }
      kept.rows += rows * missing;
      if (!is_major) kept.deletions += deletions * missing;
      if (workload_.rows > 0) missing *= std::max(0.0, 1 - (rows + deletions) / all);
    }
    return kept;
  }

  // Cuts what was kept, in key order, into files of the inputs' age.
  void AddFiles(const std::vector<Kept>& kept, const std::vector<Run>& inputs, Run* run) {
    File age{.min_sequence = std::numeric_limits<uint64_t>::max()};
    for (const Run& input : inputs) {
      for (const File& file : input) {
        age.min_sequence = std::min(age.min_sequence, file.min_sequence);
        age.max_sequence = std::max(age.max_sequence, file.max_sequence);
        if (file.oldest_deletion.has_value()) {
          age.oldest_deletion =
              std::min(age.oldest_deletion.value_or(absl::InfiniteFuture()), *file.oldest_deletion);
        }
      }
    }
    std::optional<File> file;
    const auto finish = [&] {
      if (!file.has_value()) return;
      if (file->deletions == 0) file->oldest_deletion = std::nullopt;
      if (!inputs.empty()) result_.merge_bytes += Bytes(*file);
      run->push_back(*file);
      file.reset();
    };
    for (Kept part : kept) {
      if (file.has_value() && file->last != part.first) finish();
      while (part.rows + part.deletions > 0) {
        if (!file.has_value()) {
          file = age;
          file->number = next_number_++;
          file->first = part.first;
        }
        const double bytes =
            part.rows * workload_.bytes_per_row + part.deletions * workload_.bytes_per_deletion;
        const double left = workload_.file_size == 0
                                ? std::numeric_limits<double>::infinity()
                                : static_cast<double>(workload_.file_size) - Bytes(*file);
        // A last file that would be a sliver joins the one before.
        const double share = bytes <= left * 1.0001 ? 1 : std::max(left, 0.0) / bytes;
        const double until = part.first + (part.last - part.first) * share;
        file->rows += part.rows * share;
        file->deletions += part.deletions * share;
        file->last = share == 1 ? part.last : until;
        part = {until, part.last, part.rows * (1 - share), part.deletions * (1 - share)};
        if (share < 1) finish();
        if (share == 1) break;
      }
    }
    finish();
  }

  // --- What the policy is shown, and what is measured ---

  // A text that sorts as the number, with room after each for the keys of a row.
  std::string_view KeyOf(double key) {
    std::array<char, 32> text{};
    const int size = std::snprintf(text.data(), text.size(), "%.15f", key);
    return *keys_.emplace(text.data(), static_cast<size_t>(size)).first;
  }

  GroupSummary Summarize() {
    keys_.clear();
    GroupSummary group;
    group.table = "simulated";
    group.locality_group = "default";
    group.now = now_;
    group.sequence = sequence_;
    group.oldest_snapshot = sequence_;
    group.state = state_;
    group.flush_size = workload_.flush_size;
    group.expired_before = std::numeric_limits<int64_t>::min();
    for (size_t i = 0; i < runs_.size(); ++i) {
      RunSummary& run = group.runs.emplace_back();
      double garbage = 0;
      for (const File& file : runs_[i]) {
        const double bytes = Bytes(file);
        run.bytes += static_cast<uint64_t>(bytes);
        garbage += (file.rows * Overwriting(file, i) + file.deletions) * OlderEntry(i);
        FileSummary& shown = run.files.emplace_back();
        shown.number = file.number;
        shown.bytes = static_cast<uint64_t>(bytes);
        shown.entries = static_cast<uint64_t>(file.rows + file.deletions);
        shown.deletions = static_cast<uint64_t>(file.deletions + 0.5);
        shown.smallest_key = KeyOf(file.first);
        shown.largest_key = KeyOf(std::max(file.first, file.last - 1e-12));
        shown.min_sequence = file.min_sequence;
        shown.max_sequence = file.max_sequence;
        shown.max_timestamp = static_cast<int64_t>(file.max_sequence);
        shown.has_wide_deletions = file.deletions > 0;
        shown.oldest_deletion = file.oldest_deletion.value_or(absl::InfiniteFuture());
        if (i + 1 == runs_.size()) continue;
        for (const File& older : runs_[i + 1]) {
          if (older.Overlaps(file)) shown.overlap_bytes += static_cast<uint64_t>(Bytes(older));
        }
      }
      run.garbage_bytes = static_cast<uint64_t>(garbage);
    }
    return group;
  }

  // The part of a file's rows that older runs have too.
  double Overwriting(const File& file, size_t run) const {
    if (workload_.rows == 0) return 0;
    const double all = static_cast<double>(workload_.rows) * (file.last - file.first);
    double missing = 1;
    for (size_t older = run + 1; older < runs_.size(); ++older) {
      double rows = 0;
      for (const File& f : runs_[older]) {
        rows += f.RowsIn(file.first, file.last) + f.DeletionsIn(file.first, file.last);
      }
      missing *= std::max(0.0, 1 - rows / all);
    }
    return 1 - missing;
  }
  double OlderEntry(size_t run) const {
    double bytes = 0, entries = 0;
    for (size_t older = run + 1; older < runs_.size(); ++older) {
      for (const File& file : runs_[older]) {
        bytes += Bytes(file);
        entries += file.rows + file.deletions;
      }
    }
    return entries == 0 ? 0 : bytes / entries;
  }

  void Measure() {
    double bytes = 0;
    for (const Run& run : runs_) bytes += Bytes(run);
    const Kept live = MergeRange(runs_, 0, 1, /*is_major=*/true);
    result_.space = bytes / (live.rows * workload_.bytes_per_row);
    result_.mean_space += result_.space;
    result_.mean_runs += static_cast<double>(runs_.size());
    result_.most_runs = std::max<uint64_t>(result_.most_runs, runs_.size());
    for (size_t run = 0; run + 1 < runs_.size(); ++run) {
      for (const File& file : runs_[run]) {
        if (!file.oldest_deletion.has_value()) continue;
        result_.oldest_deletion = std::max(result_.oldest_deletion, now_ - *file.oldest_deletion);
      }
    }
  }

  const SimulatedWorkload& workload_;
  bigtable::CompactionPolicy& policy_;
  std::vector<Run> runs_;  // from new to old
  std::string state_;
  absl::Time now_ = absl::UnixEpoch();
  uint64_t sequence_ = 0;
  uint64_t next_number_ = 1;
  std::set<std::string> keys_;  // memory of the last summary
  SimulationResult result_;
};

}  // namespace

absl::StatusOr<SimulationResult> Simulate(const SimulatedWorkload& workload,
                                          bigtable::CompactionPolicy* policy) {
  if (workload.flushes == 0 || workload.rows_per_flush == 0 || workload.bytes_per_row <= 0) {
    return absl::InvalidArgumentError("a workload needs flushes, rows and bytes of a row");
  }
  return Simulation(workload, policy).Execute();
}

}  // namespace policies
