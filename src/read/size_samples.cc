#include "read/size_samples.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/entry_key.h"
#include "base/status.h"
#include "read/row_ranges.h"
#include "sstable/key_range.h"
#include "tablet/file_estimates.h"

namespace bigtable {
namespace {

constexpr size_t kSamplesOfMemtable = 1024;

template <typename Visit>
void ForEachFile(const TabletVersion& version, const KeyRange& keys, Visit visit) {
  for (const GroupVersion& group : version.groups()) {
    for (const SortedRun& run : group.runs) {
      for (const Ref<SSTable>& file : run.files) {
        if (keys.Overlaps(file->info())) visit(*file);
      }
    }
  }
}

}  // namespace

absl::Status SizeSamples::Begin(const Tablet& tablet, const CallLimits& limits) {
  tablet_ = &tablet;
  version_ = tablet.Version();
  absl::Status status;
  ForEachFile(*version_, tablet.keys(), [&](const SSTable& file) {
    if (status.ok()) status = limits.Check();
    if (status.ok()) status = file.EnsureOpen(&limits);
  });
  BT_RETURN_IF_ERROR(status);
  memtables_.clear();
  for (const GroupVersion& group : version_->groups()) {
    memtables_.push_back(group.active->SampleKeys(kSamplesOfMemtable));
    for (const Ref<Memtable>& memtable : group.immutable) {
      memtables_.push_back(memtable->SampleKeys(kSamplesOfMemtable));
    }
  }
  return absl::OkStatus();
}

uint64_t SizeSamples::SizeOf(const RowRange& rows) const {
  const RowRange within = Intersection(rows, tablet_->rows());
  if (within.empty()) return 0;
  const KeyRange keys(within);
  uint64_t bytes = 0;
  ForEachFile(*version_, keys, [&](const SSTable& file) { bytes += BytesBetween(file, keys); });
  for (const std::vector<Memtable::Sample>& samples : memtables_) {
    for (const Memtable::Sample& sample : samples) {
      if (keys.Contains(sample.key)) bytes += sample.bytes;
    }
  }
  return bytes;
}

std::vector<RowKeySample> SizeSamples::Divide(const RowRange& rows, uint64_t part) const {
  const KeyRange keys(rows);
  std::vector<FileSample> samples;
  ForEachFile(*version_, keys, [&](const SSTable& file) {
    for (FileSample& sample : SampleFile(file, keys)) samples.push_back(std::move(sample));
  });
  // The halves of a split tablet share memtables.
  for (const std::vector<Memtable::Sample>& memtable : memtables_) {
    for (const Memtable::Sample& sample : memtable) {
      if (keys.Contains(sample.key)) samples.push_back({std::string(sample.key), sample.bytes});
    }
  }
  std::sort(samples.begin(), samples.end(),
            [](const FileSample& a, const FileSample& b) { return a.key < b.key; });

  std::vector<RowKeySample> parts;
  std::string scratch;
  std::string last = rows.begin();
  uint64_t bytes = 0;  // of the part so far
  for (const FileSample& sample : samples) {
    bytes += sample.bytes;
    if (bytes < part) continue;
    const std::string_view row = RowOf(sample.key, &scratch);
    if (row <= last) continue;  // a row larger than a part
    bytes = 0;
    last = row;
    parts.push_back({last, SizeOf(RowRange::RightOpen(rows.begin(), row))});
  }
  return parts;
}

}  // namespace bigtable
