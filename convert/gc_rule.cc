#include "convert/gc_rule.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/time/time.h"

#include "base/status.h"
#include "base/strings.h"
#include "convert/duration.h"
#include "convert/invalid.h"
#include "convert/limits.h"

namespace bigtable::convert {
namespace {

using RuleProto = google::bigtable::admin::v2::GcRule;

absl::StatusOr<GcRule> ConvertRule(const RuleProto& rule);

absl::StatusOr<GcRule> ConvertVersions(int32_t versions) {
  if (versions >= 1) return GcRule::MaxVersions(versions);
  return Invalid("max_num_versions must be at least 1, and is ", versions);
}

absl::StatusOr<GcRule> ConvertAge(const google::protobuf::Duration& proto) {
  if (!IsDuration(proto)) {
    return Invalid("max_age must be a duration, and has ", proto.seconds(), " seconds and ",
                   proto.nanos(), " nanoseconds");
  }
  const absl::Duration age = absl::Trunc(ToDuration(proto), absl::Microseconds(1));
  if (age >= absl::Milliseconds(1)) return GcRule::MaxAge(age);
  return Invalid("max_age must be at least 1ms, and is ", absl::FormatDuration(age));
}

using Combine = GcRule (*)(const GcRule&, const GcRule&);

// `what`: "a union".
template <typename Parts>
absl::StatusOr<GcRule> CombineParts(const char* what, Combine combine, const Parts& parts) {
  if (parts.rules().empty()) return Invalid(what, " must have rules");
  GcRule combined;
  for (int i = 0; i < parts.rules_size(); ++i) {
    absl::StatusOr<GcRule> part = ConvertRule(parts.rules(i));
    if (!part.ok()) return Annotate(part.status(), Cat("rules[", i, "]"));
    combined = i == 0 ? *std::move(part) : combine(combined, *part);
  }
  return combined;
}

absl::StatusOr<GcRule> ConvertRuleKind(const RuleProto& rule) {
  switch (rule.rule_case()) {
    case RuleProto::kMaxNumVersions:
      return ConvertVersions(rule.max_num_versions());
    case RuleProto::kMaxAge:
      return ConvertAge(rule.max_age());
    case RuleProto::kUnion:
      return CombineParts("a union", &GcRule::Union, rule.union_());
    case RuleProto::kIntersection:
      return CombineParts("an intersection", &GcRule::Intersection, rule.intersection());
    case RuleProto::RULE_NOT_SET:
      break;
  }
  return GcRule();
}

// An error gets the name of a field that has others in it, as it is in the request.
absl::StatusOr<GcRule> ConvertRule(const RuleProto& rule) {
  absl::StatusOr<GcRule> converted = ConvertRuleKind(rule);
  if (converted.ok() || !(rule.has_union_() || rule.has_intersection())) return converted;
  return Annotate(converted.status(), rule.has_union_() ? "union" : "intersection");
}

void SetVersions(int64_t versions, RuleProto* proto) {
  proto->set_max_num_versions(
      static_cast<int32_t>(std::min<int64_t>(versions, std::numeric_limits<int32_t>::max())));
}

RuleProto StepToProto(const GcRule::Step& step) {
  RuleProto proto;
  const bool has_age = step.age != -absl::InfiniteDuration();
  if (step.versions != 0 && has_age) {
    SetVersions(step.versions, proto.mutable_intersection()->add_rules());
    *proto.mutable_intersection()->add_rules()->mutable_max_age() = ToProto(step.age);
  } else if (has_age) {
    *proto.mutable_max_age() = ToProto(step.age);
  } else {
    SetVersions(step.versions, &proto);
  }
  return proto;
}

}  // namespace

// A message that came from elsewhere is nested at most as deep as protocol buffers read it: 50
// rules.
absl::StatusOr<GcRule> ToGcRule(const RuleProto& rule) { return ConvertRule(rule); }

absl::Status CheckGcRuleSize(const RuleProto& rule) {
  const size_t size = rule.ByteSizeLong();
  if (size <= kMaxGcRuleSize) return absl::OkStatus();
  return Invalid("a garbage collection rule must have at most ", kMaxGcRuleSize,
                 " bytes, and this one has ", size);
}

RuleProto WithWholeMicroseconds(RuleProto rule) {
  if (rule.has_max_age()) {
    const int32_t nanos = rule.max_age().nanos();
    rule.mutable_max_age()->set_nanos(nanos - nanos % 1000);
  } else if (rule.has_union_()) {
    for (RuleProto& part : *rule.mutable_union_()->mutable_rules()) {
      part = WithWholeMicroseconds(std::move(part));
    }
  } else if (rule.has_intersection()) {
    for (RuleProto& part : *rule.mutable_intersection()->mutable_rules()) {
      part = WithWholeMicroseconds(std::move(part));
    }
  }
  return rule;
}

RuleProto ToProto(const GcRule& rule) {
  RuleProto proto;
  if (rule.steps().size() == 1) return StepToProto(rule.steps()[0]);
  for (const GcRule::Step& step : rule.steps()) {
    *proto.mutable_union_()->add_rules() = StepToProto(step);
  }
  return proto;
}

}  // namespace bigtable::convert
