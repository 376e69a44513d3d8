#include "server/convert/gc_rule.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/time/time.h"

#include "server/convert/errors.h"
#include "server/convert/limits.h"

namespace bigtable::server {
namespace {

using RuleProto = google::bigtable::admin::v2::GcRule;

// About 10,000 years: what google.protobuf.Duration takes.
constexpr int64_t kMaxSeconds = 315'576'000'000;

absl::StatusOr<GcRule> Convert(const RuleProto& rule);

absl::StatusOr<GcRule> ConvertVersions(int32_t versions) {
  if (versions >= 1) return GcRule::MaxVersions(versions);
  return Invalid("max_num_versions must be at least 1, and is ", versions);
}

absl::StatusOr<GcRule> ConvertAge(const google::protobuf::Duration& proto) {
  const int64_t seconds = proto.seconds();
  const int32_t nanos = proto.nanos();
  const bool is_duration = seconds >= -kMaxSeconds && seconds <= kMaxSeconds &&
                           nanos > -1'000'000'000 && nanos < 1'000'000'000 &&
                           !(seconds > 0 && nanos < 0) && !(seconds < 0 && nanos > 0);
  if (!is_duration) {
    return Invalid("max_age must be a duration, and has ", seconds, " seconds and ", nanos,
                   " nanoseconds");
  }
  const absl::Duration age =
      absl::Trunc(absl::Seconds(seconds) + absl::Nanoseconds(nanos), absl::Microseconds(1));
  if (age >= absl::Milliseconds(1)) return GcRule::MaxAge(age);
  return Invalid("max_age must be at least 1ms, and is ", absl::FormatDuration(age));
}

using Combine = GcRule (*)(const GcRule&, const GcRule&);

// `what`: "a union".
template <typename Parts>
absl::StatusOr<GcRule> ConvertParts(const char* what, Combine combine, const Parts& parts) {
  if (parts.rules().empty()) return Invalid(what, " must have rules");
  GcRule combined;
  for (int i = 0; i < parts.rules_size(); ++i) {
    absl::StatusOr<GcRule> part = Convert(parts.rules(i));
    if (!part.ok()) return Annotate(part.status(), Cat("rules[", i, "]"));
    combined = i == 0 ? *std::move(part) : combine(combined, *part);
  }
  return combined;
}

absl::StatusOr<GcRule> ConvertKind(const RuleProto& rule) {
  switch (rule.rule_case()) {
    case RuleProto::kMaxNumVersions:
      return ConvertVersions(rule.max_num_versions());
    case RuleProto::kMaxAge:
      return ConvertAge(rule.max_age());
    case RuleProto::kUnion:
      return ConvertParts("a union", &GcRule::Union, rule.union_());
    case RuleProto::kIntersection:
      return ConvertParts("an intersection", &GcRule::Intersection, rule.intersection());
    case RuleProto::RULE_NOT_SET:
      break;
  }
  return GcRule();
}

// An error gets the name of a field that has others in it, as it is in the request.
absl::StatusOr<GcRule> Convert(const RuleProto& rule) {
  absl::StatusOr<GcRule> converted = ConvertKind(rule);
  if (converted.ok() || !(rule.has_union_() || rule.has_intersection())) return converted;
  return Annotate(converted.status(), rule.has_union_() ? "union" : "intersection");
}

void SetVersions(int64_t versions, RuleProto* proto) {
  proto->set_max_num_versions(
      static_cast<int32_t>(std::min<int64_t>(versions, std::numeric_limits<int32_t>::max())));
}

void SetAge(absl::Duration age, RuleProto* proto) {
  const absl::Duration possible = std::min(age, absl::Seconds(kMaxSeconds));
  absl::Duration rest;
  proto->mutable_max_age()->set_seconds(absl::IDivDuration(possible, absl::Seconds(1), &rest));
  proto->mutable_max_age()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
}

RuleProto StepToProto(const GcRule::Step& step) {
  RuleProto proto;
  const bool has_age = step.age != -absl::InfiniteDuration();
  if (step.versions != 0 && has_age) {
    SetVersions(step.versions, proto.mutable_intersection()->add_rules());
    SetAge(step.age, proto.mutable_intersection()->add_rules());
  } else if (has_age) {
    SetAge(step.age, &proto);
  } else {
    SetVersions(step.versions, &proto);
  }
  return proto;
}

}  // namespace

absl::StatusOr<GcRule> ToGcRule(const RuleProto& rule) {
  const size_t size = rule.ByteSizeLong();
  if (size > kMaxGcRuleSize) {
    return Invalid("a garbage collection rule must have at most ", kMaxGcRuleSize,
                   " bytes, and this one has ", size);
  }
  return Convert(rule);
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

}  // namespace bigtable::server
