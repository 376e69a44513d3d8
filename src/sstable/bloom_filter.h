// A Bloom filter in which each lookup reads one cache line. The key of a lookup is the Checksum of
// a row prefix or of a column prefix (base/entry_key.h).
//
// In the file: lines of 64 bytes, in pages (filter_pages.h). The properties hold the number of
// probes.
//
// * Line: as in hashed_lines.h.
// * Probes in it: the lower 32 bits are multiplied by 0x9E3779B9 repeatedly (modulo 2^32). The
//   upper nine bits of each product are the number of a bit, counted from the lowest bit of the
//   first byte.
//
// Worked example: one line, one probe, hash 1: line 0; 0x9E3779B9 >> 23 = 316, so bit 4 of byte 39.
#ifndef BIGTABLE_SSTABLE_BLOOM_FILTER_H_
#define BIGTABLE_SSTABLE_BLOOM_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/macros.h"

#include "base/prefetch.h"
#include "sstable/chunked_list.h"
#include "sstable/hashed_lines.h"

namespace bigtable {

// Immutable and thread-safe. A default one may contain everything.
class BloomFilter {
 public:
  static constexpr uint32_t kMultiplier = 0x9E3779B9;

  // What a lookup must know besides the line.
  struct Shape {
    int probes = 0;

    // Whether the hash, which selects this line, may be in it. A false result is certain.
    bool MayContain(const char* line, uint64_t hash) const {
      uint32_t bits = static_cast<uint32_t>(hash);
      for (int i = 0; i < probes; ++i) {
        bits *= kMultiplier;
        const uint32_t bit = bits >> 23;
        if ((static_cast<unsigned char>(line[bit / 8]) >> (bit % 8) & 1) == 0) return false;
      }
      return true;
    }
  };

  BloomFilter() = default;
  // Requires IsWellFormed(shape.probes).
  BloomFilter(HashedLines lines, Shape shape) : lines_(std::move(lines)), shape_(shape) {
    ABSL_ASSERT(IsWellFormed(static_cast<uint64_t>(shape.probes)) && "the caller has checked it");
  }
  static bool IsWellFormed(uint64_t probes) { return probes >= 1 && probes <= 32; }

  // A false result is certain.
  bool MayContain(uint64_t hash) const {
    return lines_.empty() || shape_.MayContain(lines_[lines_.NumberOf(hash)], hash);
  }

  // Prefetches the line that MayContain(hash) reads.
  BIGTABLE_ONLY_PREFETCHES void Prefetch(uint64_t hash) const { lines_.Prefetch(hash); }

  size_t memory() const { return lines_.memory(); }

 private:
  HashedLines lines_;
  Shape shape_;
};

// Gathers hashes and builds the filter from them. One thread at a time.
class BloomFilterBuilder {
 public:
  explicit BloomFilterBuilder(int bits_per_hash) : bits_per_hash_(bits_per_hash) {}

  void Add(uint64_t hash) { hashes_.push_back(hash); }
  bool empty() const { return hashes_.empty(); }
  // The size of the filter of the hashes added so far.
  size_t size() const;
  int probes() const;
  void AppendTo(std::string* out) const;
  size_t memory() const { return hashes_.memory(); }

 private:
  const int bits_per_hash_;
  ChunkedList<uint64_t> hashes_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_BLOOM_FILTER_H_
