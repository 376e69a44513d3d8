// Adjacent blocks of a file that were read together, past its mapping, for a cursor that reads one
// after the other. Charged to MemoryBudget::Use::kReads while the cursor has it; what was returned
// of it may keep the memory for longer. Plain value; one thread at a time.
#ifndef BIGTABLE_BLOCKS_BLOCK_WINDOW_H_
#define BIGTABLE_BLOCKS_BLOCK_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/macros.h"

#include "base/ref_counted.h"
#include "cache/block.h"
#include "cache/budget_charge.h"

namespace bigtable {

struct BlockWindow {
  bool Has(size_t i) const { return first <= i && i < end; }
  // The stored bytes at this offset of the file, which belong to one of the blocks.
  const char* At(uint64_t offset) const {
    ABSL_ASSERT(offset >= begin && "the window has the block");
    return bytes + (offset - begin);
  }

  std::unique_ptr<BudgetCharge> charge;
  Ref<Block> memory;            // keeps the bytes in place
  const char* bytes = nullptr;  // from `begin` of the file on
  uint64_t begin = 0;
  size_t first = 0;  // blocks
  size_t end = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_WINDOW_H_
