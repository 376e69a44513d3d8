// Reads of files of the operating system that are under way together.
#include "filesystem/uring_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/file_system.h"

#include "base/fork_callback.h"
#include "filesystem/posix_file_system.h"
#include "support/random.h"
#include "temporary_directory.h"

namespace bigtable {
namespace {

class ReadQueueTest : public ::testing::Test {
 protected:
  static constexpr size_t kSize = (200 << 10) + 77;

  void SetUp() override {
    auto file = fs_.NewWritableFile(Path());
    ASSERT_TRUE(file.ok() && (*file)->Append(bytes_).ok() && (*file)->Sync().ok());
    file_ = *fs_.NewRandomAccessFile(Path(), FileSystem::ReadMode::kMapped);
    queue_ = fs_.NewReadQueue();
    if (queue_ == nullptr) GTEST_SKIP() << "there is no io_uring here";
    Pending probe(0, 1);
    if (!file_->BeginRead(queue_.get(), &probe.read)) {
      GTEST_SKIP() << "this file system has no reads past the system's memory";
    }
    queue_->Wait(&probe.read);
  }

  struct Pending {
    Pending(uint64_t offset, size_t n) : memory(ReadQueue::Read::MemoryFor(n), '#') {
      read.offset = offset;
      read.size = n;
      read.memory = memory.data();
    }
    std::string memory;
    ReadQueue::Read read;
  };

  std::string Path() const { return directory_.path() + "/f"; }
  void ExpectRead(const Pending& pending) const {
    ASSERT_TRUE(pending.read.is_done);
    ASSERT_TRUE(pending.read.status.ok()) << pending.read.status;
    const std::string_view got(pending.read.bytes, pending.read.size);
    ASSERT_TRUE(got == std::string_view(bytes_).substr(pending.read.offset, pending.read.size))
        << pending.read.size << " at " << pending.read.offset;
  }

