#include "tablet/tablet_change.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/entry_key.h"
#include "tablet/file_estimates.h"

namespace bigtable {

std::optional<std::string> MiddleRow(const Tablet& tablet, size_t prefix_length) {
  std::vector<FileSample> samples;
  const Pin<TabletVersion> version = tablet.Version();
  for (const GroupVersion& group : version->groups()) {
    for (const SortedRun& run : group.runs) {
      for (const Ref<SSTable>& file : run.files) {
        for (FileSample& sample : SampleFile(*file, tablet.keys())) {
          samples.push_back(std::move(sample));
        }
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

bool ReachesInto(const Tablet& tablet, const Tablet& other) {
  const auto has = [](const GroupFiles& files, const GroupFiles::File& file) {
    return std::any_of(files.files().begin(), files.files().end(), [&](const auto& f) {
      return f.order == file.order && f.table->info().file_number == file.table->info().file_number;
    });
  };
  const Pin<TabletVersion> theirs = other.Version();
  const Pin<TabletVersion> own = tablet.Version();
  for (size_t i = 0; i < own->groups().size(); ++i) {
    for (const GroupFiles::File& file : own->groups()[i].files->files()) {
      if (!other.keys().Overlaps(file.table->info())) continue;
      if (i >= theirs->groups().size() || !has(*theirs->groups()[i].files, file)) return true;
    }
  }
  return false;
}

}  // namespace bigtable
