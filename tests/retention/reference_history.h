// The lives of a column's versions, as a literal implementation of the rule: every existing cell
// has the list of the newer timestamps that have counted against it. It is slow, but short enough
// to be seen to be correct. ColumnHistory is compared to it.
#ifndef BIGTABLE_TESTS_COMPACTION_REFERENCE_HISTORY_H_
#define BIGTABLE_TESTS_COMPACTION_REFERENCE_HISTORY_H_

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/time_range.h"
#include "retention/column_history.h"
#include "retention/past_rules.h"

namespace bigtable {

class ReferenceHistory {
 public:
  using Life = ColumnHistory::Life;
  struct Event {
    EntryVersion version;
    int64_t timestamp;
    EntryKind kind;
    TimeRange range = {};
  };

  // `events` in their order.
  static std::vector<Life> Play(const std::vector<Event>& events,
                                std::vector<PastRules::Versions> past,
                                const VersionLimits& limits) {
    ReferenceHistory history;
    past.push_back({kMaxSequence, limits});
    size_t rule = 0;
    history.limits_ = past[0].limits;
    const auto change_rules = [&](SequenceNumber up_to) {
      for (; past[rule].before <= up_to; ++rule) {
        history.ChangeRule({past[rule].before, 0}, past[rule + 1].limits);
      }
    };
    for (const Event& event : events) {
      change_rules(event.version.sequence);
      history.Happens(event);
    }
    change_rules(kMaxSequence - 1);
    return history.Lives();
  }

 private:
  struct Living {
    int64_t timestamp;
    EntryVersion birth;
    std::set<int64_t> newer;
    EntryVersion counted_out = ColumnHistory::kAlive;

    bool counts() const { return counted_out == ColumnHistory::kAlive; }
  };

  void Happens(const Event& event) {
    switch (event.kind) {
      case EntryKind::kCell:
      case EntryKind::kShadow:
        return Write(event.timestamp, event.version);
      case EntryKind::kGhost:
        Delete(event.timestamp, event.version);
        lives_.push_back({event.timestamp, event.version, event.version});
        return CountAgainstOlder(event.timestamp, event.version);
      case EntryKind::kDeleteCell:
        return Delete(event.timestamp, event.version);
      case EntryKind::kCountedOut:
        for (Living& cell : living_) {
          if (cell.timestamp == event.timestamp && cell.counts() && !limits_.by_age.empty()) {
            cell.counted_out = event.version;
          }
        }
        return;
      case EntryKind::kDeleteTimeRange:
        return EndIf(event.version,
                     [&](const Living& cell) { return event.range.Contains(cell.timestamp); });
      default:
        EndIf(event.version, [](const Living&) { return true; });
    }
  }
  void Write(int64_t timestamp, EntryVersion version) {
    Delete(timestamp, version);
    Living cell{timestamp, version, NewerThan(timestamp)};
    if (HasMostNewer(cell)) {
      if (limits_.by_age.empty()) {
        lives_.push_back({timestamp, version, version});
        return;
      }
      cell.counted_out = version;
    } else {
      CountAgainstOlder(timestamp, version);
    }
    living_.push_back(std::move(cell));
  }
  void Delete(int64_t timestamp, EntryVersion version) {
    EndIf(version, [&](const Living& cell) { return cell.timestamp == timestamp; });
  }
  void CountAgainstOlder(int64_t timestamp, EntryVersion version) {
    for (Living& cell : living_) {
      if (cell.timestamp < timestamp) cell.newer.insert(timestamp);
    }
    ApplyMost(version);
  }
  void ApplyMost(EntryVersion version) {
    if (limits_.by_age.empty()) {
      return EndIf(version, [this](const Living& cell) { return HasMostNewer(cell); });
    }
    for (Living& cell : living_) {
      if (HasMostNewer(cell) && cell.counts()) cell.counted_out = version;
    }
  }
  void ChangeRule(EntryVersion version, const VersionLimits& limits) {
    EndIf(version, [this](const Living& cell) { return IsExpired(cell); });
    limits_ = limits;
    for (Living& cell : living_) cell.counted_out = ColumnHistory::kAlive;
    for (Living& cell : living_) cell.newer = NewerThan(cell.timestamp);
    std::vector<Living*> newest_first;
    for (Living& cell : living_) newest_first.push_back(&cell);
    std::sort(newest_first.begin(), newest_first.end(),
              [](const Living* a, const Living* b) { return a->timestamp > b->timestamp; });
    // Cells that do not count from the change on do not count against older ones.
    for (Living* cell : newest_first) {
      cell->newer = NewerThan(cell->timestamp);
      if (HasMostNewer(*cell) && !limits_.by_age.empty()) cell->counted_out = version;
    }
    ApplyMost(version);
  }

  // The timestamps of cells that count.
  std::set<int64_t> NewerThan(int64_t timestamp) const {
    std::set<int64_t> newer;
    for (const Living& cell : living_) {
      if (cell.timestamp > timestamp && cell.counts()) newer.insert(cell.timestamp);
    }
    return newer;
  }
  bool HasMostNewer(const Living& cell) const {
    return static_cast<int64_t>(cell.newer.size()) >= limits_.most;
  }
  bool IsExpired(const Living& cell) const {
    for (const VersionLimit& limit : limits_.by_age) {
      if (static_cast<int64_t>(cell.newer.size()) >= limit.newer &&
          cell.timestamp < limit.min_timestamp) {
        return true;
      }
    }
    return false;
  }
  template <typename Predicate>
  void EndIf(EntryVersion version, Predicate ends) {
    std::erase_if(living_, [&](const Living& cell) {
      if (!ends(cell)) return false;
      Life life{cell.timestamp, cell.birth, version};
      life.counted_out = cell.counted_out;
      if (version == ColumnHistory::kAlive) life.is_expired = IsExpired(cell);
      lives_.push_back(life);
      return true;
    });
  }
  // The last life of each timestamp, newest timestamp first.
  std::vector<Life> Lives() {
    EndIf(ColumnHistory::kAlive, [](const Living&) { return true; });
    std::stable_sort(lives_.begin(), lives_.end(), [](const Life& a, const Life& b) {
      return a.timestamp != b.timestamp ? a.timestamp > b.timestamp : a.birth > b.birth;
    });
    const auto same = [](const Life& a, const Life& b) { return a.timestamp == b.timestamp; };
    lives_.erase(std::unique(lives_.begin(), lives_.end(), same), lives_.end());
    return lives_;
  }

  VersionLimits limits_;
  std::vector<Living> living_;
  std::vector<Life> lives_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_COMPACTION_REFERENCE_HISTORY_H_
