#include "retention/hyper_log_log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/base/macros.h"

#include "base/checksum.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr char kSparse = 1;
constexpr char kDense = 2;
constexpr size_t kEntrySize = 3;
constexpr int kRankBits = 6;
constexpr uint32_t kMostRank = HyperLogLog::kRestBits + 1;

uint32_t EntryAt(std::string_view state, size_t offset) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(state[offset + i]));
  };
  return byte(0) << 16 | byte(1) << 8 | byte(2);
}

void AppendEntry(std::string* state, uint32_t entry) {
  for (const int shift : {16, 8, 0}) state->push_back(static_cast<char>(entry >> shift));
}

uint32_t RegisterOf(uint32_t entry) { return entry >> kRankBits; }
uint32_t RankOf(uint32_t entry) { return entry & ((1u << kRankBits) - 1); }

bool IsDense(std::string_view state) { return state[0] == kDense; }

// Raises the registers of a dense state to those of `other`.
void RaiseDense(std::string* dense, std::string_view other) {
  const auto raise = [dense](size_t i, char rank) {
    char& mine = (*dense)[1 + i];
    mine = std::max(mine, rank);
  };
  if (IsDense(other)) {
    for (size_t i = 0; i < HyperLogLog::kRegisters; ++i) raise(i, other[1 + i]);
    return;
  }
  for (size_t at = 1; at < other.size(); at += kEntrySize) {
    const uint32_t entry = EntryAt(other, at);
    raise(RegisterOf(entry), static_cast<char>(RankOf(entry)));
  }
}

std::string ToDense(std::string_view sparse) {
  std::string dense(1 + HyperLogLog::kRegisters, '\0');
  dense[0] = kDense;
  RaiseDense(&dense, sparse);
  return dense;
}

// The entries of both, and of a register that both have the larger rank.
std::string MergeSparse(std::string_view a, std::string_view b) {
  std::string merged(1, kSparse);
  merged.reserve(a.size() + b.size());
  size_t i = 1, j = 1;
  while (i < a.size() || j < b.size()) {
    const uint32_t mine = i < a.size() ? EntryAt(a, i) : std::numeric_limits<uint32_t>::max();
    const uint32_t other = j < b.size() ? EntryAt(b, j) : std::numeric_limits<uint32_t>::max();
    const bool same = RegisterOf(mine) == RegisterOf(other);
    AppendEntry(&merged, same ? std::max(mine, other) : std::min(mine, other));
    if (same || mine < other) i += kEntrySize;
    if (same || other < mine) j += kEntrySize;
  }
  return merged;
}

// The estimator of O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017:
// unbiased over the whole range, without tables.
double Tau(double x) {
  if (x == 0 || x == 1) return 0;
  double y = 1, z = 1 - x, before;
  do {
    x = std::sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1 - x) * (1 - x) * y;
  } while (z != before);
  return z / 3;
}

double Sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double y = 1, z = x, before;
  do {
    x *= x;
    before = z;
    z += x * y;
    y += y;
  } while (z != before);
  return z;
}

absl::Status NotAState(std::string_view what) {
  return absl::InvalidArgumentError(Cat("not the state of a HyperLogLog: ", what));
}

}  // namespace

absl::Status HyperLogLog::CheckState(std::string_view state) const {
  if (state.empty()) return NotAState("it is empty");
  if (state[0] == kDense) {
    if (state.size() != 1 + kRegisters) return NotAState(Cat("it has ", state.size(), " bytes"));
    const bool in_range = std::all_of(state.begin() + 1, state.end(), [](char rank) {
      return static_cast<unsigned char>(rank) <= kMostRank;
    });
    return in_range ? absl::OkStatus() : NotAState("a rank is too large");
  }
  if (state[0] != kSparse) return NotAState("its first byte is neither 1 nor 2");
  if (state.size() % kEntrySize != 1 || state.size() > 1 + kMostSparse * kEntrySize) {
    return NotAState(Cat("it has ", state.size(), " bytes"));
  }
  for (size_t at = 1; at < state.size(); at += kEntrySize) {
    const uint32_t entry = EntryAt(state, at);
    if (RegisterOf(entry) >= kRegisters || RankOf(entry) < 1 || RankOf(entry) > kMostRank) {
      return NotAState(Cat("the entry ", entry, " is not one of a register"));
    }
    if (at > 1 && RegisterOf(EntryAt(state, at - kEntrySize)) >= RegisterOf(entry)) {
      return NotAState("its registers are not in order");
    }
  }
  return absl::OkStatus();
}

std::string HyperLogLog::StateOf(std::string_view input) const {
  return StateOfHash(Checksum(input));
}

std::string HyperLogLog::StateOfHash(uint64_t hash) {
  const auto index = static_cast<uint32_t>(hash >> kRestBits);
  // The last bit ends a run of zeros at the latest.
  const uint64_t rest = hash << kPrecision | uint64_t{1} << (kPrecision - 1);
  const auto rank = static_cast<uint32_t>(std::countl_zero(rest)) + 1;
  std::string state(1, kSparse);
  AppendEntry(&state, index << kRankBits | rank);
  return state;
}

absl::Status HyperLogLog::Merge(std::string_view older, std::string* state) const {
  BT_RETURN_IF_ERROR(CheckState(older));
  // A dense state usually has many contributions, and is not checked with each.
  if (state->size() != 1 + kRegisters || !IsDense(*state)) {
    BT_RETURN_IF_ERROR(CheckState(*state));
    if (!IsDense(older)) {
      std::string merged = MergeSparse(older, *state);
      if (merged.size() > 1 + kMostSparse * kEntrySize) merged = ToDense(merged);
      *state = std::move(merged);
      return absl::OkStatus();
    }
    *state = ToDense(*state);
  }
  RaiseDense(state, older);
  return absl::OkStatus();
}

uint64_t HyperLogLog::Estimate(std::string_view state) {
  ABSL_ASSERT(HyperLogLog().CheckState(state).ok() && "the caller has checked it");
  std::array<double, kMostRank + 1> with_rank{};  // the number of registers
  const std::string dense = IsDense(state) ? std::string(state) : ToDense(state);
  for (size_t i = 0; i < kRegisters; ++i) with_rank[static_cast<unsigned char>(dense[1 + i])] += 1;
  constexpr double kCount = kRegisters;
  double z = kCount * Tau((kCount - with_rank[kMostRank]) / kCount);
  for (size_t rank = kRestBits; rank >= 1; --rank) z = (z + with_rank[rank]) * 0.5;
  z += kCount * Sigma(with_rank[0] / kCount);
  constexpr double kAlpha = 0.721347520444481703680;  // 1 / (2 ln 2)
  return static_cast<uint64_t>(std::llround(kAlpha * kCount * kCount / z));
}

absl::StatusOr<uint64_t> HyperLogLogEstimate(std::string_view state) {
  BT_RETURN_IF_ERROR(HyperLogLog().CheckState(state));
  return HyperLogLog::Estimate(state);
}

}  // namespace bigtable
