// The operators of aggregate families: the engine's numbers, and the registry of a program's own.
#include "retention/aggregates.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "gtest/gtest.h"

#include "bigtable/read_modify_write.h"

#include "support/expect_status.h"
#include "support/model_aggregates.h"

namespace bigtable {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

int64_t Merged(ValueType type, const std::vector<int64_t>& numbers) {
  const AggregateOperator& op = *Aggregate::Of(type, "")->operator_or_null();
  std::string state = EncodeBigEndian(numbers.back());
  for (auto number = numbers.rbegin() + 1; number != numbers.rend(); ++number) {
    EXPECT_OK(op.Merge(EncodeBigEndian(*number), &state));
  }
  return DecodeBigEndian(state).value_or(0);
}

TEST(AggregatesTest, NumbersAreAddedOrCompared) {
  EXPECT_EQ(Merged(ValueType::kInt64Sum, {1, 2, -5}), -2);
  EXPECT_EQ(Merged(ValueType::kInt64Min, {1, -7, 3}), -7);
  EXPECT_EQ(Merged(ValueType::kInt64Max, {1, -7, 3}), 3);
  EXPECT_EQ(Merged(ValueType::kInt64Min, {kLargest, kSmallest}), kSmallest);
  EXPECT_EQ(Merged(ValueType::kInt64Max, {kLargest, kSmallest}), kLargest);
}

TEST(AggregatesTest, ASumWrapsAroundSoThatTheOrderDoesNotMatter) {
  EXPECT_EQ(Merged(ValueType::kInt64Sum, {kLargest, 1}), kSmallest);
  EXPECT_EQ(Merged(ValueType::kInt64Sum, {kLargest, 1, -1}), kLargest);
  EXPECT_EQ(Merged(ValueType::kInt64Sum, {1, -1, kLargest}), kLargest);
  EXPECT_EQ(Merged(ValueType::kInt64Sum, {kSmallest, -1}), kLargest);
}

TEST(AggregatesTest, ANumberHasEightBytes) {
  for (const ValueType type : {ValueType::kInt64Sum, ValueType::kInt64Min, ValueType::kInt64Max}) {
    const AggregateOperator& op = *Aggregate::Of(type, "")->operator_or_null();
    EXPECT_OK(op.CheckInput(EncodeBigEndian(1)));
    EXPECT_STATUS(kInvalidArgument, "8 bytes, big-endian, and \"1\" has 1", op.CheckInput("1"));
    EXPECT_STATUS(kInvalidArgument, "8 bytes", op.CheckState(""));
    std::string state = EncodeBigEndian(1);
    EXPECT_STATUS(kInvalidArgument, "8 bytes", op.Merge("too long a number", &state));
    state = "short";
    EXPECT_STATUS(kInvalidArgument, "8 bytes", op.Merge(EncodeBigEndian(1), &state));
  }
}

TEST(AggregatesTest, BytesAreNoAggregate) {
  EXPECT_EQ(Aggregate::Of(ValueType::kBytes, ""), nullptr);
}

TEST(AggregatesTest, AnOperatorIsFoundByItsNameOnceItIsRegistered) {
  const Aggregate* const aggregate = Aggregate::Of(ValueType::kBytes, "aggregates_test.late");
  EXPECT_EQ(aggregate->operator_or_null(), nullptr);
  EXPECT_STATUS(kFailedPrecondition, "aggregates_test.late", aggregate->MissingError("f"));
  const std::vector<std::string> before = AggregateOperatorNames();
  EXPECT_EQ(std::count(before.begin(), before.end(), "aggregates_test.late"), 0);

  ASSERT_OK(RegisterAggregateOperator("aggregates_test.late", std::make_unique<Concatenation>()));
  const absl::Cleanup forget = [] { ForgetOperator("aggregates_test.late"); };

  EXPECT_NE(aggregate->operator_or_null(), nullptr);
  EXPECT_EQ(Aggregate::Of(ValueType::kBytes, "aggregates_test.late"), aggregate);
  const std::vector<std::string> names = AggregateOperatorNames();
  EXPECT_EQ(std::count(names.begin(), names.end(), "aggregates_test.late"), 1);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(AggregatesTest, RegistrationRefusesBadNamesNullAndNamesThatAreTaken) {
  for (const char* name : {"", "a b", "a:b", "\x7f"}) {
    EXPECT_STATUS(kInvalidArgument, "1 to 64 printable",
                  RegisterAggregateOperator(name, std::make_unique<Concatenation>()));
  }
  EXPECT_STATUS(kInvalidArgument, "must not be null",
                RegisterAggregateOperator("aggregates_test.null", nullptr));
  EXPECT_STATUS(kAlreadyExists, kConcatenation,
                RegisterAggregateOperator(kConcatenation, std::make_unique<Concatenation>()));
}

}  // namespace
}  // namespace bigtable
