#include "sstable/bloom_filter.h"

#include <algorithm>

namespace bigtable {

size_t BloomFilterBuilder::size() const {
  if (hashes_.empty()) return 0;
  const size_t bits = hashes_.size() * static_cast<size_t>(bits_per_hash_);
  constexpr size_t kLineBits = HashedLines::kLineSize * 8;
  return (bits + kLineBits - 1) / kLineBits * HashedLines::kLineSize;
}

// The optimum for a filter that is not divided into lines is ln 2 times the bits of each hash.
// Lines are not equally full, so the optimum is a little lower.
int BloomFilterBuilder::probes() const { return std::clamp(bits_per_hash_ * 65 / 100, 1, 20); }

void BloomFilterBuilder::AppendTo(std::string* out) const {
  const size_t begin = out->size();
  out->resize(begin + size());
  const uint64_t line_count = size() / HashedLines::kLineSize;
  const int probe_count = probes();
  hashes_.ForEach([&](uint64_t hash) {
    char* const line =
        out->data() + begin + HashedLines::NumberOf(hash, line_count) * HashedLines::kLineSize;
    uint32_t bits = static_cast<uint32_t>(hash);
    for (int i = 0; i < probe_count; ++i) {
      bits *= BloomFilter::kMultiplier;
      const uint32_t bit = bits >> 23;
      line[bit / 8] = static_cast<char>(line[bit / 8] | 1 << (bit % 8));
    }
  });
}

}  // namespace bigtable
