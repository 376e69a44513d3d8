#include "server/convert/value_type.h"

#include <string>

#include "server/convert/errors.h"

namespace bigtable::server {
namespace {

using Proto = google::bigtable::admin::v2::Type;

Proto Int64Type() {
  Proto type;
  type.mutable_int64_type()->mutable_encoding()->mutable_big_endian_bytes();
  return type;
}

Proto BytesType() {
  Proto type;
  type.mutable_bytes_type()->mutable_encoding()->mutable_raw();
  return type;
}

bool IsInt64(const Proto& type) {
  using Encoding = Proto::Int64::Encoding;
  return type.kind_case() == Proto::kInt64Type &&
         type.int64_type().encoding().encoding_case() != Encoding::kOrderedCodeBytes;
}

// "string_type", or "none".
std::string KindOf(const Proto& type) {
  const auto* field = Proto::descriptor()->FindFieldByNumber(type.kind_case());
  if (field == nullptr) return "none";
  if (type.kind_case() == Proto::kInt64Type && !IsInt64(type)) {
    return "int64_type with ordered_code_bytes";
  }
  return field->name();
}

absl::StatusOr<ValueType> OperationOf(const Proto::Aggregate& aggregate) {
  switch (aggregate.aggregator_case()) {
    case Proto::Aggregate::kSum:
      return ValueType::kInt64Sum;
    case Proto::Aggregate::kMin:
      return ValueType::kInt64Min;
    case Proto::Aggregate::kMax:
      return ValueType::kInt64Max;
    case Proto::Aggregate::kHllppUniqueCount:
      return ValueType::kHyperLogLog;
    case Proto::Aggregate::AGGREGATOR_NOT_SET:
      break;
  }
  return Invalid("aggregate_type must have sum, min, max or hllpp_unique_count");
}

absl::StatusOr<ValueType> ConvertAggregate(const Proto::Aggregate& aggregate) {
  SERVER_ASSIGN_OR_RETURN(const ValueType type, OperationOf(aggregate));
  if (!IsInt64(aggregate.input_type())) {
    return Invalid("aggregate_type.input_type must be an int64_type with big_endian_bytes, and is ",
                   KindOf(aggregate.input_type()));
  }
  // It is output only: what a client has read, it may send again.
  if (!aggregate.has_state_type()) return type;
  const bool is_right = type == ValueType::kHyperLogLog
                            ? aggregate.state_type().kind_case() == Proto::kBytesType
                            : IsInt64(aggregate.state_type());
  if (is_right) return type;
  return Invalid("aggregate_type.state_type must be left out or be what the aggregate has, and is ",
                 KindOf(aggregate.state_type()));
}

}  // namespace

absl::StatusOr<ValueType> ToValueType(const Proto& type) {
  switch (type.kind_case()) {
    case Proto::KIND_NOT_SET:
    case Proto::kBytesType:
      return ValueType::kBytes;
    case Proto::kAggregateType:
      return ConvertAggregate(type.aggregate_type());
    default:
      return Invalid("the type of a family must be aggregate_type or bytes_type, and is ",
                     KindOf(type));
  }
}

Proto ToProto(ValueType type) {
  if (type == ValueType::kBytes) return BytesType();
  Proto proto;
  Proto::Aggregate* aggregate = proto.mutable_aggregate_type();
  *aggregate->mutable_input_type() = Int64Type();
  *aggregate->mutable_state_type() = type == ValueType::kHyperLogLog ? BytesType() : Int64Type();
  switch (type) {
    case ValueType::kInt64Min:
      aggregate->mutable_min();
      break;
    case ValueType::kInt64Max:
      aggregate->mutable_max();
      break;
    case ValueType::kHyperLogLog:
      aggregate->mutable_hllpp_unique_count();
      break;
    default:
      aggregate->mutable_sum();
  }
  return proto;
}

}  // namespace bigtable::server
