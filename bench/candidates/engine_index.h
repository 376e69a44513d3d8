// The engine's block index, loaded as from a file, as a candidate.
#ifndef BIGTABLE_BENCH_CANDIDATES_ENGINE_INDEX_H_
#define BIGTABLE_BENCH_CANDIDATES_ENGINE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/macros.h"

#include "base/coding.h"
#include "bench/candidates/index.h"
#include "blocks/block_builder.h"
#include "blocks/block_index.h"
#include "blocks/stored_block.h"

namespace candidates {

class EngineIndex final : public Index {
 public:
  void Add(std::string_view last_key, uint64_t size) override {
    std::string value;
    bigtable::AppendVarint64(&value, 4 * size);  // no row continues in the next block
    size_t shared = 0;
    [[maybe_unused]] const bool ascends = builder_.Add(last_key, value, &shared);
    ABSL_ASSERT(ascends && "last keys ascend");
    data_size_ += size + bigtable::kBlockTrailerSize;
  }
  void Finish() override {
    std::string block;
    builder_.FinishTo(&block);
    index_ = bigtable::BlockIndex::Load(block, data_size_).value();
  }
  size_t Find(std::string_view key) const override { return index_.Find(key); }
  size_t memory() const override { return index_.memory(); }

 private:
  bigtable::BlockBuilder builder_;
  uint64_t data_size_ = 0;
  bigtable::BlockIndex index_;
};

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_ENGINE_INDEX_H_
