// An index of the blocks of an SSTable, engine's or not, to be measured and tested beside the
// others: "which block may have this key?" A new kind is a class and a line in registry.cc.
//
// Only measurements call indexes through this interface. The engine's own is adapted to it
// (engine_index.h); the engine calls it directly.
#ifndef BIGTABLE_BENCH_CANDIDATES_INDEX_H_
#define BIGTABLE_BENCH_CANDIDATES_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace candidates {

// First Add for each block, then Finish once, then the others. One thread at a time.
class Index {
 public:
  virtual ~Index() = default;

  // The next block: its last key, encoded as the engine does (base/entry_key.h), and its size.
  virtual void Add(std::string_view last_key, uint64_t size) = 0;
  virtual void Finish() = 0;

  // The first block whose last key is at or after `key`; the number of blocks if there is none.
  virtual size_t Find(std::string_view key) const = 0;
  // Of the finished index.
  virtual size_t memory() const = 0;
};

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_INDEX_H_
