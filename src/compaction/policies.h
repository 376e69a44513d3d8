// The engine's compaction policies (bigtable::CompactionStyle). Their interface is public, so that
// users can write their own: bigtable/compaction_policy.h. The engine's have no state: the same
// runs always give the same pick, also after a restart.
#ifndef BIGTABLE_COMPACTION_POLICIES_H_
#define BIGTABLE_COMPACTION_POLICIES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/compaction_policy.h"
#include "bigtable/schema.h"

#include "base/catch_thrown.h"

namespace bigtable {

// A policy of a locality group that is the program's: what its functions throw is kept as an error,
// and they return what changes nothing. A policy of the engine passes through.
//
// One thread at a time.
class GuardedPolicy final : public CompactionPolicy {
 public:
  // `policy` may be an error, of its factory.
  explicit GuardedPolicy(absl::StatusOr<std::unique_ptr<CompactionPolicy>> policy)
      : error_(policy.status()), policy_(policy.ok() ? *std::move(policy) : nullptr) {}

  std::optional<CompactionPick> Pick(const GroupSummary& group) override {
    std::optional<CompactionPick> pick;
    Call("CompactionPolicy::Pick", [&] { pick = policy_->Pick(group); });
    return error_.ok() ? pick : std::nullopt;
  }
  CompactionOutput FlushOutput(const GroupSummary& group) override {
    CompactionOutput output;
    Call("CompactionPolicy::FlushOutput", [&] { output = policy_->FlushOutput(group); });
    return error_.ok() ? output : CompactionOutput();
  }
  bool DropsExpired() const override {
    bool drops = false;
    Call("CompactionPolicy::DropsExpired", [&] { drops = policy_->DropsExpired(); });
    return drops;
  }
  bool BoundsRuns() const override {
    bool bounds = false;
    Call("CompactionPolicy::BoundsRuns", [&] { bounds = policy_->BoundsRuns(); });
    return bounds;
  }
  int MostCompactions() const override {
    int most = 1;
    Call("CompactionPolicy::MostCompactions", [&] { most = policy_->MostCompactions(); });
    return most;
  }
  // What it or its factory has thrown first; OK if nothing.
  const absl::Status& error() const { return error_; }

 private:
  template <typename Function>
  void Call(std::string_view name, const Function& function) const {
    if (error_.ok()) error_ = CatchThrown(name, function);
  }

