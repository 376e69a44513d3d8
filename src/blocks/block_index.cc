#include "blocks/block_index.h"

#include <algorithm>
#include <cstring>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/coding.h"
#include "base/compare.h"
#include "base/shortcuts.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/try_allocate.h"
#include "blocks/block_cursor.h"

namespace bigtable {
namespace {

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(Cat("the index is damaged: ", what));
}

}  // namespace

absl::StatusOr<BlockIndex> BlockIndex::Load(std::string_view block, uint64_t data_size) {
  BlockCursor cursor;
  if (!cursor.Open(block)) return Damaged("it is not a block");
  BlockIndex index;
  cursor.SeekToLast();
  std::string largest(cursor.valid() ? cursor.key() : std::string_view());
  cursor.SeekToFirst();
  if (cursor.valid()) index.prefix_ = largest.substr(0, CommonPrefix(cursor.key(), largest));
  // One more pass over the keys, so that their memory is allocated once.
  size_t blocks = 0, key_bytes = 0;
  for (; cursor.valid(); cursor.Next(), ++blocks) key_bytes += cursor.key().size();
  if (blocks > data_size / kBlockTrailerSize) {
    return Damaged(Cat("it has ", blocks, " blocks, and the data ", data_size, " bytes"));
  }
  key_bytes -= std::min(key_bytes, blocks * index.prefix_.size());
  if (!TryReserve(&index.keys_, key_bytes)) {
    return absl::ResourceExhaustedError(Cat("no memory for the ", key_bytes, " bytes of its keys"));
  }
  index.key_begins_.reserve(blocks + 1);
  cursor.SeekToFirst();

  uint64_t offset = 0;
  std::string last;
  for (; cursor.valid(); cursor.Next()) {
    const std::string_view key = cursor.key();
    if (index.offsets_.size() > 0 && key <= last) return Damaged("its keys do not ascend");
    if (!key.starts_with(index.prefix_)) return Damaged("its keys do not ascend");
    last = key;
    Decoder decoder(cursor.value());
    const uint64_t number = decoder.Varint();
    const uint64_t size = number / 2;
    if (number % 2 != 0) {
      if (index.offsets_.size() == 0) return Damaged("block 0 continues a row before it");
      index.MarkRowContinues(index.offsets_.size() - 1);
    }
    if (!decoder.ok() || !decoder.at_end() || size > data_size ||
        offset + size + kBlockTrailerSize > data_size) {
      return Damaged(Cat("block ", index.offsets_.size(), " is not among the data"));
    }
    index.AddOffsets(offset, index.keys_.size());
    index.keys_.append(key.substr(index.prefix_.size()));
    offset += size + kBlockTrailerSize;
  }
  if (cursor.damaged()) return Damaged("it does not decode");
  if (offset != data_size) return Damaged("its blocks are not all of the data");
  index.AddOffsets(offset, index.keys_.size());
  index.keys_.shrink_to_fit();
  index.offsets_.ShrinkToFit();
  index.key_begins_.shrink_to_fit();
  index.continued_rows_.shrink_to_fit();
  if (Shortcuts().Has(Shortcut::kIndexNumbers)) index.BuildLevels();
  return index;
}

void BlockIndex::AddOffsets(uint64_t offset, size_t key_begin) {
  offsets_.Add(offset);
  key_begins_.push_back(key_begin);
}

void BlockIndex::MarkRowContinues(size_t i) {
  continued_rows_.resize(i / 64 + 1);
  continued_rows_[i / 64] |= uint64_t{1} << (i % 64);
}

// Each level has the largest number of every line of the level below. The gaps at the end of a
// level are filled with UINT64_MAX.
void BlockIndex::BuildLevels() {
  std::vector<std::vector<uint64_t>> levels(1);
  for (size_t i = 0; i < size(); ++i) levels[0].push_back(KeyNumber(KeyRest(i)));
  if (levels[0].empty()) return;
  largest_ = levels[0].back();
  while (levels.back().size() > kFanOut) {
    const std::vector<uint64_t>& below = levels.back();
    std::vector<uint64_t> level;
    for (size_t end = kFanOut; end < below.size() + kFanOut; end += kFanOut) {
      level.push_back(below[std::min(end, below.size()) - 1]);
    }
    levels.push_back(std::move(level));
  }
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    levels_.push_back(static_cast<uint32_t>(lines_.size()));
    for (size_t i = 0; i < level->size(); ++i) {
      if (i % kFanOut == 0) lines_.emplace_back().numbers.fill(UINT64_MAX);
      lines_.back().numbers[i % kFanOut] = (*level)[i];
    }
  }
  lines_.shrink_to_fit();
}

inline size_t BlockIndex::LowerBound(uint64_t number) const {
  size_t position = 0;
  for (const uint32_t level : levels_) {
    const Line& line = lines_[level + position];
    // On the lowest level, prefetch what the caller reads next together with the line.
    if (level == levels_.back()) PrefetchEntries(position * kFanOut);
    size_t below = 0;
    for (const uint64_t other : line.numbers) below += other < number ? 1 : 0;
    ABSL_ASSERT(below < kFanOut && "a line ends with the largest number of those below it");
    position = position * kFanOut + below;
  }
  return position;
}

size_t BlockIndex::Find(std::string_view target) const {
  const size_t common = CommonPrefix(prefix_, target);
  if (common < prefix_.size()) return LessBehind(prefix_, target, common) ? size() : 0;
  const std::string_view rest = target.substr(common);
  const uint64_t number = KeyNumber(rest);
  if (number > largest_) return size();
  if (lines_.empty()) return FindBetween(0, size(), rest);
  const size_t first = LowerBound(number);
  if (NumberAt(first) != number || KeyRest(first) >= rest) return first;
  // After the first key with this number, and at most right after the last.
  const size_t end = number == largest_ ? size() : LowerBound(number + 1);
  return FindBetween(first + 1, end, rest);
}

size_t BlockIndex::FindBetween(size_t low, size_t high, std::string_view rest) const {
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (KeyRest(middle) < rest) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t BlockIndex::memory() const {
  return sizeof *this + prefix_.capacity() + keys_.capacity() + offsets_.memory() +
         key_begins_.capacity() * sizeof(size_t) + continued_rows_.capacity() * sizeof(uint64_t) +
         lines_.capacity() * sizeof(Line) + levels_.capacity() * sizeof(uint32_t);
}

}  // namespace bigtable
