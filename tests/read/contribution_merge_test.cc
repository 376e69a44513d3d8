// Contributions to a cell that come from several sources.
#include "read/contribution_merge.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "compaction/merging_cursor.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// The values one after the other, the oldest first. What has "bad" in it cannot be merged.
class Joined final : public AggregateOperator {
 public:
  absl::Status Merge(std::string_view older, std::string* state) const override {
    for (const std::string_view part : {older, std::string_view(*state)}) {
      if (part == "bad") return absl::InvalidArgumentError("bad");
    }
    *state = absl::StrCat(std::string(older), *state);
    return absl::OkStatus();
  }
};

class ContributionMergeTest : public testing::Test {
 protected:
  absl::Status Take(const EntryCursor& source, std::string_view value) {
    return merge_.Take({.source = &source, .version = {--sequence_, 0}, .value = value}, nullptr);
  }

  const Joined op_{};
  MergingCursor newest_, older_, oldest_;  // only their addresses are used
  SequenceNumber sequence_ = 100;
  ContributionMerge merge_{op_, /*keeps=*/false};
};

TEST_F(ContributionMergeTest, SourcesAreMergedInTheirOrder) {
  ASSERT_OK(Take(newest_, "e"));
  ASSERT_OK(Take(newest_, "d"));
  ASSERT_OK(Take(older_, "c"));
  ASSERT_OK(Take(oldest_, "b"));
  ASSERT_OK(Take(oldest_, "a"));
  std::string state;
  ASSERT_OK(merge_.Finish(&state));
  EXPECT_EQ(state, "abcde");
}

TEST_F(ContributionMergeTest, AnErrorBetweenSourcesIsReturned) {
  ASSERT_OK(Take(newest_, "c"));
  ASSERT_OK(Take(older_, "bad"));
  EXPECT_STATUS(kInvalidArgument, "bad", Take(oldest_, "a"));
}

TEST_F(ContributionMergeTest, AnErrorOfTheLastSourceIsReturned) {
  ASSERT_OK(Take(newest_, "c"));
  ASSERT_OK(Take(older_, "bad"));
  std::string state;
  EXPECT_STATUS(kInvalidArgument, "bad", merge_.Finish(&state));
}

}  // namespace
}  // namespace bigtable
