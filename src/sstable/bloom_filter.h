// A Bloom filter whose questions each touch one cache line. It is asked with the Checksum of a row
// prefix, or of a column prefix (base/entry_key.h).
//
// In the file: lines of 64 bytes, nothing else; the number of probes is among the properties.
//
// * Line: the upper 32 bits of the hash, times the number of lines, shifted down by 32.
// * Probes in it: the lower 32 bits are multiplied by 0x9E3779B9 again and again (modulo 2^32); the
//   upper nine bits of each product are the number of a bit, lowest bit of the first byte first.
//
// Worked example: one line, one probe, hash 1: line 0; 0x9E3779B9 >> 23 = 316, so bit 4 of byte 39.
#ifndef BIGTABLE_SSTABLE_BLOOM_FILTER_H_
#define BIGTABLE_SSTABLE_BLOOM_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/prefetch.h"

namespace bigtable {

// Immutable and thread-safe. A default one says maybe to everything.
class BloomFilter {
 public:
  static constexpr size_t kLineSize = 64;
  static constexpr uint32_t kMultiplier = 0x9E3779B9;

  BloomFilter() = default;
  // Requires IsWellFormed(lines, probes).
  BloomFilter(std::string_view lines, int probes);
  static bool IsWellFormed(std::string_view lines, uint64_t probes) {
    return !lines.empty() && lines.size() % kLineSize == 0 &&
           lines.size() / kLineSize <= UINT32_MAX && probes >= 1 && probes <= 32;
  }

  // False is certain.
  bool MayContain(uint64_t hash) const {
    if (line_count_ == 0) return true;
    const char* const line = lines_ + LineOf(hash, line_count_) * kLineSize;
    uint32_t bits = static_cast<uint32_t>(hash);
    for (int i = 0; i < probes_; ++i) {
      bits *= kMultiplier;
      const uint32_t bit = bits >> 23;
      if ((static_cast<unsigned char>(line[bit / 8]) >> (bit % 8) & 1) == 0) return false;
    }
    return true;
  }

  // Begins to bring what MayContain(hash) will look at from memory.
  BIGTABLE_ONLY_PREFETCHES void Prefetch(uint64_t hash) const {
    if (line_count_ > 0) PrefetchLine(lines_ + LineOf(hash, line_count_) * kLineSize);
  }

  size_t memory() const { return line_count_ == 0 ? 0 : (line_count_ + 1) * kLineSize; }

  static size_t LineOf(uint64_t hash, uint64_t line_count) {
    return static_cast<size_t>((hash >> 32) * line_count >> 32);
  }

 private:
  std::unique_ptr<char[]> buffer_;
  const char* lines_ = nullptr;  // in the buffer, at the start of a cache line
  uint64_t line_count_ = 0;
  int probes_ = 0;
};

// Gathers hashes and builds the filter from them. One thread at a time.
class BloomFilterBuilder {
 public:
  explicit BloomFilterBuilder(int bits_per_hash) : bits_per_hash_(bits_per_hash) {}

  void Add(uint64_t hash) { hashes_.push_back(hash); }
  bool empty() const { return hashes_.empty(); }
  // How large the filter of what was added is.
  size_t size() const;
  int probes() const;
  void AppendTo(std::string* out) const;

 private:
  const int bits_per_hash_;
  std::vector<uint64_t> hashes_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_BLOOM_FILTER_H_
