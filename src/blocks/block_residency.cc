#include "blocks/block_residency.h"

#include <algorithm>
#include <utility>

#include "base/shortcuts.h"
#include "base/status.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

BlockResidency::BlockResidency(const BlockFile* file, const BlockIndex* index, PageResidency* pages)
    : blocks_(*file),
      file_(file->file()),
      index_(*index),
      pages_(pages),
      known_(index_.size()),
      present_(index_.size()),
      requested_(index_.size()),
      rounds_(std::make_unique<std::atomic<uint8_t>[]>(index_.size())),
      last_past_(index_.size() + 1),
      epoch_(pages->epoch()) {}

BlockResidency::~BlockResidency() { pages_->CountKnown(-static_cast<int64_t>(known_.Count())); }

// Two threads may do this at once, or one thread while another marks a block. A mark that is lost
// is set again after the next check. A mark that is left from an earlier epoch may be wrong, as
// every mark may.
void BlockResidency::FollowEpoch() {
  const uint32_t now = pages_->epoch();
  if (epoch_.load(std::memory_order_relaxed) == now) return;
  trust_.CountMissing();
  present_.ClearAll();
  requested_.ClearAll();
  epoch_.store(now, std::memory_order_release);
}

BlockResidency::Stretch BlockResidency::StretchFrom(size_t i, uint64_t bytes) const {
  return {i, index_.EndOfStretch(i, bytes)};
}

BlockResidency::Stretch BlockResidency::StretchAround(size_t i) const {
  constexpr uint64_t kStretch = 128 << 10;
  const uint64_t begin = index_.handle(i).offset / kStretch * kStretch;
  size_t first = i;
  while (first > 0 && index_.handle(first - 1).offset >= begin) --first;
  size_t end = i + 1;
  while (end < index_.size() && index_.handle(end).offset < begin + kStretch) ++end;
  return {first, end};
}

bool BlockResidency::IsResident(Stretch blocks) const {
  return WithRange(
      blocks, [&](uint64_t offset, uint64_t length) { return file_.IsResident(offset, length); });
}

void BlockResidency::WillNeed(Stretch blocks) const {
  WithRange(blocks, [&](uint64_t offset, uint64_t length) { file_.WillNeed(offset, length); });
}

void BlockResidency::MarkPresent(Stretch blocks) {
  int64_t fresh = 0;
  int64_t seen = 0;
  for (size_t i = blocks.first; i < blocks.end; ++i) {
    fresh += known_.Set(i) ? 0 : 1;
    seen += present_.Set(i) ? 0 : 1;
  }
  if (fresh > 0) pages_->CountKnown(fresh);
  if (seen > 0) pages_->CountSeen(seen);
}

absl::Status BlockResidency::Populate(Stretch blocks) {
  BT_RETURN_IF_ERROR(WithRange(
      blocks, [&](uint64_t offset, uint64_t length) { return file_.Populate(offset, length); }));
  MarkPresent(blocks);
  return absl::OkStatus();
}

bool BlockResidency::PopulateIfResident(Stretch blocks) {
  if (!trust_.is_trusted() || !Shortcuts().Has(Shortcut::kResidencyTrust)) {
    if (!IsResident(blocks)) {
      trust_.CountMissing();
      return false;
    }
    trust_.CountFound();
    return Populate(blocks).ok();
  }
  const WaitTimer wait;
  PageResidency::Reading reading(pages_);
  if (!Populate(blocks).ok()) {
    trust_.CountMissing();
    return false;
  }
  if (reading.End() > 0) {
    trust_.RecordWrong();
    pages_->CountFirstRead();
  }
  return true;
}

absl::Status BlockResidency::AwaitRequested(Stretch blocks) {
  const WaitTimer wait;
  const PageResidency::Reading reading(pages_);
  return Populate(blocks);
}

absl::Status BlockResidency::ReadFromDisk(Stretch blocks) {
  const WaitTimer wait;
  const PageResidency::Reading reading(pages_);
  WillNeed(blocks);
  return Populate(blocks);
}

