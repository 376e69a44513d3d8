#include "blocks/block_cursor.h"

#include <algorithm>
#include <cstring>

#include "absl/base/macros.h"

#include "base/compare.h"
#include "blocks/block_builder.h"

namespace bigtable {

bool BlockCursor::Open(std::string_view block) {
  valid_ = false;
  damaged_ = false;
  if (block.size() >= kBlockHeaderSize) [[likely]] {
    const char* const p = block.data();
    entries_ = LoadFixed32(p);
    restart_count_ = LoadFixed32(p + 4);
    const uint64_t keys_size = LoadFixed32(p + 8);
    const uint64_t head = kBlockHeaderSize + uint64_t{restart_count_} * kRestartSize + keys_size;
    const bool counts_agree =
        restart_count_ <= entries_ && (restart_count_ == 0) == (entries_ == 0);
    if (head <= block.size() && counts_agree) [[likely]] {
      restarts_ = p + kBlockHeaderSize;
      keys_ = restarts_ + uint64_t{restart_count_} * kRestartSize;
      keys_end_ = keys_ + keys_size;
      values_end_ = p + block.size();
      return true;
    }
  }
  Damage();
  return false;
}

void BlockCursor::Damage() {
  valid_ = false;
  damaged_ = true;
  entries_ = restart_count_ = 0;
  next_key_ = keys_end_ = nullptr;
}

// Makes the next Parse() return the entry of `restart`.
inline void BlockCursor::GoTo(size_t restart) {
  const uint32_t key = LoadFixed32(restarts_ + restart * kRestartSize);
  const uint32_t value = LoadFixed32(restarts_ + restart * kRestartSize + 4);
  if (key >= static_cast<uint64_t>(keys_end_ - keys_) ||
      value > static_cast<uint64_t>(values_end_ - keys_end_)) [[unlikely]] {
    Damage();
    return;
  }
  next_key_ = keys_ + key;
  next_value_ = keys_end_ + value;
}

inline bool BlockCursor::ParseAt(size_t restart, Entry* entry) {
  GoTo(restart);
  if (!Parse(entry)) return false;
  if (entry->shared != 0) [[unlikely]] {
    Damage();
    return false;
  }
  return true;
}

// The last restart whose key is before `target`, or the first restart. Requires that there is one.
size_t BlockCursor::FindRestart(std::string_view target) {
  size_t low = 0;                // before `target`, or the first
  size_t high = restart_count_;  // not before it, or past the end
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    Entry entry;
    if (!ParseAt(middle, &entry)) return 0;
    if (entry.suffix < target) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// Grows the buffer to `size` bytes and keeps the first `keep`.
char* BlockCursor::GrowBuffer(size_t size, size_t keep) {
  const size_t capacity = std::max(size, capacity_ * 2);
  auto grown = std::make_unique_for_overwrite<char[]>(capacity);
  std::memcpy(grown.get(), buffer_, keep);
  heap_buffer_ = std::move(grown);
  buffer_ = heap_buffer_.get();
  capacity_ = capacity;
  return buffer_;
}

// Walks along one run without assembling keys. The entry before is before `target`, and they have
// `matched` bytes in common. An entry that shares more than that with its predecessor compares to
// `target` as the predecessor does. An entry that shares less is after `target`, because keys
// ascend; or it is the restart after the run, which FindRestart found not to be before `target`.
// Only an entry that shares exactly `matched` bytes must be compared. Where the walk ends, the
// bytes that the entry shares with its predecessor are also in `target`, so the key is assembled
// from `target`.
void BlockCursor::Seek(std::string_view target) {
  ABSL_ASSERT((target.empty() || target.data() < buffer_ || target.data() >= buffer_ + capacity_) &&
              "the target is not the key of this cursor, which is overwritten");
  valid_ = false;
  if (restart_count_ == 0) return;
  const size_t restart = FindRestart(target);
  if (damaged_) return;
  GoTo(restart);
  size_t matched = 0;
  for (Entry entry; Parse(&entry);) {
    if (entry.shared > matched) continue;
    if (entry.shared == matched) {
      const std::string_view rest = target.substr(entry.shared);
      const size_t common = CommonPrefix(entry.suffix, rest);
      if (LessBehind(entry.suffix, rest, common)) {
        matched = entry.shared + common;
        continue;
      }
    }
    SetKey(target, entry);
    valid_ = true;
    return;
  }
}

void BlockCursor::SeekBefore(std::string_view target) {
  valid_ = false;
  if (restart_count_ == 0) return;
  const size_t restart = FindRestart(target);
  if (damaged_) return;
  // Two passes over the run: one counts the entries before `target`, one stops at the last of them.
  auto start = [&] {
    GoTo(restart);
    key_ = {};
    valid_ = !damaged_;
  };
  start();
  if (damaged_) return;
  size_t before = 0;
  for (Next(); valid_ && key_ < target; Next()) ++before;
  if (damaged_ || before == 0) {
    valid_ = false;
    return;
  }
  start();
  for (; before > 0; --before) Next();
}

void BlockCursor::SeekToFirst() {
  valid_ = false;
  if (restart_count_ == 0) return;
  GoTo(0);
  key_ = {};
  valid_ = !damaged_;
  if (valid_) Next();
}

void BlockCursor::SeekToLast() {
  valid_ = false;
  if (restart_count_ == 0) return;
  GoTo(restart_count_ - 1);
  key_ = {};
  valid_ = !damaged_;
  while (valid_ && next_key_ != keys_end_) Next();
}

}  // namespace bigtable
