// Merges the contributions to a cell, from the newest to the oldest, as a read meets them in its
// sources. What comes from one source is merged on its own first, so that the source can keep the
// result for later reads (base/entry_cursor.h). One thread at a time.
#ifndef BIGTABLE_READ_CONTRIBUTION_MERGE_H_
#define BIGTABLE_READ_CONTRIBUTION_MERGE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "retention/aggregates.h"

namespace bigtable {

// A contribution, of which the source may have moved on.
struct Contribution {
  const EntryCursor* source = nullptr;
  MergePlace* place = nullptr;  // null: nothing is kept
  EntryVersion version;
  EntryKind kind = EntryKind::kAddToCell;
  std::string_view value;
};

class ContributionMerge {
 public:
  // A merge of so many contributions is worth keeping.
  static constexpr uint64_t kLeastKept = 64;
  // For tests: another number, for merges that begin after the call.
  static void SetLeastKept(uint64_t n) { least_kept.store(n, std::memory_order_relaxed); }

  // `op` outlives this. `keeps`: lets sources keep what was merged.
  ContributionMerge(const AggregateOperator& op, bool keeps) : op_(op), keeps_(keeps) {}
  ContributionMerge(const ContributionMerge&) = delete;
  ContributionMerge& operator=(const ContributionMerge&) = delete;

  // Takes a contribution that is older than all before; its value is used only during the call. If
  // `kept` is not null, it is that of the contribution's place, and all that it merges is taken.
  // After an error nothing else may be called.
  absl::Status Take(const Contribution& contribution, const KeptMerge* kept);
  // Sets `*state` to the merge of all, of which there was at least one.
  absl::Status Finish(std::string* state);

 private:
  absl::Status EndSource();

  static std::atomic<uint64_t> least_kept;

  const AggregateOperator& op_;
  const bool keeps_;
  const uint64_t least_kept_ = least_kept.load(std::memory_order_relaxed);
  // What was taken from the present source.
  const EntryCursor* source_ = nullptr;
  MergePlace* place_ = nullptr;  // of the newest
  uint64_t taken_ = 0;
  EntryVersion oldest_;
  EntryKind oldest_kind_ = EntryKind::kAddToCell;
  std::string state_;
  // What was taken from sources before.
  bool has_total_ = false;
  std::string total_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_CONTRIBUTION_MERGE_H_
