#include "remote/convert/schema.h"

#include <string>
#include <utility>
#include <variant>

#include "base/status.h"
#include "base/strings.h"
#include "remote/convert/gc_rule.h"

namespace bigtable::remote {
namespace {

using google::bigtable::admin::v2::ColumnFamily;
using google::bigtable::admin::v2::Type;

absl::Status NoneError(std::string_view what) {
  return absl::UnimplementedError(
      Cat(what, " is for an embedded database; the Bigtable API does not have it"));
}

void SetInt64(Type* type) {
  type->mutable_int64_type()->mutable_encoding()->mutable_big_endian_bytes();
}

absl::Status SetValueType(ValueType value_type, ColumnFamily* proto) {
  if (value_type == ValueType::kBytes) return absl::OkStatus();
  Type::Aggregate* const aggregate = proto->mutable_value_type()->mutable_aggregate_type();
  SetInt64(aggregate->mutable_input_type());
  switch (value_type) {
    case ValueType::kBytes:
      break;
    case ValueType::kInt64Sum:
      aggregate->mutable_sum();
      break;
    case ValueType::kInt64Min:
      aggregate->mutable_min();
      break;
    case ValueType::kInt64Max:
      aggregate->mutable_max();
      break;
    case ValueType::kHyperLogLog:
      aggregate->mutable_hllpp_unique_count();
      break;
  }
  return absl::OkStatus();
}

absl::StatusOr<ValueType> ToValueType(const Type& type) {
  if (!type.has_aggregate_type()) return ValueType::kBytes;
  switch (type.aggregate_type().aggregator_case()) {
    case Type::Aggregate::kSum:
      return ValueType::kInt64Sum;
    case Type::Aggregate::kMin:
      return ValueType::kInt64Min;
    case Type::Aggregate::kMax:
      return ValueType::kInt64Max;
    case Type::Aggregate::kHllppUniqueCount:
      return ValueType::kHyperLogLog;
    case Type::Aggregate::AGGREGATOR_NOT_SET:
      break;
  }
  return absl::InternalError("the server has a family of an aggregate that is not known here");
}

absl::StatusOr<ColumnFamily> FamilyToProto(const Family& family) {
  if (!family.locality_group.empty() && family.locality_group != "default") {
    return NoneError(Cat("the locality group ", Quoted(family.locality_group)));
  }
  if (!family.access_list.empty()) return NoneError("Family::access_list");
  if (!family.value_operator.empty()) return NoneError("Family::value_operator");
  if (!family.compaction_filter.empty()) return NoneError("Family::compaction_filter");
  if (!family.owner.empty()) return NoneError("Family::owner");
  ColumnFamily proto;
  if (!family.gc.steps().empty()) *proto.mutable_gc_rule() = ToProto(family.gc);
  BT_RETURN_IF_ERROR(SetValueType(family.value_type, &proto));
  return proto;
}

// The whole family that an update leaves, as far as the message has it.
absl::Status SetUpdate(const FamilyUpdate& update, Modification* modification) {
  if (update.access_list.has_value()) return NoneError("FamilyUpdate::access_list");
  if (update.value_operator.has_value()) return NoneError("FamilyUpdate::value_operator");
  if (update.compaction_filter.has_value()) return NoneError("FamilyUpdate::compaction_filter");
  if (update.owner.has_value()) return NoneError("FamilyUpdate::owner");
  ColumnFamily* const family = modification->mutable_update();
  if (update.gc.has_value()) {
    *family->mutable_gc_rule() = ToProto(*update.gc);
    modification->mutable_update_mask()->add_paths("gc_rule");
  }
  if (update.value_type.has_value()) {
    BT_RETURN_IF_ERROR(SetValueType(*update.value_type, family));
    modification->mutable_update_mask()->add_paths("value_type");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<google::bigtable::admin::v2::Table> ToProto(const TableSchema& schema) {
  for (const auto& [name, group] : schema.locality_groups) {
    if (name != "default" || group != LocalityGroup()) {
      return NoneError(Cat("the locality group ", Quoted(name)));
    }
  }
  if (schema.split != SplitRule()) return NoneError("TableSchema::split");
  if (!schema.observers.empty()) return NoneError("TableSchema::observers");
  google::bigtable::admin::v2::Table table;
  for (const auto& [name, family] : schema.families) {
    absl::StatusOr<ColumnFamily> proto = FamilyToProto(family);
    if (!proto.ok()) return Annotate(proto.status(), Cat("family ", Quoted(name)));
    (*table.mutable_column_families())[name] = *std::move(proto);
  }
  return table;
}

absl::StatusOr<TableSchema> ToSchema(const google::bigtable::admin::v2::Table& table) {
  TableSchema schema;
  for (const auto& [name, proto] : table.column_families()) {
    Family& family = schema.families[name];
    BT_ASSIGN_OR_RETURN(family.gc, ToGcRule(proto.gc_rule()));
    BT_ASSIGN_OR_RETURN(family.value_type, ToValueType(proto.value_type()));
  }
  return schema;
}

absl::StatusOr<Modification> ToProto(const FamilyChange& change) {
  Modification modification;
  modification.set_id(change.name);
  if (const auto* family = std::get_if<Family>(&change.change)) {
    BT_ASSIGN_OR_RETURN(*modification.mutable_create(), FamilyToProto(*family));
  } else if (const auto* update = std::get_if<FamilyUpdate>(&change.change)) {
    BT_RETURN_IF_ERROR(SetUpdate(*update, &modification));
  } else {
    modification.set_drop(true);
  }
  return modification;
}

}  // namespace bigtable::remote
