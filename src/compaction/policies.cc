#include "compaction/policies.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bigtable {

std::string_view NameOf(CompactionStyle style) {
  switch (style) {
    case CompactionStyle::kSizeTiered:
      return "size_tiered";
    case CompactionStyle::kLeveled:
      return "leveled";
    case CompactionStyle::kFifo:
      return "fifo";
    case CompactionStyle::kNone:
      return "none";
  }
  return "none";  // not reached
}

std::unique_ptr<CompactionPolicy> MakePolicyOfStyle(CompactionStyle style, int factor) {
  switch (style) {
    case CompactionStyle::kSizeTiered:
      return std::make_unique<SizeTieredPolicy>(factor != 0 ? factor
                                                            : SizeTieredPolicy::kDefaultWidth);
    case CompactionStyle::kLeveled:
      return std::make_unique<LeveledPolicy>(factor != 0 ? factor : LeveledPolicy::kDefaultFanout);
    case CompactionStyle::kFifo:
      return std::make_unique<FifoPolicy>();
    case CompactionStyle::kNone:
      return std::make_unique<NoCompactionPolicy>();
  }
  ABSL_ASSERT(false && "a schema has no other style");
  // A policy that does nothing loses no data.
  return std::make_unique<NoCompactionPolicy>();
}

std::unique_ptr<GuardedPolicy> MakePolicy(const LocalityGroup& group) {
  if (group.compaction_policy.empty()) {
    return std::make_unique<GuardedPolicy>(
        MakePolicyOfStyle(group.compaction, group.compaction_factor));
  }
  absl::StatusOr<std::unique_ptr<CompactionPolicy>> policy =
      MakeCompactionPolicy(group.compaction_policy, group);
  if (absl::IsInvalidArgument(policy.status())) policy = std::make_unique<NoCompactionPolicy>();
  return std::make_unique<GuardedPolicy>(std::move(policy));
}

void SetOverlaps(GroupSummary* group) {
  for (size_t i = 0; i < group->runs.size(); ++i) {
    const bool is_oldest = i + 1 == group->runs.size();
    const std::vector<FileSummary> none;
    const std::vector<FileSummary>& older = is_oldest ? none : group->runs[i + 1].files;
    auto first = older.begin();
    for (FileSummary& file : group->runs[i].files) {
      file.overlap_bytes = 0;
      while (first != older.end() && first->largest_key < file.smallest_key) ++first;
      for (auto f = first; f != older.end() && f->smallest_key <= file.largest_key; ++f) {
        file.overlap_bytes += f->bytes;
      }
    }
  }
}

