// The files in memory in which the engine sorts a small log.
#include "filesystem/memory_files.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

using ReadMode = FileSystem::ReadMode;

class MemoryFilesTest : public testing::Test {
 protected:
  void Put(const std::string& path, std::string_view contents) {
    ASSERT_OK_AND_ASSIGN(const auto file, files_->NewWritableFile(path));
    EXPECT_OK(file->Append(contents));
    EXPECT_OK(file->Sync());
    EXPECT_OK(file->Close());
  }
  std::string Get(const std::string& path) { return files_->ReadFile(path).value_or("none"); }

  std::unique_ptr<MemoryFiles> files_ = std::make_unique<MemoryFiles>();
};

TEST_F(MemoryFilesTest, AFileHasItsBytesAfterItsClose) {
  ASSERT_OK_AND_ASSIGN(const auto file, files_->NewWritableFile("/d/f"));
  EXPECT_OK(file->Append("one"));
  EXPECT_OK(file->Append("two"));
  EXPECT_EQ(Get("/d/f"), "");
  EXPECT_OK(file->Close());
  EXPECT_EQ(Get("/d/f"), "onetwo");
  EXPECT_EQ(*files_->FileSize("/d/f"), 6u);
  EXPECT_OK(file->Close());
  EXPECT_STATUS(kFailedPrecondition, "/d/f", file->Append("three"));
  EXPECT_STATUS(kFailedPrecondition, "/d/f", file->Sync());
  EXPECT_EQ(Get("/d/f"), "onetwo");
}

TEST_F(MemoryFilesTest, BothModesReadAnyRangeAndDetectTheEnd) {
  Put("/f", "0123456789");
  for (const ReadMode mode : {ReadMode::kMapped, ReadMode::kPositional}) {
    ASSERT_OK_AND_ASSIGN(const auto file, files_->NewRandomAccessFile("/f", mode));
    EXPECT_EQ(file->size(), 10u);
    char bytes[4];
    EXPECT_OK(file->Read(6, 4, bytes));
    EXPECT_EQ(std::string_view(bytes, 4), "6789");
    EXPECT_OK(file->Read(11, 0, bytes));
    EXPECT_STATUS(kDataLoss, "/f: read of 4 bytes at offset 7", file->Read(7, 4, bytes));
    EXPECT_EQ(file->mapping() != nullptr, mode == ReadMode::kMapped);
    EXPECT_OK(file->Populate(6, 4));
    EXPECT_STATUS(kDataLoss, "/f", file->Populate(7, 4));
  }
  Put("/empty", "");
  EXPECT_EQ((*files_->NewRandomAccessFile("/empty", ReadMode::kMapped))->mapping(), nullptr);
}

TEST_F(MemoryFilesTest, AReaderKeepsTheBytesOfItsFile) {
  Put("/f", "old");
  const auto file = *files_->NewRandomAccessFile("/f", ReadMode::kMapped);
  Put("/f", "newer");
  EXPECT_OK(files_->RemoveFile("/f"));
  files_.reset();
  EXPECT_EQ(std::string_view(file->mapping(), file->size()), "old");
}

TEST_F(MemoryFilesTest, AWriterMayOutliveTheFiles) {
  const auto file = *files_->NewWritableFile("/f");
  files_.reset();
  EXPECT_OK(file->Append("x"));
  EXPECT_OK(file->Close());
}

TEST_F(MemoryFilesTest, NamesAreListedRenamedAndRemoved) {
  EXPECT_OK(files_->CreateDirectory("/d"));
  Put("/d/b", "b");
  Put("/d/a", "a");
  Put("/d/deeper/c", "c");
  Put("/different", "d");
  EXPECT_THAT(*files_->ListDirectory("/d"), testing::ElementsAre("a", "b"));
  EXPECT_OK(files_->RenameFile("/d/a", "/d/b"));
  EXPECT_THAT(*files_->ListDirectory("/d"), testing::ElementsAre("b"));
  EXPECT_EQ(Get("/d/b"), "a");
  EXPECT_TRUE(files_->FileExists("/d/b"));
  EXPECT_OK(files_->RemoveFile("/d/b"));
  EXPECT_FALSE(files_->FileExists("/d/b"));
  EXPECT_STATUS(kNotFound, "/d/b", files_->RemoveFile("/d/b"));
  EXPECT_STATUS(kNotFound, "/d/b", files_->RenameFile("/d/b", "/d/a"));
  EXPECT_STATUS(kNotFound, "/d/b", files_->NewRandomAccessFile("/d/b", ReadMode::kMapped).status());
  EXPECT_STATUS(kNotFound, "/d/b", files_->FileSize("/d/b").status());
}

TEST_F(MemoryFilesTest, ThereAreNoLogFilesAndNoLocks) {
  EXPECT_STATUS(kUnimplemented, "/log", files_->NewLogFile("/log", 100).status());
  EXPECT_STATUS(kUnimplemented, "/LOCK",
                files_->LockFile("/LOCK", FileSystem::LockMode::kExclusive).status());
}

TEST_F(MemoryFilesTest, ThreadsWriteFilesAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] { Put("/d/" + std::to_string(i), std::string(100000, 'x')); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files_->ListDirectory("/d")->size(), 4u);
}

}  // namespace
}  // namespace bigtable
