// The language of garbage collection rules.
#include "tools/gc_expression.h"

#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "tools/status.h"

namespace bigtable::tools {
namespace {

GcRule Parsed(std::string_view text) {
  const absl::StatusOr<GcRule> rule = ParseGcExpression(text);
  EXPECT_TRUE(rule.ok()) << text << ": " << rule.status();
  return rule.value_or(GcRule::MaxVersions(999));
}

const GcRule kThree = GcRule::MaxVersions(3);
GcRule Day() { return GcRule::MaxAge(absl::Hours(24)); }
GcRule Hour() { return GcRule::MaxAge(absl::Hours(1)); }

TEST(GcExpressionTest, ReadsVersionsAgesAndNever) {
  EXPECT_EQ(Parsed("maxversions=3"), kThree);
  EXPECT_EQ(Parsed("maxage=1d"), Day());
  EXPECT_EQ(Parsed(" never "), GcRule());
}

TEST(GcExpressionTest, ReadsEachUnitAndSumsOfThem) {
  EXPECT_EQ(Parsed("maxage=24h"), Day());
  EXPECT_EQ(Parsed("maxage=90m"), GcRule::MaxAge(absl::Minutes(90)));
  EXPECT_EQ(Parsed("maxage=7s"), GcRule::MaxAge(absl::Seconds(7)));
  EXPECT_EQ(Parsed("maxage=250ms"), GcRule::MaxAge(absl::Milliseconds(250)));
  EXPECT_EQ(Parsed("maxage=1500us"), GcRule::MaxAge(absl::Microseconds(1500)));
  EXPECT_EQ(Parsed("maxage=1d12h"), GcRule::MaxAge(absl::Hours(36)));
}

TEST(GcExpressionTest, OrIsTheUnionAndAndTheIntersection) {
  EXPECT_EQ(Parsed("maxversions=3 or maxage=1d"), GcRule::Union(kThree, Day()));
  EXPECT_EQ(Parsed("maxversions=3 and maxage=1d"), GcRule::Intersection(kThree, Day()));
  EXPECT_EQ(Parsed("maxversions=3||maxage=1d"), GcRule::Union(kThree, Day()));
  EXPECT_EQ(Parsed("maxversions=3&&maxage=1d"), GcRule::Intersection(kThree, Day()));
}

TEST(GcExpressionTest, AndBindsTighterThanOrUnlessParenthesesSayOtherwise) {
  EXPECT_EQ(Parsed("maxage=1d or maxversions=3 and maxage=1h"),
            GcRule::Union(Day(), GcRule::Intersection(kThree, Hour())));
  EXPECT_EQ(Parsed("maxversions=3 and maxage=1h or maxage=1d"),
            GcRule::Union(Day(), GcRule::Intersection(kThree, Hour())));
  EXPECT_EQ(Parsed("(maxage=1d or maxversions=3) and maxage=1h"),
            GcRule::Intersection(GcRule::Union(Day(), kThree), Hour()));
}

TEST(GcExpressionTest, RefusesWhatIsNoRuleAndSaysWhatWouldBe) {
  for (const char* text : {"",
                           "maxversions=0",
                           "maxversions=x",
                           "maxversions=99999999999999999999",
                           "maxage=",
                           "maxage=3",
                           "maxage=d",
                           "maxage=3w",
                           "maxage=1us",
                           "maxage=99999999999999999999d",
                           "versions=3",
                           "maxversions=3 maxage=1d",
                           "maxversions=3 or",
                           "or maxage=1d",
                           "(maxversions=3",
                           "maxversions=3)",
                           "()",
                           "never or maxversions=3",
                           "maxversions=3 or never",
                           "maxversions=3 xor maxage=1d"}) {
    const absl::StatusOr<GcRule> rule = ParseGcExpression(text);
    EXPECT_FALSE(rule.ok()) << text;
    EXPECT_EQ(ExitCodeOf(rule.status()), kUsage) << text;
  }
  EXPECT_EQ(MessageOf(ParseGcExpression("maxversions=3 maxage=1d").status()),
            "the rule has \"maxage=1d\" where and, or, or the end should be");
}

TEST(GcExpressionTest, ParenthesesWithinOneAnotherHaveALimit) {
  const auto nested = [](int depth) {
    return std::string(depth, '(') + "maxversions=3" + std::string(depth, ')');
  };
  EXPECT_EQ(Parsed(nested(100)), kThree);
  EXPECT_FALSE(ParseGcExpression(nested(101)).ok());
}

TEST(GcExpressionTest, WhatIsPrintedIsReadAsTheSameRule) {
  const GcRule rules[] = {
      GcRule(),
      kThree,
      Day(),
      GcRule::MaxAge(absl::Milliseconds(1)),
      GcRule::MaxAge(absl::Hours(36)),
      GcRule::Union(kThree, Day()),
      GcRule::Intersection(kThree, Day()),
      GcRule::Union(Day(), GcRule::Intersection(kThree, Hour())),
  };
  for (const GcRule& rule : rules) EXPECT_EQ(Parsed(FormatGcExpression(rule)), rule);
  EXPECT_EQ(FormatGcExpression(rules[7]), "maxage=1d or (maxversions=3 and maxage=1h)");
}

}  // namespace
}  // namespace bigtable::tools
