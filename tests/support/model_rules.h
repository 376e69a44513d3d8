// The garbage collection rule of a column family with all its previous values, and which cells they
// keep, as the public headers define it (GcRule in bigtable/schema.h). For models of a database:
// simple and slow.
//
// A change of the rule has its own sequence number in the order of mutations. The changes divide
// the history of a column into spans, each with its own rule:
//   * MaxVersions(n): a cell is dropped once n cells of its column with newer timestamps have
//     existed since it was written, or since the span began if that was later. They count even if
//     they were deleted later; cells with the same timestamp count once.
//   * MaxAge: a cell is dropped when its timestamp is less than the current time minus the age. The
//     previous rule also applies to cells written before a change, at the time of the change. A
//     cell dropped this way counts as never written.
// A snapshot from before a change sees the cells of that time, except those that later rules drop.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_RULES_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_RULES_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/schema.h"

namespace bigtable {

// When an operation took effect: the sequence number of its mutation, and its position in the
// mutation.
struct ModelVersion {
  uint64_t sequence = 0;
  uint32_t ordinal = 0;

  friend auto operator<=>(const ModelVersion&, const ModelVersion&) = default;
};
inline constexpr ModelVersion kNotYet{std::numeric_limits<uint64_t>::max(),
                                      std::numeric_limits<uint32_t>::max()};

// A cell existed from `birth` until before `death`.
struct ModelLife {
  ModelVersion birth;
  ModelVersion death;
};

class ModelRules {
 public:
  explicit ModelRules(const GcRule& rule) : present_(rule) {}

  // Call this for changes in order, with sequence numbers that no mutation has.
  void Change(const GcRule& rule, uint64_t sequence, int64_t now_micros) {
    if (rule == present_) return;
    past_.push_back({sequence, present_, MinTimestamp(present_, now_micros)});
    present_ = rule;
  }

  // Whether MaxAge drops a cell that was written at `sequence`.
  bool HasExpired(uint64_t sequence, int64_t timestamp, int64_t now_micros) const {
    if (timestamp < MinTimestamp(present_, now_micros)) return true;
    return std::any_of(past_.begin(), past_.end(), [&](const Past& past) {
      return sequence < past.before && timestamp < past.min_timestamp;
    });
  }

  // When MaxVersions drops a cell that was written at `birth`. `newer` has the lives at each newer
  // timestamp, in order.
  ModelVersion CountedOut(ModelVersion birth,
                          const std::vector<std::vector<ModelLife>>& newer) const {
    ModelVersion from = birth;
    for (size_t i = 0; i <= past_.size(); ++i) {
      const GcRule& rule = i < past_.size() ? past_[i].rule : present_;
      // A change of the age alone does not begin a span.
      if (i < past_.size() && rule.max_versions() == RuleAfter(i).max_versions()) continue;
      const ModelVersion change = i < past_.size() ? ModelVersion{past_[i].before, 0} : kNotYet;
      if (change <= from) continue;
      if (rule.max_versions()) {
        const ModelVersion end = NthNewer(from, newer, *rule.max_versions());
        if (end < change) return end;
      }
      from = change;
    }
    return kNotYet;
  }

 private:
  struct Past {
    uint64_t before;
    GcRule rule;
    int64_t min_timestamp;
  };

  static int64_t MinTimestamp(const GcRule& rule, int64_t now_micros) {
    if (!rule.max_age()) return std::numeric_limits<int64_t>::min();
    return now_micros - absl::ToInt64Microseconds(*rule.max_age());
  }
  const GcRule& RuleAfter(size_t i) const {
    return i + 1 < past_.size() ? past_[i + 1].rule : present_;
  }

  // When the n-th newer timestamp had a cell since `from`.
  static ModelVersion NthNewer(ModelVersion from, const std::vector<std::vector<ModelLife>>& newer,
                               int64_t n) {
    std::vector<ModelVersion> first_seen;
    for (const std::vector<ModelLife>& lives : newer) {
      for (const ModelLife& life : lives) {
        if (life.death > from) {
          first_seen.push_back(std::max(life.birth, from));
          break;  // lives are in order: this is the first
        }
      }
    }
    if (first_seen.size() < static_cast<size_t>(n)) return kNotYet;
    std::sort(first_seen.begin(), first_seen.end());
    return first_seen[static_cast<size_t>(n) - 1];
  }

  GcRule present_;
  std::vector<Past> past_;  // in order
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_RULES_H_
