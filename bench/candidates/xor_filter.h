// The xor filter of Graf and Lemire ("Xor Filters: Faster and Smaller Than Bloom and Cuckoo
// Filters", JEA 2020): a table of fingerprints, in which those at a key's three places, combined by
// xor, are the key's own. Its rate is 2^-w for w bits of a fingerprint, of which it has 1.23 for
// each key. It is built from all keys at once.
#ifndef BIGTABLE_BENCH_CANDIDATES_XOR_FILTER_H_
#define BIGTABLE_BENCH_CANDIDATES_XOR_FILTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "bench/candidates/filter.h"

namespace candidates {

class XorFilter final : public Filter {
 public:
  // With as many bits of a fingerprint as `bits` for each key allow, and at least one.
  explicit XorFilter(int bits);

  void Add(std::string_view key) override { hashes_.push_back(bigtable::Checksum(key)); }
  void Finish() override;
  bool MayContain(std::string_view key) const override;
  size_t memory() const override { return table_.size(); }
  double ExpectedRate() const override;

 private:
  static constexpr size_t kPlaces = 3;
  // A key that is alone at a place when its turn comes, which sets that place's fingerprint.
  struct Peeled {
    uint64_t hash;
    size_t place;
  };

  uint64_t SeededHash(uint64_t key_hash) const;
  // One in each third of the table.
  std::array<size_t, kPlaces> PlacesOf(uint64_t hash) const;
  uint32_t FingerprintOf(uint64_t hash) const;
  uint32_t XorOfPlaces(uint64_t hash) const;
  // An order of all keys in which each is alone at a place once those before it are taken out;
  // empty if there is none with this seed.
  std::vector<Peeled> Peel() const;

  uint32_t Load(size_t place) const;
  void Store(size_t place, uint32_t fingerprint);

  const size_t width_;  // bits of a fingerprint, 1 to 26
  std::vector<uint64_t> hashes_;
  uint64_t seed_ = 0;
  size_t third_ = 0;   // places in each third
  std::string table_;  // the fingerprints, without gaps, and eight bytes
};

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_XOR_FILTER_H_
