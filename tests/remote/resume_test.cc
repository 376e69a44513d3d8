// Resume, which only bigtable-server has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "remote/fake_fixture.h"
#include "remote/served_fixture.h"

namespace bigtable::remote {
namespace {

using testing::HasSubstr;

class ResumeTest : public RemoteTest {};
class ForeignResumeTest : public FakeTest {};

TEST_F(ResumeTest, ResumesTheServersDatabase) { EXPECT_TRUE(database_->Resume().ok()); }

TEST_F(ResumeTest, HearsItsDeadlineAndItsCancellation) {
  const CallOptions late{.deadline = absl::Now() - absl::Seconds(1)};
  EXPECT_TRUE(absl::IsDeadlineExceeded(database_->Resume(late)));
  Cancellation cancellation;
  cancellation.Cancel();
  EXPECT_TRUE(absl::IsCancelled(database_->Resume({.cancellation = &cancellation})));
  EXPECT_TRUE(absl::IsDeadlineExceeded(database_->GetSchema("t", late).status()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(database_->ListTables(late).status()));
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(database_->OpenTable("t", {.deadline = late.deadline}).status()));
}

TEST_F(ResumeTest, ReturnsTheErrorOfTheServersDatabase) {
  ASSERT_TRUE(server_->database()->Close().ok());
  const absl::Status closed = database_->Resume();
  EXPECT_TRUE(absl::IsFailedPrecondition(closed)) << closed;
  EXPECT_THAT(std::string(closed.message()), HasSubstr("closed"));
}

TEST_F(ForeignResumeTest, OtherServersDoNotHaveIt) {
  const absl::Status refused = database_->Resume();
  EXPECT_TRUE(absl::IsUnimplemented(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("only bigtable-server"));
}

}  // namespace
}  // namespace bigtable::remote
