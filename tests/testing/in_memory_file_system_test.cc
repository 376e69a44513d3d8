// The behavior that only the in-memory file system has. For power losses see power_loss_test.cc.
#include "bigtable/testing/in_memory_file_system.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bigtable {
namespace {

using ::testing::ElementsAre;
using ReadMode = FileSystem::ReadMode;

void Put(FileSystem* fs, std::string_view path, std::string_view contents) {
  auto file = fs->NewWritableFile(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE((*file)->Append(contents).ok());
}

TEST(InMemoryFileSystemTest, PathsBeginAtOneRoot) {
  InMemoryFileSystem fs;
  EXPECT_TRUE(fs.CreateDirectory("/db").ok());
  Put(&fs, "db//./f", "x");
  EXPECT_EQ(fs.Contents("/db/f"), "x");
  EXPECT_THAT(*fs.ListDirectory("/"), ElementsAre("db"));
  EXPECT_TRUE(fs.SyncDirectory("/").ok());
  EXPECT_TRUE(fs.FileExists("/"));
}

TEST(InMemoryFileSystemTest, ListsAllFilesOfAllDirectories) {
  InMemoryFileSystem fs;
  fs.SetContents("/b/c/two", "22");
  fs.SetContents("/b/one", "1");
  fs.SetContents("/a", "");
  EXPECT_THAT(fs.AllFiles(), ElementsAre("/a", "/b/c/two", "/b/one"));
  EXPECT_EQ(fs.total_bytes(), 3u);
}

TEST(InMemoryFileSystemTest, SetContentsChangesReadsOfAnOpenFileButNotItsMapping) {
  InMemoryFileSystem fs;
  fs.SetContents("/f", "good");
  auto file = *fs.NewRandomAccessFile("/f", ReadMode::kMapped);
  fs.SetContents("/f", "evil");
  char buffer[4];
  ASSERT_TRUE(file->Read(0, 4, buffer).ok());
  EXPECT_EQ(std::string_view(buffer, 4), "evil");
  EXPECT_EQ(std::string_view(file->mapping(), 4), "good");
  fs.SetContents("/f", "cut");
  EXPECT_EQ(file->Read(0, 4, buffer).code(), absl::StatusCode::kDataLoss);
}

TEST(InMemoryFileSystemTest, AMappingIsUnchangedWhenTheFileGrows) {
  InMemoryFileSystem fs;
  auto writer = *fs.NewWritableFile("/f");
  ASSERT_TRUE(writer->Append("0123").ok());
  auto file = *fs.NewRandomAccessFile("/f", ReadMode::kMapped);
  const char* const mapping = file->mapping();
  ASSERT_TRUE(writer->Append(std::string(100'000, 'x')).ok());
  EXPECT_EQ(file->mapping(), mapping);
  EXPECT_EQ(std::string_view(mapping, 4), "0123");
  EXPECT_EQ(fs.Contents("/f").size(), 100'004u);
}

TEST(InMemoryFileSystemTest, OpenFilesOutliveTheFileSystem) {
  auto fs = std::make_unique<InMemoryFileSystem>();
  Put(fs.get(), "/f", "abc");
  auto file = *fs->NewRandomAccessFile("/f", ReadMode::kMapped);
  auto log = *fs->NewLogFile("/log", 100);
  fs.reset();
  EXPECT_EQ(std::string_view(file->mapping(), 3), "abc");
  log->mapping()[99] = 'x';
  EXPECT_TRUE(log->Sync().ok());
}

TEST(InMemoryFileSystemTest, AnAppendToAFullDiskIsPartialAndFails) {
  InMemoryFileSystem fs;
  fs.set_max_total_bytes(10);
  auto file = *fs.NewWritableFile("/f");
  EXPECT_TRUE(file->Append("1234567").ok());
  EXPECT_EQ(file->Append("89abcd").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(fs.Contents("/f"), "123456789a");
  EXPECT_FALSE(file->Sync().ok());  // the file has failed
  EXPECT_EQ(fs.NewLogFile("/log", 1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(fs.FileExists("/log"));
}

TEST(InMemoryFileSystemTest, RemovingReplacingTruncatingAndALargerLimitFreeSpace) {
  InMemoryFileSystem fs;
  fs.set_max_total_bytes(10);
  ASSERT_TRUE(fs.NewLogFile("/a", 6).ok());
  Put(&fs, "/b", "1234");
  EXPECT_EQ(fs.NewLogFile("/log", 6).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(fs.NewLogFile("/a", 6).ok());  // replaces itself
  ASSERT_TRUE(fs.RenameFile("/b", "/a").ok());
  EXPECT_EQ(fs.total_bytes(), 4u);
  EXPECT_TRUE(fs.NewLogFile("/log", 6).ok());
  ASSERT_TRUE(fs.RemoveFile("/log").ok());
  EXPECT_TRUE(fs.NewLogFile("/log", 6).ok());
  EXPECT_FALSE(fs.NewLogFile("/large", 100).ok());
  fs.set_max_total_bytes(InMemoryFileSystem::kUnlimited);
  EXPECT_TRUE(fs.NewLogFile("/large", 100).ok());
}

}  // namespace
}  // namespace bigtable
