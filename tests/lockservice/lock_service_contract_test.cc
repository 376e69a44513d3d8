// What src/lockservice/lock_service.h promises, held against every implementation.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lock_service_fixture.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using Kind = LockEventKind;

class LockServiceContract : public LockServiceFixture {
 protected:
  std::unique_ptr<LockSession> a_ = Open("a");
  std::unique_ptr<LockSession> b_ = Open("b");
};

INSTANTIATE_TEST_SUITE_P(All, LockServiceContract, testing::ValuesIn(AllLockServices()),
                         [](const auto& tested) { return tested.param.name; });

// ---- Files.

TEST_P(LockServiceContract, WhatIsWrittenIsReadByEverybodyWithItsGeneration) {
  const std::string bytes("zero\0byte\xff", 10);
  const Generation written = Put(a_.get(), "schema/web", bytes);
  for (LockSession* session : {a_.get(), b_.get()}) {
    ASSERT_OK_AND_ASSIGN(const LockServiceFile file, session->Read("schema/web"));
    EXPECT_EQ(file.contents, bytes);
    EXPECT_EQ(file.generation, written);
  }
  Put(b_.get(), "schema/web", "");
  EXPECT_EQ(Get(a_.get(), "schema/web"), "");
}

TEST_P(LockServiceContract, AFileThatIsNotThereIsNotFound) {
  EXPECT_STATUS(kNotFound, "nowhere/x", a_->Read("nowhere/x"));
  EXPECT_STATUS(kNotFound, "x", a_->Remove("x"));
  Put(a_.get(), "directory/x", "");
  EXPECT_STATUS(kNotFound, "directory", a_->Read("directory"));
}

TEST_P(LockServiceContract, EveryWriteOfWhateverFileHasALargerGenerationThanAllBefore) {
  Generation last = kNoFile;
  for (int i = 0; i < 30; ++i) {
    const std::string name = i % 3 == 0 ? "a" : i % 3 == 1 ? "b/c" : "b/d";
    LockSession* const session = i % 2 == 0 ? a_.get() : b_.get();
    const Generation next = Put(session, name, "same contents");
    EXPECT_GT(next, last);
    EXPECT_NE(next, kAnyGeneration);
    last = next;
    if (i % 4 == 0) {
      EXPECT_OK(session->Remove(name));
    }
  }
}

TEST_P(LockServiceContract, ACompareAndSwapNeedsTheGenerationItExpects) {
  EXPECT_STATUS(kNotFound, "f", a_->Write("f", "x", 7));
  ASSERT_OK_AND_ASSIGN(const Generation first, a_->Write("f", "first", kNoFile));
  EXPECT_STATUS(kAlreadyExists, "f", a_->Write("f", "x", kNoFile));
  ASSERT_OK_AND_ASSIGN(const Generation second, b_->Write("f", "second", first));
  EXPECT_STATUS(kAborted, "f", a_->Write("f", "x", first));
  EXPECT_STATUS(kAborted, "f", a_->Write("f", "x", second + 1));
  EXPECT_STATUS(kAborted, "f", a_->Remove("f", first));
  EXPECT_STATUS(kInvalidArgument, "f", a_->Remove("f", kNoFile));
  EXPECT_EQ(Get(a_.get(), "f"), "second");
  EXPECT_OK(a_->Remove("f", second));
  EXPECT_STATUS(kNotFound, "f", b_->Read("f"));
  EXPECT_STATUS(kNotFound, "f", a_->Remove("f", second));
}

TEST_P(LockServiceContract, AFileThatIsCreatedAgainIsNotTakenForTheOldOne) {
  ASSERT_OK_AND_ASSIGN(const Generation first, a_->Write("f", "same", kNoFile));
  ASSERT_OK(b_->Remove("f"));
  ASSERT_OK_AND_ASSIGN(const Generation second, b_->Write("f", "same", kNoFile));
  EXPECT_GT(second, first);
  EXPECT_STATUS(kAborted, "f", a_->Write("f", "x", first));
}

TEST_P(LockServiceContract, AListHasTheFilesOfTheDirectoryAndNoOthers) {
  for (const char* name : {"root", "schema/web", "schema/a", "schema/deep/er", "servers/1"}) {
    Put(a_.get(), name, "");
  }
  ASSERT_OK_AND_ASSIGN(auto top, b_->List(""));
  EXPECT_THAT(top, ElementsAre("root"));
  ASSERT_OK_AND_ASSIGN(auto schemas, b_->List("schema"));
  EXPECT_THAT(schemas, ElementsAre("a", "web"));
  ASSERT_OK(a_->Remove("schema/a"));
  ASSERT_OK_AND_ASSIGN(schemas, b_->List("schema"));
  EXPECT_THAT(schemas, ElementsAre("web"));
  ASSERT_OK_AND_ASSIGN(const auto none, b_->List("nowhere"));
  EXPECT_THAT(none, IsEmpty());
}