  mutable absl::Status error_;
  const std::unique_ptr<CompactionPolicy> policy_;
};

// The last valid value in a schema; schema_checks.h checks it.
inline constexpr CompactionStyle kLastCompactionStyle = CompactionStyle::kNone;

// The policy of a locality group: the one that it names, or else that of its style. Costs an
// allocation, and a lock and a search if it has a name. A name that is not registered gives a
// policy that does nothing; databases with such a name open only read-only. So does one whose
// factory throws, with that as its error().
std::unique_ptr<GuardedPolicy> MakePolicy(const LocalityGroup& group);
// The name under which the policy of a style is registered.
std::string_view NameOf(CompactionStyle style);
// A policy of the engine; factor 0 is its default.
std::unique_ptr<CompactionPolicy> MakePolicyOfStyle(CompactionStyle style, int factor);

// Sets FileSummary::overlap_bytes of all files.
void SetOverlaps(GroupSummary* group);

// Whether RegisterCompactionPolicy takes a name of this form.
bool IsPolicyName(std::string_view name);
// For tests: as if the policy had never been registered.
void ForgetPolicy(std::string_view name);

// A file that consists of deletions of rows that are next to each other, or nearly so, as after a
// program has deleted a part of a table row by row. Reads pass these rows one by one until a merge
// with all older runs has removed them. The pick is of the rows of that file alone; nullopt if
// there is no such file.
//
// At least three quarters of its entries are deletions, at least kDenseDeletions, no snapshot is
// older than one of them, and the files that it is merged with have at most kDensePart times as
// many entries. That bounds what is written for a deletion.
inline constexpr uint64_t kDenseDeletions = 10000;
inline constexpr uint64_t kDensePart = 8;
std::optional<CompactionPick> PickDenseDeletions(const GroupSummary& group);

// Small files of one run that are next to each other: rows that are written in order leave one for
// each flush, and each of them costs memory, a part of METADATA and time to open. nullopt if there
// are no such files.
//
// A file is small up to a kSmallPart-th of the size at which files end, unless it is full or shares
// a row with its neighbour. At least kLeastJoined are joined, and the largest becomes at least
// kJoinedGrowth times as large: so an entry is written again once for each such growth, and no more
// once its file is not small. With an age limit, the newest cells of the files are no further apart
// than a kPartOfAge-th of it, since a file is dropped when its last cell has expired.
inline constexpr uint64_t kSmallPart = 8;
inline constexpr size_t kLeastJoined = 10;
inline constexpr size_t kMostJoined = 256;
inline constexpr uint64_t kJoinedGrowth = 4;
inline constexpr uint64_t kPartOfAge = 8;
std::optional<CompactionPick> PickSmallFiles(const GroupSummary& group);

// Merges runs of similar size, `width` of them at a time. An entry is rewritten about once for each
// `width`-fold growth of the data, and there are up to `width` - 1 runs of each size. Writes the
// fewest bytes; good for reads as long as filters name the run that has the row.
//
// The first of these that applies:
// 1. Dense deletions are merged with what they hide (PickDenseDeletions).
// 2. If entries in other runs may have made half of all bytes garbage, all runs are merged into
// one. This limits the space of hidden entries to that of the live ones. Runs that only add rows
// are left alone.
// 3. From the new end, a run joins its newer neighbours if it is at most kRatio times as large as
// their average. If `width` or more join, they are merged.
// 4. With more than kMaxRuns runs, the largest number of runs that join in this way are merged, or
// else the two newest.
// 5. Small files of a run are joined (PickSmallFiles).
class SizeTieredPolicy final : public CompactionPolicy {
 public:
  static constexpr int kDefaultWidth = 5;
  static constexpr size_t kMaxRuns = 20;
  static constexpr uint64_t kRatio = 2;

  explicit SizeTieredPolicy(int width) : width_(static_cast<size_t>(width)) {}
  std::optional<CompactionPick> Pick(const GroupSummary& group) override;

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
// 1. Dense deletions are merged with what they hide (PickDenseDeletions).
// 2. kMaxFresh fresh runs are merged. The result is a level if it is large enough.
// 3. A level that is larger than its part of the next one, and than the limit of fresh runs, pushes
// down the file that overlaps the least there.
// 4. Small files of a run are joined (PickSmallFiles).
class LeveledPolicy final : public CompactionPolicy {
 public:
  static constexpr int kDefaultFanout = 10;
  static constexpr size_t kMaxFresh = 4;

  explicit LeveledPolicy(int fanout) : fanout_(static_cast<uint64_t>(fanout)) {}
  std::optional<CompactionPick> Pick(const GroupSummary& group) override;

 private:
  const uint64_t fanout_;
};

// Merges nothing. Drops a file, unread, once all its cells are past the age limits of their
// families. For data that arrives in the order of time and is read by recent time ranges or not at
// all.
class FifoPolicy final : public CompactionPolicy {
 public:
  std::optional<CompactionPick> Pick(const GroupSummary& group) override;
  bool BoundsRuns() const override { return false; }
};

// Leaves every file unchanged until Database::Compact is called: to load data.
class NoCompactionPolicy final : public CompactionPolicy {
 public:
  std::optional<CompactionPick> Pick(const GroupSummary&) override { return std::nullopt; }
  bool DropsExpired() const override { return false; }
  bool BoundsRuns() const override { return false; }
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_POLICIES_H_
