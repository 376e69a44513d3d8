// Files that are read by position while only some are open.
#include "filesystem/file_pool.h"

#include <atomic>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "filesystem/posix_file_system.h"
#include "temporary_directory.h"

namespace bigtable {
namespace {

using PooledFilePtr = std::unique_ptr<RandomAccessFile>;

class FilePoolTest : public testing::Test {
 protected:
  FilePoolTest() { EXPECT_TRUE(memory_.CreateDirectory("/d").ok()); }

  static std::string NameOf(int i) { return Cat("/d/", i); }
  // Writes a file whose content is its number, repeated.
  void WriteFile(int i) { WriteTo(&memory_, NameOf(i), i); }
  static void WriteTo(FileSystem* file_system, const std::string& path, int i) {
    auto file = file_system->NewWritableFile(path);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Append(std::string(kSize, static_cast<char>(i))).ok());
  }
  PooledFilePtr OpenFile(int i, FileSystem::ReadMode mode = FileSystem::ReadMode::kPositional) {
    auto file = pool_->Open(NameOf(i), mode);
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }
  std::vector<PooledFilePtr> WriteAndOpen(int count) {
    std::vector<PooledFilePtr> files;
    for (int i = 0; i < count; ++i) {
      WriteFile(i);
      files.push_back(OpenFile(i));
    }
    return files;
  }
  static absl::Status ReadWhole(const RandomAccessFile& file, int i) {
    std::string bytes(kSize, '?');
    const absl::Status status = file.Read(0, kSize, bytes.data());
    if (status.ok()) {
      EXPECT_EQ(bytes, std::string(kSize, static_cast<char>(i)));
    }
    return status;
  }
  bool Exists(int i) { return memory_.FileExists(NameOf(i)); }
  static size_t CountDescriptors() {
    return FileSystem::Posix()->ListDirectory("/proc/self/fd")->size();
  }

  static constexpr size_t kSize = 100;
  static constexpr size_t kCapacity = 4;
  InMemoryFileSystem memory_;
  FaultyFileSystem faulty_{&memory_, {}};
  std::shared_ptr<FilePool> pool_ = std::make_shared<FilePool>(&faulty_, kCapacity);
};

TEST_F(FilePoolTest, AllFilesCanBeReadAlthoughOnlySomeAreOpen) {
  std::vector<PooledFilePtr> files = WriteAndOpen(20);
  EXPECT_EQ(pool_->open_files(), kCapacity);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(ReadWhole(*files[static_cast<size_t>(i)], i).ok());
      EXPECT_LE(pool_->open_files(), kCapacity);
    }
  }
  EXPECT_GE(pool_->reopened(), 40u);
  files.clear();
  EXPECT_EQ(pool_->open_files(), 0u);
}

TEST_F(FilePoolTest, ARequestOpensNoFile) {
  const std::vector<PooledFilePtr> files = WriteAndOpen(2 * kCapacity);
  const uint64_t reopened = pool_->reopened();
  for (const PooledFilePtr& file : files) file->WillNeed(0, kSize);
  EXPECT_EQ(pool_->reopened(), reopened);
  EXPECT_LE(pool_->open_files(), kCapacity);
  for (int i = 0; i < static_cast<int>(files.size()); ++i) {
    EXPECT_TRUE(ReadWhole(*files[static_cast<size_t>(i)], i).ok());
  }
}

TEST_F(FilePoolTest, AFileThatIsReadOftenStaysOpen) {
  std::vector<PooledFilePtr> files = WriteAndOpen(20);
  EXPECT_TRUE(ReadWhole(*files[0], 0).ok());
  const uint64_t before = pool_->reopened();
  for (int i = 1; i < 20; ++i) {
    EXPECT_TRUE(ReadWhole(*files[static_cast<size_t>(i)], i).ok());
    EXPECT_TRUE(ReadWhole(*files[0], 0).ok());
  }
  // LRU would never close it; CLOCK may close it when the hand wraps around.
  EXPECT_LE(pool_->reopened() - before, 19u + 7u);
}

TEST_F(FilePoolTest, AMappedFileIsNotInThePool) {
  WriteFile(1);
  const PooledFilePtr file = OpenFile(1, FileSystem::ReadMode::kMapped);
  EXPECT_NE(file->mapping(), nullptr);
  EXPECT_EQ(pool_->open_files(), 0u);
  EXPECT_TRUE(pool_->Remove(NameOf(1)).ok());
  EXPECT_FALSE(Exists(1));
}

TEST_F(FilePoolTest, AnOpenFileStaysReadableAfterItsRemoval) {
  std::vector<PooledFilePtr> files = WriteAndOpen(1);
  EXPECT_TRUE(pool_->Remove(NameOf(0)).ok());
  EXPECT_FALSE(Exists(0));
  // It is not closed for other files.
  std::vector<PooledFilePtr> others;
  for (int i = 1; i < 10; ++i) {
    WriteFile(i);
    others.push_back(OpenFile(i));
  }
  EXPECT_TRUE(ReadWhole(*files[0], 0).ok());
  EXPECT_EQ(pool_->open_files(), kCapacity);
}

