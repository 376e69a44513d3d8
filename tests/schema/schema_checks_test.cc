// What a schema may say, at the limits of each value.
#include "schema/schema_checks.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/aggregate.h"
#include "bigtable/row_mutation.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

class SchemaChecksTest : public testing::Test {
 protected:
  using Check = absl::Status (*)(std::string_view);

  static void ExpectNames(Check check, const std::vector<std::string>& good,
                          const std::vector<std::string>& bad) {
    for (const std::string& name : good) EXPECT_OK(check(name));
    for (const std::string& name : bad) EXPECT_STATUS(kInvalidArgument, "name of a", check(name));
  }
  static absl::Status CheckRule(const GcRule& rule, ValueType type = ValueType::kBytes) {
    return CheckFamily("f", {.gc = rule, .value_type = type});
  }
  static GcRule Both(int64_t versions, absl::Duration age) {
    return GcRule::Intersection(GcRule::MaxVersions(versions), GcRule::MaxAge(age));
  }
  // A rule of so many steps: older cells need fewer newer ones.
  static GcRule Steps(int steps) {
    GcRule rule;
    for (int i = 1; i <= steps; ++i) rule = GcRule::Union(rule, Both(i, absl::Seconds(100 - i)));
    return rule;
  }
};

TEST_F(SchemaChecksTest, NamesOfFamiliesArePrintableAndShort) {
  ExpectNames(CheckFamilyName, {"f", "!~", std::string(64, 'f'), "a.b-c_d"},
              {"", std::string(65, 'f'), "a b", "a:b", "a\x7f", "a\x1f", "\xff", ":"});
}

TEST_F(SchemaChecksTest, NamesOfTablesAndAccessListsAreNamesOfFiles) {
  for (const Check check : {CheckTableName, CheckAccessListName}) {
    ExpectNames(
        check, {"t", "0", "9", "A", "Z", "a", "z", "_", "-", "a.", std::string(128, 't')},
        {"", std::string(129, 't'), ".t", "a/b", "a:b", "a@b", "a[b", "a`b", "a{b", "a b", "\xff"});
  }
}

TEST_F(SchemaChecksTest, NamesOfCallersArePrintable) {
  ExpectNames(CheckCallerName, {"a", "!~:/@", std::string(128, 'c')},
              {"", std::string(129, 'c'), "a b", "a\x7f", "a\x1f", "\xff"});
}

TEST_F(SchemaChecksTest, ARuleCountsOneVersionAndAMillisecondAtLeast) {
  EXPECT_OK(CheckRule({}));
  EXPECT_OK(CheckRule(GcRule::MaxVersions(1)));
  EXPECT_STATUS(kInvalidArgument, "MaxVersions of family \"f\" must be at least 1, and is 0",
                CheckRule(GcRule::MaxVersions(0)));
  EXPECT_STATUS(kInvalidArgument, "and is -1", CheckRule(GcRule::MaxVersions(-1)));
  EXPECT_OK(CheckRule(GcRule::MaxAge(absl::Milliseconds(1))));
  EXPECT_STATUS(kInvalidArgument, "MaxAge of family \"f\" must be at least 1ms, and is 999us",
                CheckRule(GcRule::MaxAge(absl::Microseconds(999))));
  EXPECT_OK(CheckRule(Both(1, absl::Milliseconds(1))));
  EXPECT_STATUS(kInvalidArgument, "MaxAge", CheckRule(Both(1, absl::Microseconds(999))));
}

TEST_F(SchemaChecksTest, ARuleHasSixteenStepsAtMost) {
  ASSERT_EQ(Steps(16).steps().size(), kMostRuleSteps);
  EXPECT_OK(CheckRule(Steps(16)));
  EXPECT_STATUS(kInvalidArgument, "at most 16 steps, and has 17", CheckRule(Steps(17)));
}

TEST_F(SchemaChecksTest, AggregatesHaveNoRuleThatCombinesVersionsWithAges) {
  const ValueType sum = ValueType::kInt64Sum;
  EXPECT_OK(CheckRule(GcRule::MaxVersions(1), sum));
  EXPECT_OK(CheckRule(GcRule::MaxAge(absl::Seconds(1)), sum));
  EXPECT_OK(
      CheckRule(GcRule::Union(GcRule::MaxVersions(1), GcRule::MaxAge(absl::Seconds(1))), sum));
  EXPECT_STATUS(kInvalidArgument, "combines versions with an age",
                CheckRule(Both(1, absl::Seconds(1)), sum));
}

