#include "bigtable/testing/faulty_file_system.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

namespace bigtable {
namespace {

using ::testing::HasSubstr;
using Done = FaultyFileSystem::Done;
using Repeat = FaultyFileSystem::Repeat;
using ReadMode = FileSystem::ReadMode;

const absl::Status kBroken = absl::UnavailableError("injected");

class FaultyFileSystemTest : public ::testing::Test {
 protected:
  InMemoryFileSystem base_;
  FaultyFileSystem fs_{&base_};
};

// Makes one call of every kind. Returns the first error.
absl::Status CallEverything(FaultyFileSystem* fs) {
  absl::Status first;
  first.Update(fs->CreateDirectory("/d"));
  auto file = fs->NewWritableFile("/d/f");
  first.Update(file.status());
  if (file.ok()) {
    first.Update((*file)->Append("0123456789"));
    first.Update((*file)->Sync());
    first.Update((*file)->Close());
  }
  auto log = fs->NewLogFile("/d/log", 100);
  first.Update(log.status());
  if (log.ok()) {
    first.Update((*log)->Write(0, "abcd"));
    first.Update((*log)->Sync());
  }
  auto reader = fs->NewRandomAccessFile("/d/log", ReadMode::kMapped);
  first.Update(reader.status());
  if (reader.ok()) {
    char buffer[4];
    first.Update((*reader)->Read(0, 4, buffer));
    first.Update((*reader)->Populate(0, 4));
  }
  first.Update(fs->ReadFile("/d/f").status());
  first.Update(fs->FileSize("/d/f").status());
  first.Update(fs->ListDirectory("/d").status());
  first.Update(fs->LockFile("/d/LOCK", FileSystem::LockMode::kExclusive).status());
  first.Update(fs->RenameFile("/d/f", "/d/g"));
  first.Update(fs->LinkFile("/d/g", "/d/h"));
  first.Update(fs->SyncDirectory("/d"));
  first.Update(fs->RemoveFile("/d/h"));
  first.Update(fs->RemoveFile("/d/g"));
  first.Update(fs->RemoveFile("/d/log"));
  first.Update(fs->RemoveFile("/d/LOCK"));
  first.Update(fs->RemoveDirectory("/d"));
  return first;
}

TEST_F(FaultyFileSystemTest, CountsEveryCallThatCanFail) {
  ASSERT_TRUE(CallEverything(&fs_).ok());
  EXPECT_EQ(fs_.calls(), 23u);
  fs_.FileExists("/d");
  EXPECT_EQ(fs_.calls(), 23u);
}

TEST_F(FaultyFileSystemTest, TheNthCallFailsForEachN) {
  for (uint64_t n = 1; n <= 23; ++n) {
    InMemoryFileSystem base;
    FaultyFileSystem fs(&base);
    fs.FailCall(n, kBroken);
    const absl::Status status = CallEverything(&fs);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << n;
    EXPECT_THAT(std::string(status.message()), HasSubstr("injected"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("/d"));
    EXPECT_EQ(fs.faults(), 1u);
  }
}

TEST_F(FaultyFileSystemTest, AFaultOccursOnceOrPermanently) {
  fs_.FailCall(2, kBroken, Repeat::kOnce);
  EXPECT_TRUE(fs_.CreateDirectory("/a").ok());
  EXPECT_FALSE(fs_.CreateDirectory("/b").ok());
  EXPECT_TRUE(fs_.CreateDirectory("/b").ok());
  fs_.CountCalls();
  fs_.FailCall(2, kBroken, Repeat::kFromThenOn);
  EXPECT_TRUE(fs_.CreateDirectory("/c").ok());
  EXPECT_FALSE(fs_.CreateDirectory("/d").ok());
  EXPECT_FALSE(fs_.CreateDirectory("/d").ok());
  fs_.ClearFaults();
  EXPECT_TRUE(fs_.CreateDirectory("/d").ok());
  EXPECT_EQ(fs_.faults(), 3u);
}

TEST_F(FaultyFileSystemTest, OnlyCallsThatMatchTheFilterAreCounted) {
  fs_.CountCalls(
      {.kinds = {FileCall::kNewWritableFile, FileCall::kRenameFile}, .path_contains = "sst"});
  fs_.FailCall(3, kBroken);
  EXPECT_TRUE(fs_.NewWritableFile("/1.sst").ok());
  EXPECT_TRUE(fs_.NewWritableFile("/1.log").ok());
  EXPECT_TRUE(fs_.FileSize("/1.sst").ok());
  EXPECT_TRUE(fs_.RenameFile("/1.log", "/2.sst").ok());
  EXPECT_EQ(fs_.calls(), 2u);
  EXPECT_FALSE(fs_.NewWritableFile("/3.sst").ok());
  EXPECT_FALSE(fs_.FileExists("/3.sst"));
}

TEST_F(FaultyFileSystemTest, AllCallsThatMatchAFilterCanFail) {
  fs_.FailCalls({.kinds = {FileCall::kNewLogFile}, .path_contains = ""},
                absl::ResourceExhaustedError("full"));
  EXPECT_EQ(fs_.NewLogFile("/log", 10).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(fs_.NewLogFile("/log", 10).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(fs_.NewWritableFile("/f").ok());
}

TEST_F(FaultyFileSystemTest, AFailingWriteWritesNothingHalfOrEverything) {
  const std::pair<Done, std::string> cases[] = {
      {Done::kNothing, ""}, {Done::kHalf, "abc"}, {Done::kAll, "abcdef"}};
  for (const auto& [done, left] : cases) {
    auto file = *fs_.NewWritableFile("/f");
    auto log = *fs_.NewLogFile("/log", 6);
    fs_.FailCalls({.kinds = {FileCall::kAppend, FileCall::kLogWrite}, .path_contains = ""}, kBroken,
                  done);
    EXPECT_FALSE(file->Append("abcdef").ok());
    EXPECT_FALSE(log->Write(0, "abcdef").ok());
    fs_.ClearFaults();
    EXPECT_EQ(base_.Contents("/f"), left);
    EXPECT_EQ(base_.Contents("/log"), left + std::string(6 - left.size(), '\0'));
  }
}

TEST_F(FaultyFileSystemTest, AFailingRenameMayTakeEffect) {
  base_.SetContents("/a", "x");
  fs_.FailCall(1, kBroken, Repeat::kOnce, Done::kAll);
  EXPECT_FALSE(fs_.RenameFile("/a", "/b").ok());
  EXPECT_EQ(base_.Contents("/b"), "x");
}

TEST_F(FaultyFileSystemTest, AWritableFileFailsAfterAFailedAppend) {
  auto file = *fs_.NewWritableFile("/f");
  ASSERT_TRUE(fs_.SyncDirectory("/").ok());
  fs_.CountCalls();
  fs_.FailCall(1, kBroken, Repeat::kOnce, Done::kHalf);
  EXPECT_FALSE(file->Append("abcdef").ok());
  EXPECT_FALSE(file->Append("ghi").ok());
  EXPECT_FALSE(file->Sync().ok());
  EXPECT_EQ(base_.Contents("/f"), "abc");
  EXPECT_EQ(base_.CrashClone(0, Unsynced::kNothing)->Contents("/f"), "");
}

TEST_F(FaultyFileSystemTest, EverySyncOfALogFileFailsAfterAFailedSync) {
  auto log = *fs_.NewLogFile("/log", 10);
  fs_.CountCalls();
  fs_.FailCall(1, kBroken);
  EXPECT_FALSE(log->Sync().ok());
  EXPECT_FALSE(log->Sync().ok());
  EXPECT_TRUE(log->Write(0, "x").ok());
}

TEST_F(FaultyFileSystemTest, FilesHaveMappingsUnlessHidden) {
  base_.SetContents("/f", "x");
  EXPECT_NE((*fs_.NewLogFile("/log", 10))->mapping(), nullptr);
  EXPECT_NE((*fs_.NewRandomAccessFile("/f", ReadMode::kMapped))->mapping(), nullptr);
  FaultyFileSystem hiding(&base_, {.hide_log_mappings = true, .hide_file_mappings = true});
  EXPECT_EQ((*hiding.NewLogFile("/log", 10))->mapping(), nullptr);
  EXPECT_EQ((*hiding.NewRandomAccessFile("/f", ReadMode::kMapped))->mapping(), nullptr);
}

TEST_F(FaultyFileSystemTest, CallsStallUntilReleased) {
  auto log = *fs_.NewLogFile("/log", 10);
  log->mapping()[0] = 'x';
  ASSERT_TRUE(fs_.SyncDirectory("/").ok());
  fs_.StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = ""});
  std::thread syncer([&] { EXPECT_TRUE(log->Sync().ok()); });
  ASSERT_TRUE(fs_.WaitUntilStalled(1));
  EXPECT_EQ(fs_.stalled(), 1);
  EXPECT_TRUE(fs_.IsStalled(syncer.get_id()));
  EXPECT_FALSE(fs_.IsStalled(std::this_thread::get_id()));
  EXPECT_TRUE(fs_.FileSize("/log").ok());  // other calls proceed
  EXPECT_EQ(base_.CrashClone(0, Unsynced::kNothing)->Contents("/log"), "");
  fs_.ReleaseCalls();
  syncer.join();
  EXPECT_EQ(fs_.stalled(), 0);
  EXPECT_EQ(base_.CrashClone(0, Unsynced::kNothing)->Contents("/log")[0], 'x');
  EXPECT_FALSE(fs_.WaitUntilStalled(1, absl::Milliseconds(1)));
}

TEST_F(FaultyFileSystemTest, CallsStallFromTheNthOnAndAStalledOneCountsOnce) {
  fs_.StallCalls({.kinds = {FileCall::kFileSize}, .path_contains = ""}, 3);
  EXPECT_FALSE(fs_.FileSize("a").ok());
  EXPECT_FALSE(fs_.FileSize("a").ok());
  EXPECT_EQ(fs_.stalled(), 0);
  std::thread third([&] { EXPECT_FALSE(fs_.FileSize("a").ok()); });
  ASSERT_TRUE(fs_.WaitUntilStalled(1));
  fs_.ReleaseCalls();
  third.join();
}

TEST_F(FaultyFileSystemTest, CallsOfOneThreadStallAndThoseOfOthersProceed) {
  std::atomic<bool> may_begin{false};
  std::thread other([&] {
    while (!may_begin) std::this_thread::yield();
    EXPECT_FALSE(fs_.FileSize("a").ok());
  });
  const std::thread::id id = other.get_id();
  fs_.StallCalls({.kinds = {}, .path_contains = "", .thread = id});
  may_begin = true;
  ASSERT_TRUE(fs_.WaitUntilStalled(1));
  EXPECT_FALSE(fs_.FileSize("a").ok());
  fs_.ReleaseCalls(std::this_thread::get_id());
  EXPECT_EQ(fs_.stalled(), 1);
  fs_.ReleaseCalls(id);
  other.join();
}

TEST_F(FaultyFileSystemTest, CallsOfOneFileStallAndThoseOfOthersProceed) {
  auto first = *fs_.NewLogFile("/first", 10);
  auto second = *fs_.NewLogFile("/second", 10);
  fs_.StallOneFile({.kinds = {FileCall::kLogSync}, .path_contains = ""});
  std::thread syncer([&] { EXPECT_TRUE(first->Sync().ok()); });
  ASSERT_TRUE(fs_.WaitUntilStalled(1));
  EXPECT_TRUE(second->Sync().ok());
  fs_.ReleaseCalls("/second");
  EXPECT_EQ(fs_.stalled(), 1);
  fs_.ReleaseCalls("/first");
  syncer.join();
  EXPECT_EQ(fs_.stalled(), 0);
}

TEST_F(FaultyFileSystemTest, ALogFileIsMatchedByItsCurrentName) {
  auto log = *fs_.NewLogFile("/new", 10);
  ASSERT_TRUE(fs_.RenameFile("/new", "/log").ok());
  fs_.FailCalls({.kinds = {FileCall::kLogSync}, .path_contains = "new"}, kBroken);
  EXPECT_TRUE(log->Sync().ok());
  fs_.FailCalls({.kinds = {FileCall::kLogSync}, .path_contains = "log"}, kBroken);
  EXPECT_FALSE(log->Sync().ok());
}

TEST_F(FaultyFileSystemTest, CallsAreDelayed) {
  fs_.DelayCalls({.kinds = {FileCall::kSyncDirectory}, .path_contains = ""},
                 absl::Milliseconds(20));
  const absl::Time start = absl::Now();
  EXPECT_TRUE(fs_.SyncDirectory("/").ok());
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(20));
}

}  // namespace
}  // namespace bigtable