TEST_P(LockServiceContract, WhatIsNoNameIsRefusedByEveryCall) {
  const std::string long_component(LockSession::kMaxComponentLength + 1, 'x');
  std::string too_long;
  while (too_long.size() <= LockSession::kMaxNameLength) too_long += "xxx/xxx";
  for (const std::string& name :
       {std::string("/"), std::string("/a"), std::string("a/"), std::string("a//b"),
        std::string(".a"), std::string("a/.."), std::string("a~"), std::string("a~/b"),
        std::string("a b"), std::string("a\0b", 3), std::string("\xc3\xa9"), long_component,
        too_long}) {
    SCOPED_TRACE(name);
    EXPECT_STATUS(kInvalidArgument, "name", a_->Read(name));
    EXPECT_STATUS(kInvalidArgument, "name", a_->Write(name, ""));
    EXPECT_STATUS(kInvalidArgument, "name", a_->Remove(name));
    EXPECT_STATUS(kInvalidArgument, "name", a_->List(name));
    EXPECT_STATUS(kInvalidArgument, "name", a_->TryLock(name, LockMode::kShared));
    EXPECT_STATUS(kInvalidArgument, "name", a_->Unlock(name));
    EXPECT_STATUS(kInvalidArgument, "name", a_->CheckLock(name));
    EXPECT_STATUS(kInvalidArgument, "name", a_->WatchFile(name));
    EXPECT_STATUS(kInvalidArgument, "name", a_->WatchDirectory(name));
    EXPECT_STATUS(kInvalidArgument, "name", a_->Unwatch(name));
  }
  EXPECT_STATUS(kInvalidArgument, "name", a_->Write("", ""));
}

TEST_P(LockServiceContract, TheOddestNamesThatAreNamesWork) {
  for (const std::string& name : {std::string("a.b"), std::string("A-_.+=@%9"),
                                  std::string(LockSession::kMaxComponentLength, 'x') + "/" +
                                      std::string(LockSession::kMaxComponentLength, 'y')}) {
    Put(a_.get(), name, "x");
    EXPECT_EQ(Get(b_.get(), name), "x") << name;
  }
}

TEST_P(LockServiceContract, ANameIsAFilesOrADirectorysNotBoth) {
  Put(a_.get(), "file", "x");
  Put(a_.get(), "directory/x", "");
  EXPECT_STATUS(kInvalidArgument, "directory", a_->Write("directory", ""));
  EXPECT_STATUS(kInvalidArgument, "is a file", a_->Write("file/below", ""));
  EXPECT_STATUS(kInvalidArgument, "is a file", a_->Write("file/far/below", ""));
  EXPECT_STATUS(kNotFound, "file/below", a_->Read("file/below"));
  ASSERT_OK_AND_ASSIGN(const auto none, a_->List("file"));
  EXPECT_THAT(none, IsEmpty());
  EXPECT_EQ(Get(b_.get(), "file"), "x");
}

TEST_P(LockServiceContract, AFileHasItsLargestSizeAndNoMore) {
  const std::string largest(LockSession::kMaxFileSize, 'x');
  Put(a_.get(), "f", largest);
  EXPECT_STATUS(kInvalidArgument, "524289 bytes", a_->Write("f", largest + "x"));
  EXPECT_EQ(Get(b_.get(), "f"), largest);
}

// ---- The cache.

TEST_P(LockServiceContract, AReadAfterAnothersWriteIsNeverOfWhatWasBefore) {
  EXPECT_EQ(Get(a_.get(), "f"), "NOT_FOUND");
  EXPECT_EQ(Get(a_.get(), "f"), "NOT_FOUND");  // now that it may be in the cache
  for (int i = 0; i < 5; ++i) {
    const std::string contents = "number " + std::to_string(i);
    const Generation generation = Put(b_.get(), "f", contents);
    for (int again = 0; again < 2; ++again) {
      ASSERT_OK_AND_ASSIGN(const LockServiceFile file, a_->Read("f"));
      EXPECT_EQ(file.contents, contents);
      EXPECT_EQ(file.generation, generation);
    }
  }
  ASSERT_OK(b_->Remove("f"));
  EXPECT_EQ(Get(a_.get(), "f"), "NOT_FOUND");
}

