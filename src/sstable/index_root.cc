#include "sstable/index_root.h"

#include <algorithm>

#include "absl/status/status.h"

#include "base/coding.h"
#include "base/compare.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/try_allocate.h"
#include "blocks/block_cursor.h"

namespace bigtable {
namespace {

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(Cat("the root of the index is damaged: ", what));
}

}  // namespace

absl::StatusOr<IndexRoot> IndexRoot::Load(std::string_view root, uint64_t data_size,
                                          uint64_t blocks, uint64_t parts_end) {
  BlockCursor cursor;
  if (!cursor.Open(root)) return Damaged("it is not a block");
  IndexRoot index;
  Entry next{.offset = data_size};
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    Decoder decoder(cursor.value());
    const uint64_t number = decoder.Varint();
    const uint64_t stored = number / 4;
    const uint64_t of_part = decoder.Varint();
    const uint64_t data = decoder.Varint();
    const bool fits = decoder.ok() && decoder.at_end() && next.offset <= parts_end &&
                      stored <= parts_end - next.offset &&
                      kBlockTrailerSize <= parts_end - next.offset - stored && of_part > 0 &&
                      of_part <= blocks - next.block && data <= data_size - next.data;
    if (!fits) return Damaged(Cat("part ", index.entries_.size(), " is not in the file"));
    next.flags = number % 4;
    index.entries_.push_back(next);
    next.offset += stored + kBlockTrailerSize;
    next.data += data;
    next.block += of_part;
  }
  if (cursor.damaged()) return Damaged("it does not decode");
  if (next.offset != parts_end || next.data != data_size || next.block != blocks) {
    return Damaged(Cat("its parts have ", next.block, " blocks of ", next.data,
                       " bytes instead of ", blocks, " of ", data_size));
  }
  index.entries_.push_back(next);
  index.entries_.shrink_to_fit();
  BT_RETURN_IF_ERROR(index.AddKeys(root));
  return index;
}

// One more pass, so that their memory is allocated once.
absl::Status IndexRoot::AddKeys(std::string_view root) {
  BlockCursor cursor;
  if (size() == 0 || !cursor.Open(root)) return absl::OkStatus();
  cursor.SeekToFirst();
  std::string last(cursor.key());
  cursor.SeekToLast();
  prefix_ = cursor.key().substr(0, CommonPrefix(last, cursor.key()));
  uint64_t bytes = 0;
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) bytes += cursor.key().size();
  bytes -= std::min(bytes, uint64_t{size()} * prefix_.size());
  if (!TryReserve(&keys_, bytes)) {
    return absl::ResourceExhaustedError(Cat("no memory for the ", bytes, " bytes of its keys"));
  }
  size_t i = 0;
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    const std::string_view key = cursor.key();
    if (!key.starts_with(prefix_) || (i > 0 && key.substr(prefix_.size()) <= KeyRest(i - 1))) {
      return Damaged("its keys do not ascend");
    }
    keys_.append(key.substr(prefix_.size()));
    entries_[++i].key = keys_.size();
  }
  return absl::OkStatus();
}

IndexRoot IndexRoot::OfOnePart(const BlockHandle& index, uint64_t data_size, uint64_t blocks,
                               std::string_view last_key) {
  IndexRoot root;
  root.keys_ = last_key;
  root.entries_ = {{.offset = index.offset},
                   {.offset = index.offset + StoredSize(index),
                    .data = data_size,
                    .block = blocks,
                    .key = last_key.size()}};
  return root;
}

IndexRoot::Part IndexRoot::operator[](size_t i) const {
  ABSL_ASSERT(i < size() && "the file has such a part");
  const Entry& begin = entries_[i];
  const Entry& end = entries_[i + 1];
  return {.handle = {begin.offset, end.offset - begin.offset - kBlockTrailerSize},
          .first_block = begin.block,
          .blocks = end.block - begin.block,
          .data_begin = begin.data,
          .data_end = end.data,
          .row_continues = (begin.flags & 1) != 0};
}

size_t IndexRoot::Find(std::string_view target) const {
  const size_t common = CommonPrefix(prefix_, target);
  if (common < prefix_.size()) return LessBehind(prefix_, target, common) ? size() : 0;
  const std::string_view rest = target.substr(common);
  size_t low = 0, high = size();
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

size_t IndexRoot::PartOf(size_t block) const {
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), block,
                       [](size_t value, const Entry& entry) { return value < entry.block; });
  ABSL_ASSERT(after != entries_.begin() && after != entries_.end() && "the file has such a block");
  return static_cast<size_t>(after - entries_.begin()) - 1;
}

}  // namespace bigtable
