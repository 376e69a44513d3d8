// The engine's filters, byte for byte as in a file, as candidates.
#ifndef BIGTABLE_BENCH_CANDIDATES_ENGINE_FILTERS_H_
#define BIGTABLE_BENCH_CANDIDATES_ENGINE_FILTERS_H_

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "bench/candidates/bloom_rates.h"
#include "bench/candidates/filter.h"
#include "sstable/bloom_filter.h"
#include "sstable/hashed_lines.h"
#include "sstable/row_index.h"

namespace candidates {

// FilterKind::kRow.
class EngineBloom final : public Filter {
 public:
  explicit EngineBloom(int bits) : bits_(bits), builder_(bits) {}

  void Add(std::string_view key) override { builder_.Add(bigtable::Checksum(key)); }
  void Finish() override {
    if (builder_.empty()) return;
    std::string lines;
    builder_.AppendTo(&lines);
    filter_ = bigtable::BloomFilter(bigtable::HashedLines(lines), {builder_.probes()});
  }
  bool MayContain(std::string_view key) const override {
    return filter_.MayContain(bigtable::Checksum(key));
  }
  size_t memory() const override { return filter_.memory(); }
  double ExpectedRate() const override {
    return LinesBloomRate(bits_, builder_.probes(), bigtable::HashedLines::kLineSize * 8);
  }

 private:
  const int bits_;
  bigtable::BloomFilterBuilder builder_;
  bigtable::BloomFilter filter_;
};

// FilterKind::kRowIndex, with a hundred rows in a block. Its bits for a row are always the same.
class EngineRowIndex final : public Filter {
 public:
  void Add(std::string_view key) override {
    builder_.Add(bigtable::Checksum(key), keys_++ / kRowsPerBlock);
  }
  void Finish() override {
    if (!builder_.CanBuild()) return;
    std::string lines;
    builder_.AppendTo(&lines);
    index_ = bigtable::RowIndex(
        bigtable::HashedLines(lines),
        bigtable::RowIndex::Shape(builder_.block_bits(), keys_ / kRowsPerBlock + 1));
  }
  bool MayContain(std::string_view key) const override {
    bigtable::RowIndex::Location location;
    return index_.Find(bigtable::Checksum(key), &location) != bigtable::RowIndex::Answer::kAbsent;
  }
  size_t memory() const override { return index_.memory(); }
  // A lookup compares its tag with those of a line, of which two thirds are taken.
  double ExpectedRate() const override {
    constexpr int kTaken = bigtable::RowIndex::kSlots * 2 / 3;
    const int tag_bits = 31 - builder_.block_bits();
    return kTaken * std::ldexp(1, -tag_bits);
  }

 private:
  static constexpr uint64_t kRowsPerBlock = 100;

  uint64_t keys_ = 0;
  bigtable::RowIndexBuilder builder_;
  bigtable::RowIndex index_;
};

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_ENGINE_FILTERS_H_
