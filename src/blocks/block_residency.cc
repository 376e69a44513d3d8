#include "blocks/block_residency.h"

#include <algorithm>
#include <utility>

#include "base/shortcuts.h"
#include "base/status.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

BlockResidency::BlockResidency(const BlockFile* file, PageResidency* pages)
    : file_(file->file()),
      index_(file->index()),
      pages_(pages),
      known_(index_.size()),
      present_(index_.size()),
      requested_(index_.size()),
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
  for (size_t i = blocks.first; i < blocks.end; ++i) {
    fresh += known_.Set(i) ? 0 : 1;
    present_.Set(i);
  }
  if (fresh > 0) pages_->CountKnown(fresh);
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

size_t BlockResidency::Request(size_t i, uint64_t bytes, bool was_touched) {
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
    if (is_known) pages_->CountFound();
    if (!is_known && are_resident) trust_.CountFound();
    const Stretch found = are_resident ? blocks : one;
    if (bytes == 0 && was_touched) {
      MarkPresent(found);
    } else {
      Populate(found).IgnoreError();  // the read tries it again
    }
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

absl::Status BlockResidency::BringInRequested(size_t i, bool* by_position) {
  const bool was_known = known_.Test(i);
  if (pages_->is_scarce() && PrefersPosition()) {
    if (!known_.Set(i)) pages_->CountKnown(1);
    *by_position = true;
    return absl::OkStatus();
  }
  const bool with_others = !was_known && pages_->is_plentiful();
  if (with_others && ReadFromDisk(StretchAround(i)).ok()) return absl::OkStatus();
  return AwaitRequested({i, i + 1});
}

bool BlockResidency::PrefersPosition() const {
  return Shortcuts().Has(Shortcut::kPastMapping) && file_.ReadsByPosition();
}

absl::Status BlockResidency::BringIn(size_t i, bool was_touched, ReadAhead* ahead,
                                     bool* by_position) {
  FollowEpoch();
  *by_position = false;
  if (present_.Test(i)) {
    pages_->CountTouch();
    return absl::OkStatus();
  }
  if (requested_.Clear(i)) return BringInRequested(i, by_position);
  if (ahead == nullptr) return BringInAlone(i, was_touched, by_position);
  // An error of a range is not an error of this block.
  return BringInAhead(i, ahead, by_position).ok() ? absl::OkStatus() : ReadFromDisk({i, i + 1});
}

absl::Status BlockResidency::BringInAlone(size_t i, bool was_touched, bool* by_position) {
  const Stretch one{i, i + 1};
  const bool is_known = known_.Test(i);
  const bool with_others = !is_known && pages_->is_plentiful();
  const Stretch around = with_others ? StretchAround(i) : one;
  // A system call for each block would take longer than the work it does.
  if (with_others && PopulateIfResident(around)) return absl::OkStatus();
  if (IsResident(one)) {
    if (is_known) pages_->CountFound();
    if (!was_touched) return Populate(one);
    MarkPresent(one);  // it was populated once
    return absl::OkStatus();
  }
  is_known ? pages_->CountMissing() : pages_->CountFirstRead();
  if (with_others) {
    CheckSample(i);
    if (ReadFromDisk(around).ok()) return absl::OkStatus();
  }
  if (!pages_->is_scarce() || !PrefersPosition()) return ReadFromDisk(one);
  // This requests the block and no more. A read by position of a page that follows many pages in
  // memory makes the kernel read ahead as many.
  WillNeed(one);
  if (!known_.Set(i)) pages_->CountKnown(1);
  *by_position = true;
  return absl::OkStatus();
}

void BlockResidency::CheckSample(size_t next) {
  const size_t i = known_.Sample(next);
  if (i != BlockBits::kNone && !IsResident({i, i + 1})) pages_->CountSampleMissing();
}

absl::Status BlockResidency::BringInAhead(size_t i, ReadAhead* ahead, bool* by_position) {
  constexpr uint64_t kSmallest = 48 << 10;
  constexpr uint64_t kLargest = 256 << 10;
  constexpr uint64_t kFar = 1 << 20;
  if (i < ahead->position_end) {
    *by_position = true;
    return absl::OkStatus();
  }
  if (std::exchange(ahead->position_end, 0) > 0) ahead->is_missing = false;  // check again
  if (i < ahead->requested_end) {
    const Stretch part{i, std::min(ahead->requested_end, StretchFrom(i, kLargest).end)};
    if (!pages_->is_scarce() || !PrefersPosition()) return AwaitRequested(part);
    ahead->position_end = ahead->requested_end;
    *by_position = true;
    return absl::OkStatus();
  }
  const bool is_first = ahead->window == 0;
  ahead->window = std::clamp(2 * ahead->window, kSmallest, kLargest);
  const Stretch window = StretchFrom(i, ahead->window);
  if (!ahead->is_missing && PopulateIfResident(window)) return absl::OkStatus();
  if (is_first) {
    known_.Test(i) ? pages_->CountMissing() : pages_->CountFirstRead();
  }
  ahead->is_missing = true;
  ahead->from_disk += ahead->window;
  // A short scan reads little more than it returns. For a long scan the kernel reads ahead.
  const bool is_far = ahead->from_disk > kFar;
  if (!(is_far || pages_->is_scarce()) || !PrefersPosition()) return ReadFromDisk(window);
  if (!is_far) WillNeed(window);
  ahead->position_end = is_far ? EndOfMissing(window.end) : window.end;
  *by_position = true;
  return absl::OkStatus();
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
