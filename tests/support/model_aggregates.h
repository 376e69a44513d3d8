// Aggregates in the model of a database (support/model.h): what contributions give together, and
// random contributions. Numbers and sums of doubles are computed here; HyperLogLogs are merged by
// the engine's own operator, which has tests of its own.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_AGGREGATES_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_AGGREGATES_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "bigtable/aggregate.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/schema.h"

#include "base/strings.h"
#include "retention/aggregates.h"
#include "retention/hyper_log_log.h"
#include "support/exact_sum.h"
#include "support/random.h"

namespace bigtable {

// An operator that is associative but not commutative, so that the order of contributions shows:
// the state is all inputs, from old to new.
inline constexpr const char* kConcatenation = "test.concatenation";

class Concatenation final : public AggregateOperator {
 public:
  absl::Status CheckInput(std::string_view input) const override {
    if (input != "refused") return absl::OkStatus();
    return absl::InvalidArgumentError("the input is \"refused\"");
  }
  absl::Status Merge(std::string_view older, std::string* state) const override {
    if (older == "corrupt") return absl::DataLossError("the state is corrupt");
    state->insert(0, older);
    return absl::OkStatus();
  }
};
inline const bool kConcatenationIsRegistered =
    RegisterAggregateOperator(kConcatenation, std::make_unique<Concatenation>()).ok();

inline bool HoldsAggregates(const Family& family) {
  return family.value_type != ValueType::kBytes || !family.value_operator.empty();
}

// The state of a cell with one input.
inline std::string ModelState(const Family& family, std::string_view input) {
  switch (family.value_type) {
    case ValueType::kHyperLogLog:
      return HyperLogLog().StateOf(input);
    case ValueType::kDoubleSum:
      return ExactSum().Add(*DecodeDouble(input)).State();
    case ValueType::kDoubleMin:
    case ValueType::kDoubleMax:
      return EncodeDouble(*DecodeDouble(input));  // of NaNs there is one
    default:
      return std::string(input);
  }
}

// Whether the double is the less of two that are numbers, with their signs if they are zero.
inline bool IsLessDouble(double a, double b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

inline std::string ModelExtreme(bool is_largest, std::string_view older, std::string_view newer) {
  const double a = *DecodeDouble(older), b = *DecodeDouble(newer);
  if (std::isnan(a)) return std::string(newer);
  if (std::isnan(b)) return std::string(older);
  return std::string(IsLessDouble(a, b) == is_largest ? newer : older);
}

// The state of two contributions, or groups of them.
inline std::string ModelMerged(const Family& family, std::string_view older,
                               std::string_view newer) {
  std::string merged(newer);
  if (family.value_type == ValueType::kHyperLogLog) {
    if (!HyperLogLog().Merge(older, &merged).ok()) std::abort();
    return merged;
  }
  if (family.value_type == ValueType::kDoubleSum) {
    return ExactSum().AddState(older).AddState(newer).State();
  }
  if (family.value_type == ValueType::kDoubleMin || family.value_type == ValueType::kDoubleMax) {
    return ModelExtreme(family.value_type == ValueType::kDoubleMax, older, newer);
  }
  if (family.value_type == ValueType::kBytes) return absl::StrCat(ToAbsl(older), ToAbsl(newer));
  const int64_t a = *DecodeBigEndian(older);
  const int64_t b = *DecodeBigEndian(newer);
  switch (family.value_type) {
    case ValueType::kInt64Min:
      return EncodeBigEndian(std::min(a, b));
    case ValueType::kInt64Max:
      return EncodeBigEndian(std::max(a, b));
    default:
      return EncodeBigEndian(
          static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)));
  }
}

// Makes the family one of aggregates.
inline void MakeAggregate(Random& random, Family* family) {
  constexpr auto kTypes = static_cast<uint8_t>(kLastValueType);
  const auto kind = static_cast<uint8_t>(random.Below(kTypes + 1));
  if (kind == 0) {
    family->value_operator = kConcatenation;
  } else {
    family->value_type = static_cast<ValueType>(kind);
  }
}

// Of numbers that cancel each other, and that a rounded sum would lose.
inline double RandomDouble(Random& random) {
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();
  static constexpr std::array kNumbers = {0.1,   -0.1, 0.2,   -0.3,   1.0,     -1.0, 1e308, -1e308,
                                          1e-30, 1e16, -1e16, 5e-324, -5e-324, 0.0,  -0.0};
  if (!random.OneIn(20)) return random.Pick(kNumbers);
  if (random.OneIn(2)) return std::numeric_limits<double>::quiet_NaN();
  return random.OneIn(2) ? kInfinite : -kInfinite;
}

inline bool HoldsDoubles(const Family& family) {
  return family.value_type == ValueType::kDoubleSum || family.value_type == ValueType::kDoubleMin ||
         family.value_type == ValueType::kDoubleMax;
}

inline std::string RandomDoubleContribution(Random& random, const Family& family, bool is_input) {
  const std::string input = EncodeDouble(RandomDouble(random));
  if (is_input) return input;
  const std::string state = ModelState(family, input);
  return ModelMerged(family, ModelState(family, EncodeDouble(RandomDouble(random))), state);
}

// An input, or a state, that the family takes.
inline std::string RandomContribution(Random& random, const Family& family, bool is_input) {
  static constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  if (!family.value_operator.empty()) {
    return std::string(1, static_cast<char>('a' + random.Below(26)));
  }
  if (HoldsDoubles(family)) return RandomDoubleContribution(random, family, is_input);
  if (family.value_type != ValueType::kHyperLogLog) {
    return EncodeBigEndian(random.OneIn(10) ? kLargest : random.Between(-2, 3));
  }
  std::string state = absl::StrCat("v", random.Below(random.OneIn(10) ? 1000 : 4));
  if (is_input) return state;
  state = HyperLogLog().StateOf(state);
  if (random.OneIn(2)) {
    state = ModelMerged(family, HyperLogLog().StateOf(absl::StrCat(random.Next())), state);
  }
  return state;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_AGGREGATES_H_