TEST_F(SchemaChecksTest, ValueTypesAndOperatorsExcludeEachOther) {
  for (int type = 0; type <= 7; ++type) {
    EXPECT_OK(CheckValueType("f", static_cast<ValueType>(type), ""));
  }
  for (const int type : {-1, 8}) {
    EXPECT_STATUS(kInvalidArgument, "from 0 to 7",
                  CheckValueType("f", static_cast<ValueType>(type), ""));
  }
  EXPECT_OK(CheckValueType("f", ValueType::kBytes, "mine"));
  EXPECT_STATUS(kInvalidArgument, "must be kBytes",
                CheckValueType("f", ValueType::kInt64Sum, "mine"));
  EXPECT_OK(CheckValueType("f", ValueType::kBytes, std::string(64, 'o')));
  for (const std::string& name : {std::string(65, 'o'), std::string("a b"), std::string("a:b")}) {
    EXPECT_STATUS(kInvalidArgument, "value_operator", CheckValueType("f", ValueType::kBytes, name));
  }
}

TEST_F(SchemaChecksTest, AFamilyIsCheckedInAllItsParts) {
  EXPECT_OK(CheckFamily("f", {.access_list = "a", .owner = "ann"}));
  EXPECT_STATUS(kInvalidArgument, "column family", CheckFamily("a b", {}));
  EXPECT_STATUS(kInvalidArgument, "access list", CheckFamily("f", {.access_list = "/"}));
  EXPECT_STATUS(kInvalidArgument, "the owner of family \"f\"", CheckFamily("f", {.owner = " "}));
  EXPECT_STATUS(kInvalidArgument, "value_type",
                CheckFamily("f", {.value_type = static_cast<ValueType>(9)}));
  EXPECT_STATUS(kInvalidArgument, "compaction_filter of family",
                CheckFamily("f", {.compaction_filter = "a b"}));
  EXPECT_OK(CheckFamily("f", {.compaction_filter = "not-registered"}));
  EXPECT_STATUS(kInvalidArgument, "there is no compaction filter \"not-registered\"",
                CheckNewFamily("f", {.compaction_filter = "not-registered"}));
  EXPECT_STATUS(kInvalidArgument, "there is no aggregate operator \"not-registered\"",
                CheckNewFamily("f", {.value_operator = "not-registered"}));
  EXPECT_OK(CheckNewFamily("f", {.value_type = ValueType::kInt64Max}));
  EXPECT_OK(CheckNewFamily("f", {}));
  EXPECT_STATUS(kInvalidArgument, "column family", CheckNewFamily("", {}));
  EXPECT_STATUS(kInvalidArgument, "only a family that is no aggregate",
                CheckFamily("f", {.value_type = ValueType::kInt64Sum, .compaction_filter = "c"}));
}

// One value of a locality group at a time: the least, the most, and those beyond.
TEST_F(SchemaChecksTest, OptionsOfALocalityGroupAreWithinTheirLimits) {
  using Set = void (*)(LocalityGroup*, int64_t);
  const struct {
    const char* name;
    Set set;
    int64_t least, most;
  } options[] = {
      {"compression", [](auto* g, int64_t v) { g->compression = static_cast<Compression>(v); }, 0,
       2},
      {"compression_level", [](auto* g, int64_t v) { g->compression_level = static_cast<int>(v); },
       1, 19},
      {"block_size", [](auto* g, int64_t v) { g->block_size = static_cast<size_t>(v); }, 1 << 10,
       16 << 20},
      {"filter", [](auto* g, int64_t v) { g->filter = static_cast<FilterKind>(v); }, 0,
       static_cast<int64_t>(FilterKind::kRowIndex)},
      {"filter_bits", [](auto* g, int64_t v) { g->filter_bits = static_cast<int>(v); }, 1, 32},
      {"compaction", [](auto* g, int64_t v) { g->compaction = static_cast<CompactionStyle>(v); }, 0,
       3},
      {"compaction_factor", [](auto* g, int64_t v) { g->compaction_factor = static_cast<int>(v); },
       2, 100},
  };
  for (const auto& option : options) {
    SCOPED_TRACE(option.name);
    for (const int64_t value : {option.least, option.most}) {
      LocalityGroup group;
      option.set(&group, value);
      EXPECT_OK(CheckLocalityGroup("g", group));
    }
    for (const int64_t value : {option.least - 1, option.most + 1}) {
      LocalityGroup group;
      option.set(&group, value);
      EXPECT_STATUS(kInvalidArgument, absl::StrCat(option.name, " of locality group"),
                    CheckLocalityGroup("g", group));
    }
  }
  EXPECT_OK(CheckLocalityGroup("g", {.compaction_factor = 0}));
  EXPECT_STATUS(kInvalidArgument, "name of a locality group", CheckLocalityGroup("", {}));
  EXPECT_OK(CheckLocalityGroup("g", {.compaction_policy = "mine"}));
  EXPECT_STATUS(kInvalidArgument, "compaction_policy of locality group",
                CheckLocalityGroup("g", {.compaction_policy = "a b"}));
  EXPECT_OK(CheckPolicyIsKnown("g", {}));
  EXPECT_OK(CheckPolicyIsKnown("g", {.compaction_policy = "leveled"}));
  EXPECT_STATUS(kInvalidArgument, "locality group \"g\"",
                CheckPolicyIsKnown("g", {.compaction_policy = "mine"}));
}