TEST_F(FilePoolTest, AFileThatIsNotOpenIsRemovedWithItsLastUser) {
  std::vector<PooledFilePtr> files = WriteAndOpen(10);
  PooledFilePtr again = OpenFile(0);
  for (int i = 0; i < 10; ++i) {
    for (int other = 9; other > 0; --other) {  // so that 0 is closed
      EXPECT_TRUE(ReadWhole(*files[static_cast<size_t>(other)], other).ok());
    }
  }
  const uint64_t before = pool_->reopened();
  EXPECT_TRUE(pool_->Remove(NameOf(0)).ok());
  EXPECT_TRUE(pool_->Remove(NameOf(0)).ok());
  EXPECT_TRUE(Exists(0));
  EXPECT_TRUE(ReadWhole(*files[0], 0).ok());
  EXPECT_GT(pool_->reopened(), before);
  files.erase(files.begin());
  EXPECT_TRUE(Exists(0));
  EXPECT_TRUE(ReadWhole(*again, 0).ok());
  again.reset();
  EXPECT_FALSE(Exists(0));
}

TEST_F(FilePoolTest, RemovedFilesInUseTakeAtMostHalfOfTheCapacity) {
  std::vector<PooledFilePtr> files = WriteAndOpen(30);
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(ReadWhole(*files[static_cast<size_t>(i)], i).ok());
    EXPECT_TRUE(pool_->Remove(NameOf(i)).ok());
  }
  int removed = 0;
  for (int i = 0; i < 30; ++i) removed += Exists(i) ? 0 : 1;
  EXPECT_EQ(removed, static_cast<int>(kCapacity / 2));
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(ReadWhole(*files[static_cast<size_t>(i)], i).ok());
  EXPECT_LE(pool_->open_files(), kCapacity);
  files.clear();
  EXPECT_EQ(memory_.ListDirectory("/d")->size(), 0u);
}

TEST_F(FilePoolTest, AHeldFileCanBeOpenedAfterItsRemoval) {
  WriteFile(1);
  auto hold = std::make_unique<FilePool::Hold>(pool_, NameOf(1));
  EXPECT_TRUE(pool_->Remove(NameOf(1)).ok());
  EXPECT_TRUE(Exists(1));
  PooledFilePtr file = OpenFile(1);
  hold.reset();
  EXPECT_TRUE(Exists(1));
  EXPECT_TRUE(ReadWhole(*file, 1).ok());
  file.reset();
  EXPECT_FALSE(Exists(1));

  WriteFile(2);
  hold = std::make_unique<FilePool::Hold>(pool_, NameOf(2));
  EXPECT_TRUE(pool_->Remove(NameOf(2)).ok());
  file = OpenFile(2, FileSystem::ReadMode::kMapped);
  EXPECT_TRUE(Exists(2));
  hold.reset();
  EXPECT_FALSE(Exists(2));
  EXPECT_TRUE(file->Populate(0, kSize).ok());
  EXPECT_EQ(file->mapping()[kSize - 1], 2);

  WriteFile(3);
  hold = std::make_unique<FilePool::Hold>(pool_, NameOf(3));
  hold.reset();
  EXPECT_TRUE(Exists(3));
}

TEST_F(FilePoolTest, AnotherFileUnderItsNameIsDataLoss) {
  std::vector<PooledFilePtr> files = WriteAndOpen(20);
  ASSERT_TRUE(memory_.RemoveFile(NameOf(0)).ok());
  ASSERT_TRUE(memory_.RemoveFile(NameOf(1)).ok());
  WriteFile(1);
  const absl::Status missing = ReadWhole(*files[0], 0);
  EXPECT_TRUE(absl::IsDataLoss(missing)) << missing;
  EXPECT_THAT(std::string(missing.message()), testing::HasSubstr("/d/0"));
  const absl::Status replaced = ReadWhole(*files[1], 1);
  EXPECT_TRUE(absl::IsDataLoss(replaced)) << replaced;
  EXPECT_THAT(std::string(replaced.message()), testing::HasSubstr("another file"));
  EXPECT_TRUE(ReadWhole(*files[2], 2).ok());
  EXPECT_LE(pool_->open_files(), kCapacity);
}

TEST_F(FilePoolTest, AnErrorOfReopeningIsNotRemembered) {
  std::vector<PooledFilePtr> files = WriteAndOpen(20);
  faulty_.FailCalls({.kinds = {FileCall::kNewRandomAccessFile}, .path_contains = ""},
                    absl::UnavailableError("broken"));
  EXPECT_TRUE(absl::IsUnavailable(ReadWhole(*files[0], 0)));
  faulty_.ClearFaults();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(ReadWhole(*files[static_cast<size_t>(i)], i).ok());
  EXPECT_EQ(pool_->open_files(), kCapacity);
}

