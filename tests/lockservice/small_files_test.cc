// A small file is read whole, old or new, or there is an error that says what is wrong with it.
#include "lockservice/small_files.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/strings.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string ReadOrWhy(FileSystem* file_system, std::string_view name) {
  const absl::StatusOr<std::string> contents = SmallFiles(file_system, "/ls").Read(name);
  return contents.ok() ? *contents : std::string(contents.status().ToString());
}

class SmallFilesTest : public testing::Test {
 protected:
  InMemoryFileSystem file_system_;
  SmallFiles files_{&file_system_, "/ls"};
};

TEST_F(SmallFilesTest, WrittenFilesAreRead) {
  const std::string bytes("zero\0byte", 9);
  EXPECT_OK(files_.Write("root", "first"));
  EXPECT_OK(files_.Write("schema/web", bytes));
  EXPECT_OK(files_.Write("empty", ""));
  EXPECT_OK(files_.Write("root", "second"));
  EXPECT_EQ(ReadOrWhy(&file_system_, "root"), "second");
  EXPECT_EQ(ReadOrWhy(&file_system_, "schema/web"), bytes);
  EXPECT_EQ(ReadOrWhy(&file_system_, "empty"), "");
  EXPECT_TRUE(files_.Exists("schema/web"));
}

TEST_F(SmallFilesTest, TheWorkedExampleHasTheSpecifiedBytes) {
  ASSERT_OK(files_.Write("root", "x", 7));
  const std::string generation("\x07\0\0\0\0\0\0\0", 8);
  std::string expected("BTSMALLF\x02\0\0\0", 12);
  AppendFixed64(&expected, Checksum(std::string("root\0\x02\0\0\0", 9) + generation + "x"));
  expected += generation + "x";
  EXPECT_EQ(file_system_.Contents("/ls/root"), expected);
  EXPECT_EQ(expected.size(), 29u);
}

TEST_F(SmallFilesTest, AFileKeepsTheGenerationItWasWrittenWith) {
  EXPECT_OK(files_.Write("root", "contents", UINT64_MAX - 1));
  ASSERT_OK_AND_ASSIGN(const SmallFile file, files_.ReadWithGeneration("root"));
  EXPECT_EQ(file.contents, "contents");
  EXPECT_EQ(file.generation, UINT64_MAX - 1);
  EXPECT_OK(files_.Write("root", "contents"));
  ASSERT_OK_AND_ASSIGN(const SmallFile again, files_.ReadWithGeneration("root"));
  EXPECT_EQ(again.generation, SmallFiles::kUnknownGeneration);
}

// A file in format 1, which had no generations.
std::string InFormat1(std::string_view name, std::string_view contents) {
  std::string bytes("BTSMALLF\x01\0\0\0", 12);
  AppendFixed64(&bytes, Checksum(std::string(name) + '\0' + std::string(contents)));
  return bytes + std::string(contents);
}

TEST_F(SmallFilesTest, FilesOfFormat1AreReadAndHaveTheSmallestGeneration) {
  for (const std::string contents : {"", "x", "longer than a generation"}) {
    file_system_.SetContents("/ls/schema/web", InFormat1("schema/web", contents));
    ASSERT_OK_AND_ASSIGN(const SmallFile file, files_.ReadWithGeneration("schema/web"));
    EXPECT_EQ(file.contents, contents);
    EXPECT_EQ(file.generation, SmallFiles::kUnknownGeneration);
  }
}

TEST_F(SmallFilesTest, AFileOfFormat1IsNotTakenForOneOfFormat2) {
  std::string bytes = InFormat1("root", "longer than a generation");
  bytes[8] = 2;
  file_system_.SetContents("/ls/root", bytes);
  EXPECT_STATUS(kDataLoss, "/ls/root", files_.Read("root"));
}

TEST_F(SmallFilesTest, EveryFlippedBitOfAFileOfFormat1IsAnError) {
  const std::string sound = InFormat1("root", "contents");
  for (size_t bit = 0; bit < sound.size() * 8; ++bit) {
    std::string damaged = sound;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    file_system_.SetContents("/ls/root", damaged);
    EXPECT_FALSE(files_.Read("root").ok()) << "bit " << bit;
  }
}

TEST_F(SmallFilesTest, AListIsCompleteOrAnError) {
  ASSERT_OK(files_.Write("schema/a", ""));
  ASSERT_OK(files_.Write("schema/b", ""));
  FaultyFileSystem faulty(&file_system_);
  for (uint64_t call = 1; call <= 3; ++call) {
    faulty.CountCalls();
    faulty.FailCall(call, absl::UnavailableError("disk"));
    EXPECT_STATUS(kUnavailable, "disk", SmallFiles(&faulty, "/ls").List("schema"));
  }
}

TEST_F(SmallFilesTest, NothingIsCreatedBeforeTheFirstWrite) {
  EXPECT_STATUS(kNotFound, "/ls/root", files_.Read("root"));
  EXPECT_STATUS(kNotFound, "/ls/root", files_.Remove("root"));
  EXPECT_FALSE(files_.Exists("root"));
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> names, files_.List("schema"));
  EXPECT_THAT(names, IsEmpty());
  EXPECT_FALSE(file_system_.FileExists("/ls"));
}

TEST_F(SmallFilesTest, ARemovedFileStaysRemovedAfterAPowerLoss) {
  ASSERT_OK(files_.Write("root", "x"));
  ASSERT_OK(files_.Remove("root"));
  EXPECT_STATUS(kNotFound, "/ls/root", files_.Read("root"));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_FALSE(SmallFiles(file_system_.CrashClone(seed).get(), "/ls").Exists("root"));
  }
}

