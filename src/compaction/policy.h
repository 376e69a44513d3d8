// Selects the SSTables of a locality group to compact next, and how: one interface, and the
// policies that a locality group can choose from (bigtable::CompactionStyle). A policy has no
// state: the same runs always give the same pick, also after a restart.
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
  // Views of the encoded keys, valid as long as the version that was summarised.
  std::string_view smallest_key;
  std::string_view largest_key;
  // The largest timestamp of its entries; -1 if none has one.
  int64_t max_timestamp = -1;
  // It has deletions of columns, families or rows: they affect cells of any age, in older files.
  bool has_wide_deletions = false;
};

struct RunSummary {
  uint64_t bytes = 0;
  // An estimate of the bytes that a merge of all runs would free because of this run: entries that
  // it overwrites and deletes in older runs, and its own expired entries.
  uint64_t garbage_bytes = 0;
  std::vector<FileSummary> files;  // in key order
};

struct GroupSummary {
  std::vector<RunSummary> runs;  // from new to old
  // A cell with a timestamp before this one is past the age limit of its family, whichever of the
  // group's families that is. The smallest number if a family has no such rule.
  int64_t expired_before = 0;
  // The usual size of a flush.
  uint64_t flush_size = 0;
};

// Only adjacent runs may be merged: a run whose age is between two others may hide entries of the
// older one.
struct CompactionPick {
  enum class Kind : uint8_t {
    // Merges the runs [first, first + count) into one.
    kMerge,
    // Takes one file of run `first`, and merges it into run first + 1. Only one, because a file of
    // that run could be between two.
    kPush,
    // Removes some files without reading them.
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
  // The next compaction; nullopt if none is needed.
  virtual std::optional<CompactionPick> Pick(const GroupSummary& group) const = 0;
  // Whether files in which every cell has expired are dropped unread, before Pick is called.
  virtual bool DropsExpired() const { return true; }
  // Whether the policy keeps the number of runs low, so that writers should wait while it is high.
  // A policy that returns true must come to rest with fewer runs than WriteController::kSlowRuns,
  // or writers are slowed for ever.
  virtual bool BoundsRuns() const { return true; }
};

// The last valid value in a schema; schema_checks.h checks it.
inline constexpr CompactionStyle kLastCompactionStyle = CompactionStyle::kNone;

// The policy of a locality group, with its options. Costs an allocation.
std::unique_ptr<CompactionPolicy> MakePolicy(const LocalityGroup& group);

// Merges runs of similar size, `width` of them at a time. An entry is rewritten about once for each
// `width`-fold growth of the data, and there are up to `width` - 1 runs of each size. Writes the
// fewest bytes; good for reads as long as filters name the run that has the row.
//
// The first of these that applies:
// 1. If entries in other runs may have made half of all bytes garbage, all runs are merged into
// one. This limits the space of hidden entries to that of the live ones. Runs that only add rows
// are left alone.
// 2. From the new end, a run joins its newer neighbours if it is at most kRatio times as large as
// their average. If `width` or more join, they are merged.
// 3. With more than kMaxRuns runs, the largest number of runs that join in this way are merged, or
// else the two newest.
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
// above them a few runs from flushes. Has the fewest runs to read and little space for hidden
// entries, at up to `fanout` rewrites of an entry for each level.
//
// A run is fresh if neither it nor a run above it is larger than kMaxFresh flushes of usual size.
// The other runs are levels. (It does not matter which flush wrote a run: a late flush writes
// several memtables at once, and a level may shrink.) The first of these that applies:
// 1. kMaxFresh fresh runs are merged. The result is a level if it is large enough.
// 2. A level that is larger than its part of the next one, and than the limit of fresh runs, pushes
// down the file that overlaps the least there.
class LeveledPolicy final : public CompactionPolicy {
 public:
  static constexpr int kDefaultFanout = 10;
  static constexpr size_t kMaxFresh = 4;

  explicit LeveledPolicy(int fanout) : fanout_(static_cast<uint64_t>(fanout)) {}
  std::optional<CompactionPick> Pick(const GroupSummary& group) const override;

 private:
  const uint64_t fanout_;
};

// Merges nothing. Drops a file, unread, once all its cells are past the age limits of their
// families. For data that arrives in the order of time and is read by recent time ranges or not at
// all.
class FifoPolicy final : public CompactionPolicy {
 public:
  std::optional<CompactionPick> Pick(const GroupSummary& group) const override;
  bool BoundsRuns() const override { return false; }
};

// Leaves every file unchanged until Database::Compact is called: to load data.
class NoCompactionPolicy final : public CompactionPolicy {
 public:
  std::optional<CompactionPick> Pick(const GroupSummary&) const override { return std::nullopt; }
  bool DropsExpired() const override { return false; }
  bool BoundsRuns() const override { return false; }
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_POLICY_H_
