#include "remote/convert/gc_rule.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable::remote {
namespace {

using Proto = google::bigtable::admin::v2::GcRule;

constexpr int kMostDepth = 100;
// About 10,000 years: what google.protobuf.Duration takes.
constexpr int64_t kMaxSeconds = 315'576'000'000;

void SetVersions(int64_t versions, Proto* proto) {
  const int64_t most = std::numeric_limits<int32_t>::max();
  proto->set_max_num_versions(static_cast<int32_t>(std::min(versions, most)));
}

void SetAge(absl::Duration age, Proto* proto) {
  absl::Duration rest;
  const int64_t seconds =
      absl::IDivDuration(std::min(age, absl::Seconds(kMaxSeconds)), absl::Seconds(1), &rest);
  proto->mutable_max_age()->set_seconds(seconds);
  proto->mutable_max_age()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
}

Proto StepToProto(const GcRule::Step& step) {
  Proto proto;
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

template <typename Parts>
absl::StatusOr<GcRule> Combine(const Parts& parts, int depth,
                               GcRule (*combine)(const GcRule&, const GcRule&)) {
  GcRule combined;
  for (int i = 0; i < parts.rules_size(); ++i) {
    BT_ASSIGN_OR_RETURN(const GcRule part, ToGcRule(parts.rules(i), depth + 1));
    combined = i == 0 ? part : combine(combined, part);
  }
  return combined;
}

}  // namespace

Proto ToProto(const GcRule& rule) {
  Proto proto;
  if (rule.steps().size() == 1) return StepToProto(rule.steps()[0]);
  for (const GcRule::Step& step : rule.steps()) {
    *proto.mutable_union_()->add_rules() = StepToProto(step);
  }
  return proto;
}

absl::StatusOr<GcRule> ToGcRule(const Proto& rule, int depth) {
  if (depth > kMostDepth) return absl::InternalError("the server's rule is nested too deeply");
  switch (rule.rule_case()) {
    case Proto::kMaxNumVersions:
      if (rule.max_num_versions() >= 1) return GcRule::MaxVersions(rule.max_num_versions());
      return absl::InternalError(
          Cat("the server has a rule of ", rule.max_num_versions(), " versions"));
    case Proto::kMaxAge: {
      const absl::Duration age =
          absl::Seconds(rule.max_age().seconds()) + absl::Nanoseconds(rule.max_age().nanos());
      if (age >= absl::Milliseconds(1)) return GcRule::MaxAge(age);
      return absl::InternalError(
          Cat("the server has a rule with an age of ", absl::FormatDuration(age)));
    }
    case Proto::kUnion:
      return Combine(rule.union_(), depth, &GcRule::Union);
    case Proto::kIntersection:
      return Combine(rule.intersection(), depth, &GcRule::Intersection);
    case Proto::RULE_NOT_SET:
      break;
  }
  return GcRule();
}

}  // namespace bigtable::remote
