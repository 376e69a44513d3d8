// Gathers the index of a file while its data blocks are written, and writes it behind them.
//
// The index is a block (block_builder.h) with an entry for each data block:
//
//   key:   what separates the data block from the next one:
//          * if its last key is longer than kWholeKey: the shortest key that is not before that,
//          and
//            before the first key of the next data block;
//          * otherwise, if its last row ends in it: the prefix of this row (base/entry_key.h), and
//            the byte FF, which is behind all keys of the row and before those of the next;
//          * otherwise its last key
//   value: varint: four times the data block's size in the file without its block trailer, plus 2
//          if the key is not its last key, plus 1 if the row in which the data block ends continues
//          in the next
//
// An index of more than kPartSize bytes is divided into parts of this form, adjacent in the file
// right behind the data. Behind them stands the root, a block that is not compressed:
//
//   key:   that of the last data block of the part
//   value: varint: four times the part's size in the file without its block trailer, plus 2 and 1
//          as the last entry of the part has them; varint data blocks in it; varint bytes of these
//          data blocks with their block trailers
//
// Why parts: an index that finds no room in the memory budget is read by parts
// (sstable/file_parts.h). Why not the last key: column, timestamp and version are half of the index
// of rows with short keys. Why a row's prefix is left whole: estimates look for such rows in other
// files. Why the keys that are longer are shortened further: otherwise the index of a file whose
// keys are larger than a block is as large as its data.
//
// Worked example: a data block of 75 bytes in which the row "ab" ends: one entry,
// 61 62 00 01 FF -> AE 02 (302).
//
// One thread at a time.
#ifndef BIGTABLE_BLOCKS_INDEX_WRITER_H_
#define BIGTABLE_BLOCKS_INDEX_WRITER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "blocks/block_builder.h"
#include "blocks/stored_block.h"

namespace bigtable {

inline constexpr size_t kWholeKey = 256;
inline constexpr size_t kIndexPartSize = 2048;

// What writers use: these values, unless a test has changed them.
struct IndexSizes {
  std::atomic<size_t> whole_key{kWholeKey};  // a longer one is shortened by the next
  std::atomic<size_t> part{kIndexPartSize};
  // As earlier versions of this program: a key that is not longer is that of the block's last
  // entry.
  std::atomic<bool> has_last_keys{false};
};
extern IndexSizes index_sizes;

// The shortest key that is not before `last`, and before `next` if that is not empty. `last` is
// before `next`.
std::string ShortestFrom(std::string_view last, std::string_view next);

class IndexWriter {
 public:
  // Whether a key of this size is shortened by the next one, so that Add needs that.
  bool IsShortened(size_t key_size) const { return key_size > whole_key_; }
  // The entry of the next data block, which takes `stored` bytes of the file without its block
  // trailer. `next`: the first key of the data block after it; empty: there is none, or it is not
  // needed.
  absl::Status Add(std::string_view last_key, uint64_t stored, std::string_view next,
                   bool row_continues);

  // After the last entry. Calls `append(block)` for each part, which returns its handle in the file
  // or an error, and then `append_root(block)`. Without parts, the root is the index.
  template <typename Append, typename AppendRoot>
  absl::Status Finish(Append append, AppendRoot append_root);

  // Bytes of the index so far, before compression; the number of parts; and the largest of these.
  uint64_t size() const { return finished_.size() + part_.size(); }
  uint64_t parts() const { return parts_.size(); }
  uint64_t largest_part() const { return largest_part_; }
  size_t memory() const {
    return finished_.capacity() + part_.memory() + parts_.capacity() * sizeof(Part) + key_bytes_;
  }
  // Memory that may be needed beyond memory() while an entry with a key of this size is added.
  size_t growth(size_t last_key) const {
    const size_t of_part = part_.growth(last_key);
    return part_.size() < part_size_ ? of_part : of_part + 2 * finished_.capacity();
  }

 private:
  struct Part {
    size_t end;  // in finished_
    std::string last_key;
    uint64_t flags;  // of its last entry
    uint64_t blocks;
    uint64_t data;
  };

  void FinishPart();
  static absl::Status AddToRoot(const Part& part, const BlockHandle& handle, BlockBuilder* root);

  const size_t whole_key_ = index_sizes.whole_key.load(std::memory_order_relaxed);
  const size_t part_size_ = index_sizes.part.load(std::memory_order_relaxed);
  const bool has_last_keys_ = index_sizes.has_last_keys.load(std::memory_order_relaxed);
  std::string finished_;  // the parts, one after another
  std::vector<Part> parts_;
  size_t key_bytes_ = 0;  // of their last keys
  BlockBuilder part_;
  uint64_t blocks_ = 0;  // of part_
  uint64_t flags_ = 0;   // of its last entry
  uint64_t data_ = 0;
  uint64_t largest_part_ = 0;
};

template <typename Append, typename AppendRoot>
absl::Status IndexWriter::Finish(Append append, AppendRoot append_root) {
  if (parts_.empty()) {
    finished_.reserve(part_.size());
    part_.FinishTo(&finished_);
    part_ = BlockBuilder();
    return append_root(finished_, /*is_index=*/true);
  }
  FinishPart();
  part_ = BlockBuilder();
  BlockBuilder root;
  size_t begin = 0;
  for (const Part& part : parts_) {
    auto handle = append(std::string_view(finished_).substr(begin, part.end - begin));
    if (!handle.ok()) return handle.status();
    if (absl::Status status = AddToRoot(part, *handle, &root); !status.ok()) return status;
    begin = part.end;
  }
  std::string().swap(finished_);
  std::string bytes;
  root.FinishTo(&bytes);
  return append_root(bytes, /*is_index=*/false);
}

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_INDEX_WRITER_H_
