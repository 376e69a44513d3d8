// Sizes of the index of files that are written in the lifetime of an object, so that small files
// have indexes of many parts, and shortened keys; or the last keys of blocks, as files of earlier
// versions have them. One object at a time.
#ifndef BIGTABLE_TESTS_SUPPORT_SCOPED_INDEX_SIZES_H_
#define BIGTABLE_TESTS_SUPPORT_SCOPED_INDEX_SIZES_H_

#include <cstddef>
#include <cstdint>

#include "blocks/index_writer.h"

namespace bigtable {

class ScopedIndexSizes {
 public:
  // For a random test: two of three seeds have small ones, and half of the others last keys.
  explicit ScopedIndexSizes(uint64_t seed)
      : ScopedIndexSizes(seed % 3 == 0 ? kWholeKey : seed / 3 % 40,
                         seed % 3 == 1 ? kIndexPartSize : 1 + seed / 3 % 97, seed / 3 % 2 == 0) {}
  ScopedIndexSizes(size_t whole_key, size_t part, bool has_last_keys = false) {
    index_sizes.whole_key = whole_key;
    index_sizes.part = part;
    index_sizes.has_last_keys = has_last_keys;
  }
  ~ScopedIndexSizes() {
    index_sizes.whole_key = kWholeKey;
    index_sizes.part = kIndexPartSize;
    index_sizes.has_last_keys = false;
  }
  ScopedIndexSizes(const ScopedIndexSizes&) = delete;
  ScopedIndexSizes& operator=(const ScopedIndexSizes&) = delete;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SCOPED_INDEX_SIZES_H_
