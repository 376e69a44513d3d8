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

void SetBit(std::vector<uint64_t>* bits, size_t i) {
  bits->resize(std::max(bits->size(), i / 64 + 1));
  (*bits)[i / 64] |= uint64_t{1} << (i % 64);
}

}  // namespace

absl::StatusOr<BlockIndex> BlockIndex::Load(absl::Span<const std::string_view> parts,
                                            uint64_t data_size) {
  BT_ASSIGN_OR_RETURN(BlockIndex index, LoadParts(parts, 0, data_size));
  if (index.size() > 0 && index.RowContinues(index.size() - 1)) {
    return Damaged("the last block continues in a block after it");
  }
  if (Shortcuts().Has(Shortcut::kIndexNumbers)) index.BuildLevels();
  return index;
}

// It is small, and searched a few times: numbers would cost more than they gain.
absl::StatusOr<BlockIndex> BlockIndex::LoadPart(std::string_view part, uint64_t begin,
                                                uint64_t end) {
  return LoadParts({&part, 1}, begin, end);
}

absl::StatusOr<BlockIndex> BlockIndex::LoadParts(absl::Span<const std::string_view> parts,
                                                 uint64_t begin, uint64_t end) {
  BlockIndex index;
  BT_RETURN_IF_ERROR(index.Prepare(parts, end - begin));
  index.AddOffsets(begin, 0);
  for (const std::string_view part : parts) BT_RETURN_IF_ERROR(index.Add(part, end));
  if (index.offsets_[index.size()] != end) return Damaged("its blocks are not all of the data");
  index.keys_.shrink_to_fit();
  index.offsets_.ShrinkToFit();
  index.key_begins_.ShrinkToFit();
  index.continued_rows_.shrink_to_fit();
  index.shortened_.shrink_to_fit();
  return index;
}

// One more pass over the keys, so that their memory is allocated once.
absl::Status BlockIndex::Prepare(absl::Span<const std::string_view> parts, uint64_t data_size) {
  std::string first, largest;
  size_t blocks = 0, key_bytes = 0;
  for (const std::string_view part : parts) {
    BlockCursor cursor;
    if (!cursor.Open(part)) return Damaged("it is not a block");
    cursor.SeekToFirst();
    if (blocks == 0 && cursor.valid()) first = cursor.key();
    for (; cursor.valid(); cursor.Next(), ++blocks) key_bytes += cursor.key().size();
    if (part.data() != parts.back().data()) continue;
    cursor.SeekToLast();
    if (cursor.valid()) largest = cursor.key();
  }
  prefix_ = largest.substr(0, CommonPrefix(first, largest));
  if (blocks > data_size / kBlockTrailerSize) {
    return Damaged(Cat("it has ", blocks, " blocks, and the data ", data_size, " bytes"));
  }
  key_bytes -= std::min(key_bytes, blocks * prefix_.size());
  if (!TryReserve(&keys_, key_bytes)) {
    return absl::ResourceExhaustedError(Cat("no memory for the ", key_bytes, " bytes of its keys"));
  }
  key_begins_.Reserve(blocks + 1);
  offsets_.Reserve(blocks + 1);
  return absl::OkStatus();
}

absl::Status BlockIndex::Add(std::string_view part, uint64_t data_end) {
  BlockCursor cursor;
  if (!cursor.Open(part)) return Damaged("it is not a block");
  uint64_t offset = offsets_[size()];
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    const std::string_view key = cursor.key();
    if (!key.starts_with(prefix_)) return Damaged("its keys do not ascend");
    const std::string_view rest = key.substr(prefix_.size());
    if (size() > 0 && rest <= KeyRest(size() - 1)) return Damaged("its keys do not ascend");
    Decoder decoder(cursor.value());
    const uint64_t number = decoder.Varint();
    const uint64_t stored = number / 4;
    if (!decoder.ok() || !decoder.at_end() || stored > data_end ||
        offset + stored + kBlockTrailerSize > data_end) {
      return Damaged(Cat("block ", size(), " is not among the data"));
    }
    if ((number & 1) != 0) SetBit(&continued_rows_, size());
    if ((number & 2) != 0) SetBit(&shortened_, size());
    keys_.append(rest);
    offset += stored + kBlockTrailerSize;
    AddOffsets(offset, keys_.size());
  }
  return cursor.damaged() ? Damaged("it does not decode") : absl::OkStatus();
}

void BlockIndex::AddOffsets(uint64_t offset, size_t key_begin) {
  offsets_.Add(offset);
  key_begins_.Add(key_begin);
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
         key_begins_.memory() +
         (continued_rows_.capacity() + shortened_.capacity()) * sizeof(uint64_t) +
         lines_.capacity() * sizeof(Line) + levels_.capacity() * sizeof(uint32_t);
}

}  // namespace bigtable
