// Schemas from bytes: at the limits of what they may say, and beyond.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "schema/table_layout.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class LayoutDecodeTest : public testing::Test {
 protected:
  using Change = std::function<void(TableLayout*)>;

  // A layout with everything that there is, so that its format version is the last one.
  static TableLayout Rich() {
    TableLayout layout;
    layout.table_id = 3;
    layout.name = "t";
    layout.groups.push_back({.id = 0, .name = "default", .options = {}});
    layout.groups.push_back({.id = 1, .name = "g", .options = {.compaction_policy = "mine"}});
    layout.next_group_id = 2;
    layout.observers = {"one", "two"};
    layout.observers_id = 7;
    layout.changes = {.retention = absl::Microseconds(1'234'567), .max_bytes = 5 << 20};
    layout.changes_since = 8;
    layout.schema_changes = {{9, -1, "one"}, {kMaxSequence, 1, ""}};
    FamilyLayout f;
    f.name = "f";
    f.gc = GcRule::Intersection(GcRule::MaxVersions(2), GcRule::MaxAge(absl::Seconds(1)));
    f.created = 9;
    f.access_list = "list";
    f.compaction_filter = "filter";
    f.owner = "ann";
    f.past.versions = {{20, {3, {{1, 5}, {3, 80}}}}, {30, {1, {}}}, {40, {}}};
    f.past.ages = {{20, 5}, {30, -3}};
    layout.families.push_back(f);
    FamilyLayout g;
    g.name = "g";
    g.group_id = 1;
    g.SetValueType(ValueType::kInt64Sum, "");
    layout.families.push_back(g);
    return layout;
  }
  static absl::Status Check(const Change& change) {
    TableLayout layout = Rich();
    change(&layout);
    const absl::StatusOr<TableLayout> decoded = TableLayout::Decode(layout.Encode());
    EXPECT_TRUE(!decoded.ok() || *decoded == layout);
    return decoded.status();
  }
  static Change OfPast(const std::function<void(PastRules*)>& change) {
    return [change](TableLayout* layout) { change(&layout->families[0].past); };
  }
  static GcRule Steps(int steps) {
    GcRule rule;
    for (int i = 1; i <= steps; ++i) {
      rule = GcRule::Union(rule, GcRule::Intersection(GcRule::MaxVersions(i),
                                                      GcRule::MaxAge(absl::Seconds(100 - i))));
    }
    return rule;
  }
};

TEST_F(LayoutDecodeTest, WhatWasEncodedComesBack) {
  EXPECT_OK(Check([](TableLayout* l) { l->schema_changes.clear(); }));
  EXPECT_OK(Check([](TableLayout* l) {
    l->changes = {};
    l->changes_since = 0;
  }));
  EXPECT_OK(Check([](TableLayout*) {}));
  EXPECT_OK(Check([](TableLayout* l) { l->schema_changes[0].sequence = l->changes_since; }));
  EXPECT_OK(Check([](TableLayout* l) { l->families[0].gc = Steps(16); }));
  EXPECT_OK(Check([](TableLayout* l) { l->split = {}; }));
  EXPECT_OK(Check([](TableLayout* l) {
    l->observers.clear();
    l->observers_id = 0;
  }));
  EXPECT_OK(Check(OfPast([](PastRules* past) { past->versions.back().before = kMaxSequence; })));
  EXPECT_OK(Check(OfPast([](PastRules* past) { past->ages.back().before = kMaxSequence; })));
  EXPECT_OK(Check(OfPast([](PastRules* past) { *past = {}; })));
}

// An error, and not a schema that says something else.
TEST_F(LayoutDecodeTest, APartOfTheBytesIsDataLoss) {
  const std::string bytes = Rich().Encode();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_STATUS(kDataLoss, "the schema cannot be read",
                  TableLayout::Decode(std::string_view(bytes).substr(0, size)));
  }
  EXPECT_STATUS(kDataLoss, "the schema cannot be read", TableLayout::Decode(bytes + "x"));
}