size_t BlockResidency::Request(size_t i, uint64_t bytes, bool was_touched,
                               OverlappedReads* overlapped) {
  if (overlapped != nullptr && overlapped->Has(blocks_, index_.handle(i))) return 0;
  FollowEpoch();
  const Stretch one{i, i + 1};
  const bool is_known = known_.Test(i);
  const bool with_others = !is_known && pages_->is_plentiful();
  Stretch blocks = StretchFrom(i, bytes);
  if (with_others) {
    const Stretch around = StretchAround(i);
    blocks = {around.first, std::max(around.end, blocks.end)};
  }
  bool are_present = true;
  for (size_t block = blocks.first; block < blocks.end && are_present; ++block) {
    are_present = present_.Test(block);
  }
  if (are_present) return 0;
  if (!is_known && trust_.is_trusted() && Shortcuts().Has(Shortcut::kResidencyTrust)) return 0;
  const bool are_resident = IsResident(blocks);
  if (are_resident || (with_others && IsResident(one))) {
    if (!is_known && are_resident) trust_.CountFound();
    const Stretch found = are_resident ? blocks : one;
    if (bytes == 0 && was_touched) {
      MarkPresent(found);
    } else {
      Populate(found).IgnoreError();  // the read tries it again
    }
    return 0;
  }
  if (overlapped != nullptr && !with_others && overlapped->MayBegin(index_.handle(i)) &&
      IsReadPast(i) && overlapped->Begin(blocks_, index_.handle(i))) {
    return 0;
  }
  if (is_known) {
    pages_->CountMissing();
  } else {
    trust_.CountMissing();
    pages_->CountFirstRead();
  }
  if (with_others) CheckSample(i);
  WillNeed(blocks);
  requested_.Set(i);
  return blocks.end;
}

absl::Status BlockResidency::BringInRequested(size_t i, bool for_row, Way* way) {
  const bool is_plentiful = pages_->is_plentiful();
  if (for_row && !is_plentiful && PrefersPosition()) {
    if (!known_.Set(i)) pages_->CountKnown(1);
    *way = Way::kPosition;
    return absl::OkStatus();
  }
  const bool with_others = !known_.Test(i) && is_plentiful;
  if (with_others && ReadFromDisk(StretchAround(i)).ok()) return absl::OkStatus();
  return AwaitRequested({i, i + 1});
}

bool BlockResidency::PrefersPosition() const {
  return Shortcuts().Has(Shortcut::kPastMapping) && file_.ReadsByPosition();
}

bool BlockResidency::NotePast(size_t i) {
  const uint8_t round = pages_->round();
  const uint8_t last = rounds_[i].exchange(round, std::memory_order_relaxed);
  return last == round || last == PageResidency::RoundBefore(round);
}

bool BlockResidency::IsReadPast(size_t i) {
  if (!Shortcuts().Has(Shortcut::kPastMapping) || !file_.ReadsUncached()) return false;
  // Rows that are read in order: each block would be read once for each of its rows.
  const size_t before = last_past_.exchange(i, std::memory_order_relaxed);
  if (i - before <= 1 || before - i == 1) return false;
  if (NotePast(i)) return false;
  pages_->CountPast(1);
  return true;
}

bool BlockResidency::ReadsWindows() const {
  return !pages_->is_plentiful() && Shortcuts().Has(Shortcut::kPastMapping) &&
         file_.ReadsUncached();
}

bool BlockResidency::AreReadPast(Stretch blocks) {
  if (!ReadsWindows()) return false;
  const bool was_lately = NotePast(blocks.first);
  for (size_t i = blocks.first + 1; i < blocks.end; ++i) NotePast(i);
  if (was_lately) return false;
  pages_->CountPast(static_cast<int64_t>(blocks.end - blocks.first));
  return true;
}

absl::Status BlockResidency::BringIn(size_t i, bool was_touched, bool for_row, ReadAhead* ahead,
                                     Way* way) {
  FollowEpoch();
  *way = Way::kMapping;
  if (present_.Test(i)) {
    pages_->CountTouch();
    return absl::OkStatus();
  }
  if (requested_.Clear(i)) return BringInRequested(i, for_row, way);
  if (ahead == nullptr) return BringInAlone(i, was_touched, for_row, way);
  // An error of a range is not an error of this block.
  return BringInAhead(i, ahead, way).ok() ? absl::OkStatus() : ReadFromDisk({i, i + 1});
}