TEST_F(SchemaChecksTest, ATableHasEachObserverOnceAndFewOfThem) {
  std::vector<std::string> names;
  for (int i = 0; i < 16; ++i) names.push_back(absl::StrCat("o", i));
  EXPECT_OK(CheckObservers({}));
  EXPECT_OK(CheckObservers(names));
  names.push_back("o16");
  EXPECT_STATUS(kInvalidArgument, "at most 16 observers, and has 17", CheckObservers(names));
  EXPECT_STATUS(kInvalidArgument, "\"a\" twice", CheckObservers({"a", "b", "a"}));
  EXPECT_STATUS(kInvalidArgument, "name of an observer", CheckObservers({"a", "b c"}));
}

TEST_F(SchemaChecksTest, AChangeStreamIsKeptForASecondToAYear) {
  const absl::Duration most = absl::Hours(24 * 365);
  constexpr uint64_t kLeast = uint64_t{1} << 20;
  EXPECT_OK(CheckChangeStreamRule({}));
  EXPECT_OK(CheckChangeStreamRule({.max_bytes = 0}));  // there is none
  EXPECT_OK(CheckChangeStreamRule({.retention = absl::Seconds(1), .max_bytes = kLeast}));
  EXPECT_OK(CheckChangeStreamRule({.retention = most, .max_bytes = ~uint64_t{0}}));
  for (const absl::Duration retention :
       {absl::Nanoseconds(1), absl::Seconds(1) - absl::Nanoseconds(1), -absl::Seconds(1),
        most + absl::Nanoseconds(1), absl::InfiniteDuration()}) {
    EXPECT_STATUS(kInvalidArgument,
                  absl::StrCat("the retention of a change stream, if not zero, must be from 1s to "
                               "8760h (365 days), and is ",
                               absl::FormatDuration(retention)),
                  CheckChangeStreamRule({.retention = retention}));
  }
  EXPECT_STATUS(kInvalidArgument,
                "max_bytes of a change stream must be at least 1048576, and is 1048575",
                CheckChangeStreamRule({.retention = most, .max_bytes = kLeast - 1}));
}

TEST_F(SchemaChecksTest, SizesOfASplitRuleAreWithinTheirLimits) {
  constexpr uint64_t kMost = uint64_t{1} << 50;
  constexpr uint64_t kLeast = 64 << 10;
  const auto check = [](uint64_t tablet_size, uint64_t merge_size, size_t prefix = 0) {
    return CheckSplitRule(
        {.tablet_size = tablet_size, .merge_size = merge_size, .prefix_length = prefix});
  };
  EXPECT_OK(check(0, 0));
  EXPECT_OK(check(kLeast, 0));
  EXPECT_OK(check(kMost, 0));
  for (const uint64_t size : {uint64_t{1}, kLeast - 1, kMost + 1}) {
    EXPECT_STATUS(kInvalidArgument, "tablet_size", check(size, 0));
  }
  EXPECT_OK(check(kLeast, kLeast / 2));
  EXPECT_STATUS(kInvalidArgument, "merge_size", check(kLeast, kLeast / 2 + 1));
  EXPECT_OK(check(0, kMost));
  EXPECT_STATUS(kInvalidArgument, "merge_size", check(0, kMost + 1));
  EXPECT_OK(check(0, 0, RowMutation::kMaxRowSize));
  EXPECT_STATUS(kInvalidArgument, "prefix_length", check(0, 0, RowMutation::kMaxRowSize + 1));
}

}  // namespace
}  // namespace bigtable