TEST_F(LayoutDecodeTest, RulesAreInOrder) {
  const std::vector<Change> bad_steps = {
      [](TableLayout* l) { l->families[0].gc = Steps(17); },
      OfPast([](PastRules* p) { p->versions[0].limits.by_age[0].newer = 0; }),
      OfPast([](PastRules* p) { p->versions[0].limits.by_age[0].newer = 3; }),
      OfPast([](PastRules* p) { p->versions[0].limits.by_age[0].newer = 4; }),
      OfPast([](PastRules* p) { p->versions[0].limits.by_age[0].min_timestamp = 80; }),
      OfPast([](PastRules* p) { p->versions[0].limits.by_age[0].min_timestamp = 81; }),
      OfPast([](PastRules* p) { p->versions[0].limits.most = 4; }),
      OfPast([](PastRules* p) {
        p->versions[1].limits.by_age = {{2, 5}};
      }),
  };
  for (size_t i = 0; i < bad_steps.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_STATUS(kDataLoss, "the rules of family \"f\" are not in order", Check(bad_steps[i]));
  }
  const std::vector<Change> bad_past = {
      OfPast([](PastRules* p) { p->versions[1].limits.most = 0; }),
      OfPast([](PastRules* p) { p->versions[1].limits.most = -1; }),
      OfPast([](PastRules* p) { p->versions[1].before = 20; }),
      OfPast([](PastRules* p) { p->versions[1].before = 19; }),
      OfPast([](PastRules* p) { p->versions.back().before = kMaxSequence + 1; }),
      OfPast([](PastRules* p) { p->ages[1].before = 20; }),
      OfPast([](PastRules* p) { p->ages[1].before = 19; }),
      OfPast([](PastRules* p) { p->ages[1].min_timestamp = 5; }),
      OfPast([](PastRules* p) { p->ages[1].min_timestamp = 6; }),
      OfPast([](PastRules* p) { p->ages[1].before = kMaxSequence + 1; }),
  };
  for (size_t i = 0; i < bad_past.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_STATUS(kDataLoss, "the past rules of family \"f\" are not in order", Check(bad_past[i]));
  }
}

TEST_F(LayoutDecodeTest, EachPartIsChecked) {
  const struct {
    Change change;
    absl::StatusCode code;
    std::string_view message;
  } cases[] = {
      {[](TableLayout* l) { l->groups[0].options.block_size = 1; },
       absl::StatusCode::kInvalidArgument, "block_size of locality group \"default\""},
      {[](TableLayout* l) { l->groups[1].options.compaction_policy = "a b"; },
       absl::StatusCode::kInvalidArgument, "compaction_policy of locality group \"g\""},
      {[](TableLayout* l) { l->families[1].group_id = 2; }, absl::StatusCode::kDataLoss,
       "family \"g\" has no locality group"},
      {[](TableLayout* l) { l->split.tablet_size = 1; }, absl::StatusCode::kInvalidArgument,
       "tablet_size"},
      {[](TableLayout* l) { l->families[0].access_list = "/"; }, absl::StatusCode::kInvalidArgument,
       "access list"},
      {[](TableLayout* l) { l->families[0].value_type = static_cast<ValueType>(9); },
       absl::StatusCode::kInvalidArgument, "value_type"},
      {[](TableLayout* l) { l->families[1].compaction_filter = "filter"; },
       absl::StatusCode::kInvalidArgument, "only a family that is no aggregate"},
      {[](TableLayout* l) { l->families[0].compaction_filter = " "; },
       absl::StatusCode::kInvalidArgument, "compaction_filter"},
      {[](TableLayout* l) { l->observers[1] = "one"; }, absl::StatusCode::kInvalidArgument,
       "\"one\" twice"},
      {[](TableLayout* l) { l->observers_id = 0; }, absl::StatusCode::kDataLoss,
       "have the change number 0"},
      {[](TableLayout* l) { l->observers.clear(); }, absl::StatusCode::kDataLoss,
       "have the change number 7"},
      {[](TableLayout* l) { l->changes.retention = absl::Milliseconds(999); },
       absl::StatusCode::kInvalidArgument, "retention of a change stream"},
      {[](TableLayout* l) { l->changes.max_bytes = 1; }, absl::StatusCode::kInvalidArgument,
       "max_bytes of a change stream"},
      {[](TableLayout* l) { l->changes_since = 0; }, absl::StatusCode::kDataLoss,
       "the change stream of table t has the change number 0"},
      {[](TableLayout* l) { l->changes = {}; }, absl::StatusCode::kDataLoss,
       "has the change number 8"},
      {[](TableLayout* l) { l->changes_since = kMaxSequence + 1; }, absl::StatusCode::kDataLoss,
       "the change stream of table t"},
      {[](TableLayout* l) { l->schema_changes[0].sequence = 7; }, absl::StatusCode::kDataLoss,
       "the schema changes of table t are not in order"},
      {[](TableLayout* l) { l->schema_changes[1].sequence = 9; }, absl::StatusCode::kDataLoss,
       "the schema changes of table t"},
      {[](TableLayout* l) { l->schema_changes[1].sequence = kMaxSequence + 1; },
       absl::StatusCode::kDataLoss, "the schema changes of table t"},
      {[](TableLayout* l) { l->families[0].owner = " "; }, absl::StatusCode::kInvalidArgument,
       "name of a caller"},
  };
  for (const auto& one : cases) {
    EXPECT_TRUE(IsStatus(one.code, Check(one.change), one.message)) << one.message;
  }
}

