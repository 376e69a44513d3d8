// The contract of src/lockservice/lock_service.h for files, the client cache, and restarts of the
// service. Runs against every implementation.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lock_service_fixture.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LockServiceFiles : public LockServiceContract {};

INSTANTIATE_TEST_SUITE_P(All, LockServiceFiles, testing::ValuesIn(AllLockServices()),
                         [](const auto& tested) { return tested.param.name; });

// ---- Files.

TEST_P(LockServiceFiles, EverySessionReadsAWriteWithItsGeneration) {
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

TEST_P(LockServiceFiles, AMissingFileIsNotFound) {
  EXPECT_STATUS(kNotFound, "nowhere/x", a_->Read("nowhere/x"));
  EXPECT_STATUS(kNotFound, "x", a_->Remove("x"));
  Put(a_.get(), "directory/x", "");
  EXPECT_STATUS(kNotFound, "directory", a_->Read("directory"));
}

TEST_P(LockServiceFiles, EveryWriteOfAnyFileHasALargerGenerationThanAllBefore) {
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

TEST_P(LockServiceFiles, ACompareAndSwapRequiresTheExpectedGeneration) {
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

TEST_P(LockServiceFiles, AFileThatIsCreatedAgainHasANewGeneration) {
  ASSERT_OK_AND_ASSIGN(const Generation first, a_->Write("f", "same", kNoFile));
  ASSERT_OK(b_->Remove("f"));
  ASSERT_OK_AND_ASSIGN(const Generation second, b_->Write("f", "same", kNoFile));
  EXPECT_GT(second, first);
  EXPECT_STATUS(kAborted, "f", a_->Write("f", "x", first));
}

TEST_P(LockServiceFiles, AListHasOnlyTheFilesOfTheDirectory) {
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

TEST_P(LockServiceFiles, EveryCallRefusesAnInvalidName) {
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

TEST_P(LockServiceFiles, UnusualButValidNamesWork) {
  for (const std::string& name : {std::string("a.b"), std::string("A-_.+=@%9"),
                                  std::string(LockSession::kMaxComponentLength, 'x') + "/" +
                                      std::string(LockSession::kMaxComponentLength, 'y')}) {
    Put(a_.get(), name, "x");
    EXPECT_EQ(Get(b_.get(), name), "x") << name;
  }
}

TEST_P(LockServiceFiles, ANameIsAFileOrADirectoryNotBoth) {
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

TEST_P(LockServiceFiles, AFileHasAtMostTheLargestSize) {
  const std::string largest(LockSession::kMaxFileSize, 'x');
  Put(a_.get(), "f", largest);
  EXPECT_STATUS(kInvalidArgument, "524289 bytes", a_->Write("f", largest + "x"));
  EXPECT_EQ(Get(b_.get(), "f"), largest);
}

// ---- The cache.

TEST_P(LockServiceFiles, AReadAfterAnotherSessionsWriteIsNeverStale) {
  EXPECT_EQ(Get(a_.get(), "f"), "NOT_FOUND");
  EXPECT_EQ(Get(a_.get(), "f"), "NOT_FOUND");  // now it may be in the cache
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

TEST_P(LockServiceFiles, AReadAfterTheSessionsOwnWriteReturnsIt) {
  EXPECT_EQ(Get(a_.get(), "f"), "NOT_FOUND");
  Put(a_.get(), "f", "x");
  EXPECT_EQ(Get(a_.get(), "f"), "x");
  ASSERT_OK(a_->Remove("f"));
  EXPECT_EQ(Get(a_.get(), "f"), "NOT_FOUND");
}

TEST_P(LockServiceFiles, ALostSessionReadsNothingNotEvenFromItsCache) {
  Put(b_.get(), "f", "x");
  EXPECT_EQ(Get(a_.get(), "f"), "x");
  EXPECT_EQ(Get(a_.get(), "nothing"), "NOT_FOUND");
  tested_->Expire(*a_);
  EXPECT_EQ(Get(a_.get(), "f"), "FAILED_PRECONDITION");
  EXPECT_EQ(Get(a_.get(), "nothing"), "FAILED_PRECONDITION");
}

// ---- Restarts of the service.

TEST_P(LockServiceFiles, OnlyFilesAndTheirGenerationsSurviveARestart) {
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

TEST_P(LockServiceFiles, GenerationsContinueToGrowAfterRestarts) {
  Generation last = kNoFile;
  for (int i = 0; i < 5; ++i) {
    // The largest generation is that of a removed file, or of a lock.
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
