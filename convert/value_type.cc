#include "convert/value_type.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/base/macros.h"

#include "base/status.h"
#include "convert/invalid.h"

namespace bigtable::convert {
namespace {

using TypeProto = google::bigtable::admin::v2::Type;

TypeProto Int64Type() {
  TypeProto type;
  type.mutable_int64_type()->mutable_encoding()->mutable_big_endian_bytes();
  return type;
}

TypeProto DoubleType() {
  TypeProto type;
  type.mutable_float64_type();
  return type;
}

TypeProto BytesType() {
  TypeProto type;
  type.mutable_bytes_type()->mutable_encoding()->mutable_raw();
  return type;
}

bool IsInt64(const TypeProto& type) {
  using Encoding = TypeProto::Int64::Encoding;
  return type.kind_case() == TypeProto::kInt64Type &&
         type.int64_type().encoding().encoding_case() != Encoding::kOrderedCodeBytes;
}

// "string_type", or "none".
std::string KindOf(const TypeProto& type) {
  const auto* field = TypeProto::descriptor()->FindFieldByNumber(type.kind_case());
  if (field == nullptr) return "none";
  if (type.kind_case() == TypeProto::kInt64Type && !IsInt64(type)) {
    return "int64_type with ordered_code_bytes";
  }
  return field->name();
}

// Each aggregate of the engine: its field in the message, which has nothing in it, and its types.
struct Aggregator {
  ValueType type;
  TypeProto::Aggregate::AggregatorCase field;
  TypeProto::KindCase input;
  TypeProto::KindCase state;
};
constexpr auto kInt64 = TypeProto::kInt64Type;
constexpr auto kDouble = TypeProto::kFloat64Type;
constexpr auto kBytes = TypeProto::kBytesType;
constexpr Aggregator kAggregators[] = {
    {ValueType::kInt64Sum, TypeProto::Aggregate::kSum, kInt64, kInt64},
    {ValueType::kInt64Min, TypeProto::Aggregate::kMin, kInt64, kInt64},
    {ValueType::kInt64Max, TypeProto::Aggregate::kMax, kInt64, kInt64},
    {ValueType::kHyperLogLog, TypeProto::Aggregate::kHllppUniqueCount, kInt64, kBytes},
    {ValueType::kDoubleSum, TypeProto::Aggregate::kSum, kDouble, kBytes},
    {ValueType::kDoubleMin, TypeProto::Aggregate::kMin, kDouble, kDouble},
    {ValueType::kDoubleMax, TypeProto::Aggregate::kMax, kDouble, kDouble},
};

const Aggregator& AggregatorOf(ValueType type) {
  const auto* const found = std::ranges::find(kAggregators, type, &Aggregator::type);
  ABSL_ASSERT(found != std::end(kAggregators) && "the type is one of aggregates");
  return *found;
}

bool IsOfKind(const TypeProto& type, TypeProto::KindCase kind) {
  return kind == kInt64 ? IsInt64(type) : type.kind_case() == kind;
}

TypeProto TypeOfKind(TypeProto::KindCase kind) {
  if (kind == kInt64) return Int64Type();
  return kind == kDouble ? DoubleType() : BytesType();
}

absl::Status CheckInput(const Aggregator& aggregator, const TypeProto& input) {
  if (IsOfKind(input, aggregator.input)) return absl::OkStatus();
  const bool may_be_double = aggregator.field != TypeProto::Aggregate::kHllppUniqueCount;
  return Invalid("aggregate_type.input_type must be an int64_type with big_endian_bytes",
                 may_be_double ? " or a float64_type" : "", ", and is ", KindOf(input));
}

// It is output only: what a client has read, it may send again.
absl::Status CheckState(const Aggregator& aggregator, const TypeProto::Aggregate& aggregate) {
  if (!aggregate.has_state_type()) return absl::OkStatus();
  if (IsOfKind(aggregate.state_type(), aggregator.state)) return absl::OkStatus();
  return Invalid("aggregate_type.state_type must be left out or be what the aggregate has, and is ",
                 KindOf(aggregate.state_type()));
}

// By the aggregator, and whether the input is a double. INVALID_ARGUMENT: not one of the engine.
absl::StatusOr<Aggregator> ToAggregator(const TypeProto::Aggregate& aggregate) {
  const bool is_double = aggregate.input_type().kind_case() == kDouble;
  const Aggregator* found = nullptr;
  for (const Aggregator& aggregator : kAggregators) {
    if (aggregator.field != aggregate.aggregator_case()) continue;
    // An engine's aggregator that takes no doubles is the one for all inputs.
    if (found == nullptr || (aggregator.input == kDouble) == is_double) found = &aggregator;
  }
  if (found != nullptr) return *found;
  return Invalid("aggregate_type must have sum, min, max or hllpp_unique_count");
}

}  // namespace

absl::StatusOr<ValueType> ToValueType(const TypeProto& type) {
  if (!type.has_aggregate_type()) return ValueType::kBytes;
  BT_ASSIGN_OR_RETURN(const Aggregator aggregator, ToAggregator(type.aggregate_type()));
  return aggregator.type;
}

absl::Status CheckValueType(const TypeProto& type) {
  switch (type.kind_case()) {
    case TypeProto::KIND_NOT_SET:
    case TypeProto::kBytesType:
      return absl::OkStatus();
    case TypeProto::kAggregateType: {
      BT_ASSIGN_OR_RETURN(const Aggregator aggregator, ToAggregator(type.aggregate_type()));
      BT_RETURN_IF_ERROR(CheckInput(aggregator, type.aggregate_type().input_type()));
      return CheckState(aggregator, type.aggregate_type());
    }
    default:
      return Invalid("the type of a family must be aggregate_type or bytes_type, and is ",
                     KindOf(type));
  }
}

TypeProto ToProto(ValueType type) {
  if (type == ValueType::kBytes) return BytesType();
  const Aggregator& aggregator = AggregatorOf(type);
  TypeProto proto;
  TypeProto::Aggregate* const aggregate = proto.mutable_aggregate_type();
  *aggregate->mutable_input_type() = TypeOfKind(aggregator.input);
  *aggregate->mutable_state_type() = TypeOfKind(aggregator.state);
  const auto* const field = aggregate->GetDescriptor()->FindFieldByNumber(aggregator.field);
  aggregate->GetReflection()->MutableMessage(aggregate, field);
  return proto;
}

}  // namespace bigtable::convert
