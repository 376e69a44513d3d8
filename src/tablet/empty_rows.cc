#include "tablet/empty_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/base/macros.h"

#include "base/entry_key.h"

namespace bigtable {
namespace {

using End = std::optional<std::string>;
using EndView = std::optional<std::string_view>;

std::atomic<uint32_t> origin_threshold{EmptyRows::Thresholds().origin};
std::atomic<uint32_t> skip_threshold{EmptyRows::Thresholds().skip};
std::atomic<uint32_t> watch_threshold{EmptyRows::Thresholds().watch};
std::atomic<uint32_t> extend_threshold{EmptyRows::Thresholds().extend};

EndView ViewOf(const End& end) { return end.has_value() ? EndView(*end) : EndView(); }

// Whether the row is before an end, and whether an end is before another.
bool IsBefore(std::string_view row, const End& end) { return !end.has_value() || row < *end; }
bool EndsBefore(EndView a, EndView b) { return a.has_value() && (!b.has_value() || *a < *b); }

// A row, or an earlier one that is not as long.
std::string_view Shortened(std::string_view row) { return row.substr(0, EmptyRows::kMostBytes); }

}  // namespace

EmptyRows::Thresholds EmptyRows::thresholds() {
  return {origin_threshold.load(std::memory_order_relaxed),
          skip_threshold.load(std::memory_order_relaxed),
          watch_threshold.load(std::memory_order_relaxed),
          extend_threshold.load(std::memory_order_relaxed)};
}

void EmptyRows::SetThresholdsForTesting(Thresholds thresholds) {
  ABSL_ASSERT(thresholds.origin <= thresholds.skip && thresholds.skip <= thresholds.watch &&
              "a walk stops at each in this order");
  origin_threshold.store(thresholds.origin, std::memory_order_relaxed);
  skip_threshold.store(thresholds.skip, std::memory_order_relaxed);
  watch_threshold.store(thresholds.watch, std::memory_order_relaxed);
  extend_threshold.store(thresholds.extend, std::memory_order_relaxed);
}

// --- For the tablet ---

void EmptyRows::BeginEpoch() {
  MutexLock lock(&mutex_);
  ++epoch_;
  ranges_.clear();
  is_watching_.store(false, std::memory_order_seq_cst);
}

uint64_t EmptyRows::epoch() const {
  MutexLock lock(&mutex_);
  return epoch_;
}

// --- For the tablet's writer ---

void EmptyRows::Record(std::string_view row, SequenceNumber sequence) {
  MutexLock lock(&mutex_);
  std::erase_if(ranges_,
                [](Range& range) { return ++range.notes > std::max(kLeastNotes, range.rows); });
  if (ranges_.empty()) return is_watching_.store(false, std::memory_order_seq_cst);
  // A range that is added is behind the row.
  for (size_t i = ranges_.size(); i-- > 0;) {
    if (row >= ranges_[i].begin) RecordFor(&ranges_[i], row, sequence);
  }
}

void EmptyRows::RecordFor(Range* range, std::string_view row, SequenceNumber sequence) {
  ABSL_ASSERT(row >= range->begin && "a write before the range says nothing about it");
  std::optional<Range> rest;
  if (IsBefore(row, range->end)) {
    // The rows after it are still empty. A read finds them once it has passed this row.
    std::string behind = row.size() <= kMostBytes ? PrefixSuccessor(row) : std::string();
    const bool has_rest = !behind.empty() && IsBefore(behind, range->end);
    if (has_rest && row == range->begin) {
      range->begin = std::move(behind);
      return;
    }
    if (has_rest && ranges_.size() < kMostRanges) {
      range->rows = (range->rows + 1) / 2;
      rest = *range;
      rest->begin = std::move(behind);
    }
    range->end = std::string(Shortened(row));
  }
  range->newest = std::max(range->newest, sequence);
  if (IsBefore(row, range->limit)) range->limit = std::string(Shortened(row));
  if (rest.has_value()) ranges_.push_back(*std::move(rest));
}

// --- For reads ---

EmptyRows::Skipped EmptyRows::Skip(const View& view, KeyBuffer* begin) {
  MutexLock lock(&mutex_);
  Skipped skipped = Skipped::kNone;
  if (view.epoch != epoch_) return skipped;
  // Another range may begin where one ends.
  while (Range* const range = Usable(view, begin->view())) {
    MarkUsed(range);
    skips_.fetch_add(1, std::memory_order_relaxed);
    if (!range->end.has_value()) return Skipped::kAll;
    begin->assign(*range->end);
    skipped = Skipped::kSome;
  }
  return skipped;
}

EmptyRows::Skipped EmptyRows::SkipBack(const View& view, KeyBuffer* end) {
  MutexLock lock(&mutex_);
  Skipped skipped = Skipped::kNone;
  if (view.epoch != epoch_) return skipped;
  while (Range* const range = UsableBefore(view, end->view())) {
    MarkUsed(range);
    skips_.fetch_add(1, std::memory_order_relaxed);
    if (range->begin.empty()) return Skipped::kAll;
    end->assign(range->begin);
    skipped = Skipped::kSome;
  }
  return skipped;
}

EmptyRows::Range* EmptyRows::LeastWorth() {
  return &*std::min_element(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::tie(a.worth, a.used) < std::tie(b.worth, b.used);
  });
}

