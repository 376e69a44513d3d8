// What is known of tablets that no server serves.
#include "cluster/unserved_tablets.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

class UnservedTabletsTest : public testing::Test {
 protected:
  void Note(const TabletId& id, std::string_view begin_row, std::string_view why) {
    unserved_.RecordFailure(id, "t", begin_row, absl::UnavailableError(std::string(why)));
  }
  std::string Why(uint64_t table_id, std::string_view row) const {
    bool is_over = true;
    const absl::Status status = unserved_.Why(table_id, row, &is_over);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_FALSE(is_over);  // loading has failed for a short time
    const std::string text(status.message());
    const size_t failed = text.find("; loading it has failed ");
    return failed == text.npos ? "unknown" : text.substr(failed + 24);
  }

  UnservedTablets unserved_;
};

TEST_F(UnservedTabletsTest, AFailureIsOfTheTabletThatHasTheRow) {
  EXPECT_EQ(Why(5, "m"), "unknown");
  Note({5, "p"}, "d", "no file");
  Note({5, std::nullopt}, "q", "no memory");
  EXPECT_EQ(Why(5, "d"), "1 times: no file");
  EXPECT_EQ(Why(5, "o~"), "1 times: no file");
  EXPECT_EQ(Why(5, "c"), "unknown");
  EXPECT_EQ(Why(5, "p"), "unknown");
  EXPECT_EQ(Why(5, "q"), "1 times: no memory");
  EXPECT_EQ(Why(5, "z"), "1 times: no memory");
  EXPECT_EQ(Why(4, "m"), "unknown");
  EXPECT_EQ(Why(6, "m"), "unknown");
  bool is_over;
  EXPECT_STATUS(kUnavailable, "the tablet with row \"m\" is not served at the moment",
                unserved_.Why(6, "m", &is_over));
}

TEST_F(UnservedTabletsTest, FailuresAreCountedSinceTheFirst) {
  Note({5, "p"}, "d", "no file");
  ASSERT_EQ(unserved_.List().size(), 1u);
  const UnservedTablet first = unserved_.List()[0];
  EXPECT_EQ(first.table, "t");
  EXPECT_EQ(first.rows.begin(), "d");
  EXPECT_EQ(first.rows.end(), "p");
  EXPECT_EQ(first.failures, 1u);
  EXPECT_GT(first.since, absl::UnixEpoch());
  Note({5, "p"}, "d", "no memory");
  EXPECT_EQ(Why(5, "m"), "2 times: no memory");
  EXPECT_EQ(unserved_.List()[0].since, first.since);
  EXPECT_STATUS(kUnavailable, "no memory", unserved_.List()[0].status);
}

TEST_F(UnservedTabletsTest, ATabletThatIsServedIsForgotten) {
  Note({5, "p"}, "d", "no file");
  Note({5, std::nullopt}, "p", "no file");
  Note({6, std::nullopt}, "", "no file");
  unserved_.Forget({5, "p"});
  EXPECT_EQ(Why(5, "m"), "unknown");
  EXPECT_EQ(Why(5, "z"), "1 times: no file");
  unserved_.ForgetTable(5);
  EXPECT_EQ(Why(5, "z"), "unknown");
  EXPECT_EQ(Why(6, "z"), "1 times: no file");
}

TEST_F(UnservedTabletsTest, WithoutAnAssignmentNoTabletIsServed) {
  unserved_.RecordAssignment(absl::UnavailableError("no servers"));
  EXPECT_EQ(Why(5, "m"), "1 times: no servers");
  ASSERT_EQ(unserved_.List().size(), 1u);
  EXPECT_EQ(unserved_.List()[0].table, "");
  Note({6, std::nullopt}, "", "no file");
  EXPECT_EQ(Why(6, "m"), "1 times: no file");
  ASSERT_EQ(unserved_.List().size(), 1u);
  EXPECT_EQ(unserved_.List()[0].table, "t");
  unserved_.RecordAssignment(absl::OkStatus());
  EXPECT_EQ(Why(5, "m"), "unknown");
  EXPECT_EQ(Why(6, "m"), "unknown");
  EXPECT_TRUE(unserved_.List().empty());
}

TEST_F(UnservedTabletsTest, AnExpiredDeadlineIsExplained) {
  Note({5, "p"}, "d", "no file");
  EXPECT_OK(unserved_.Explain(absl::OkStatus(), 5, "m"));
  EXPECT_STATUS(kCancelled, "over", unserved_.Explain(absl::CancelledError("over"), 5, "m"));
  const absl::Status late = unserved_.Explain(absl::DeadlineExceededError("late"), 5, "m");
  EXPECT_STATUS(kDeadlineExceeded, "late: the tablet with row \"m\"", late);
  EXPECT_STATUS(kDeadlineExceeded, "no file", late);
}

}  // namespace
}  // namespace bigtable
