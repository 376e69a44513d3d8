// How much a tablet's files hold of its rows, and how much of that nobody sees: what compaction
// policies, balancing and splits go by. A file may reach beyond the tablet (tablet/halves.h), and
// then what it has of the tablet's rows is estimated from keys of its index, once.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/entry_key.h"
#include "tablet/tablet.h"

namespace bigtable {
namespace {

// Bytes of an entry in the runs from `first` on.
double AverageEntry(const std::vector<SortedRun>& runs, size_t first) {
  double bytes = 0, entries = 0;
  for (size_t i = first; i < runs.size(); ++i) {
    bytes += static_cast<double>(runs[i].bytes());
    entries += static_cast<double>(runs[i].entries());
  }
  return entries == 0 ? 0 : bytes / entries;
}

// About which part of a file has timestamps before `expired_before`, if they are evenly spread.
double ExpiredPart(const SSTableInfo& info, int64_t expired_before) {
  if (info.max_timestamp < info.min_timestamp || expired_before <= info.min_timestamp) return 0;
  const double from = static_cast<double>(info.min_timestamp);
  const double span = static_cast<double>(info.max_timestamp) - from + 1;
  return std::min(1.0, (static_cast<double>(expired_before) - from) / span);
}

}  // namespace

// --- Bytes ---

uint64_t Tablet::DiskBytes() const {
  uint64_t bytes = 0;
  const Pin<TabletVersion> version = Version();
  for (const GroupVersion& group : version->groups()) {
    for (const GroupFiles::File& file : group.files->files()) {
      bytes += estimates_.BytesWithin(*file.table);
    }
  }
  return bytes;
}

// --- For compaction policies ---

std::optional<CompactionPick> Tablet::PickCompaction(size_t group) const {
  const absl::Time now = TimeBeforeLayout();
  const Pin<TabletVersion> version = Version();
  if (version->groups()[group].runs.empty()) return std::nullopt;
  const LocalityGroup& options = version->layout().groups[group].options;
  const GroupSummary summary = Summarize(*version, group, now);
  // What has expired altogether goes unread, whatever the policy.
  if (options.compaction != CompactionStyle::kNone) {
    if (std::optional<CompactionPick> drop = FifoPolicy().Pick(summary)) return drop;
  }
  const std::unique_ptr<CompactionPolicy> policy = MakePolicy(options);
  if (!policy->BoundsRuns()) return std::nullopt;  // it reads nothing
  for (const FileQuarantine::Stretch& stretch :
       quarantine_.StretchesOf(group, version->groups()[group].runs)) {
    GroupSummary part = summary;
    const auto first = summary.runs.begin() + static_cast<std::ptrdiff_t>(stretch.first);
    part.runs.assign(first, first + static_cast<std::ptrdiff_t>(stretch.count));
    // What a run hides in those below a quarantined file stays, however often it is merged.
    if (stretch.first + stretch.count < summary.runs.size()) {
      for (RunSummary& run : part.runs) run.superfluous_bytes = 0;
    }
    if (std::optional<CompactionPick> pick = policy->Pick(part)) {
      pick->first += stretch.first;
      return pick;
    }
  }
  return std::nullopt;
}

GroupSummary Tablet::Summarize(const TabletVersion& version, size_t group, absl::Time now) const {
  const TableLayout& layout = version.layout();
  GroupSummary summary;
  summary.flush_size = environment_->memtable_size;
  summary.expired_before = std::numeric_limits<int64_t>::max();
  const Retention retention = layout.RetentionOf(layout.groups[group].id, now);
  for (const RetainedFamily& family : retention.families) {
    summary.expired_before = std::min(summary.expired_before, family.min_timestamp);
  }
  const std::vector<SortedRun>& runs = version.groups()[group].runs;
  for (size_t i = 0; i < runs.size(); ++i) {
    RunSummary& run = summary.runs.emplace_back();
    const double older_entry = AverageEntry(runs, i + 1);
    double superfluous = 0;
    for (const Ref<SSTable>& file : runs[i].files) {
      const SSTableInfo& info = file->info();
      // Of a file that reaches beyond the tablet, what a compaction here would read.
      const uint64_t bytes = estimates_.BytesWithin(*file);
      const double within = static_cast<double>(bytes) / static_cast<double>(info.size);
      const double deletions = static_cast<double>(info.deletions()) * within;
      const double others = static_cast<double>(info.entries) * within - deletions;
      superfluous += older_entry * (deletions + others * estimates_.Overwriting(*file, runs, i)) +
                     ExpiredPart(info, summary.expired_before) * static_cast<double>(bytes);
      run.bytes += bytes;
      run.files.push_back({.number = info.file_number,
                           .bytes = bytes,
                           .smallest_key = info.smallest_key,
                           .largest_key = info.largest_key,
                           .max_timestamp = info.max_timestamp,
                           .has_wide_deletions = info.column_deletions + info.row_deletions > 0});
    }
    run.superfluous_bytes = static_cast<uint64_t>(superfluous);
  }
  return summary;
}

// --- For splits ---

std::optional<std::string> Tablet::MiddleRow(size_t prefix_length) const {
  std::vector<FileSample> samples;
  const Pin<TabletVersion> version = Version();
  for (const GroupVersion& group : version->groups()) {
    for (const SortedRun& run : group.runs) {
      for (const Ref<SSTable>& file : run.files) {
        for (FileSample& sample : SampleFile(*file, keys_)) samples.push_back(std::move(sample));
      }
    }
  }
  std::sort(samples.begin(), samples.end(),
            [](const FileSample& a, const FileSample& b) { return a.key < b.key; });
  uint64_t bytes = 0;
  for (const FileSample& sample : samples) bytes += sample.bytes;
  std::string scratch;
  const auto row_of = [&](const FileSample& sample) {
    return std::string(RowOf(sample.key, &scratch));
  };
  uint64_t before = 0;
  for (const FileSample& sample : samples) {
    before += sample.bytes;
    if (before < bytes / 2) continue;
    std::string row = row_of(sample);
    if (prefix_length != 0 && row.size() > prefix_length) row.resize(prefix_length);
    if (row > row_of(samples.front())) return row;
  }
  return std::nullopt;
}

}  // namespace bigtable