std::optional<CompactionPick> FifoPolicy::Pick(const GroupSummary& group) {
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

namespace {

// The file with the fewest overlapping bytes in the next run for each of its own.
size_t CheapestToPush(const RunSummary& from) {
  size_t cheapest = 0;
  double least = 0;
  for (size_t i = 0; i < from.files.size(); ++i) {
    const FileSummary& file = from.files[i];
    const double cost =
        static_cast<double>(file.overlap_bytes) / static_cast<double>(file.bytes + 1);
    if (i == 0 || cost < least) {
      cheapest = i;
      least = cost;
    }
  }
  return cheapest;
}

}  // namespace

std::optional<CompactionPick> PickDenseDeletions(const GroupSummary& group) {
  const std::vector<RunSummary>& runs = group.runs;
  if (!group.reaches_oldest) return std::nullopt;
  const auto is_dense = [&group](const FileSummary& file) {
    return file.deletions >= kDenseDeletions && file.deletions >= file.entries - file.entries / 4 &&
           file.max_sequence <= group.oldest_snapshot && !file.is_compacting;
  };
  // The entries of the files of older runs that share a part of its key range.
  const auto older_entries = [&runs](size_t run, const FileSummary& file) {
    uint64_t entries = 0;
    for (size_t i = run + 1; i < runs.size(); ++i) {
      for (const FileSummary& other : runs[i].files) {
        const bool overlaps =
            other.smallest_key <= file.largest_key && file.smallest_key <= other.largest_key;
        if (overlaps) entries += other.entries;
      }
    }
    return entries;
  };
  for (size_t run = 0; run + 1 < runs.size(); ++run) {
    for (const FileSummary& file : runs[run].files) {
      if (!is_dense(file) || file.deletions < older_entries(run, file) / kDensePart) continue;
      return CompactionPick{
          .first = run,
          .count = runs.size() - run,
          .files = {file.number},
          .rows = RowRange::Closed(RowOfKey(file.smallest_key), RowOfKey(file.largest_key)),
          .reason = "dense deletions"};
    }
  }
  return std::nullopt;
}

namespace {

bool ShareRow(const FileSummary& a, const FileSummary& b) {
  return RowOfKey(a.largest_key) == RowOfKey(b.smallest_key);
}

// Which files of a run may be joined with their neighbours.
std::vector<bool> AreSmall(const std::vector<FileSummary>& files, uint64_t target_size) {
  std::vector<bool> are_small(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    const FileSummary& file = files[i];
    are_small[i] = file.bytes <= target_size / kSmallPart && !file.is_full && !file.is_compacting;
  }
  for (size_t i = 0; i + 1 < files.size(); ++i) {
    if (!are_small[i] && !are_small[i + 1]) continue;
    if (ShareRow(files[i], files[i + 1])) are_small[i] = are_small[i + 1] = false;
  }
  return are_small;
}

// How far apart the newest timestamps of files may be that are joined. The difference of two
// timestamps may be larger than any of them.
uint64_t MostSpan(const GroupSummary& group) {
  if (group.expired_before == std::numeric_limits<int64_t>::min()) {
    return std::numeric_limits<uint64_t>::max();
  }
  const int64_t now = absl::ToUnixMicros(group.now);
  if (now <= group.expired_before) return 0;
  return (static_cast<uint64_t>(now) - static_cast<uint64_t>(group.expired_before)) / kPartOfAge;
}

// The files from `begin` on that are to be joined; none, or kLeastJoined and more.
size_t JoinedFrom(const std::vector<FileSummary>& files, const std::vector<bool>& are_small,
                  size_t begin, uint64_t target_size, uint64_t most_span) {
  uint64_t bytes = 0, largest = 0;
  int64_t oldest = files[begin].max_timestamp, newest = oldest;
  size_t joined = 0;
  for (size_t i = begin; i < files.size() && i - begin < kMostJoined && are_small[i]; ++i) {
    bytes += files[i].bytes;
    largest = std::max(largest, files[i].bytes);
    oldest = std::min(oldest, files[i].max_timestamp);
    newest = std::max(newest, files[i].max_timestamp);
    const uint64_t span = static_cast<uint64_t>(newest) - static_cast<uint64_t>(oldest);
    if (bytes > target_size || span > most_span) break;
    const size_t count = i - begin + 1;
    if (count >= kLeastJoined && bytes >= largest * kJoinedGrowth) joined = count;
  }
  return joined;
}

}  // namespace

std::optional<CompactionPick> PickSmallFiles(const GroupSummary& group) {
  const uint64_t most_span = MostSpan(group);
  for (size_t run = 0; run < group.runs.size(); ++run) {
    const std::vector<FileSummary>& files = group.runs[run].files;
    if (files.size() < kLeastJoined) continue;
    const std::vector<bool> are_small = AreSmall(files, group.target_file_size);
    for (size_t begin = 0; begin + kLeastJoined <= files.size(); ++begin) {
      const size_t joined = JoinedFrom(files, are_small, begin, group.target_file_size, most_span);
      if (joined == 0) continue;
      CompactionPick pick{.first = run, .count = 1, .reason = "small files"};
      for (size_t i = begin; i < begin + joined; ++i) pick.files.push_back(files[i].number);
      return pick;
    }
  }
  return std::nullopt;
}

std::optional<CompactionPick> LeveledPolicy::Pick(const GroupSummary& group) {
  const std::vector<RunSummary>& runs = group.runs;
  if (std::optional<CompactionPick> dense = PickDenseDeletions(group)) return dense;
  const uint64_t small = kMaxFresh * group.flush_size;
  size_t fresh = 0;
  while (fresh < runs.size() && runs[fresh].bytes <= small) ++fresh;
  if (fresh >= kMaxFresh) return CompactionPick{.first = 0, .count = fresh};
  // Small runs are all at the new end now. So every level may shrink to that size, and each run is
  // either fresh or limited by the next level.
  for (size_t level = fresh; level + 1 < runs.size(); ++level) {
    const uint64_t most = std::max(runs[level + 1].bytes / fanout_, small);
    if (runs[level].bytes <= most) continue;
    const size_t file = CheapestToPush(runs[level]);
    return CompactionPick{.kind = CompactionPick::Kind::kPush,
                          .first = level,
                          .count = 2,
                          .files = {runs[level].files[file].number}};
  }
  return PickSmallFiles(group);
}

namespace {

// The number of runs that join, beginning with `first`.
size_t SimilarFrom(const std::vector<RunSummary>& runs, size_t first) {
  uint64_t together = runs[first].bytes;
  size_t count = 1;
  while (first + count < runs.size() &&
         runs[first + count].bytes * count <= together * SizeTieredPolicy::kRatio) {
    together += runs[first + count].bytes;
    ++count;
  }
  return count;
}

}  // namespace

std::optional<CompactionPick> SizeTieredPolicy::Pick(const GroupSummary& group) {
  const std::vector<RunSummary>& runs = group.runs;
  if (runs.size() < 2) return PickSmallFiles(group);
  if (std::optional<CompactionPick> dense = PickDenseDeletions(group)) return dense;

  uint64_t bytes = 0, garbage = 0;
  for (const RunSummary& run : runs) {
    bytes += run.bytes;
    garbage += run.garbage_bytes;
  }
  if (garbage >= bytes - std::min(bytes, garbage)) {
    return CompactionPick{.first = 0, .count = runs.size()};
  }

  CompactionPick most{.first = 0, .count = 1};
  for (size_t first = 0; first + most.count < runs.size(); ++first) {
    const size_t count = SimilarFrom(runs, first);
    if (count >= width_) return CompactionPick{.first = first, .count = count};
    if (count > most.count) most = {.first = first, .count = count};
  }

  if (runs.size() > kMaxRuns) {
    most.count = std::max<size_t>(most.count, 2);
    return most;
  }
  return PickSmallFiles(group);
}

}  // namespace bigtable