// Each addition to the format is written only if it is needed, and then all before it are too.
TEST_F(LayoutDecodeTest, TheOldestVersionIsWrittenThatSuffices) {
  TableLayout layout = Rich();
  const auto version = [&] {
    const absl::StatusOr<TableLayout> decoded = TableLayout::Decode(layout.Encode());
    EXPECT_TRUE(decoded.ok() && *decoded == layout);
    return static_cast<int>(layout.Encode()[0]);
  };
  EXPECT_EQ(version(), 11);
  layout.schema_changes.clear();
  EXPECT_EQ(version(), 11);
  layout.changes = {};
  layout.changes_since = 0;
  EXPECT_EQ(version(), 10);
  layout.families[0].gc = GcRule::Union(GcRule::MaxVersions(2), GcRule::MaxAge(absl::Seconds(1)));
  EXPECT_EQ(version(), 10);  // a past rule combines them
  layout.families[0].past.versions[0].limits.by_age.clear();
  EXPECT_EQ(version(), 9);
  layout.families[0].owner.clear();
  EXPECT_EQ(version(), 8);
  layout.observers.clear();
  layout.observers_id = 0;
  EXPECT_EQ(version(), 7);
  layout.families[0].compaction_filter.clear();
  EXPECT_EQ(version(), 6);
  layout.families[1].SetValueType(ValueType::kBytes, "");
  EXPECT_EQ(version(), 5);
  layout.groups[1].options.compaction_policy.clear();
  EXPECT_EQ(version(), 4);
}

// A program that does not know change streams reads the schemas that have none, and those written
// by it are read here.
TEST_F(LayoutDecodeTest, ASchemaWithoutAChangeStreamHasTheBytesThatItHad) {
  TableLayout layout;
  layout.table_id = 3;
  layout.name = "t";
  layout.groups.push_back({.id = 0, .name = "default", .options = {}});
  layout.next_group_id = 1;
  layout.AddFamily("f", 0, {}, 9);
  std::string bytes("\x04\x03\x01t\x01", 5);
  bytes += std::string(
      "\x01\x00\x07"
      "default\x00\x03\x80\x80\x01\x01\x0a\x00\x00\x00",
      20);
  bytes += std::string(
      "\x01\x01"
      "f\x00\x09\x00\x00",
      7);
  bytes += std::string("\x80\x80\x80\x64\x00\x00", 6);
  bytes += std::string(3, '\0');  // no access list, no past rules
  EXPECT_EQ(layout.Encode(), bytes);
  ASSERT_OK_AND_ASSIGN(const TableLayout decoded, TableLayout::Decode(bytes));
  EXPECT_EQ(decoded, layout);
  EXPECT_FALSE(decoded.has_changes());
}

// Of a stream that is closed nothing is left.
TEST_F(LayoutDecodeTest, WithoutARetentionTheRestOfARuleIsTheDefault) {
  TableLayout layout = Rich();
  layout.SetChangeStream({.retention = absl::ZeroDuration(), .max_bytes = 7 << 20});
  EXPECT_EQ(layout.changes, ChangeStreamRule());
  EXPECT_EQ(layout.changes_since, 0u);
  EXPECT_TRUE(layout.schema_changes.empty());
  EXPECT_EQ(layout.Encode()[0], 10);
}

TEST_F(LayoutDecodeTest, VersionsAreFromOneToEleven) {
  EXPECT_STATUS(kFailedPrecondition, "version 0; this program knows 1 to 11",
                TableLayout::Decode(std::string(5, '\0')));
  EXPECT_STATUS(kFailedPrecondition, "version 12", TableLayout::Decode("\x0c"));
  EXPECT_STATUS(kDataLoss, "", TableLayout::Decode("\x0b"));
  EXPECT_STATUS(kDataLoss, "", TableLayout::Decode("\x01"));
}

}  // namespace
}  // namespace bigtable
