// The row index and the Bloom filter of an SSTable.
#include "sstable/row_index.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/input.h"
#include "fuzz/target.h"
#include "sstable/bloom_filter.h"
#include "sstable/hashed_lines.h"

namespace bigtable {
namespace {

void FuzzRowIndex(std::string_view bytes) {
  FuzzInput input(bytes);
  const uint64_t bits = input.Byte();
  const size_t blocks = input.Number(2);
  const uint64_t hash = input.Number();
  std::string bytes_of_lines(input.Rest());
  bytes_of_lines.resize(bytes_of_lines.size() / HashedLines::kLineSize * HashedLines::kLineSize);
  if (bytes_of_lines.empty()) return;
  if (RowIndex::IsWellFormed(bits)) {
    const RowIndex index(HashedLines(bytes_of_lines),
                         RowIndex::Shape(static_cast<int>(bits), blocks));
    for (uint64_t i = 0; i < 8; ++i) {
      RowIndex::Location location;
      if (index.Find(hash * (i + 1), &location) == RowIndex::Answer::kFound) {
        Require(location.block < blocks, "a row is in a block of the file");
      }
    }
  }
  if (BloomFilter::IsWellFormed(bits)) {
    const BloomFilter filter(HashedLines(bytes_of_lines), {static_cast<int>(bits)});
    for (uint64_t i = 0; i < 8; ++i) static_cast<void>(filter.MayContain(hash * (i + 1)));
  }
}

const FuzzTargetRegistration row_index_target("row_index", FuzzRowIndex);

}  // namespace
}  // namespace bigtable
