#include "convert/gc_rule.h"

#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "convert/parse_text.h"

namespace bigtable::convert {
namespace {

using RuleProto = google::bigtable::admin::v2::GcRule;

GcRule RuleOf(const std::string& text) {
  const absl::StatusOr<GcRule> rule = ToGcRule(ParseText<RuleProto>(text));
  EXPECT_TRUE(rule.ok()) << rule.status();
  return rule.value_or(GcRule());
}

std::string GcRuleRefusal(const std::string& text) {
  const absl::Status status = ToGcRule(ParseText<RuleProto>(text)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

const GcRule kThree = GcRule::MaxVersions(3);
const GcRule kHour = GcRule::MaxAge(absl::Hours(1));
constexpr const char* kThreeText = "max_num_versions: 3";
constexpr const char* kHourText = "max_age { seconds: 3600 }";

TEST(ToGcRuleTest, SimpleRules) {
  EXPECT_EQ(RuleOf(""), GcRule());
  EXPECT_EQ(RuleOf(kThreeText), kThree);
  EXPECT_EQ(RuleOf(kHourText), kHour);
}

TEST(ToGcRuleTest, AgesAreRoundedDownToAMicrosecond) {
  EXPECT_EQ(RuleOf("max_age { seconds: 1 nanos: 1999 }"),
            GcRule::MaxAge(absl::Seconds(1) + absl::Microseconds(1)));
  EXPECT_EQ(RuleOf("max_age { nanos: 1000000 }"), GcRule::MaxAge(absl::Milliseconds(1)));
}

TEST(ToGcRuleTest, UnionsAndIntersections) {
  const std::string both = std::string("rules { ") + kThreeText + " } rules { " + kHourText + " }";
  EXPECT_EQ(RuleOf("union { " + both + " }"), GcRule::Union(kThree, kHour));
  EXPECT_EQ(RuleOf("intersection { " + both + " }"), GcRule::Intersection(kThree, kHour));
  EXPECT_EQ(RuleOf("union { rules { intersection { " + both +
                   " } } rules { max_age { seconds: 86400 } } rules { max_num_versions: 9 } }"),
            GcRule::Union(
                GcRule::Union(GcRule::Intersection(kThree, kHour), GcRule::MaxAge(absl::Hours(24))),
                GcRule::MaxVersions(9)));
  EXPECT_EQ(RuleOf(std::string("intersection { rules { ") + kThreeText + " } }"), kThree);
}

TEST(ToGcRuleTest, ARuleWithNothingSetKeepsEverything) {
  EXPECT_EQ(RuleOf(std::string("union { rules {} rules { ") + kThreeText + " } }"), kThree);
  EXPECT_EQ(RuleOf(std::string("intersection { rules {} rules { ") + kThreeText + " } }"),
            GcRule());
}

TEST(ToGcRuleTest, RefusesWhatIsNoRule) {
  EXPECT_EQ(GcRuleRefusal("max_num_versions: 0"), "max_num_versions must be at least 1, and is 0");
  EXPECT_EQ(GcRuleRefusal("max_num_versions: -1"),
            "max_num_versions must be at least 1, and is -1");
  EXPECT_EQ(GcRuleRefusal("max_age {}"), "max_age must be at least 1ms, and is 0");
  EXPECT_EQ(GcRuleRefusal("max_age { nanos: 999999 }"),
            "max_age must be at least 1ms, and is 999us");
  EXPECT_EQ(GcRuleRefusal("max_age { seconds: -1 }"), "max_age must be at least 1ms, and is -1s");
  EXPECT_EQ(GcRuleRefusal("max_age { seconds: 1 nanos: -1 }"),
            "max_age must be a duration, and has 1 seconds and -1 nanoseconds");
  EXPECT_EQ(GcRuleRefusal("max_age { nanos: 1000000000 }"),
            "max_age must be a duration, and has 0 seconds and 1000000000 nanoseconds");
  EXPECT_EQ(GcRuleRefusal("max_age { seconds: 315576000001 }"),
            "max_age must be a duration, and has 315576000001 seconds and 0 nanoseconds");
  EXPECT_EQ(GcRuleRefusal("max_age { seconds: -9223372036854775808 }"),
            "max_age must be a duration, and has -9223372036854775808 seconds and 0 nanoseconds");
  EXPECT_EQ(GcRuleRefusal("union {}"), "union: a union must have rules");
  EXPECT_EQ(
      GcRuleRefusal("union { rules {} rules { intersection { rules { max_num_versions: 0 } } } }"),
      "union: rules[1]: intersection: rules[0]: max_num_versions must be at least 1, and is "
      "0");
}

TEST(CheckGcRuleSizeTest, RefusesARuleThatIsTooLarge) {
  RuleProto rule;
  while (rule.ByteSizeLong() < 500) rule.mutable_union_()->add_rules()->set_max_num_versions(3);
  EXPECT_EQ(CheckGcRuleSize(rule).message(),
            "a garbage collection rule must have at most 500 bytes, and this one has " +
                std::to_string(rule.ByteSizeLong()));
  rule.mutable_union_()->mutable_rules()->RemoveLast();
  EXPECT_TRUE(CheckGcRuleSize(rule).ok());
}

std::string Back(const GcRule& rule) { return ShowMessage(ToProto(rule)); }

TEST(GcRuleToProtoTest, HasTheSimplestForm) {
  EXPECT_EQ(Back(GcRule()), "");
  EXPECT_FALSE(ToProto(GcRule()).has_union_());
  EXPECT_EQ(Back(kThree), "max_num_versions: 3");
  EXPECT_EQ(Back(GcRule::MaxAge(absl::Milliseconds(1500))),
            "max_age { seconds: 1 nanos: 500000000 }");
  EXPECT_EQ(Back(GcRule::Intersection(kThree, kHour)),
            "intersection { rules { max_num_versions: 3 } rules { max_age { seconds: 3600 } } }");
}

TEST(GcRuleToProtoTest, DropsTheSameVersions) {
  for (const GcRule& rule :
       {GcRule(), kThree, kHour, GcRule::Union(kThree, kHour), GcRule::Intersection(kThree, kHour),
        GcRule::Union(GcRule::Intersection(kThree, kHour), GcRule::MaxVersions(9)),
        GcRule::Union(GcRule::Union(GcRule::Intersection(kThree, kHour), GcRule::MaxVersions(9)),
                      GcRule::MaxAge(absl::Hours(24)))}) {
    const absl::StatusOr<GcRule> again = ToGcRule(ToProto(rule));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, rule);
  }
}

TEST(GcRuleToProtoTest, TooLargeNumbersAreTheLargest) {
  EXPECT_EQ(Back(GcRule::MaxVersions(int64_t{1} << 40)), "max_num_versions: 2147483647");
  EXPECT_EQ(Back(GcRule::MaxAge(absl::InfiniteDuration())), "max_age { seconds: 315576000000 }");
}

}  // namespace
}  // namespace bigtable::convert