TEST_P(LockServiceContract, AReadAfterOnesOwnWriteIsOfThat) {
  EXPECT_EQ(Get(a_.get(), "f"), "NOT_FOUND");
  Put(a_.get(), "f", "x");
  EXPECT_EQ(Get(a_.get(), "f"), "x");
  ASSERT_OK(a_->Remove("f"));
  EXPECT_EQ(Get(a_.get(), "f"), "NOT_FOUND");
}

TEST_P(LockServiceContract, ALostSessionReadsNothingNotEvenWhatItHasRead) {
  Put(b_.get(), "f", "x");
  EXPECT_EQ(Get(a_.get(), "f"), "x");
  EXPECT_EQ(Get(a_.get(), "nothing"), "NOT_FOUND");
  tested_->Expire(*a_);
  EXPECT_EQ(Get(a_.get(), "f"), "FAILED_PRECONDITION");
  EXPECT_EQ(Get(a_.get(), "nothing"), "FAILED_PRECONDITION");
}

// ---- Locks.

TEST_P(LockServiceContract, OnlyAFileThatIsThereCanBeLocked) {
  EXPECT_STATUS(kNotFound, "f", a_->TryLock("f", LockMode::kExclusive));
  Put(a_.get(), "directory/f", "");
  EXPECT_STATUS(kNotFound, "directory", a_->TryLock("directory", LockMode::kExclusive));
  Acquire(a_.get(), "directory/f");
}

