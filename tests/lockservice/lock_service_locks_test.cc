// The contract of src/lockservice/lock_service.h for locks and sequencers. Runs against every
// implementation.
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lock_service_fixture.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = LockEventKind;

class LockServiceLocks : public LockServiceContract {};

INSTANTIATE_TEST_SUITE_P(All, LockServiceLocks, testing::ValuesIn(AllLockServices()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(LockServiceLocks, OnlyAnExistingFileCanBeLocked) {
  EXPECT_STATUS(kNotFound, "f", a_->TryLock("f", LockMode::kExclusive));
  Put(a_.get(), "directory/f", "");
  EXPECT_STATUS(kNotFound, "directory", a_->TryLock("directory", LockMode::kExclusive));
  Acquire(a_.get(), "directory/f");
}

TEST_P(LockServiceLocks, AHolderExcludesOthersUnlessBothShare) {
  Put(a_.get(), "f", "");
  Put(a_.get(), "g", "");
  Acquire(a_.get(), "f", LockMode::kExclusive);
  EXPECT_TRUE(IsHeldByOthers(b_.get(), "f", LockMode::kExclusive));
  EXPECT_TRUE(IsHeldByOthers(b_.get(), "f", LockMode::kShared));
  Acquire(b_.get(), "g", LockMode::kExclusive);  // another lock
  ASSERT_OK(a_->Unlock("f"));

  Acquire(a_.get(), "f", LockMode::kShared);
  EXPECT_TRUE(IsHeldByOthers(b_.get(), "f", LockMode::kExclusive));
  Acquire(b_.get(), "f", LockMode::kShared);
  ASSERT_OK(a_->Unlock("f"));
  EXPECT_TRUE(IsHeldByOthers(a_.get(), "f", LockMode::kExclusive));  // b still shares it
  ASSERT_OK(b_->Unlock("f"));
  Acquire(a_.get(), "f", LockMode::kExclusive);
}

TEST_P(LockServiceLocks, LocksAreAdvisory) {
  Put(a_.get(), "f", "");
  Acquire(a_.get(), "f");
  Put(b_.get(), "f", "x");
  EXPECT_EQ(Get(b_.get(), "f"), "x");
  EXPECT_OK(a_->CheckLock("f"));
}

TEST_P(LockServiceLocks, TheHolderOfALockGetsTheSameSequencerAgain) {
  Put(a_.get(), "f", "");
  const LockSequencer sequencer = Acquire(a_.get(), "f");
  EXPECT_EQ(sequencer.name, "f");
  EXPECT_EQ(sequencer.mode, LockMode::kExclusive);
  EXPECT_EQ(Acquire(a_.get(), "f"), sequencer);
  EXPECT_STATUS(kInvalidArgument, "other mode", a_->TryLock("f", LockMode::kShared));
  ASSERT_OK(a_->Unlock("f"));
  EXPECT_STATUS(kNotFound, "f", a_->Unlock("f"));
  EXPECT_NE(Acquire(a_.get(), "f"), sequencer);
}

TEST_P(LockServiceLocks, OnlyTheHolderCanReleaseALock) {
  Put(a_.get(), "f", "");
  Acquire(a_.get(), "f");
  EXPECT_STATUS(kNotFound, "f", b_->Unlock("f"));
  EXPECT_OK(a_->CheckLock("f"));
  EXPECT_STATUS(kAborted, "f", b_->CheckLock("f"));
}

TEST_P(LockServiceLocks, ASequencerIsValidForItsOwnAcquisitionOnly) {
  Put(a_.get(), "f", "");
  Put(a_.get(), "g", "");
  const LockSequencer first = Acquire(a_.get(), "f");
  EXPECT_OK(b_->CheckSequencer(first));
  EXPECT_OK(a_->CheckSequencer(first));

  LockSequencer forged = first;
  forged.mode = LockMode::kShared;
  EXPECT_STATUS(kAborted, "f", b_->CheckSequencer(forged));
  forged = first;
  forged.name = "g";
  EXPECT_STATUS(kAborted, "g", b_->CheckSequencer(forged));
  forged = first;
  ++forged.generation;
  EXPECT_STATUS(kAborted, "f", b_->CheckSequencer(forged));

  ASSERT_OK(a_->Unlock("f"));
  EXPECT_STATUS(kAborted, "f", b_->CheckSequencer(first));
  const LockSequencer second = Acquire(a_.get(), "f");
  EXPECT_STATUS(kAborted, "f", b_->CheckSequencer(first));
  EXPECT_OK(b_->CheckSequencer(second));
}

TEST_P(LockServiceLocks, SequencersGrowAcrossHoldersLocksAndWrites) {
  Put(a_.get(), "f", "");
  Generation last = Put(a_.get(), "g", "");
  for (int i = 0; i < 5; ++i) {
    for (LockSession* session : {a_.get(), b_.get()}) {
      for (const char* name : {"f", "g"}) {
        const LockSequencer sequencer = Acquire(session, name);
        EXPECT_GT(sequencer.generation, last);
        last = sequencer.generation;
        ASSERT_OK(session->Unlock(name));
      }
    }
  }
}

TEST_P(LockServiceLocks, SharedHoldersHaveSequencersOfTheirOwn) {
  Put(a_.get(), "f", "");
  const LockSequencer a = Acquire(a_.get(), "f", LockMode::kShared);
  const LockSequencer b = Acquire(b_.get(), "f", LockMode::kShared);
  ASSERT_OK(a_->Unlock("f"));
  EXPECT_STATUS(kAborted, "f", b_->CheckSequencer(a));
  EXPECT_OK(a_->CheckSequencer(b));
}

TEST_P(LockServiceLocks, ASessionThatDidNotGetALockIsNotifiedOnceWhenItIsFree) {
  Put(a_.get(), "f", "");
  Acquire(a_.get(), "f");
  EXPECT_TRUE(IsHeldByOthers(b_.get(), "f"));
  EXPECT_THAT(b_->TakeEvents(), IsEmpty());
  ASSERT_OK(a_->Unlock("f"));
  EXPECT_THAT(b_->TakeEvents(), ElementsAre(LockEvent{Kind::kLockFree, "f"}));
  Acquire(a_.get(), "f");
  ASSERT_OK(a_->Unlock("f"));
  EXPECT_THAT(b_->TakeEvents(), IsEmpty());
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
}

TEST_P(LockServiceLocks, ASharedLockIsFreeAfterItsLastHolder) {
  const auto c = Open("c");
  Put(a_.get(), "f", "");
  Acquire(a_.get(), "f", LockMode::kShared);
  Acquire(b_.get(), "f", LockMode::kShared);
  EXPECT_TRUE(IsHeldByOthers(c.get(), "f"));
  ASSERT_OK(a_->Unlock("f"));
  EXPECT_THAT(c->TakeEvents(), IsEmpty());
  tested_->Expire(*b_);
  EXPECT_THAT(c->TakeEvents(), ElementsAre(LockEvent{Kind::kLockFree, "f"}));
  Acquire(c.get(), "f");
}

TEST_P(LockServiceLocks, RemovingALockedFileTakesTheLockFromItsHolder) {
  Put(a_.get(), "f", "");
  const LockSequencer sequencer = Acquire(a_.get(), "f");
  EXPECT_TRUE(IsHeldByOthers(b_.get(), "f"));
  ASSERT_OK(b_->Remove("f"));

  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kLockLost, "f", sequencer.generation}));
  EXPECT_THAT(b_->TakeEvents(), ElementsAre(LockEvent{Kind::kLockFree, "f"}));
  EXPECT_STATUS(kAborted, "f", a_->CheckLock("f"));
  EXPECT_STATUS(kAborted, "f", b_->CheckSequencer(sequencer));
  EXPECT_STATUS(kNotFound, "f", a_->Unlock("f"));
  EXPECT_STATUS(kNotFound, "f", a_->TryLock("f", LockMode::kExclusive));
  EXPECT_TRUE(a_->alive());

  Put(b_.get(), "f", "");
  EXPECT_STATUS(kAborted, "f", b_->CheckSequencer(sequencer));
  Acquire(b_.get(), "f");
}

TEST_P(LockServiceLocks, ARefusedRemovalLeavesTheLock) {
  const Generation generation = Put(a_.get(), "f", "");
  Acquire(a_.get(), "f");
  EXPECT_STATUS(kAborted, "f", b_->Remove("f", generation + 1));
  EXPECT_OK(a_->CheckLock("f"));
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
}

}  // namespace
}  // namespace bigtable
