#include "background/merge_parts.h"

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/base/macros.h"

#include "background/merge_input.h"
#include "base/entry_key.h"
#include "base/start_thread.h"

namespace bigtable {

std::atomic<uint64_t> least_merge_part = kLeastMergePart;

namespace {

// One range of keys, and what came of it.
class MergePart {
 public:
  // `job`, `inputs` and `stopped`, which ends the part early, outlive this.
  MergePart(const CompactionJob& job, const std::vector<SortedRun>& inputs, std::string begin,
            std::string end, const std::atomic<bool>* stopped)
      : job_(job), inputs_(inputs), begin_(std::move(begin)), end_(std::move(end)) {
    job_.stopped = stopped;
  }

  // Once, on any thread.
  void Run() {
    MergeInput input(inputs_, begin_, end_);
    job_.cells_unfiltered = &cells_unfiltered_;
    job_.has_collected = &has_collected_;
    written_ = job_.Run(input.cursor());
    if (!written_.ok()) unreadable_file_ = input.UnreadableFile();
  }

  const absl::StatusOr<std::vector<SSTableInfo>>& written() const { return written_; }
  uint64_t cells_unfiltered() const { return cells_unfiltered_; }
  bool has_collected() const { return has_collected_; }
  uint64_t unreadable_file() const { return unreadable_file_; }

 private:
  CompactionJob job_;
  const std::vector<SortedRun>& inputs_;
  const std::string begin_;
  const std::string end_;
  absl::StatusOr<std::vector<SSTableInfo>> written_ = absl::UnknownError("it has not run");
  uint64_t cells_unfiltered_ = 0;
  bool has_collected_ = false;
  uint64_t unreadable_file_ = 0;
};

// The files of all parts. `failed`: the part that failed first, so that it has the reason; or null.
absl::StatusOr<std::vector<SSTableInfo>> Collect(const CompactionJob& job,
                                                 const std::vector<MergePart>& parts,
                                                 const MergePart* failed,
                                                 CompactionOutcome* outcome) {
  std::vector<SSTableInfo> files;
  for (const MergePart& part : parts) {
    outcome->cells_unfiltered += part.cells_unfiltered();
    outcome->has_collected |= part.has_collected();
    if (!part.written().ok()) continue;
    files.insert(files.end(), part.written()->begin(), part.written()->end());
  }
  if (failed == nullptr) return files;
  outcome->unreadable_file = failed->unreadable_file();
  for (const SSTableInfo& file : files) {
    job.file_system->RemoveFile(job.path_of(file.file_number)).IgnoreError();
  }
  return failed->written().status();
}

}  // namespace

std::vector<std::string> CutsOf(const std::vector<SortedRun>& inputs, const KeyRange& keys,
                                int parts) {
  constexpr size_t kSamples = 64;
  struct Sample {
    std::string row;
    double bytes;
  };
  std::vector<Sample> samples;
  double bytes = 0;
  std::string first_row;
  for (const SortedRun& run : inputs) {
    const std::string_view first = std::max<std::string_view>(run.smallest_key(), keys.begin());
    const std::string_view row = first.substr(0, RowPrefixSize(first));
    if (first_row.empty() || row < first_row) first_row = row;
    for (const Ref<SSTable>& file : run.files) {
      const std::vector<std::string> of_file = file->SampleKeys(kSamples);
      if (of_file.empty()) return {};
      const double share =
          static_cast<double>(file->info().size) / static_cast<double>(of_file.size());
      for (const std::string& key : of_file) {
        if (key < keys.begin() || !keys.Contains(key)) continue;
        samples.push_back({key.substr(0, RowPrefixSize(key)), share});
        bytes += share;
      }
    }
  }
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.row < b.row; });
  const auto most = static_cast<int>(
      std::min(bytes / static_cast<double>(least_merge_part.load(std::memory_order_relaxed)),
               static_cast<double>(parts)));
  std::vector<std::string> cuts;
  double before = 0;
  for (const Sample& sample : samples) {
    const double next = bytes * static_cast<double>(cuts.size() + 1) / most;
    const std::string& last = cuts.empty() ? first_row : cuts.back();
    if (before >= next && sample.row > last && static_cast<int>(cuts.size()) + 1 < most) {
      cuts.push_back(sample.row);
    }
    before += sample.bytes;
  }
  return cuts;
}

absl::StatusOr<std::vector<SSTableInfo>> RunMergeParts(const CompactionJob& job,
                                                       const std::vector<SortedRun>& inputs,
                                                       const KeyRange& keys, int threads,
                                                       CompactionOutcome* outcome) {
  std::vector<std::string> bounds;
  if (threads > 1) bounds = CutsOf(inputs, keys, threads);
  bounds.insert(bounds.begin(), keys.begin());
  bounds.push_back(keys.end());
  std::atomic<bool> stopped = false;
  std::vector<MergePart> parts;
  parts.reserve(bounds.size() - 1);
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    parts.emplace_back(job, inputs, bounds[i], bounds[i + 1], &stopped);
  }
  std::atomic<const MergePart*> failed = nullptr;
  const auto run = [&](MergePart* part) {
    part->Run();
    const MergePart* none = nullptr;
    if (!part->written().ok() && failed.compare_exchange_strong(none, part)) stopped = true;
  };
  std::vector<std::thread> others;
  std::vector<MergePart*> own = {&parts[0]};
  for (size_t i = 1; i < parts.size(); ++i) {
    absl::StatusOr<std::thread> thread = StartThread([&run, part = &parts[i]] { run(part); });
    if (thread.ok()) {
      others.push_back(*std::move(thread));
    } else {
      own.push_back(&parts[i]);
    }
  }
  for (MergePart* const part : own) run(part);
  for (std::thread& thread : others) thread.join();
  return Collect(job, parts, failed, outcome);
}

}  // namespace bigtable
