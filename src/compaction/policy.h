// Which SSTables of a locality group to compact next, and how: one interface, and the policies
// that a locality group can choose from (bigtable::CompactionStyle). A policy has no state: it
// looks at the sorted runs and decides, so that the same runs always give the same answer, also
// after a restart.
#ifndef BIGTABLE_COMPACTION_POLICY_H_
#define BIGTABLE_COMPACTION_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bigtable/schema.h"

namespace bigtable {

struct FileSummary {
  uint64_t number = 0;
  uint64_t bytes = 0;
  // Views of the encoded keys: they live as long as the version that was summarised.
  std::string_view smallest_key;
  std::string_view largest_key;
  // The largest timestamp among its entries; -1 if none has one.
  int64_t max_timestamp = -1;
  // It has deletions of columns, families or rows: they concern cells of any age, in older files.
  bool has_wide_deletions = false;
};

struct RunSummary {
  uint64_t bytes = 0;
  // An estimate of the bytes that merging everything would free because of this run: what it
  // overwrites and deletes in older runs, and what has expired in it.
  uint64_t garbage_bytes = 0;
  std::vector<FileSummary> files;  // in key order
};

struct GroupSummary {
  std::vector<RunSummary> runs;  // from new to old
  // A cell with a timestamp before this one is past the age that its family allows, whichever of
  // the group's families it is in. The smallest number if one of them has no such rule.
  int64_t expired_before = 0;
  // What a minor compaction writes, usually.
  uint64_t flush_size = 0;
};

// What to do. Only neighbours may be merged: what lies between two runs in age may hide what is in
// the older one.
struct CompactionPick {
  enum class Kind : uint8_t {
    // Merges the runs [first, first + count) into one.
    kMerge,
    // Takes one file of run `first`, and merges it into run first + 1. Not more: between two that
    // are merged a file of that run could stand.
    kPush,
    // Removes some files, unread.
    kDrop,
  };
  Kind kind = Kind::kMerge;
  size_t first = 0;
  size_t count = 0;
  std::vector<uint64_t> files = {};  // numbers, for kPush and kDrop

  friend bool operator==(const CompactionPick&, const CompactionPick&) = default;
};

class CompactionPolicy {
 public:
  virtual ~CompactionPolicy() = default;
  // Nothing: the runs are good as they are.
  virtual std::optional<CompactionPick> Pick(const GroupSummary& group) const = 0;
  // Whether files of which everything has expired are dropped unread, before Pick is asked.
  virtual bool DropsExpired() const { return true; }
  // Whether the number of runs is kept low, so that writers should wait where it is not.
  virtual bool BoundsRuns() const { return true; }
};

// What a schema may say; checked by schema_checks.h.
inline constexpr CompactionStyle kLastCompactionStyle = CompactionStyle::kNone;

// The policy of a locality group. One for each of its options; costs an allocation.
std::unique_ptr<CompactionPolicy> MakePolicy(const LocalityGroup& group);

// Merges runs of similar size, `width` of them at a time: an entry is rewritten about once for each
// `width`-fold growth of the data, and there are up to `width` - 1 runs of each size. The fewest
// bytes written; good for reads as long as filters say which run has the row.
//
// The first of these that applies:
// 1. When what is in other runs may have made half of everything garbage, all are merged into
//    one: that bounds the space which hidden entries take to that of the live ones. Runs that only
//    add rows are left alone.
// 2. From the new end on, a run joins its newer neighbours if it is not more than kRatio times as
//    large as they are on average. Where `width` or more come together, they are merged.
// 3. With more than kMaxRuns runs, the most that come together in this way are merged, or else the
//    two newest.
class SizeTieredPolicy final : public CompactionPolicy {
 public:
  static constexpr int kDefaultWidth = 5;
  static constexpr size_t kMaxRuns = 20;
  static constexpr uint64_t kRatio = 2;

  explicit SizeTieredPolicy(int width) : width_(static_cast<size_t>(width)) {}
  std::optional<CompactionPick> Pick(const GroupSummary& group) const override;

 private:
  const size_t width_;
};

// Keeps a few large runs, the levels, each up to `fanout` times as large as the one above it, and
// above them a few runs as minor compactions leave them. The fewest runs to read and little space
// for hidden entries, at up to `fanout` rewrites of an entry for each level.
//
// A run is fresh if it has no more than kMaxFresh minor compactions usually write and no larger one
// above it; the others are levels. (Not by the minor compaction it came from: one that is late
// writes several memtables at once, and a level may shrink.) The first of these that applies:
// 1. kMaxFresh fresh runs are merged, and become a level if they are large enough together.
// 2. A level that is larger than its part of the next one, and than what is fresh, pushes the file
//    down that overlaps the least there.
class LeveledPolicy final : public CompactionPolicy {
 public:
  static constexpr int kDefaultFanout = 10;
  static constexpr size_t kMaxFresh = 4;

  explicit LeveledPolicy(int fanout) : fanout_(static_cast<uint64_t>(fanout)) {}
  std::optional<CompactionPick> Pick(const GroupSummary& group) const override;

 private:
  const uint64_t fanout_;
};

// Merges nothing. Drops a file, unread, once everything in it is past the age that the families
// allow. For data that comes in the order of time and is read by recent time ranges or not at all.
class FifoPolicy final : public CompactionPolicy {
 public:
  std::optional<CompactionPick> Pick(const GroupSummary& group) const override;
  bool BoundsRuns() const override { return false; }
};

// Leaves everything as it was written, until somebody calls Database::Compact: to load data.
class NoCompactionPolicy final : public CompactionPolicy {
 public:
  std::optional<CompactionPick> Pick(const GroupSummary&) const override { return std::nullopt; }
  bool DropsExpired() const override { return false; }
  bool BoundsRuns() const override { return false; }
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_POLICY_H_
