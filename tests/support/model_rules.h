// The garbage collection rule of a column family with all its previous values, and which cells they
// keep, as the public headers define it (GcRule in bigtable/schema.h). For models of a database:
// simple and slow.
//
// A change of the rule has its own sequence number in the order of mutations. The changes divide
// the history of a column into spans, each with its own rule, whose steps are:
//   * MaxVersions(n): a cell is dropped once n cells of its column with newer timestamps have
//     existed since it was written, or since the span began if that was later. They count even if
//     they were deleted later; cells with the same timestamp count once.
//   * MaxAge: a cell is dropped when its timestamp is less than the current time minus the age. A
//     rule with a shorter age than the next one also applies to cells written before the change, at
//     the time of the change. A cell dropped this way counts as never written.
//   * Both: a cell is dropped when both hold. Until then it counts, but only until as many newer
//     cells have existed as the largest n of the rule; from then on it counts no more. The previous
//     rule applies at the time of a change, as for MaxAge.
// A snapshot from before a change sees the cells of that time, except those that later rules drop.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_RULES_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_RULES_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "bigtable/schema.h"

namespace bigtable {

// Whether the rule combines versions with an age (GcRule::Intersection).
inline bool CombinesVersionsWithAge(const GcRule& rule) {
  return std::ranges::any_of(rule.steps(), [](const GcRule::Step& step) {
    return step.versions != 0 && step.age != -absl::InfiniteDuration();
  });
}
// Whether the rule counts versions.
inline bool CountsVersions(const GcRule& rule) {
  return std::ranges::any_of(rule.steps(),
                             [](const GcRule::Step& step) { return step.versions != 0; });
}
// "3 newer, older than 1ms; 10 newer": what it drops.
inline std::string Describe(const GcRule& rule) {
  std::string text;
  for (const GcRule::Step& step : rule.steps()) {
    if (!text.empty()) text += "; ";
    if (step.versions != 0) absl::StrAppend(&text, step.versions, " newer");
    if (step.age == -absl::InfiniteDuration()) continue;
    absl::StrAppend(&text, step.versions != 0 ? ", " : "", "older than ",
                    absl::FormatDuration(step.age));
  }
  return text.empty() ? "nothing" : text;
}

// When an operation took effect: the sequence number of its mutation, and its position in the
// mutation.
struct ModelVersion {
  uint64_t sequence = 0;
  uint32_t ordinal = 0;

  friend auto operator<=>(const ModelVersion&, const ModelVersion&) = default;
};
inline constexpr ModelVersion kNotYet{std::numeric_limits<uint64_t>::max(),
                                      std::numeric_limits<uint32_t>::max()};

// A cell existed, or counted, from `birth` until before `death`.
struct ModelLife {
  ModelVersion birth;
  ModelVersion death;
};

// What becomes of a cell.
struct ModelFate {
  std::vector<ModelLife> counted;  // when it counts against older cells, in order
  ModelVersion death;
  bool is_visible = false;  // to the read
};

class ModelRules {
 public:
  explicit ModelRules(const GcRule& rule) : present_(rule) {}

  // Call this for changes in order, with sequence numbers that no mutation has.
  void Change(const GcRule& rule, uint64_t sequence, int64_t now_micros) {
    if (rule == present_) return;
    const bool is_longer = present_.max_age().has_value() &&
                           (!rule.max_age().has_value() || *rule.max_age() > *present_.max_age());
    const int64_t dropped =
        is_longer ? MinTimestamp(present_, now_micros) : std::numeric_limits<int64_t>::min();
    past_.push_back({sequence, present_, dropped, now_micros});
    present_ = rule;
  }

  // Whether MaxAge drops a cell that was written at `sequence`.
  bool HasExpired(uint64_t sequence, int64_t timestamp, int64_t now_micros) const {
    if (timestamp < MinTimestamp(present_, now_micros)) return true;
    return std::any_of(past_.begin(), past_.end(), [&](const Past& past) {
      return sequence < past.before && timestamp < past.min_timestamp;
    });
  }

  // Of a cell that was written at `birth`, and deleted or overwritten at `deleted` unless a rule
  // drops it before. `newer` has when each newer timestamp counts, in order.
  ModelFate FateOf(ModelVersion birth, ModelVersion deleted, int64_t timestamp,
                   const std::vector<std::vector<ModelLife>>& newer, int64_t now_micros) const {
    ModelFate fate;
    ModelVersion from = birth;
    for (size_t i = 0;; ++i) {
      const bool is_present = i == past_.size();
      const GcRule& rule = is_present ? present_ : past_[i].rule;
      const std::vector<GcRule::Step> steps = Counting(rule);
      // A change of the age alone does not begin a span.
      if (!is_present && steps == Counting(RuleAfter(i))) continue;
      const ModelVersion change = is_present ? kNotYet : ModelVersion{past_[i].before, 0};
      if (change <= from) continue;
      const ModelVersion until = std::min(change, deleted);
      ModelVersion counted_to = until;
      if (!steps.empty()) {
        counted_to = std::min(until, NthNewer(from, newer, steps.back().versions));
      }
      if (from < counted_to) fate.counted.push_back({from, counted_to});
      const bool is_by_count = steps.size() == 1 && steps[0].age == -absl::InfiniteDuration();
      if (is_by_count && counted_to < until) {
        fate.death = counted_to;
        return fate;
      }
      if (deleted <= change && deleted != kNotYet) {
        fate.death = deleted;
        return fate;
      }
      // It is there at the end of the span.
      const int64_t now = is_present ? now_micros : past_[i].now_micros;
      const bool is_dropped =
          std::any_of(steps.begin(), steps.end(), [&](const GcRule::Step& step) {
            return NthNewer(from, newer, step.versions) < change && timestamp < Oldest(step, now);
          });
      if (is_present || is_dropped) {
        fate.death = change;
        fate.is_visible = !is_dropped;
        return fate;
      }
      from = change;
    }
  }

 private:
  struct Past {
    uint64_t before;
    GcRule rule;
    int64_t min_timestamp;
    int64_t now_micros;  // of the change
  };

  // The steps that count versions, the last of which has the most.
  static std::vector<GcRule::Step> Counting(const GcRule& rule) {
    std::vector<GcRule::Step> steps;
    for (const GcRule::Step& step : rule.steps()) {
      if (step.versions > 0) steps.push_back(step);
    }
    return steps;
  }
  static int64_t Oldest(const GcRule::Step& step, int64_t now_micros) {
    return step.age == -absl::InfiniteDuration() ? std::numeric_limits<int64_t>::max()
                                                 : now_micros - absl::ToInt64Microseconds(step.age);
  }

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
