#include "convert/value_type.h"

#include <string>

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

// Each aggregate of the engine and its field in the message, which has nothing in it.
struct Aggregator {
  ValueType type;
  TypeProto::Aggregate::AggregatorCase field;
};
constexpr Aggregator kAggregators[] = {
    {ValueType::kInt64Sum, TypeProto::Aggregate::kSum},
    {ValueType::kInt64Min, TypeProto::Aggregate::kMin},
    {ValueType::kInt64Max, TypeProto::Aggregate::kMax},
    {ValueType::kHyperLogLog, TypeProto::Aggregate::kHllppUniqueCount},
};

void SetAggregator(ValueType type, TypeProto::Aggregate* aggregate) {
  for (const Aggregator& aggregator : kAggregators) {
    if (aggregator.type != type) continue;
    const auto* const field = aggregate->GetDescriptor()->FindFieldByNumber(aggregator.field);
    aggregate->GetReflection()->MutableMessage(aggregate, field);
  }
}

absl::Status CheckInput(const TypeProto& input) {
  if (IsInt64(input)) return absl::OkStatus();
  return Invalid("aggregate_type.input_type must be an int64_type with big_endian_bytes, and is ",
                 KindOf(input));
}

// It is output only: what a client has read, it may send again.
absl::Status CheckState(ValueType type, const TypeProto::Aggregate& aggregate) {
  if (!aggregate.has_state_type()) return absl::OkStatus();
  const bool is_right = type == ValueType::kHyperLogLog
                            ? aggregate.state_type().kind_case() == TypeProto::kBytesType
                            : IsInt64(aggregate.state_type());
  if (is_right) return absl::OkStatus();
  return Invalid("aggregate_type.state_type must be left out or be what the aggregate has, and is ",
                 KindOf(aggregate.state_type()));
}

}  // namespace

absl::StatusOr<ValueType> ToValueType(const TypeProto& type) {
  if (!type.has_aggregate_type()) return ValueType::kBytes;
  for (const Aggregator& aggregator : kAggregators) {
    if (aggregator.field == type.aggregate_type().aggregator_case()) return aggregator.type;
  }
  return Invalid("aggregate_type must have sum, min, max or hllpp_unique_count");
}

absl::Status CheckValueType(const TypeProto& type) {
  switch (type.kind_case()) {
    case TypeProto::KIND_NOT_SET:
    case TypeProto::kBytesType:
      return absl::OkStatus();
    case TypeProto::kAggregateType: {
      BT_ASSIGN_OR_RETURN(const ValueType aggregate, ToValueType(type));
      BT_RETURN_IF_ERROR(CheckInput(type.aggregate_type().input_type()));
      return CheckState(aggregate, type.aggregate_type());
    }
    default:
      return Invalid("the type of a family must be aggregate_type or bytes_type, and is ",
                     KindOf(type));
  }
}

TypeProto ToProto(ValueType type) {
  if (type == ValueType::kBytes) return BytesType();
  TypeProto proto;
  TypeProto::Aggregate* const aggregate = proto.mutable_aggregate_type();
  *aggregate->mutable_input_type() = Int64Type();
  *aggregate->mutable_state_type() = type == ValueType::kHyperLogLog ? BytesType() : Int64Type();
  SetAggregator(type, aggregate);
  return proto;
}

}  // namespace bigtable::convert