TEST_F(SmallFilesTest, AListHasOnlyFilesAndNoTemporaries) {
  ASSERT_OK(files_.Write("b", ""));
  ASSERT_OK(files_.Write("a", ""));
  ASSERT_OK(files_.Write("schema/web", ""));
  ASSERT_OK(files_.Write("schema/user.web.tmp", ""));
  file_system_.SetContents("/ls/c~", "what a crash left");
  file_system_.SetContents("/ls/schema/web~", "what a crash left");
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> top, files_.List(""));
  EXPECT_THAT(top, ElementsAre("a", "b"));
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> schemas, files_.List("schema"));
  EXPECT_THAT(schemas, ElementsAre("user.web.tmp", "web"));
}

TEST_F(SmallFilesTest, ATemporaryFileLeftByACrashIsReplaced) {
  file_system_.SetContents("/ls/root~", std::string(100, 'x'));
  EXPECT_OK(files_.Write("root", "new"));
  EXPECT_EQ(ReadOrWhy(&file_system_, "root"), "new");
}

TEST_F(SmallFilesTest, EveryFlippedBitIsDataLossThatNamesTheFile) {
  ASSERT_OK(files_.Write("schema/web", "contents"));
  const std::string sound = file_system_.Contents("/ls/schema/web");
  for (size_t i = 0; i < sound.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      file_system_.SetContents("/ls/schema/web", damaged);
      const absl::Status status = files_.Read("schema/web").status();
      // A damaged version cannot be distinguished from a later format.
      const bool version = i >= 8 && i < 12;
      EXPECT_TRUE(
          IsStatus(version ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kDataLoss,
                   status, "/ls/schema/web"))
          << "byte " << i << " bit " << bit;
    }
  }
}

TEST_F(SmallFilesTest, ATruncatedOrExtendedFileIsDataLoss) {
  ASSERT_OK(files_.Write("root", "contents"));
  const std::string sound = file_system_.Contents("/ls/root");
  for (size_t n = 0; n < sound.size(); ++n) {
    file_system_.SetContents("/ls/root", sound.substr(0, n));
    EXPECT_STATUS(kDataLoss, "/ls/root", files_.Read("root"));
  }
  file_system_.SetContents("/ls/root", sound + '\0');
  EXPECT_STATUS(kDataLoss, "/ls/root", files_.Read("root"));
}

TEST_F(SmallFilesTest, AFileUnderAnothersNameIsDataLoss) {
  ASSERT_OK(files_.Write("schema/a", "contents"));
  ASSERT_OK(files_.Write("schema/b", "contents"));
  file_system_.SetContents("/ls/schema/b", file_system_.Contents("/ls/schema/a"));
  file_system_.SetContents("/ls/a", file_system_.Contents("/ls/schema/a"));
  EXPECT_OK(files_.Read("schema/a"));
  EXPECT_STATUS(kDataLoss, "/ls/schema/b", files_.Read("schema/b"));
  EXPECT_STATUS(kDataLoss, "/ls/a", files_.Read("a"));
}

TEST_F(SmallFilesTest, ALaterFormatIsFailedPreconditionThatNamesBothVersions) {
  ASSERT_OK(files_.Write("root", "contents"));
  std::string later = file_system_.Contents("/ls/root");
  StoreFixed32(later.data() + 8, 7);
  file_system_.SetContents("/ls/root", later);
  EXPECT_TRUE(IsStatus(absl::StatusCode::kFailedPrecondition, files_.Read("root").status(),
                       "/ls/root", "version 7", "knows 1 to 2"));
}

// A write of a file that has an old version, or none, or not even a directory, with a power loss
// before each call of the file system and after the last.
TEST_F(SmallFilesTest, AfterAPowerLossAFileIsOldOrNew) {
  int finds_old = 0, finds_new = 0;
  for (const std::string old : {"old", "none"}) {
    for (uint64_t call = 1, last = 100; call <= last; ++call) {
      InMemoryFileSystem memory;
      if (old == "old") {
        ASSERT_OK(SmallFiles(&memory, "/ls").Write("schema/web", old));
      }
      FaultyFileSystem faulty(&memory);
      faulty.CountCalls();
      faulty.FailCall(
          call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn,
          call % 2 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
      const bool written =
          SmallFiles(&faulty, "/ls").Write("schema/web", std::string(2000, 'n')).ok();
      if (written) last = call;
      for (uint64_t seed = 0; seed < 30; ++seed) {
        const auto found =
            memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
        SCOPED_TRACE(Cat(old, ", call ", call, ", seed ", seed));
        SmallFiles files(found.get(), "/ls");
        const std::string contents =
            files.Exists("schema/web") ? ReadOrWhy(found.get(), "schema/web") : "none";
        if (written || contents != old) {
          ASSERT_EQ(contents, std::string(2000, 'n'));
          ++finds_new;
        } else {
          ++finds_old;
        }
        // It can be written again.
        ASSERT_OK(files.Write("schema/web", "again"));
        ASSERT_EQ(ReadOrWhy(found.get(), "schema/web"), "again");
      }
      ASSERT_LT(call, 50u);
    }
  }
  EXPECT_GT(finds_old, 100);
  EXPECT_GT(finds_new, 50);
}

}  // namespace
}  // namespace bigtable