absl::Status BlockResidency::BringInAlone(size_t i, bool was_touched, bool for_row, Way* way) {
  const Stretch one{i, i + 1};
  const bool is_known = known_.Test(i);
  const bool with_others = !is_known && pages_->is_plentiful();
  const Stretch around = with_others ? StretchAround(i) : one;
  // A system call for each block would take longer than the work it does.
  if (with_others && PopulateIfResident(around)) return absl::OkStatus();
  if (IsResident(one)) {
    if (!was_touched) return Populate(one);
    MarkPresent(one);  // it was populated once
    return absl::OkStatus();
  }
  if (for_row && !with_others && IsReadPast(i)) {
    *way = Way::kUncached;
    return absl::OkStatus();
  }
  is_known ? pages_->CountMissing() : pages_->CountFirstRead();
  if (with_others) {
    CheckSample(i);
    if (ReadFromDisk(around).ok()) return absl::OkStatus();
  }
  return ReadFromDisk(one);
}

void BlockResidency::CheckSample(size_t next) {
  const size_t i = known_.Sample(next);
  if (i != BlockBits::kNone && !IsResident({i, i + 1})) pages_->CountSampleMissing();
}

absl::Status BlockResidency::BringInAhead(size_t i, ReadAhead* ahead, Way* way) {
  constexpr uint64_t kSmallest = 48 << 10;
  constexpr uint64_t kLargest = 256 << 10;
  constexpr uint64_t kFar = 1 << 20;
  if (i < ahead->position_end) {
    *way = Way::kPosition;
    return absl::OkStatus();
  }
  if (std::exchange(ahead->position_end, 0) > 0) ahead->is_missing = false;  // check again
  if (i < ahead->requested_end) {
    const Stretch part{i, std::min(ahead->requested_end, StretchFrom(i, kLargest).end)};
    ahead->from_disk += WithRange(part, [](uint64_t, uint64_t length) { return length; });
    return AwaitRequested(part);
  }
  const bool is_first = ahead->window == 0;
  const uint64_t expected = std::exchange(ahead->expected, 0);
  ahead->window = expected > 0 ? std::min(expected, kLargest)
                               : std::clamp(2 * ahead->window, kSmallest, kLargest);
  const Stretch window = StretchFrom(i, ahead->window);
  if (!ahead->is_missing && PopulateIfResident(window)) return absl::OkStatus();
  ahead->is_missing = true;
  ahead->from_disk += ahead->window;
  // A short scan reads little more than it returns. For a long scan the kernel reads ahead.
  if (ahead->from_disk > kFar && PrefersPosition()) {
    ahead->position_end = EndOfMissing(window.end);
    *way = Way::kPosition;
    return absl::OkStatus();
  }
  if (AreReadPast(window)) {
    ahead->window_end = window.end;
    *way = Way::kWindow;
    return absl::OkStatus();
  }
  if (is_first) known_.Test(i) ? pages_->CountMissing() : pages_->CountFirstRead();
  return ReadFromDisk(window);
}

// This checks before the scan reads by position. A later check would also find what the kernel has
// read ahead for the scan. The scan would then return to the mapping, and the kernel would stop
// reading ahead.
size_t BlockResidency::EndOfMissing(size_t i) const {
  constexpr uint64_t kStep = 256 << 10;
  constexpr uint64_t kFarthest = 64 << 20;
  constexpr int kEnough = 4;
  if (i == index_.size()) return i;
  const uint64_t limit = index_.handle(i).offset + kFarthest;
  size_t end = i;
  int in_memory = 0;  // steps after `end`
  while (i < index_.size() && index_.handle(i).offset < limit && in_memory < kEnough) {
    const Stretch step = StretchFrom(i, kStep);
    i = step.end;
    if (IsResident(step)) {
      ++in_memory;
    } else {
      in_memory = 0;
      end = i;
    }
  }
  return end;
}

}  // namespace bigtable
