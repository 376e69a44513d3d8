// Brings blocks of a mapped file into memory: what is queried, populated, read ahead, or left to a
// read by position.
#include <algorithm>
#include <bit>
#include <utility>

#include "base/shortcuts.h"
#include "base/status.h"
#include "monitoring/thread_calls.h"
#include "sstable/block_reader.h"

namespace bigtable {

BlockReader::Stretch BlockReader::StretchFrom(size_t i, uint64_t bytes) const {
  const uint64_t limit = index_->handle(i).offset + bytes;
  size_t end = i + 1;
  while (end < index_->size() && index_->handle(end).offset < limit) ++end;
  return {i, end};
}

BlockReader::Stretch BlockReader::StretchAround(size_t i) const {
  constexpr uint64_t kStretch = 128 << 10;
  const uint64_t begin = index_->handle(i).offset / kStretch * kStretch;
  size_t first = i;
  while (first > 0 && index_->handle(first - 1).offset >= begin) --first;
  size_t end = i + 1;
  while (end < index_->size() && index_->handle(end).offset < begin + kStretch) ++end;
  return {first, end};
}

bool BlockReader::IsResident(Stretch blocks) const {
  return WithRange(blocks, [&](uint64_t offset, uint64_t length) {
    return file_.file().IsResident(offset, length);
  });
}

void BlockReader::WillNeed(Stretch blocks) const {
  WithRange(blocks,
            [&](uint64_t offset, uint64_t length) { file_.file().WillNeed(offset, length); });
}

void BlockReader::MarkKnown(size_t i) {
  if (!Set(known_, i)) residency_->CountKnown(1);
}

void BlockReader::MarkPresent(Stretch blocks) {
  int64_t fresh = 0;
  for (size_t i = blocks.first; i < blocks.end; ++i) {
    fresh += Set(known_, i) ? 0 : 1;
    Set(present_, i);
    if (Test(raw_, i)) Set(in_place_, i);
  }
  if (fresh > 0) residency_->CountKnown(fresh);
}

absl::Status BlockReader::Populate(Stretch blocks) {
  BT_RETURN_IF_ERROR(WithRange(blocks, [&](uint64_t offset, uint64_t length) {
    return file_.file().Populate(offset, length);
  }));
  MarkPresent(blocks);
  return absl::OkStatus();
}

bool BlockReader::PopulateIfResident(Stretch blocks) {
  if (!trust_.is_trusted() || !Shortcuts().Has(Shortcut::kResidencyTrust)) {
    if (!IsResident(blocks)) {
      trust_.CountMissing();
      return false;
    }
    trust_.CountFound();
    return Populate(blocks).ok();
  }
  const WaitTimer wait;
  PageResidency::Reading reading(residency_);
  if (!Populate(blocks).ok()) {
    trust_.CountMissing();
    return false;
  }
  if (reading.End() > 0) {
    trust_.RecordWrong();
    residency_->CountFirstRead();
  }
  return true;
}

absl::Status BlockReader::ReadFromDisk(Stretch blocks) {
  const WaitTimer wait;
  const PageResidency::Reading reading(residency_);
  WillNeed(blocks);
  return Populate(blocks);
}

bool BlockReader::PrefersPosition() const {
  return Shortcuts().Has(Shortcut::kPastMapping) && file_.file().ReadsByPosition();
}

absl::Status BlockReader::BringIn(size_t i, ReadAhead* ahead, bool* by_position) {
  if (Test(present_, i)) {
    residency_->CountTouch();
    return absl::OkStatus();
  }
  const Stretch one{i, i + 1};
  // An error of a range is not an error of this block.
  if (ahead != nullptr) {
    return BringInAhead(i, ahead, by_position).ok() ? absl::OkStatus() : ReadFromDisk(one);
  }
  const bool is_known = Test(known_, i);
  const bool with_others = !is_known && residency_->is_plentiful();
  const Stretch around = with_others ? StretchAround(i) : one;
  // A system call for each block would take longer than the work it does.
  if (with_others && PopulateIfResident(around)) return absl::OkStatus();
  if (IsResident(one)) {
    if (is_known) residency_->CountFound();
    if (!Test(verified_, i)) return Populate(one);
    MarkPresent(one);  // it was populated once
    return absl::OkStatus();
  }
  is_known ? residency_->CountMissing() : residency_->CountFirstRead();
  if (with_others) {
    CheckSample(i);
    if (ReadFromDisk(around).ok()) return absl::OkStatus();
  }
  if (!residency_->is_scarce() || !PrefersPosition()) return ReadFromDisk(one);
  // This requests the block and no more. A read by position of a page that follows many pages in
  // memory makes the kernel read ahead as many.
  WillNeed(one);
  MarkKnown(i);
  *by_position = true;
  return absl::OkStatus();
}

// The sample is taken anywhere in the file: multiplying by the golden ratio spreads the samples
// even if blocks are read in order.
void BlockReader::CheckSample(size_t next) {
  const size_t first = (next * 0x9e3779b97f4a7c15) % words();
  for (size_t k = 0; k < words() && k < 64; ++k) {
    const size_t word = (first + k) % words();
    const uint64_t known = known_[word].load(std::memory_order_relaxed);
    if (known == 0) continue;
    const size_t i = word * 64 + static_cast<size_t>(std::countr_zero(known));
    if (!IsResident({i, i + 1})) residency_->CountSampleMissing();
    return;
  }
}

absl::Status BlockReader::BringInAhead(size_t i, ReadAhead* ahead, bool* by_position) {
  constexpr uint64_t kSmallest = 48 << 10;
  constexpr uint64_t kLargest = 256 << 10;
  constexpr uint64_t kFar = 1 << 20;
  if (i < ahead->position_end) {
    *by_position = true;
    return absl::OkStatus();
  }
  if (std::exchange(ahead->position_end, 0) > 0) ahead->is_missing = false;  // check again
  const bool is_first = ahead->window == 0;
  ahead->window = std::clamp(2 * ahead->window, kSmallest, kLargest);
  const Stretch window = StretchFrom(i, ahead->window);
  if (!ahead->is_missing && PopulateIfResident(window)) return absl::OkStatus();
  if (is_first) {
    Test(known_, i) ? residency_->CountMissing() : residency_->CountFirstRead();
  }
  ahead->is_missing = true;
  ahead->from_disk += ahead->window;
  // A short scan reads little more than it returns. For a long scan the kernel reads ahead.
  const bool is_far = ahead->from_disk > kFar;
  if (!(is_far || residency_->is_scarce()) || !PrefersPosition()) return ReadFromDisk(window);
  if (!is_far) WillNeed(window);
  ahead->position_end = is_far ? EndOfMissing(window.end) : window.end;
  *by_position = true;
  return absl::OkStatus();
}

// This checks before the scan reads by position. A later check would also find what the kernel has
// read ahead for the scan. The scan would then return to the mapping, and the kernel would stop
// reading ahead.
size_t BlockReader::EndOfMissing(size_t i) const {
  constexpr uint64_t kStep = 256 << 10;
  constexpr uint64_t kFarthest = 64 << 20;
  constexpr int kEnough = 4;
  if (i == index_->size()) return i;
  const uint64_t limit = index_->handle(i).offset + kFarthest;
  size_t end = i;
  int in_memory = 0;  // steps after `end`
  while (i < index_->size() && index_->handle(i).offset < limit && in_memory < kEnough) {
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
