#include "retention/time_range_deletions.h"

#include <algorithm>

namespace bigtable {

void TimeRangeDeletions::Clear() {
  all_.clear();
  StartOver();
}

void TimeRangeDeletions::Add(const TimeRange& range, EntryVersion version) {
  all_.push_back({range, version});
  is_sorted_ = false;
  StartOver();
}

EntryVersion TimeRangeDeletions::NewestAt(int64_t timestamp) {
  MoveTo(timestamp);
  return current_.empty() ? EntryVersion() : *current_.rbegin();
}

const EntryVersion* TimeRangeDeletions::FirstAfter(EntryVersion version, int64_t timestamp) {
  MoveTo(timestamp);
  const auto first = current_.upper_bound(version);
  return first == current_.end() ? nullptr : &*first;
}

void TimeRangeDeletions::StartOver() {
  at_ = std::numeric_limits<int64_t>::max();
  next_ = 0;
  current_.clear();
  begins_.clear();
}

void TimeRangeDeletions::MoveTo(int64_t timestamp) {
  if (!is_sorted_) {
    std::sort(all_.begin(), all_.end(),
              [](const Deletion& a, const Deletion& b) { return a.range.end > b.range.end; });
    is_sorted_ = true;
  }
  if (timestamp > at_) StartOver();
  at_ = timestamp;
  for (; next_ < all_.size() && all_[next_].range.EndsAfter(timestamp); ++next_) {
    const Deletion& deletion = all_[next_];
    current_.insert(deletion.version);
    begins_.emplace_back(deletion.range.begin, deletion.version);
    std::push_heap(begins_.begin(), begins_.end());
  }
  while (!begins_.empty() && begins_.front().first > timestamp) {
    current_.erase(begins_.front().second);
    std::pop_heap(begins_.begin(), begins_.end());
    begins_.pop_back();
  }
}

}  // namespace bigtable
