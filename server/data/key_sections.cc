#include "server/data/key_sections.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bigtable::server {

std::vector<RowKeySample> SectionsOf(std::vector<RowKeySample> samples,
                                     const std::vector<TabletInfo>& tablets) {
  if (samples.empty()) return samples;
  const uint64_t least = std::max(kLeastSectionSize, samples.back().offset_bytes / kMostSections);
  std::vector<RowKeySample> kept;
  uint64_t begin = 0;  // of the section
  size_t tablet = 0;   // the first one that does not begin before the sample
  for (size_t i = 0; i + 1 < samples.size(); ++i) {
    RowKeySample& sample = samples[i];
    while (tablet < tablets.size() && tablets[tablet].rows.begin() < sample.row) ++tablet;
    const bool begins_tablet =
        tablet < tablets.size() && tablets[tablet].rows.begin() == sample.row;
    if (!begins_tablet && sample.offset_bytes - begin < least) continue;
    begin = sample.offset_bytes;
    kept.push_back(std::move(sample));
  }
  kept.push_back(std::move(samples.back()));
  return kept;
}

}  // namespace bigtable::server
