// Leveled compaction a file at a time, with the ways to choose it that "Constructing and Analyzing
// the LSM Compaction Design Space" (Sarkar, Staratzis, Zhu and Athanassoulis, VLDB 2021) compares.
#ifndef BIGTABLE_BENCH_POLICIES_PARTIAL_H_
#define BIGTABLE_BENCH_POLICIES_PARTIAL_H_

#include <cstdint>
#include <optional>

#include "bigtable/compaction_policy.h"

namespace policies {

enum class FileChoice : uint8_t {
  kRoundRobin,    // the next one in key order; CompactionPick::state has where that is
  kLeastOverlap,  // the one with the fewest bytes below it, for each of its own
  kOldest,        // the one whose entries were written first
  kMostDeleted,   // the one with the most deletions for each entry
};

// Four runs of about the size of a flush are merged. A level that is larger than its share of the
// next one pushes a file down.
class PartialLeveling final : public bigtable::CompactionPolicy {
 public:
  // Of at most so many compactions at a time.
  PartialLeveling(int size_ratio, FileChoice choice, int compactions = 1)
      : size_ratio_(static_cast<uint64_t>(size_ratio)),
        choice_(choice),
        compactions_(compactions) {}
  std::optional<bigtable::CompactionPick> Pick(const bigtable::GroupSummary& group) override;
  int MostCompactions() const override { return compactions_; }

 private:
  static constexpr size_t kMostFresh = 4;

  const uint64_t size_ratio_;
  const FileChoice choice_;
  const int compactions_;
};

}  // namespace policies

#endif  // BIGTABLE_BENCH_POLICIES_PARTIAL_H_