  const std::string bytes_ = Random(3).Bytes(kSize);
  TemporaryDirectory directory_;
  PosixFileSystem fs_;
  std::unique_ptr<RandomAccessFile> file_;
  std::unique_ptr<ReadQueue> queue_;
};

TEST_F(ReadQueueTest, ReadsOfAnyPlaceAndSizeReturnTheBytesInAnyOrder) {
  Random random(1);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::unique_ptr<Pending>> reads;
    for (int64_t n = random.Between(1, 100); n > 0; --n) {
      const uint64_t offset =
          random.OneIn(4) ? random.Below(kSize / 512) * 512 : random.Below(kSize);
      const uint64_t most = random.OneIn(5) ? kSize : 9000;
      const uint64_t size = random.Between(1, std::min(kSize - offset, most));
      reads.push_back(std::make_unique<Pending>(offset, size));
      ASSERT_TRUE(file_->BeginRead(queue_.get(), &reads.back()->read));
      if (random.OneIn(10)) queue_->Submit();
    }
    while (!reads.empty()) {
      std::swap(reads.back(), reads[random.Below(reads.size())]);
      queue_->Wait(&reads.back()->read);
      ASSERT_NO_FATAL_FAILURE(ExpectRead(*reads.back()));
      reads.pop_back();
    }
  }
}

TEST_F(ReadQueueTest, EachWaitForAnyEndsWithOneThatIsDoneAtLeastUntilAllAre) {
  queue_->WaitForAny();  // there is none
  for (const int n : {1, 3, 100}) {
    std::vector<std::unique_ptr<Pending>> reads;
    for (int i = 0; i < n; ++i) {
      reads.push_back(std::make_unique<Pending>(static_cast<uint64_t>(i) * 1024, 700));
      ASSERT_TRUE(file_->BeginRead(queue_.get(), &reads.back()->read));
    }
    int waits = 0;
    while (!reads.empty()) {
      queue_->WaitForAny();
      ASSERT_LE(++waits, 2 * n);
      std::erase_if(reads, [this](const auto& pending) {
        if (pending->read.is_done) ExpectRead(*pending);
        return pending->read.is_done;
      });
    }
    queue_->WaitForAny();
  }
}

TEST_F(ReadQueueTest, AFullQueueTakesNoMoreUntilReadsAreDone) {
  std::vector<std::unique_ptr<Pending>> reads;
  while (reads.size() <= queue_->most()) {
    reads.push_back(std::make_unique<Pending>(reads.size() * 512, 100));
    if (!file_->BeginRead(queue_.get(), &reads.back()->read)) break;
  }
  EXPECT_EQ(reads.size(), queue_->most() + 1);
  reads.pop_back();
  for (const auto& pending : reads) {
    queue_->Wait(&pending->read);
    ASSERT_NO_FATAL_FAILURE(ExpectRead(*pending));
  }
  Pending more(kSize - 5, 5);
  ASSERT_TRUE(file_->BeginRead(queue_.get(), &more.read));
  queue_->Wait(&more.read);
  ExpectRead(more);
}

TEST_F(ReadQueueTest, TheFileMayBeClosedMeanwhile) {
  Pending pending(5000, 3000);
  ASSERT_TRUE(file_->BeginRead(queue_.get(), &pending.read));
  file_.reset();
  queue_->Wait(&pending.read);
  ExpectRead(pending);
}

TEST_F(ReadQueueTest, WhatTheFileDoesNotHaveIsNotRead) {
  Pending behind(kSize - 10, 11);
  EXPECT_FALSE(file_->BeginRead(queue_.get(), &behind.read));
  // It was cut short after it was opened.
  ASSERT_EQ(::truncate(Path().c_str(), 4096), 0);
  Pending cut(4000, 200);
  ASSERT_TRUE(file_->BeginRead(queue_.get(), &cut.read));
  queue_->Wait(&cut.read);
  EXPECT_FALSE(cut.read.status.ok());
}

TEST_F(ReadQueueTest, AFileOfAnotherKindIsNotReadSo) {
  const auto positional = *fs_.NewRandomAccessFile(Path(), FileSystem::ReadMode::kPositional);
  Pending pending(0, 100);
  EXPECT_FALSE(positional->BeginRead(queue_.get(), &pending.read));
  EXPECT_FALSE(file_->BeginRead(nullptr, &pending.read));
}

TEST_F(ReadQueueTest, ThreadsThatWantManyQueuesGetSomeOrNone) {
  std::vector<std::unique_ptr<ReadQueue>> queues;
  while (auto queue = fs_.NewReadQueue()) {
    queues.push_back(std::move(queue));
    ASSERT_LT(queues.size(), 1000u) << "each has a descriptor";
  }
  EXPECT_GT(queues.size(), 4u);
  queues.pop_back();
  EXPECT_NE(fs_.NewReadQueue(), nullptr);
}

// What a child reads is not the parent's, and the reverse.
TEST_F(ReadQueueTest, AChildHasQueuesOfItsOwn) {
  const ForkCallback counts_forks([] {});
  const auto reads = [this](int n) {
    const auto queue = fs_.NewReadQueue();
    std::vector<std::unique_ptr<Pending>> pending;
    for (int i = 0; i < n; ++i) {
      pending.push_back(std::make_unique<Pending>(static_cast<uint64_t>(i) * 512, 600));
      if (queue == nullptr || !file_->BeginRead(queue.get(), &pending.back()->read)) return false;
    }
    for (const auto& one : pending) {
      queue->Wait(&one->read);
      ExpectRead(*one);
    }
    return !HasFailure();
  };
  queue_.reset();  // there is one that is not in use
  for (const int n : {1, 2, 50}) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(60);
      ::_exit(reads(n) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << n << ": " << status;
    EXPECT_TRUE(reads(3));
  }
}

TEST_F(ReadQueueTest, ThreadsReadEachWithItsOwnQueueConcurrently) {
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      Random random(t);
      for (int round = 0; round < 50; ++round) {
        const auto queue = fs_.NewReadQueue();
        ASSERT_NE(queue, nullptr);
        std::vector<std::unique_ptr<Pending>> reads;
        for (int i = 0; i < 10; ++i) {
          reads.push_back(std::make_unique<Pending>(random.Below(kSize - 600), 600));
          ASSERT_TRUE(file_->BeginRead(queue.get(), &reads.back()->read));
        }
        for (const auto& pending : reads) {
          queue->Wait(&pending->read);
          ASSERT_NO_FATAL_FAILURE(ExpectRead(*pending));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace bigtable
