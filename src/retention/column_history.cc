#include "retention/column_history.h"

#include <algorithm>
#include <numeric>

#include "absl/base/macros.h"

namespace bigtable {
namespace {

// The number of entries between two calls of GoOn.
constexpr size_t kCheckEvery = 256;
constexpr size_t kCheckEveryBytes = 64 << 10;  // their blocks are read

}  // namespace

void ColumnHistory::Clear() {
  events_.clear();
  ranges_.Clear();
  lives_.clear();
  last_met_ = 0;
}

bool ColumnHistory::AddColumn(EntryCursor* entries, std::string_view column_prefix,
                              const Bounds& bounds, GoOn go_on) {
  const size_t key_size = column_prefix.size() + kTrailerSize;
  size_t since_check = 0;  // of entries, and of bytes
  size_t bytes_since_check = 0;
  for (; entries->valid(); entries->Next()) {
    const std::string_view key = entries->key();
    if (key.size() != key_size || !key.starts_with(column_prefix)) return true;
    bytes_since_check += entries->value().size();
    if (++since_check == kCheckEvery || bytes_since_check >= kCheckEveryBytes) {
      if (!go_on()) return false;
      since_check = 0;
      bytes_since_check = 0;
    }
    const EntryVersion version = VersionOf(key);
    last_met_ = std::max(last_met_, version.sequence);
    if (version.sequence <= bounds.written_after || version.sequence > bounds.written_by) continue;
    const EntryKind kind = KindOf(key);
    if (!HasTimestamp(kind)) {
      AddColumnDeletion(kind, version, entries->value());
      continue;
    }
    const int64_t timestamp = TimestampOf(key);
    if (timestamp < bounds.min_timestamp) continue;
    if (bounds.past != nullptr && bounds.past->HasExpired(version.sequence, timestamp)) continue;
    Add(timestamp, version, kind);
  }
  return true;
}

void ColumnHistory::AddColumnDeletion(EntryKind kind, EntryVersion version,
                                      std::string_view value) {
  if (kind != EntryKind::kDeleteTimeRange) return AddWideDeletion(version);
  TimeRange range;
  if (ParseTimeRange(value, &range)) AddTimeRange(range, version);
}

void ColumnHistory::AddWideDeletions(const DeletionTracker& deletions, const Bounds& bounds) {
  deletions.ForEachWide([&](EntryVersion version) {
    last_met_ = std::max(last_met_, version.sequence);
    if (version.sequence > bounds.written_after && version.sequence <= bounds.written_by) {
      AddWideDeletion(version);
    }
  });
}

bool ColumnHistory::Play(absl::Span<const PastRules::Versions> past, const VersionLimits& limits,
                         GoOn go_on) {
  lives_.clear();
  NumberEvents(past, limits);
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

void ColumnHistory::NumberEvents(absl::Span<const PastRules::Versions> past,
                                 const VersionLimits& limits) {
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
  spans_ = {{.begin = 0, .limits = past.empty() ? &limits : &past.front().limits}};
  for (size_t i = 0; i < events_.size(); ++i) {
    const EventNumber number = static_cast<EventNumber>(i + 1);
    if (events_[i].kind == kRuleChange) {
      const size_t next = spans_.size();
      spans_.push_back({number, next == past.size() ? &limits : &past[next].limits});
    } else if (HasTimestamp(events_[i].kind)) {
      by_timestamp_.push_back(number);
    } else if (events_[i].kind != EntryKind::kDeleteTimeRange) {
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
    if (traits.is_deletion) {
      here_.push_back({number, number, here_.empty() ? 0 : here_.back().end});
      continue;
    }
    EventNumber marked = 0;
    size_t next = i + 1;
    if (next < events.size() && EventOf(events[next]).kind == EntryKind::kCountedOut) {
      marked = events[next++];
    }
    const EventNumber written = next < events.size() ? events[next] : never();
    const EventNumber last = std::min(written, FindWide(number, event.timestamp));
    ended = FollowCell(number, last, marked, &life);
  }
  ABSL_ASSERT((!was_here || lives_.empty() || lives_.back().timestamp > life.timestamp) &&
              "lives are sorted, newest first, for searches");
  if (was_here) lives_.push_back(life);
  for (const ExistenceIndex::Existence& existence : here_) newer_.Add(existence);
}

ColumnHistory::EventNumber ColumnHistory::FindWide(EventNumber number, int64_t timestamp) {
  const auto wide = std::upper_bound(wide_.begin(), wide_.end(), number);
  const EventNumber first = wide != wide_.end() ? *wide : never();
  if (ranges_.empty()) return first;
  const EntryVersion* const range = ranges_.FirstAfter(EventOf(number).version(), timestamp);
  if (range == nullptr) return first;
  // No other event has the version of a deletion of a range.
  const auto event = std::partition_point(
      events_.begin(), events_.end(), [&](const Event& other) { return other.version() < *range; });
  return std::min(first, static_cast<EventNumber>(event - events_.begin() + 1));
}

ColumnHistory::EventNumber ColumnHistory::FollowCell(EventNumber birth, EventNumber last,
                                                     EventNumber marked, Life* life) {
  ABSL_ASSERT(birth < last && "a cell ends after it was written");
  // The span of the birth. The first span begins before every event.
  auto span = std::partition_point(spans_.begin(), spans_.end(),
                                   [&](const RuleSpan& s) { return s.begin < birth; }) -
              1;
  EventNumber from = birth;
  EventNumber end = 0;
  while (true) {
    const VersionLimits& limits = *span->limits;
    ++span;
    const bool is_last = span == spans_.end() || span->begin >= last;
    const EventNumber span_end = is_last ? last : span->begin;
    EventNumber out = limits.any() ? FindNewer(from, limits.most, span_end) : 0;
    if (!limits.by_age.empty() && from <= marked && marked < span_end) {
      out = out == 0 ? marked : std::min(out, marked);
    }
    if (out != 0 && limits.by_age.empty()) {
      end = out;
    } else if (is_last) {
      end = last;
    } else if (IsExpired(limits, life->timestamp, from, span_end)) {
      end = span_end;
    }
    const EventNumber counted_to = out != 0 ? out : span_end;
    // A cell that ends with its own event counts nowhere.
    if (counted_to != from) {
      here_.push_back({from, counted_to, here_.empty() ? 0 : here_.back().end});
    }
    life->counted_out = out != 0 && out != end ? VersionAt(out) : kAlive;
    if (end != 0) {
      life->is_expired = end == never() && IsExpired(limits, life->timestamp, from, end);
      life->death = VersionAt(end);
      return end;
    }
    from = span->begin;
  }
}

bool ColumnHistory::IsExpired(const VersionLimits& limits, int64_t timestamp, EventNumber from,
                              EventNumber end) const {
  return std::any_of(limits.by_age.begin(), limits.by_age.end(), [&](const VersionLimit& limit) {
    return timestamp < limit.min_timestamp && FindNewer(from, limit.newer, end) != 0;
  });
}

ColumnHistory::EventNumber ColumnHistory::FindNewer(EventNumber from, int64_t count,
                                                    EventNumber end) const {
  const int64_t left = count - newer_.CountAt(from);
  return left <= 0 ? from : newer_.FindNew(from, left, end - 1);
}

}  // namespace bigtable
