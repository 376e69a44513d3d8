// Descriptors of mapped files: how many are open, and of which files.
#include "filesystem/reopened_files.h"

#include <array>
#include <atomic>
#include <fcntl.h>
#include <memory>
#include <thread>
#include <unistd.h>
#include <vector>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

std::shared_ptr<const Fd> AnyFd() {
  return std::make_shared<const Fd>(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}
bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(ReopenedFilesTest, TheLeastRecentlyUsedDescriptorIsClosed) {
  ReopenedFiles files;
  std::array<ReopenedFiles::Entry, 6> entries;
  for (size_t i = 0; i < 3; ++i) files.Add(&entries[i], AnyFd(), 3);
  for (const size_t used : {0, 2}) EXPECT_NE(entries[used].Find(), nullptr);
  files.Add(&entries[3], AnyFd(), 3);
  EXPECT_EQ(entries[1].Find(), nullptr);
  for (const size_t used : {0, 2, 3}) EXPECT_NE(entries[used].Find(), nullptr);
  EXPECT_EQ(files.size(), 3);
  // If all were used, one is closed nevertheless.
  files.Add(&entries[4], AnyFd(), 3);
  files.Add(&entries[5], AnyFd(), 3);
  EXPECT_EQ(files.size(), 3);
  EXPECT_NE(entries[5].Find(), nullptr);
  for (auto& entry : entries) files.Remove(&entry);
  EXPECT_EQ(files.size(), 0);
}

TEST(ReopenedFilesTest, ALowerLimitClosesDescriptors) {
  ReopenedFiles files;
  std::array<ReopenedFiles::Entry, 9> entries;
  for (auto& entry : entries) files.Add(&entry, AnyFd(), &entry == &entries[8] ? 2 : 8);
  EXPECT_EQ(files.size(), 2);
  EXPECT_NE(entries[8].Find(), nullptr);
  for (auto& entry : entries) files.Remove(&entry);
}

TEST(ReopenedFilesTest, TheFirstOfTwoDescriptorsOfAFileStays) {
  ReopenedFiles files;
  ReopenedFiles::Entry entry;
  const auto first = AnyFd();
  files.Add(&entry, first, 1);
  files.Add(&entry, AnyFd(), 1);
  EXPECT_EQ(entry.Find(), first);
  EXPECT_EQ(files.size(), 1);
  files.Remove(&entry);
  files.Remove(&entry);
  EXPECT_EQ(entry.Find(), nullptr);
}

TEST(ReopenedFilesTest, ADescriptorStaysOpenForTheThreadThatHoldsIt) {
  ReopenedFiles files;
  ReopenedFiles::Entry entry;
  files.Add(&entry, AnyFd(), 1);
  auto mine = entry.Find();
  const int fd = mine->get();
  files.Remove(&entry);
  EXPECT_TRUE(IsOpen(fd));
  mine = nullptr;
  EXPECT_FALSE(IsOpen(fd));
}

TEST(ReopenedFilesTest, ManyThreadsShareFewDescriptors) {
  constexpr size_t kMost = 3;
  ReopenedFiles files;
  std::array<ReopenedFiles::Entry, 8> entries;
  std::atomic<int> closed{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 5000; ++i) {
        auto& entry = entries[(i * 7 + t * i) % entries.size()];
        if (const auto fd = entry.Find()) {
          if (!IsOpen(fd->get())) ++closed;
        } else {
          files.Add(&entry, AnyFd(), kMost);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(closed, 0);
  EXPECT_LE(files.size(), kMost);
  for (auto& entry : entries) files.Remove(&entry);
  EXPECT_EQ(files.size(), 0);
}

}  // namespace
}  // namespace bigtable