TEST_F(FilePoolTest, WithoutFreeDescriptorsOtherFilesAreClosed) {
  const TemporaryDirectory directory;
  PosixFileSystem posix;
  const auto pool = std::make_shared<FilePool>(&posix, 1000);
  std::vector<PooledFilePtr> files;
  for (int i = 0; i < 50; ++i) {
    const std::string path = Cat(directory.path(), "/", i);
    WriteTo(&posix, path, i);
    files.push_back(*pool->Open(path, FileSystem::ReadMode::kPositional));
  }
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const size_t used = CountDescriptors() - 1;
  EXPECT_GE(used, 50u);
  struct rlimit few = before;
  few.rlim_cur = used;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  for (int i = 50; i < 60; ++i) {
    // Written without the limit.
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    const std::string path = Cat(directory.path(), "/", i);
    WriteTo(&posix, path, i);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    auto file = pool->Open(path, FileSystem::ReadMode::kPositional);
    ASSERT_TRUE(file.ok()) << file.status();
    files.push_back(*std::move(file));
  }
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(ReadWhole(*files[static_cast<size_t>(i)], i).ok());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(FilePoolTest, PoolsWithoutACapacityShareTheLimit) {
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  struct rlimit few = before;
  few.rlim_cur = 404;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(FilePool::CapacityFor(17), 17u);
  const size_t first = FilePool::CapacityFor(0);
  EXPECT_EQ(first, (404 - kCapacity) / 2);
  auto pool = std::make_shared<FilePool>(&faulty_, first);
  EXPECT_EQ(FilePool::CapacityFor(0), (404 - kCapacity) / 4);
  pool->Detach();
  EXPECT_EQ(FilePool::CapacityFor(0), first);
  pool.reset();
  EXPECT_EQ(FilePool::CapacityFor(0), first);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(FilePoolTest, FilesMayOutliveTheFileSystem) {
  auto own = std::make_unique<InMemoryFileSystem>();
  ASSERT_TRUE(own->CreateDirectory("/d").ok());
  const auto pool = std::make_shared<FilePool>(own.get(), kCapacity);
  std::vector<PooledFilePtr> files;
  for (int i = 0; i < 10; ++i) {
    WriteTo(own.get(), NameOf(i), i);
    files.push_back(*pool->Open(NameOf(i), FileSystem::ReadMode::kPositional));
  }
  EXPECT_TRUE(pool->Remove(NameOf(0)).ok());
  EXPECT_TRUE(own->FileExists(NameOf(0)));
  pool->Detach();
  EXPECT_FALSE(own->FileExists(NameOf(0)));
  EXPECT_TRUE(own->FileExists(NameOf(1)));
  own.reset();
  EXPECT_EQ(pool->open_files(), 0u);
  EXPECT_TRUE(absl::IsFailedPrecondition(ReadWhole(*files[9], 9)));
  EXPECT_TRUE(absl::IsFailedPrecondition(pool->Remove(NameOf(1))));
  EXPECT_FALSE(pool->Open(NameOf(1), FileSystem::ReadMode::kPositional).ok());
  files.clear();
}

TEST_F(FilePoolTest, ConcurrentReadersShareFewDescriptors) {
  constexpr int kFiles = 24;
  constexpr int kThreads = 4;
  std::vector<PooledFilePtr> files = WriteAndOpen(kFiles);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      uint32_t random = static_cast<uint32_t>(t + 1);
      for (int i = 0; i < 3000; ++i) {
        random = random * 1664525 + 1013904223;
        const int file = static_cast<int>(random >> 16) % kFiles;
        EXPECT_TRUE(ReadWhole(*files[static_cast<size_t>(file)], file).ok());
      }
    });
  }
  // Concurrently other files are opened and closed, and all files are removed one after another.
  threads.emplace_back([&] {
    for (int i = 0; i < kFiles; ++i) {
      EXPECT_TRUE(pool_->Remove(NameOf(i)).ok());
      WriteFile(100 + i % 20);
      const PooledFilePtr other = OpenFile(100 + i % 20);
      EXPECT_TRUE(ReadWhole(*other, 100 + i % 20).ok());
    }
  });
  std::thread watcher([&] {
    while (!done.load()) EXPECT_LE(pool_->open_files(), kCapacity + kThreads + 1);
  });
  for (std::thread& thread : threads) thread.join();
  done.store(true);
  watcher.join();
  files.clear();
  EXPECT_EQ(pool_->open_files(), 0u);
  for (int i = 0; i < kFiles; ++i) EXPECT_FALSE(Exists(i));
}

}  // namespace
}  // namespace bigtable
