// The contract of src/lockservice/lock_service.h for events. Runs against every implementation.
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lock_service_fixture.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = LockEventKind;

class LockServiceEvents : public LockServiceContract {};

INSTANTIATE_TEST_SUITE_P(All, LockServiceEvents, testing::ValuesIn(AllLockServices()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(LockServiceEvents, WatchersOfAFileAreNotifiedOfEveryChangeByAnySession) {
  ASSERT_OK(a_->WatchFile("d/f"));  // which does not exist yet
  const Generation created = Put(b_.get(), "d/f", "x");
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kFileChanged, "d/f", created}));
  const Generation own = Put(a_.get(), "d/f", "y");
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kFileChanged, "d/f", own}));
  ASSERT_OK(b_->Remove("d/f"));
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kFileRemoved, "d/f"}));
  const Generation again = Put(b_.get(), "d/f", "x");
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kFileChanged, "d/f", again}));

  Put(b_.get(), "d/other", "");
  Put(b_.get(), "f", "");
  EXPECT_STATUS(kAlreadyExists, "f", b_->Write("d/f", "", kNoFile));
  EXPECT_STATUS(kAborted, "f", b_->Remove("d/f", created));
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
  EXPECT_THAT(b_->TakeEvents(), IsEmpty());
}

TEST_P(LockServiceEvents, WatchersOfADirectoryAreNotifiedOfCreationsAndRemovals) {
  ASSERT_OK(a_->WatchDirectory("d"));
  ASSERT_OK(b_->WatchDirectory(""));
  Put(b_.get(), "d/f", "x");
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kDirectoryChanged, "d"}));
  Put(b_.get(), "d/f", "y");
  Put(b_.get(), "d/deep/er", "");
  Put(b_.get(), "dd/f", "");
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
  EXPECT_THAT(b_->TakeEvents(), IsEmpty());
  ASSERT_OK(b_->Remove("d/f"));
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kDirectoryChanged, "d"}));
  Put(a_.get(), "f", "");
  EXPECT_THAT(b_->TakeEvents(), ElementsAre(LockEvent{Kind::kDirectoryChanged, ""}));
}

TEST_P(LockServiceEvents, EqualEventsWaitOnceInTheOrderOfTheLast) {
  ASSERT_OK(a_->WatchFile("f"));
  ASSERT_OK(a_->WatchFile("g"));
  for (int i = 0; i < 100; ++i) Put(b_.get(), "f", "");
  const Generation g = Put(b_.get(), "g", "");
  ASSERT_OK(b_->Remove("f"));
  const Generation f = Put(b_.get(), "f", "");
  EXPECT_THAT(a_->TakeEvents(),
              ElementsAre(LockEvent{Kind::kFileChanged, "g", g}, LockEvent{Kind::kFileRemoved, "f"},
                          LockEvent{Kind::kFileChanged, "f", f}));
}

TEST_P(LockServiceEvents, ThereAreNoEventsAfterUnwatch) {
  ASSERT_OK(a_->WatchFile("d/f"));
  ASSERT_OK(a_->WatchDirectory("d"));
  Put(b_.get(), "d/f", "");
  ASSERT_OK(a_->Unwatch("d/f"));
  EXPECT_THAT(a_->TakeEvents(), SizeIs(2));
  Put(b_.get(), "d/f", "");
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
  Put(b_.get(), "d/g", "");
  EXPECT_THAT(a_->TakeEvents(), SizeIs(1));
  ASSERT_OK(a_->Unwatch("d"));
  ASSERT_OK(a_->Unwatch("d"));
  Put(b_.get(), "d/h", "");
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
}

TEST_P(LockServiceEvents, AWaitEndsWithAnEventOrItsTimeout) {
  EXPECT_FALSE(a_->WaitForEvents(absl::Milliseconds(5)));
  EXPECT_FALSE(a_->WaitForEvents(absl::ZeroDuration()));
  ASSERT_OK(a_->WatchFile("f"));
  Put(b_.get(), "f", "");
  EXPECT_TRUE(a_->WaitForEvents(absl::InfiniteDuration()));
  EXPECT_THAT(a_->TakeEvents(), SizeIs(1));
  EXPECT_FALSE(a_->WaitForEvents(absl::ZeroDuration()));
}

}  // namespace
}  // namespace bigtable
