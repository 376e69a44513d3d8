// The lives of a column's versions, as a literal implementation of the rule: every existing cell
// has the list of the newer timestamps that have existed with it. It is slow, but short enough to
// be seen to be correct. ColumnHistory is compared to it.
#ifndef BIGTABLE_TESTS_COMPACTION_REFERENCE_HISTORY_H_
#define BIGTABLE_TESTS_COMPACTION_REFERENCE_HISTORY_H_

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "compaction/column_history.h"
#include "compaction/past_rules.h"

namespace bigtable {

class ReferenceHistory {
 public:
  using Life = ColumnHistory::Life;
  struct Event {
    EntryVersion version;
    int64_t timestamp;
    EntryKind kind;
  };

  // `events` in their order.
  static std::vector<Life> Play(const std::vector<Event>& events,
                                std::vector<PastRules::Versions> past, int64_t most) {
    ReferenceHistory history;
    past.push_back({kMaxSequence, most});
    size_t rule = 0;
    history.most_ = past[0].most;
    const auto change_rules = [&](SequenceNumber up_to) {
      for (; past[rule].before <= up_to; ++rule) {
        history.ChangeRule({past[rule].before, 0}, past[rule + 1].most);
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
      default:
        EndIf(event.version, [](const Living&) { return true; });
    }
  }
  void Write(int64_t timestamp, EntryVersion version) {
    Delete(timestamp, version);
    Living cell{timestamp, version, NewerThan(timestamp)};
    if (IsSuperseded(cell)) {
      lives_.push_back({timestamp, version, version});
      return;
    }
    CountAgainstOlder(timestamp, version);
    living_.push_back(std::move(cell));
  }
  void Delete(int64_t timestamp, EntryVersion version) {
    EndIf(version, [&](const Living& cell) { return cell.timestamp == timestamp; });
  }
  void CountAgainstOlder(int64_t timestamp, EntryVersion version) {
    for (Living& cell : living_) {
      if (cell.timestamp < timestamp) cell.newer.insert(timestamp);
    }
    EndIf(version, [this](const Living& cell) { return IsSuperseded(cell); });
  }
  void ChangeRule(EntryVersion version, int64_t most) {
    most_ = most;
    for (Living& cell : living_) cell.newer = NewerThan(cell.timestamp);
    EndIf(version, [this](const Living& cell) { return IsSuperseded(cell); });
  }

  std::set<int64_t> NewerThan(int64_t timestamp) const {
    std::set<int64_t> newer;
    for (const Living& cell : living_) {
      if (cell.timestamp > timestamp) newer.insert(cell.timestamp);
    }
    return newer;
  }
  bool IsSuperseded(const Living& cell) const {
    return static_cast<int64_t>(cell.newer.size()) >= most_;
  }
  template <typename Predicate>
  void EndIf(EntryVersion version, Predicate ends) {
    std::erase_if(living_, [&](const Living& cell) {
      if (!ends(cell)) return false;
      lives_.push_back({cell.timestamp, cell.birth, version});
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

  int64_t most_ = 0;
  std::vector<Living> living_;
  std::vector<Life> lives_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_COMPACTION_REFERENCE_HISTORY_H_
