#include "convert/schema.h"

#include <string>
#include <utility>
#include <variant>

#include "base/status.h"
#include "base/strings.h"
#include "convert/column_family.h"
#include "convert/duration.h"
#include "convert/invalid.h"

namespace bigtable::convert {
namespace {

using google::bigtable::admin::v2::ColumnFamily;

absl::Status NoneError(std::string_view what) {
  return absl::UnimplementedError(
      Cat(what, " is for an embedded database; the Bigtable API does not have it"));
}

// As a request has it: without what is output only.
ColumnFamily RequestOf(const Family& family) {
  ColumnFamily proto = ToProto(family);
  if (proto.has_value_type()) {
    proto.mutable_value_type()->mutable_aggregate_type()->clear_state_type();
  }
  return proto;
}

absl::StatusOr<ColumnFamily> FamilyToProto(const Family& family) {
  if (!family.locality_group.empty() && family.locality_group != "default") {
    return NoneError(Cat("the locality group ", Quoted(family.locality_group)));
  }
  if (!family.access_list.empty()) return NoneError("Family::access_list");
  if (!family.value_operator.empty()) return NoneError("Family::value_operator");
  if (!family.compaction_filter.empty()) return NoneError("Family::compaction_filter");
  if (!family.owner.empty()) return NoneError("Family::owner");
  return RequestOf(family);
}

// The whole family that an update leaves, as far as the message has it.
absl::Status SetUpdate(const FamilyUpdate& update, Modification* modification) {
  if (update.access_list.has_value()) return NoneError("FamilyUpdate::access_list");
  if (update.value_operator.has_value()) return NoneError("FamilyUpdate::value_operator");
  if (update.compaction_filter.has_value()) return NoneError("FamilyUpdate::compaction_filter");
  if (update.owner.has_value()) return NoneError("FamilyUpdate::owner");
  Family changed;
  if (update.gc.has_value()) {
    changed.gc = *update.gc;
    modification->mutable_update_mask()->add_paths("gc_rule");
  }
  if (update.value_type.has_value()) {
    changed.value_type = *update.value_type;
    modification->mutable_update_mask()->add_paths("value_type");
  }
  *modification->mutable_update() = RequestOf(changed);
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
  if (schema.changes.retention != absl::ZeroDuration()) {
    if (schema.changes.max_bytes != ChangeStreamRule().max_bytes) {
      return NoneError("ChangeStreamRule::max_bytes");
    }
    *table.mutable_change_stream_config() = ToProto(schema.changes);
  }
  for (const auto& [name, family] : schema.families) {
    absl::StatusOr<ColumnFamily> proto = FamilyToProto(family);
    if (!proto.ok()) return Annotate(proto.status(), Cat("family ", Quoted(name)));
    (*table.mutable_column_families())[name] = *std::move(proto);
  }
  return table;
}

absl::StatusOr<TableSchema> ToSchema(const google::bigtable::admin::v2::Table& table) {
  TableSchema schema;
  if (table.has_change_stream_config()) {
    absl::StatusOr<ChangeStreamRule> rule = ToChangeStreamRule(table.change_stream_config());
    if (!rule.ok()) {
      return absl::InternalError(
          Cat("the server has a change_stream_config that is not known here: ",
              ToStd(rule.status().message())));
    }
    schema.changes = *rule;
  }
  for (const auto& [name, proto] : table.column_families()) {
    absl::StatusOr<Family> family = ToFamily(proto);
    if (!family.ok()) {
      return absl::InternalError(
          Cat("the server has a family ", Quoted(name),
              " that is not known here: ", ToStd(family.status().message())));
    }
    schema.families[name] = *std::move(family);
  }
  return schema;
}

absl::StatusOr<ChangeStreamRule> ToChangeStreamRule(
    const google::bigtable::admin::v2::ChangeStreamConfig& config) {
  const google::protobuf::Duration& retention = config.retention_period();
  if (!IsDuration(retention) || ToDuration(retention) <= absl::ZeroDuration()) {
    return Invalid("change_stream_config must have a retention_period of more than nothing");
  }
  return ChangeStreamRule{.retention = ToDuration(retention)};
}

google::bigtable::admin::v2::ChangeStreamConfig ToProto(const ChangeStreamRule& rule) {
  google::bigtable::admin::v2::ChangeStreamConfig config;
  *config.mutable_retention_period() = ToProto(rule.retention);
  return config;
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

}  // namespace bigtable::convert
