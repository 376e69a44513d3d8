#include "compaction/column_history.h"

#include <algorithm>
#include <numeric>

namespace bigtable {
namespace {

// The number of entries between two calls of GoOn.
constexpr size_t kCheckEvery = 256;

}  // namespace

void ColumnHistory::Clear() {
  events_.clear();
  lives_.clear();
  last_met_ = 0;
}

bool ColumnHistory::AddColumn(EntryCursor* entries, std::string_view column_prefix,
                              const Bounds& bounds, GoOn go_on) {
  const size_t key_size = column_prefix.size() + kTrailerSize;
  size_t met = 0;
  for (; entries->valid(); entries->Next()) {
    const std::string_view key = entries->key();
    if (key.size() != key_size || !key.starts_with(column_prefix)) return true;
    if (++met % kCheckEvery == 0 && !go_on()) return false;
    const EntryVersion version = VersionOf(key);
    last_met_ = std::max(last_met_, version.sequence);
    if (version.sequence <= bounds.written_after || version.sequence > bounds.written_by) continue;
    const EntryKind kind = KindOf(key);
    if (!HasTimestamp(kind)) {
      AddWideDeletion(version);
      continue;
    }
    const int64_t timestamp = TimestampOf(key);
    if (timestamp < bounds.min_timestamp) continue;
    if (bounds.past != nullptr && bounds.past->HasExpired(version.sequence, timestamp)) continue;
    Add(timestamp, version, kind);
  }
  return true;
}

void ColumnHistory::AddWideDeletions(const DeletionTracker& deletions, const Bounds& bounds) {
  deletions.ForEachWide([&](EntryVersion version) {
    last_met_ = std::max(last_met_, version.sequence);
    if (version.sequence > bounds.written_after && version.sequence <= bounds.written_by) {
      AddWideDeletion(version);
    }
  });
}

bool ColumnHistory::Play(absl::Span<const PastRules::Versions> past, int64_t most, GoOn go_on) {
  lives_.clear();
  NumberEvents(past, most);
  newer_.Reset(static_cast<EventNumber>(events_.size()));
  const absl::Span<const EventNumber> all = by_timestamp_;
  size_t checked_to = 0;
  for (size_t i = 0, end = 0; i < all.size(); i = end) {
    const int64_t timestamp = EventOf(all[i]).timestamp;
    while (end < all.size() && EventOf(all[end]).timestamp == timestamp) ++end;
    if (end >= checked_to + kCheckEvery) {
      if (!go_on()) return false;
      checked_to = end;
    }
    PlayTimestamp(all.subspan(i, end - i));
  }
  return true;
}

const ColumnHistory::Life* ColumnHistory::FindLife(int64_t timestamp) const {
  const auto life = std::partition_point(
      lives_.begin(), lives_.end(), [&](const Life& other) { return other.timestamp > timestamp; });
  return life != lives_.end() && life->timestamp == timestamp ? &*life : nullptr;
}

void ColumnHistory::NumberEvents(absl::Span<const PastRules::Versions> past, int64_t most) {
  std::erase_if(events_, [](const Event& event) { return event.kind == kRuleChange; });
  for (const PastRules::Versions& rule : past) {
    events_.push_back({rule.before, 0, 0, kRuleChange});
  }
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    if (a.version() != b.version()) return a.version() < b.version();
    // Several cells may have the same settled version, in any order, after a change.
    if ((a.kind == kRuleChange) != (b.kind == kRuleChange)) return a.kind == kRuleChange;
    return a.timestamp > b.timestamp;
  });
  by_timestamp_.clear();
  wide_.clear();
  spans_ = {{.begin = 0, .most = past.empty() ? most : past.front().most}};
  for (size_t i = 0; i < events_.size(); ++i) {
    const EventNumber number = static_cast<EventNumber>(i + 1);
    if (events_[i].kind == kRuleChange) {
      const size_t next = spans_.size();
      spans_.push_back({number, next == past.size() ? most : past[next].most});
    } else if (HasTimestamp(events_[i].kind)) {
      by_timestamp_.push_back(number);
    } else {
      wide_.push_back(number);
    }
  }
  std::sort(by_timestamp_.begin(), by_timestamp_.end(), [this](EventNumber a, EventNumber b) {
    const int64_t one = EventOf(a).timestamp;
    const int64_t other = EventOf(b).timestamp;
    return one != other ? one > other : a < b;
  });
}

void ColumnHistory::PlayTimestamp(absl::Span<const EventNumber> events) {
  bool was_here = false;
  Life life{};
  EventNumber ended = 0;  // the cell before
  here_.clear();
  for (size_t i = 0; i < events.size(); ++i) {
    const EventNumber number = events[i];
    const Event& event = EventOf(number);
    const EntryTraits& traits = TraitsOf(event.kind);
    if (!traits.is_version) continue;
    was_here = true;
    const bool continues = ended == number && IsContribution(event.kind);
    const EntryVersion first = continues ? life.first : event.version();
    life = {event.timestamp, event.version(), event.version(), first};
    const EventNumber before_ended = here_.empty() ? 0 : here_.back().end;
    if (traits.is_deletion) {
      here_.push_back({number, number, before_ended});
      continue;
    }
    EventNumber last = i + 1 < events.size() ? events[i + 1] : never();
    const auto wide = std::upper_bound(wide_.begin(), wide_.end(), number);
    if (wide != wide_.end()) last = std::min(last, *wide);
    const EventNumber end = ended = FindEnd(number, last);
    life.death = VersionAt(end);
    // A cell that ends with its own event counts nowhere.
    if (end != number) here_.push_back({number, end, before_ended});
  }
  if (was_here) lives_.push_back(life);
  for (const ExistenceIndex::Existence& existence : here_) newer_.Add(existence);
}

ColumnHistory::EventNumber ColumnHistory::FindEnd(EventNumber birth, EventNumber last) const {
  // The span of the birth. The first span begins before every event.
  auto span = std::partition_point(spans_.begin(), spans_.end(),
                                   [&](const RuleSpan& s) { return s.begin < birth; }) -
              1;
  for (EventNumber from = birth; from < last; from = span->begin) {
    const int64_t most = span->most;
    ++span;
    const EventNumber span_end = span == spans_.end() ? last : std::min(last, span->begin);
    if (most != kAllVersions) {
      const int64_t left = most - newer_.CountAt(from);
      if (left <= 0) return from;
      if (const EventNumber found = newer_.FindNew(from, left, span_end)) return found;
    }
    if (span == spans_.end()) break;
  }
  return last;
}

}  // namespace bigtable