TEST_P(LockServiceContract, OneHolderExcludesOthersUnlessBothShare) {
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

TEST_P(LockServiceContract, LocksAreAdvisory) {
  Put(a_.get(), "f", "");
  Acquire(a_.get(), "f");
  Put(b_.get(), "f", "x");
  EXPECT_EQ(Get(b_.get(), "f"), "x");
  EXPECT_OK(a_->CheckLock("f"));
}

TEST_P(LockServiceContract, WhoHoldsALockGetsTheSameSequencerAgain) {
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

TEST_P(LockServiceContract, OnlyItsHolderUnlocksALock) {
  Put(a_.get(), "f", "");
  Acquire(a_.get(), "f");
  EXPECT_STATUS(kNotFound, "f", b_->Unlock("f"));
  EXPECT_OK(a_->CheckLock("f"));
  EXPECT_STATUS(kAborted, "f", b_->CheckLock("f"));
}

TEST_P(LockServiceContract, ASequencerIsGoodForItsOwnAcquisitionOnly) {
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

TEST_P(LockServiceContract, SequencersGrowOverHoldersLocksAndWrites) {
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

TEST_P(LockServiceContract, SharedHoldersHaveSequencersOfTheirOwn) {
  Put(a_.get(), "f", "");
  const LockSequencer a = Acquire(a_.get(), "f", LockMode::kShared);
  const LockSequencer b = Acquire(b_.get(), "f", LockMode::kShared);
  ASSERT_OK(a_->Unlock("f"));
  EXPECT_STATUS(kAborted, "f", b_->CheckSequencer(a));
  EXPECT_OK(a_->CheckSequencer(b));
}

TEST_P(LockServiceContract, WhoDidNotGetALockHearsOnceThatItIsFree) {
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

TEST_P(LockServiceContract, ASharedLockIsFreeWhenTheLastHolderIsGone) {
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

TEST_P(LockServiceContract, WhoRemovesALockedFileTakesTheLockFromItsHolder) {
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

TEST_P(LockServiceContract, ARefusedRemovalLeavesTheLock) {
  const Generation generation = Put(a_.get(), "f", "");
  Acquire(a_.get(), "f");
  EXPECT_STATUS(kAborted, "f", b_->Remove("f", generation + 1));
  EXPECT_OK(a_->CheckLock("f"));
  EXPECT_THAT(a_->TakeEvents(), IsEmpty());
}

// ---- Sessions.

TEST_P(LockServiceContract, SessionsAreDistinctAndTheLeaseIsMoreThanZero) {
  EXPECT_NE(a_->id(), b_->id());
  EXPECT_STATUS(kInvalidArgument, "more than zero",
                tested_->service()->OpenSession({.lease = absl::ZeroDuration()}));
  EXPECT_STATUS(kInvalidArgument, "more than zero",
                tested_->service()->OpenSession({.lease = -absl::Seconds(1)}));
}

TEST_P(LockServiceContract, ALeaseEndsNoSoonerAndNoLater) {
  tested_->Advance(kLease - absl::Microseconds(1));
  EXPECT_TRUE(a_->alive());
  EXPECT_OK(a_->WatchFile("f"));
  tested_->Advance(absl::Microseconds(1));
  EXPECT_FALSE(a_->alive());
  EXPECT_STATUS(kFailedPrecondition, "is lost", a_->WatchFile("f"));
}

TEST_P(LockServiceContract, EachSessionHasItsOwnLease) {
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

TEST_P(LockServiceContract, ALeaseThatIsRenewedGoesOn) {
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

TEST_P(LockServiceContract, OnlyKeepAliveRenewsALease) {
  Put(a_.get(), "f", "");
  tested_->Advance(kLease - absl::Microseconds(1));
  Put(a_.get(), "f", "x");
  EXPECT_EQ(Get(a_.get(), "f"), "x");
  Acquire(a_.get(), "f");
  tested_->Advance(absl::Microseconds(1));
  EXPECT_FALSE(a_->alive());
}

TEST_P(LockServiceContract, ASessionInJeopardyHearsOfItAndOfItsRescue) {
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

// What holds for a session however it was lost.
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

TEST_P(LockServiceContract, ASessionWhoseLeaseEndedHasLostEverythingForEver) {
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

TEST_P(LockServiceContract, ASessionThatWasMadeToExpireHasLostEverythingToo) {
  Put(a_.get(), "f", "x");
  Acquire(a_.get(), "f", LockMode::kShared);
  tested_->Expire(*a_);
  ExpectLost(a_.get());
  EXPECT_TRUE(b_->alive());
  Acquire(b_.get(), "f");
  EXPECT_EQ(Get(b_.get(), "f"), "x");
}

TEST_P(LockServiceContract, WhatCameBeforeTheLossIsStillThere) {
  Put(a_.get(), "f", "");
  ASSERT_OK(a_->WatchFile("f"));
  const Generation generation = Put(b_.get(), "f", "x");
  tested_->Expire(*a_);
  Put(b_.get(), "f", "y");
  EXPECT_THAT(a_->TakeEvents(), ElementsAre(LockEvent{Kind::kFileChanged, "f", generation},
                                            LockEvent{Kind::kSessionLost}));
}

TEST_P(LockServiceContract, ASessionThatIsClosedReleasesItsLocksAtOnce) {
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

TEST_P(LockServiceContract, ASessionThatWaitsForALockMayEndFirst) {
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

// ---- Events.

TEST_P(LockServiceContract, AWatchedFileTellsOfEveryKindOfChangeAnybodys) {
  ASSERT_OK(a_->WatchFile("d/f"));  // which is not there yet
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

TEST_P(LockServiceContract, AWatchedDirectoryTellsOfFilesThatComeAndGo) {
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

TEST_P(LockServiceContract, EventsThatWaitStandThereOnceInTheOrderOfTheLast) {
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

TEST_P(LockServiceContract, NothingIsToldOfWhatIsNotWatchedAnyMore) {
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

TEST_P(LockServiceContract, AWaitEndsWithAnEventOrItsTime) {
  EXPECT_FALSE(a_->WaitForEvents(absl::Milliseconds(5)));
  EXPECT_FALSE(a_->WaitForEvents(absl::ZeroDuration()));
  ASSERT_OK(a_->WatchFile("f"));
  Put(b_.get(), "f", "");
  EXPECT_TRUE(a_->WaitForEvents(absl::InfiniteDuration()));
  EXPECT_THAT(a_->TakeEvents(), SizeIs(1));
  EXPECT_FALSE(a_->WaitForEvents(absl::ZeroDuration()));
}

// ---- A service that starts again.

TEST_P(LockServiceContract, FilesAndTheirGenerationsAreThereAfterARestartAndNothingElse) {
  const Generation written = Put(a_.get(), "schema/web", "contents");
  Acquire(a_.get(), "schema/web");
  a_.reset();
  b_.reset();
  tested_->Restart();
  a_ = Open("a");
  ASSERT_OK_AND_ASSIGN(const LockServiceFile file, a_->Read("schema/web"));
  EXPECT_EQ(file.contents, "contents");
  EXPECT_EQ(file.generation, written);
  Acquire(a_.get(), "schema/web");
  ASSERT_OK_AND_ASSIGN(const auto names, a_->List("schema"));
  EXPECT_THAT(names, ElementsAre("web"));
  EXPECT_OK(a_->Write("schema/web", "x", written));
}

TEST_P(LockServiceContract, GenerationsGoOnGrowingOverRestarts) {
  Generation last = kNoFile;
  for (int i = 0; i < 5; ++i) {
    // The largest generation is that of a file that is gone, or of a lock.
    const Generation written = Put(a_.get(), "f", "same");
    EXPECT_GT(written, last);
    last = Acquire(a_.get(), "f").generation;
    EXPECT_GT(last, written);
    ASSERT_OK(a_->Remove("f"));
    a_.reset();
    b_.reset();
    tested_->Restart();
    a_ = Open("a");
  }
}

}  // namespace
}  // namespace bigtable
