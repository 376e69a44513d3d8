#include "retention/double_extremes.h"

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "retention/number_form.h"

namespace bigtable {
namespace {

// An integer in whose order doubles that are no NaN have theirs.
uint64_t RankOfDouble(uint64_t bits) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

}  // namespace

uint64_t DoubleExtreme::Extreme(uint64_t a, uint64_t b) const {
  if (IsNan(a)) return IsNan(b) ? kNanBits : b;
  if (IsNan(b)) return a;
  return (RankOfDouble(a) > RankOfDouble(b)) == is_largest_ ? a : b;
}

absl::Status DoubleExtreme::CheckInput(std::string_view input) const { return CheckNumber(input); }

absl::Status DoubleExtreme::CheckState(std::string_view state) const {
  BT_RETURN_IF_ERROR(CheckNumber(state));
  const uint64_t bits = LoadBigEndian64(state.data());
  if (!IsNan(bits) || bits == kNanBits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("a NaN is 7ff8000000000000 (EncodeDouble), and not ", Quoted(state)));
}

std::string DoubleExtreme::StateOf(std::string_view input) const {
  std::string state(input);
  if (IsNan(LoadBigEndian64(input.data()))) StoreBigEndian64(state.data(), kNanBits);
  return state;
}

absl::Status DoubleExtreme::Merge(std::string_view older, std::string* state) const {
  BT_RETURN_IF_ERROR(CheckNumber(older));
  BT_RETURN_IF_ERROR(CheckNumber(*state));
  const uint64_t a = LoadBigEndian64(older.data()), b = LoadBigEndian64(state->data());
  StoreBigEndian64(state->data(), Extreme(a, b));
  return absl::OkStatus();
}

}  // namespace bigtable
