#include <algorithm>

#include "compaction/policies.h"

namespace bigtable {

std::optional<CompactionPick> FifoPolicy::Pick(const GroupSummary& group) const {
  const auto is_expired = [&](const FileSummary& file) {
    return file.max_timestamp < group.expired_before;
  };
  CompactionPick drop{.kind = CompactionPick::Kind::kDrop};
  for (size_t i = 0; i < group.runs.size(); ++i) {
    const std::vector<FileSummary>& files = group.runs[i].files;
    // A deletion that is wider than a cell may hide unexpired cells, in older files or in the same
    // run.
    const bool hides_nothing_else = group.reaches_oldest && i + 1 == group.runs.size() &&
                                    std::all_of(files.begin(), files.end(), is_expired);
    for (const FileSummary& file : files) {
      if (is_expired(file) && (!file.has_wide_deletions || hides_nothing_else)) {
        drop.files.push_back(file.number);
      }
    }
  }
  if (drop.files.empty()) return std::nullopt;
  return drop;
}

}  // namespace bigtable