void EmptyRows::Watch(uint64_t epoch, std::string_view begin, uint64_t rows) {
  MutexLock lock(&mutex_);
  if (epoch != epoch_ || begin.size() > kMostBytes) return;
  if (Range* const range = Touching(begin)) return MarkUsed(range);
  if (ranges_.size() == kMostRanges) {
    Range* const least = LeastWorth();
    if (rows <= least->worth) return;
    ranges_.erase(ranges_.begin() + (least - ranges_.data()));
  }
  Range& range = ranges_.emplace_back();
  range.begin = begin;
  range.end = range.begin;
  MarkUsed(&range);
  range.worth = rows;
  // In this order: see above.
  is_watching_.store(true, std::memory_order_seq_cst);
  range.stamp = last_written_.load(std::memory_order_seq_cst);
}

bool EmptyRows::Report(const View& view, std::string_view begin, std::string_view end,
                       uint64_t rows) {
  ABSL_ASSERT((end.empty() || begin <= end) && "a read reports what it has walked over");
  MutexLock lock(&mutex_);
  if (view.epoch != epoch_) return true;
  Range* const range = Touching(begin);
  if (range == nullptr) return ranges_.size() < kMostRanges;
  if (view.sequence < range->stamp) {
    // Beside a busy writer the first walk always comes too early, and the next one does not.
    range->rows = std::max(range->rows, rows);
    MarkUsed(range);
    return true;
  }
  EndView known = end.empty() ? EndView() : Shortened(end);
  const bool has_seen_all = range->newest <= view.sequence;
  const bool is_limited = !has_seen_all && EndsBefore(ViewOf(range->limit), known);
  if (is_limited) known = *range->limit;

  const bool extends = EndsBefore(ViewOf(range->end), known);
  // What was known may not be of use to this read: it is older, or the clock was set back.
  const bool covers = begin == range->begin && !EndsBefore(known, ViewOf(range->end));
  if (extends || covers) {
    range->since = covers ? view.sequence : std::max(range->since, view.sequence);
    range->now = covers ? view.now : std::max(range->now, view.now);
    // A read that extends it has skipped what was known.
    range->rows = extends ? range->rows + rows : std::max(range->rows, rows);
    MarkUsed(range);
  }
  if (extends) range->end = known.has_value() ? End(*known) : std::nullopt;
  if (range->limit.has_value() && (has_seen_all || is_limited)) {
    range->stamp = std::max(range->stamp, range->newest);
    range->limit.reset();
    range->newest = 0;
  }
  if (extends) Absorb(view, range);
  return true;
}

void EmptyRows::MakeWay() {
  MutexLock lock(&mutex_);
  if (ranges_.size() == kMostRanges) LeastWorth()->worth /= 2;
}

EmptyRows::Range* EmptyRows::Usable(const View& view, std::string_view row) {
  for (Range& range : ranges_) {
    if (range.IsUsable(view) && row >= range.begin && IsBefore(row, range.end)) return &range;
  }
  return nullptr;
}

EmptyRows::Range* EmptyRows::UsableBefore(const View& view, std::string_view end) {
  const auto reaches = [end](const Range& range) {
    return !range.end.has_value() || (!end.empty() && *range.end >= end);
  };
  for (Range& range : ranges_) {
    if (range.IsUsable(view) && (end.empty() || range.begin < end) && reaches(range)) return &range;
  }
  return nullptr;
}

EmptyRows::Range* EmptyRows::Touching(std::string_view row) {
  for (Range& range : ranges_) {
    if (row >= range.begin && (IsBefore(row, range.end) || row == *range.end)) return &range;
  }
  return nullptr;
}

void EmptyRows::MarkUsed(Range* range) {
  range->notes = 0;
  range->worth = std::max(range->worth, range->rows);
  range->used = ++uses_;
}

void EmptyRows::Absorb(const View& view, Range* range) {
  Range whole = std::move(*range);
  ranges_.erase(ranges_.begin() + (range - ranges_.data()));
  const auto is_inside = [&whole](const Range& other) {
    return other.begin >= whole.begin && !EndsBefore(ViewOf(whole.end), ViewOf(other.end));
  };
  // One that reaches further may touch the next.
  const auto extends = [&](const Range& other) {
    return other.IsUsable(view) && other.begin >= whole.begin && !is_inside(other) &&
           !EndsBefore(ViewOf(whole.end), other.begin);
  };
  for (auto other = ranges_.begin(); other != ranges_.end();) {
    if (extends(*other)) {
      whole.end = other->end;
      whole.since = std::max(whole.since, other->since);
      whole.now = std::max(whole.now, other->now);
      other = ranges_.begin();
    } else {
      ++other;
    }
  }
  std::erase_if(ranges_, [&](const Range& other) {
    if (!is_inside(other)) return false;
    if (other.IsUsable(view)) whole.rows += other.rows;  // the read has skipped them
    return true;
  });
  whole.worth = whole.rows;
  ranges_.push_back(std::move(whole));
}

size_t EmptyRows::ranges() const {
  MutexLock lock(&mutex_);
  return ranges_.size();
}

}  // namespace bigtable
