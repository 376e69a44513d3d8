// Bloom's filter as he described it (CACM 1970): one array of bits, of which a key sets some
// anywhere. Its rate is the lowest of a Bloom filter; a lookup reads a cache line for each probe.
#ifndef BIGTABLE_BENCH_CANDIDATES_PLAIN_BLOOM_H_
#define BIGTABLE_BENCH_CANDIDATES_PLAIN_BLOOM_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "bench/candidates/bloom_rates.h"
#include "bench/candidates/filter.h"

namespace candidates {

class PlainBloom final : public Filter {
 public:
  explicit PlainBloom(int bits)
      : bits_(bits),
        probes_(std::max(1, static_cast<int>(std::lround(bits * std::numbers::ln2)))) {}

  void Add(std::string_view key) override { hashes_.push_back(bigtable::Checksum(key)); }
  void Finish() override {
    words_.resize((hashes_.size() * static_cast<size_t>(bits_) + 63) / 64);
    for (const uint64_t hash : hashes_) {
      ForEachProbe(hash, [&](uint64_t bit) {
        words_[bit / 64] |= uint64_t{1} << (bit % 64);
        return true;
      });
    }
    hashes_ = {};
  }
  bool MayContain(std::string_view key) const override {
    return !words_.empty() && ForEachProbe(bigtable::Checksum(key), [&](uint64_t bit) {
      return (words_[bit / 64] >> (bit % 64) & 1) != 0;
    });
  }
  size_t memory() const override { return words_.size() * sizeof(uint64_t); }
  double ExpectedRate() const override { return BloomRate(bits_, probes_); }

 private:
  // Visits the key's bits until one returns false. The halves of the hash are two hashes, whose
  // sums are as good as more of them (Kirsch and Mitzenmacher, ESA 2006).
  template <typename Visit>
  bool ForEachProbe(uint64_t hash, Visit visit) const {
    const uint64_t bit_count = words_.size() * 64;
    const uint64_t step = hash << 32 | 1;
    for (int i = 0; i < probes_; ++i, hash += step) {
      if (!visit(static_cast<uint64_t>(static_cast<__uint128_t>(hash) * bit_count >> 64))) {
        return false;
      }
    }
    return true;
  }

  const int bits_;
  const int probes_;
  std::vector<uint64_t> hashes_;
  std::vector<uint64_t> words_;
};

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_PLAIN_BLOOM_H_
