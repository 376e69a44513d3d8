#include "convert/column_family.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"

#include "base/status.h"
#include "base/strings.h"
#include "convert/gc_rule.h"
#include "convert/invalid.h"
#include "convert/limits.h"
#include "convert/value_type.h"

namespace bigtable::convert {

absl::Status CheckFamilyId(std::string_view id) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!id.empty() && id.size() <= kMaxFamilyNameSize &&
      std::all_of(id.begin(), id.end(), allowed)) {
    return absl::OkStatus();
  }
  return Invalid("the id of a column family must be 1 to ", kMaxFamilyNameSize,
                 " of [-_.a-zA-Z0-9], and is ", Quoted(id));
}

absl::StatusOr<Family> ToFamily(const google::bigtable::admin::v2::ColumnFamily& family) {
  absl::StatusOr<GcRule> gc = ToGcRule(family.gc_rule());
  if (!gc.ok()) return Annotate(gc.status(), "gc_rule");
  const absl::StatusOr<ValueType> type = ToValueType(family.value_type());
  if (!type.ok()) return Annotate(type.status(), "value_type");
  return Family{.gc = *std::move(gc), .value_type = *type};
}

absl::StatusOr<Family> ToRequestedFamily(const google::bigtable::admin::v2::ColumnFamily& family) {
  const absl::Status size = CheckGcRuleSize(family.gc_rule());
  if (!size.ok()) return Annotate(size, "gc_rule");
  BT_ASSIGN_OR_RETURN(Family requested, ToFamily(family));
  const absl::Status type = CheckValueType(family.value_type());
  if (!type.ok()) return Annotate(type, "value_type");
  const auto is_combined = [](const GcRule::Step& step) {
    return step.versions != 0 && step.age != -absl::InfiniteDuration();
  };
  const auto& steps = requested.gc.steps();
  if (requested.value_type != ValueType::kBytes &&
      std::any_of(steps.begin(), steps.end(), is_combined)) {
    return Invalid(
        "gc_rule: a family of aggregates must not have an intersection of max_num_versions and"
        " max_age");
  }
  return requested;
}

google::bigtable::admin::v2::ColumnFamily ToProto(const Family& family) {
  google::bigtable::admin::v2::ColumnFamily proto;
  *proto.mutable_gc_rule() = ToProto(family.gc);
  if (!family.value_operator.empty()) {
    auto* aggregate = proto.mutable_value_type()->mutable_aggregate_type();
    *aggregate->mutable_input_type() = ToProto(ValueType::kBytes);
    *aggregate->mutable_state_type() = ToProto(ValueType::kBytes);
  } else if (family.value_type != ValueType::kBytes) {
    *proto.mutable_value_type() = ToProto(family.value_type);
  }
  return proto;
}

}  // namespace bigtable::convert
