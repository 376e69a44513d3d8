// The root of an index in parts (index_writer.h): which part has a block or a key, and where it is
// in the file. Immutable, thread-safe.
#ifndef BIGTABLE_SSTABLE_INDEX_ROOT_H_
#define BIGTABLE_SSTABLE_INDEX_ROOT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "blocks/stored_block.h"

namespace bigtable {

class IndexRoot {
 public:
  struct Part {
    BlockHandle handle;      // of the part in the file
    size_t first_block = 0;  // the number of its first data block
    size_t blocks = 0;
    uint64_t data_begin = 0;  // of its data blocks in the file
    uint64_t data_end = 0;
    bool row_continues = false;  // BlockIndex::RowContinues of its last data block
  };

  // The root of no file; to be assigned to.
  IndexRoot() = default;
  // From the root of a file with `blocks` data blocks of `data_size` bytes, whose parts are from
  // there to `parts_end`. DataLoss, without the name of the file, if it is not such a root.
  static absl::StatusOr<IndexRoot> Load(std::string_view root, uint64_t data_size, uint64_t blocks,
                                        uint64_t parts_end);

  // The root of an index that is not in parts, as if it were one.
  static IndexRoot OfOnePart(const BlockHandle& index, uint64_t data_size, uint64_t blocks,
                             std::string_view last_key);

  size_t size() const { return entries_.empty() ? 0 : entries_.size() - 1; }
  Part operator[](size_t i) const;
  // The first part whose key, that of its last data block, is at or after `target`; size() if there
  // is none.
  size_t Find(std::string_view target) const;
  // The part that has this data block.
  size_t PartOf(size_t block) const;
  // The key of a part, that of its last data block. Costs an allocation.
  std::string KeyOf(size_t i) const { return prefix_ + std::string(KeyRest(i)); }
  size_t memory() const {
    return prefix_.capacity() + keys_.capacity() + entries_.capacity() * sizeof(Entry);
  }

 private:
  // Where a part begins. The last entry is where the last part ends.
  struct Entry {
    uint64_t offset = 0;
    uint64_t data = 0;
    size_t block = 0;
    size_t key = 0;      // in keys_
    uint64_t flags = 0;  // as in the file
  };

  std::string_view KeyRest(size_t i) const {
    ABSL_ASSERT(i < size() && "the file has such a part");
    return std::string_view(keys_).substr(entries_[i].key, entries_[i + 1].key - entries_[i].key);
  }
  absl::Status AddKeys(std::string_view root);

  std::vector<Entry> entries_;
  std::string prefix_;  // common to all keys
  std::string keys_;    // the rests after the prefix, concatenated
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_INDEX_ROOT_H_
