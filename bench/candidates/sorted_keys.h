// The plainest index: all last keys, whole and one after the other, bisected.
#ifndef BIGTABLE_BENCH_CANDIDATES_SORTED_KEYS_H_
#define BIGTABLE_BENCH_CANDIDATES_SORTED_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/candidates/index.h"

namespace candidates {

class SortedKeys final : public Index {
 public:
  void Add(std::string_view last_key, uint64_t size) override {
    blocks_.push_back({keys_.size(), offset_});
    keys_ += last_key;
    offset_ += size;
  }
  void Finish() override {
    blocks_.push_back({keys_.size(), offset_});
    keys_.shrink_to_fit();
    blocks_.shrink_to_fit();
  }
  size_t Find(std::string_view key) const override {
    size_t low = 0;
    size_t high = blocks_.size() - 1;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (LastKey(middle) < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  size_t memory() const override { return keys_.capacity() + blocks_.capacity() * sizeof(Block); }

 private:
  struct Block {
    size_t key_begin;  // in keys_
    uint64_t offset;   // in the file
  };

  std::string_view LastKey(size_t i) const {
    const size_t begin = blocks_[i].key_begin;
    return std::string_view(keys_).substr(begin, blocks_[i + 1].key_begin - begin);
  }

  std::string keys_;
  std::vector<Block> blocks_;  // and, once finished, their end
  uint64_t offset_ = 0;
};

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_SORTED_KEYS_H_
