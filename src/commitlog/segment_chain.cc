#include "commitlog/segment_chain.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/base/macros.h"

namespace bigtable {

// --- The next segment ---

void SegmentChain::Continue(Ref<LogSegment> next) {
  ABSL_ASSERT(next->number() == next_number() && "segments are numbered without gaps");
  live_.push_back({.segment = std::move(next)});
  active()->Use();
  live_[live_.size() - 2].segment->ChargeAsNeeded();
  // Memory that only the log needs is kept for the last two segments, since a group may span both.
  if (live_.size() > 2) live_[live_.size() - 3].segment->DropMemory();
  needed_bytes_ += active()->size();
  needs_upkeep_ = true;
}

void SegmentChain::ContinueInSpare(uint64_t end, SequenceNumber last) {
  ABSL_ASSERT(live_.back().end == kOpen && "the active segment is open");
  Continue(spare_);
  spare_ = {};
  Entry& ended = live_[live_.size() - 2];
  ended.end = end;
  ended.last = last;
}

Ref<LogSegment> SegmentChain::TakeSpareToCopy() {
  ABSL_ASSERT(!copying_ && "one switch at a time");
  copying_ = true;
  return std::exchange(spare_, {});
}

void SegmentChain::ContinueInCopy(Ref<LogSegment> copy, uint64_t from, SequenceNumber last) {
  ABSL_ASSERT(copying_ && !spare_ && "a switch has taken the spare");
  for (auto* const list : {&retired_, &live_}) {
    for (Entry& entry : *list) {
      const uint64_t base = entry.segment->base();
      entry.end = std::min(entry.end, std::max(from, base) - base);
    }
  }
  live_.back().last = last;
  Continue(std::move(copy));
  copying_ = false;
}

void SegmentChain::GiveUpCopy() {
  ABSL_ASSERT(copying_ && "a switch was begun");
  copying_ = false;
  needs_upkeep_ = true;
}

std::vector<Ref<LogSegment>> SegmentChain::Restart() {
  ABSL_ASSERT(!copying_ && spare_->number() == next_number());
  std::deque<Entry> next(1);
  std::vector<Ref<LogSegment>> old;
  old.reserve(retired_.size() + live_.size());
  if (!live_.empty()) active()->ChargeAsNeeded();
  for (const auto* const list : {&retired_, &live_}) {
    for (const Entry& entry : *list) {
      entry.segment->KeepFromReuse();
      old.push_back(entry.segment);
    }
  }
  retired_.clear();
  next.front().segment = std::exchange(spare_, {});
  live_.swap(next);
  active()->Use();
  needed_bytes_ = active()->size();
  needs_upkeep_ = true;
  synced_ = active()->base();
  return old;
}

// --- What the calls on the files need ---

void SegmentChain::CollectUnsynced(uint64_t end, std::vector<SegmentPiece>* pieces) const {
  pieces->clear();
  const uint64_t synced = this->synced();
  for (const auto* const list : {&retired_, &live_}) {
    for (const Entry& entry : *list) {
      if (entry.EndIn(end) > std::max(synced, entry.segment->base())) {
        pieces->push_back({entry.segment, nullptr});
      }
    }
  }
}

void SegmentChain::AdvanceSynced(uint64_t end) {
  ABSL_ASSERT(end >= synced() && "what is synced stays synced");
  synced_.store(end, std::memory_order_release);
}

bool SegmentChain::Collect(uint64_t from, uint64_t end, std::vector<SegmentPiece>* pieces,
                           uint64_t* bytes) const {
  pieces->clear();
  *bytes = 0;
  for (const Entry& entry : live_) {
    LogSegment* const segment = entry.segment.get();
    const uint64_t piece_begin = std::max(from, segment->base()) - segment->base();
    const uint64_t piece_end = entry.EndIn(end) - segment->base();
    if (piece_begin >= piece_end) continue;
    if (segment->memory() == nullptr) return false;
    pieces->push_back({entry.segment, segment->memory(), piece_begin, piece_end});
    *bytes += piece_end - piece_begin;
  }
  return true;
}

// --- What is needed ---

void SegmentChain::ReleaseThrough(SequenceNumber sequence) {
  // The same number again retires a segment that has been ended since.
  if (sequence < released_) return;
  released_ = sequence;
  while (ReleasesSegment(sequence)) {
    needed_bytes_ -= live_.front().segment->size();
    retired_.push_back(std::move(live_.front()));
    live_.pop_front();
    needs_upkeep_ = true;
  }
  ABSL_ASSERT(std::accumulate(live_.begin(), live_.end(), uint64_t{0},
                              [](uint64_t sum, const Entry& entry) {
                                return sum + entry.segment->size();
                              }) == needed_bytes_ &&
              "the live segments are what is needed");
}

SequenceNumber SegmentChain::FirstSequence() const {
  for (const Entry& entry : live_) {
    if (const SequenceNumber first = entry.segment->first_sequence(); first != 0) return first;
  }
  return 0;
}

// --- Upkeep ---

LogState SegmentChain::State() const {
  return {.low = live_.front().segment->number(), .released = released(), .synced = synced()};
}

std::vector<Ref<LogSegment>> SegmentChain::Forget(size_t count) {
  ABSL_ASSERT(count <= retired_.size() && "nothing else takes retired segments");
  std::vector<Ref<LogSegment>> forgotten;
  for (; count > 0; --count) {
    forgotten.push_back(std::move(retired_.front().segment));
    retired_.pop_front();
  }
  return forgotten;
}

uint64_t SegmentChain::BeginMaking(Ref<LogSegment>* spare) {
  ABSL_ASSERT(!copying_ && "a switch has taken the number");
  *spare = std::exchange(spare_, {});
  return next_number();
}

void SegmentChain::EndMaking(Ref<LogSegment> spare) {
  ABSL_ASSERT(!spare_ && !copying_ && "one thread at a time makes segments");
  ABSL_ASSERT((!spare || spare->number() == next_number()) &&
              "the log did not continue without a spare");
  spare_ = std::move(spare);
}

}  // namespace bigtable
