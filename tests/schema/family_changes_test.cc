// Changes of the families of a table: each is made, or refused with its reason, and what it does
// not name stays.
#include "schema/family_changes.h"

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/compaction_filter.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

class FamilyChangesTest : public testing::Test {
 protected:
  void SetUp() override {
    TableSchema schema;
    schema.locality_groups["g"] = {};
    schema.families["a"] = {.gc = GcRule::MaxVersions(2), .access_list = "list", .owner = "ann"};
    schema.families["sum"] = {.locality_group = "g", .value_type = ValueType::kInt64Sum};
    ASSERT_OK_AND_ASSIGN(layout_, MakeTableLayout("t", 5, schema));
  }
  absl::Status Change(const FamilyChange& change) { return ChangeFamilies({change}, 9, &layout_); }
  Family FamilyOf(const std::string& name) { return layout_.ToSchema().families.at(name); }

  TableLayout layout_;
};

TEST_F(FamilyChangesTest, AFamilyIsAddedWithAllThatItIs) {
  const Family family{
      .locality_group = "g", .gc = GcRule::MaxVersions(3), .access_list = "other", .owner = "bob"};
  ASSERT_OK(Change(FamilyChange::Add("b", family)));
  EXPECT_EQ(FamilyOf("b"), family);
  EXPECT_EQ(layout_.FindFamily("b")->created, 9u);
  EXPECT_EQ(layout_.FindFamily("a")->created, 0u);
  EXPECT_STATUS(kAlreadyExists, "a column family \"b\" already",
                Change(FamilyChange::Add("b", {})));
  EXPECT_EQ(FamilyOf("b"), family);
  EXPECT_STATUS(kNotFound, "no locality group \"none\"",
                Change(FamilyChange::Add("c", {.locality_group = "none"})));
  EXPECT_STATUS(kInvalidArgument, "", Change(FamilyChange::Add("", {})));
  EXPECT_EQ(layout_.families.size(), 3u);
  ASSERT_OK(Change(FamilyChange::Add("0", {})));  // in the default group, before the others
  EXPECT_EQ(layout_.families[0].name, "0");
  EXPECT_EQ(layout_.FindGroup("default")->id, layout_.families[0].group_id);
}

TEST_F(FamilyChangesTest, AnUpdateChangesOnlyWhatItNames) {
  Family expected = FamilyOf("a");
  ASSERT_OK(Change(FamilyChange::Update("a", {})));
  EXPECT_EQ(FamilyOf("a"), expected);
  expected.gc = GcRule::MaxAge(absl::Seconds(5));
  ASSERT_OK(Change(FamilyChange::Update("a", {.gc = expected.gc})));
  EXPECT_EQ(FamilyOf("a"), expected);
  expected.access_list = "other";
  ASSERT_OK(Change(FamilyChange::Update("a", {.access_list = "other"})));
  EXPECT_EQ(FamilyOf("a"), expected);
  expected.owner = "bob";
  ASSERT_OK(Change(FamilyChange::Update("a", {.owner = "bob"})));
  EXPECT_EQ(FamilyOf("a"), expected);
  EXPECT_EQ(layout_.FindFamily("a")->owner, "bob");
}

TEST_F(FamilyChangesTest, AnUpdateThatIsNotAllowedIsRefused) {
  const TableLayout before = layout_;
  EXPECT_STATUS(kNotFound, "no column family \"b\"", Change(FamilyChange::Update("b", {})));
  EXPECT_STATUS(kInvalidArgument, "", Change(FamilyChange::Update("", {})));
  EXPECT_STATUS(kInvalidArgument, "holds bytes (kBytes), and cannot change to hold",
                Change(FamilyChange::Update("a", {.value_type = ValueType::kInt64Sum})));
  EXPECT_STATUS(kInvalidArgument, ", and cannot change to hold bytes (kBytes)",
                Change(FamilyChange::Update("sum", {.value_type = ValueType::kBytes})));
  EXPECT_OK(Change(FamilyChange::Update("sum", {.value_type = ValueType::kInt64Sum})));
  EXPECT_FALSE(Change(FamilyChange::Update("a", {.value_operator = "unknown"})).ok());
  EXPECT_FALSE(Change(FamilyChange::Update("a", {.compaction_filter = "unknown"})).ok());
  EXPECT_FALSE(Change(FamilyChange::Update("a", {.access_list = "no/list"})).ok());
  EXPECT_EQ(layout_, before);
}

TEST_F(FamilyChangesTest, ADroppedFamilyIsGoneAndTheOthersStay) {
  ASSERT_OK(Change(FamilyChange::Drop("a")));
  EXPECT_EQ(layout_.FindFamily("a"), nullptr);
  EXPECT_NE(layout_.FindFamily("sum"), nullptr);
  EXPECT_STATUS(kNotFound, "no column family \"a\"; it has: sum", Change(FamilyChange::Drop("a")));
}

TEST_F(FamilyChangesTest, ChangesAreMadeInOrderUntilOneIsRefused) {
  EXPECT_STATUS(kNotFound, "\"none\"",
                ChangeFamilies({FamilyChange::Drop("a"), FamilyChange::Add("a", {.owner = "bob"}),
                                FamilyChange::Drop("none"), FamilyChange::Drop("sum")},
                               9, &layout_));
  EXPECT_EQ(FamilyOf("a").owner, "bob");
  EXPECT_EQ(layout_.FindFamily("a")->created, 9u);
  EXPECT_NE(layout_.FindFamily("sum"), nullptr);
}

TEST_F(FamilyChangesTest, ARuleOfTheSameAgeHasCollectedNothingMore) {
  FamilyLayout family;
  family.ChangeRule(GcRule::MaxAge(absl::Seconds(5)), 10, absl::FromUnixSeconds(100));
  family.ChangeRule(GcRule::MaxAge(absl::Seconds(5)), 20, absl::FromUnixSeconds(100));
  EXPECT_TRUE(family.past.empty());
}

TEST_F(FamilyChangesTest, ALayoutHasTheNameAndTheNumberOfItsTable) {
  EXPECT_EQ(layout_.name, "t");
  EXPECT_EQ(layout_.table_id, 5u);
  EXPECT_EQ(layout_.FindFamily("a")->owner, "ann");
  // The default group need not be used.
  TableSchema schema;
  schema.locality_groups["default"] = {};
  schema.locality_groups["g"] = {};
  schema.families["f"] = {.locality_group = "g"};
  EXPECT_OK(MakeTableLayout("t", 5, schema));
  schema.locality_groups["unused"] = {};
  EXPECT_STATUS(kInvalidArgument, "\"unused\"", MakeTableLayout("t", 5, schema));
}

}  // namespace
}  // namespace bigtable
