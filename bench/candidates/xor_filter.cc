#include "bench/candidates/xor_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/coding.h"

namespace candidates {
namespace {

constexpr double kPlacesPerKey = 1.23;  // with fewer, most seeds have no order
constexpr size_t kMorePlaces = 32;      // for few keys

// A finalizer of MurmurHash3.
uint64_t Mix(uint64_t h) {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
  return h ^ (h >> 33);
}

}  // namespace

XorFilter::XorFilter(int bits)
    : width_(std::max<size_t>(1, static_cast<size_t>(bits / kPlacesPerKey))) {}

double XorFilter::ExpectedRate() const { return std::ldexp(1, -static_cast<int>(width_)); }

uint64_t XorFilter::SeededHash(uint64_t key_hash) const { return Mix(key_hash + seed_); }

std::array<size_t, XorFilter::kPlaces> XorFilter::PlacesOf(uint64_t hash) const {
  std::array<size_t, kPlaces> places;
  for (size_t i = 0; i < kPlaces; ++i) {
    const auto part = static_cast<uint32_t>(std::rotl(hash, 21 * static_cast<int>(i)));
    places[i] = i * third_ + (part * uint64_t{third_} >> 32);
  }
  return places;
}

uint32_t XorFilter::FingerprintOf(uint64_t hash) const {
  return static_cast<uint32_t>(hash ^ hash >> 32) & ((uint32_t{1} << width_) - 1);
}

uint32_t XorFilter::XorOfPlaces(uint64_t hash) const {
  uint32_t fingerprint = 0;
  for (const size_t place : PlacesOf(hash)) fingerprint ^= Load(place);
  return fingerprint;
}

std::vector<XorFilter::Peeled> XorFilter::Peel() const {
  struct Place {
    uint64_t hashes = 0;  // of the keys there, combined by xor: if there is one, its own
    uint32_t keys = 0;
  };
  std::vector<Place> places(kPlaces * third_);
  const auto change = [&](uint64_t hash, uint32_t keys, auto visit) {
    for (const size_t i : PlacesOf(hash)) {
      places[i].hashes ^= hash;
      places[i].keys += keys;
      if (places[i].keys == 1) visit(i);
    }
  };
  for (const uint64_t key : hashes_) change(SeededHash(key), 1, [](size_t) {});
  std::vector<size_t> alone;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].keys == 1) alone.push_back(i);
  }
  std::vector<Peeled> order;
  while (!alone.empty()) {
    const size_t place = alone.back();
    alone.pop_back();
    if (places[place].keys != 1) continue;  // it was taken out by another of its places
    order.push_back({places[place].hashes, place});
    change(order.back().hash, UINT32_MAX, [&](size_t i) { alone.push_back(i); });
  }
  if (order.size() < hashes_.size()) order.clear();
  return order;
}

void XorFilter::Finish() {
  std::sort(hashes_.begin(), hashes_.end());
  hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
  if (hashes_.empty()) return;
  const double places = kPlacesPerKey * static_cast<double>(hashes_.size());
  third_ = (static_cast<size_t>(places) + kMorePlaces) / kPlaces;
  std::vector<Peeled> order;
  do {
    ++seed_;
    order = Peel();
  } while (order.empty());
  table_.assign((kPlaces * third_ * width_ + 7) / 8 + sizeof(uint64_t), '\0');
  // Last out, first in: no later key changes a place of an earlier one.
  for (auto key = order.rbegin(); key != order.rend(); ++key) {
    Store(key->place, FingerprintOf(key->hash) ^ XorOfPlaces(key->hash));
  }
  hashes_ = {};
}

bool XorFilter::MayContain(std::string_view key) const {
  if (table_.empty()) return false;
  const uint64_t hash = SeededHash(bigtable::Checksum(key));
  return FingerprintOf(hash) == XorOfPlaces(hash);
}

uint32_t XorFilter::Load(size_t place) const {
  const size_t bit = place * width_;
  const uint64_t word = bigtable::LoadFixed64(table_.data() + bit / 8);
  return static_cast<uint32_t>(word >> bit % 8) & ((uint32_t{1} << width_) - 1);
}

// Where nothing was stored before.
void XorFilter::Store(size_t place, uint32_t fingerprint) {
  const size_t bit = place * width_;
  char* const at = table_.data() + bit / 8;
  bigtable::StoreFixed64(at, bigtable::LoadFixed64(at) | uint64_t{fingerprint} << bit % 8);
}

}  // namespace candidates
