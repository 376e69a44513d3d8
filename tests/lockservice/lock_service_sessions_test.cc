// The contract of src/lockservice/lock_service.h for sessions and their leases. Runs against every
// implementation.
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lock_service_fixture.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Kind = LockEventKind;

class LockServiceSessions : public LockServiceContract {};

INSTANTIATE_TEST_SUITE_P(All, LockServiceSessions, testing::ValuesIn(AllLockServices()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(LockServiceSessions, SessionsAreDistinctAndTheLeaseIsMoreThanZero) {
  EXPECT_NE(a_->id(), b_->id());
  EXPECT_STATUS(kInvalidArgument, "more than zero",
                tested_->service()->OpenSession({.lease = absl::ZeroDuration()}));
  EXPECT_STATUS(kInvalidArgument, "more than zero",
                tested_->service()->OpenSession({.lease = -absl::Seconds(1)}));
}

TEST_P(LockServiceSessions, ALeaseEndsExactlyInTime) {
  tested_->Advance(kLease - absl::Microseconds(1));
  EXPECT_TRUE(a_->alive());
  EXPECT_OK(a_->WatchFile("f"));
  tested_->Advance(absl::Microseconds(1));
  EXPECT_FALSE(a_->alive());
  EXPECT_STATUS(kFailedPrecondition, "is lost", a_->WatchFile("f"));
}

TEST_P(LockServiceSessions, EachSessionHasItsOwnLease) {
  const auto longer = Open("longer", 3 * kLease);
  const auto ever = Open("for ever", absl::InfiniteDuration());
  tested_->Advance(2 * kLease);
  EXPECT_FALSE(a_->alive());
  EXPECT_TRUE(longer->alive());
  EXPECT_THAT(longer->TakeEvents(), ElementsAre(LockEvent{Kind::kSessionInJeopardy}));
  tested_->Advance(kLease);
  EXPECT_FALSE(longer->alive());
  EXPECT_TRUE(ever->alive());
  EXPECT_THAT(ever->TakeEvents(), IsEmpty());
}

TEST_P(LockServiceSessions, ARenewedLeaseContinues) {
  Put(a_.get(), "f", "");
  Acquire(a_.get(), "f");
  for (int i = 0; i < 10; ++i) {
    tested_->Advance(kLease * 2 / 5);
    EXPECT_OK(a_->KeepAlive());
  }
  EXPECT_TRUE(a_->alive());
  EXPECT_OK(a_->CheckLock("f"));
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
  EXPECT_FALSE(b_->alive());
}

TEST_P(LockServiceSessions, OnlyKeepAliveRenewsALease) {
  Put(a_.get(), "f", "");
  tested_->Advance(kLease - absl::Microseconds(1));
  Put(a_.get(), "f", "x");
  EXPECT_EQ(Get(a_.get(), "f"), "x");
  Acquire(a_.get(), "f");
  tested_->Advance(absl::Microseconds(1));
  EXPECT_FALSE(a_->alive());
}

TEST_P(LockServiceSessions, ASessionIsNotifiedOfJeopardyAndOfItsRenewal) {
  tested_->Advance(kLease / 2);
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kSessionInJeopardy}));
  tested_->Advance(kLease / 4);
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
  EXPECT_TRUE(a_->alive());
  EXPECT_OK(a_->KeepAlive());
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kSessionSafe}));
  EXPECT_OK(a_->KeepAlive());
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
  tested_->Advance(kLease / 2);
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kSessionInJeopardy}));
}

// Expects this of a session, however it was lost.
void ExpectLost(LockSession* session) {
  const LockSequencer sequencer{"f", LockMode::kExclusive, 1};
  EXPECT_FALSE(session->alive());
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->KeepAlive());
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->Read("f"));
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->Write("f", "from the lost"));
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->Remove("f"));
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->List(""));
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->TryLock("f", LockMode::kShared));
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->Unlock("f"));
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->CheckLock("f"));
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->CheckSequencer(sequencer));
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->WatchFile("f"));
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->WatchDirectory(""));
  EXPECT_STATUS(kFailedPrecondition, "is lost", session->Unwatch("f"));
  EXPECT_FALSE(session->alive());
}

TEST_P(LockServiceSessions, ASessionWhoseLeaseEndedStaysLost) {
  const auto other = Open("other", 100 * kLease);
  Put(a_.get(), "f", "x");
  const LockSequencer sequencer = Acquire(a_.get(), "f");
  ASSERT_OK(a_->WatchFile("f"));
  EXPECT_TRUE(IsHeldByOthers(other.get(), "f"));
  tested_->Advance(kLease);

  EXPECT_THAT(other->TakeEvents(), ElementsAre(LockEvent{Kind::kLockFree, "f"}));
  EXPECT_STATUS(kAborted, "f", other->CheckSequencer(sequencer));
  ExpectLost(a_.get());
  EXPECT_EQ(Get(other.get(), "f"), "x");
  EXPECT_GT(Acquire(other.get(), "f").generation, sequencer.generation);
  Put(other.get(), "f", "y");
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kSessionLost}));
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
  EXPECT_TRUE(a_->WaitForEvents(absl::InfiniteDuration()));
  ExpectLost(a_.get());
}

TEST_P(LockServiceSessions, ASessionThatWasMadeToExpireIsLostToo) {
  Put(a_.get(), "f", "x");
  Acquire(a_.get(), "f", LockMode::kShared);
  tested_->Expire(*a_);
  ExpectLost(a_.get());
  EXPECT_TRUE(b_->alive());
  Acquire(b_.get(), "f");
  EXPECT_EQ(Get(b_.get(), "f"), "x");
}

TEST_P(LockServiceSessions, EventsBeforeTheLossAreStillDelivered) {
  Put(a_.get(), "f", "");
  ASSERT_OK(a_->WatchFile("f"));
  const Generation generation = Put(b_.get(), "f", "x");
  tested_->Expire(*a_);
  Put(b_.get(), "f", "y");
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kFileChanged, "f", generation},
                                            LockEvent{Kind::kSessionLost}));
}

TEST_P(LockServiceSessions, AClosedSessionReleasesItsLocksAtOnce) {
  Put(a_.get(), "f", "");
  Put(a_.get(), "g", "");
  const LockSequencer sequencer = Acquire(a_.get(), "f");
  Acquire(a_.get(), "g", LockMode::kShared);
  EXPECT_TRUE(IsHeldByOthers(b_.get(), "f"));
  EXPECT_TRUE(IsHeldByOthers(b_.get(), "g"));
  a_.reset();
  EXPECT_THAT(b_->TakeEvents(), UnorderedElementsAre(LockEvent{Kind::kLockFree, "f"},
                                                     LockEvent{Kind::kLockFree, "g"}));
  EXPECT_STATUS(kAborted, "f", b_->CheckSequencer(sequencer));
  Acquire(b_.get(), "f");
}

TEST_P(LockServiceSessions, ASessionThatWaitsForALockMayEndFirst) {
  Put(a_.get(), "f", "");
  Acquire(a_.get(), "f");
  auto c = Open("c");
  EXPECT_TRUE(IsHeldByOthers(b_.get(), "f"));
  EXPECT_TRUE(IsHeldByOthers(c.get(), "f"));
  c.reset();
  tested_->Expire(*b_);
  EXPECT_OK(a_->Unlock("f"));
  EXPECT_THAT(b_->TakeEvents(), ElementsAre(LockEvent{Kind::kSessionLost}));
  Acquire(a_.get(), "f");
}

}  // namespace
}  // namespace bigtable
