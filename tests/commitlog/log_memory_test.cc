// The commit log when there is no memory.
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "bigtable/file_system_wrapper.h"

#include "base/status.h"
#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

using testing::HasSubstr;

// Its log files are not mapped, and for the memory of one there is never enough if `is_full`.
class FullMemory final : public FileSystemWrapper {
 public:
  explicit FullMemory(FileSystem* base) : FileSystemWrapper(base) {}

  absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                      uint64_t size) override {
    BT_ASSIGN_OR_RETURN(auto file, FileSystemWrapper::NewLogFile(path, size));
    return std::make_unique<LargeFile>(this, std::move(file));
  }

  std::atomic<bool> is_full{false};

 private:
  class LargeFile final : public LogFile {
   public:
    LargeFile(const FullMemory* memory, std::unique_ptr<LogFile> base)
        : memory_(memory), base_(std::move(base)) {}
    uint64_t size() const override { return memory_->is_full ? UINT64_MAX : base_->size(); }
    char* mapping() override { return nullptr; }
    absl::Status Write(uint64_t offset, std::string_view data) override {
      return base_->Write(offset, data);
    }
    absl::Status Sync() override { return base_->Sync(); }

   private:
    const FullMemory* const memory_;
    const std::unique_ptr<LogFile> base_;
  };
};

class LogMemoryTest : public testing::Test {
 protected:
  InMemoryFileSystem disk_;
  FaultyFileSystem faulty_{&disk_};
  FullMemory fs_{&faulty_};
  std::unique_ptr<CommitLog> log_ = NewLog(&fs_);
};

TEST_F(LogMemoryTest, ARecordForWhoseSegmentThereIsNoMemoryIsRefusedAlone) {
  SequenceNumber last = 0;
  while (last < 4) {
    ++last;
    ASSERT_OK(Add(log_.get(), last, Payload(last, 3000)));
  }
  ASSERT_OK(log_->PrepareSpare());
  fs_.is_full = true;
  const absl::Status refused = Add(log_.get(), last + 1, Payload(last + 1, 9000));
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.ToString(), HasSubstr("no memory for a log segment"));
  EXPECT_FALSE(log_->failed());
  // A smaller one has room, behind what is there, and the log continues once there is memory.
  ++last;
  ASSERT_OK(Add(log_.get(), last, Payload(last, 1000)));
  fs_.is_full = false;
  ++last;
  ASSERT_OK(Add(log_.get(), last, Payload(last, 9000)));
  ASSERT_OK(log_->Sync());
  const Replayed read = ReplayAll(disk_.CrashClone(1).get());
  ASSERT_OK(read.status);
  EXPECT_EQ(read.sequences, Range(1, last));
}

TEST_F(LogMemoryTest, ASwitchWithoutMemoryWaitsForTheSlowFile) {
  ASSERT_OK(Add(log_.get(), 1, "x"));
  ASSERT_OK(log_->PrepareSpare());
  faulty_.StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = SegmentName(1)});
  StallingSync sync(log_.get(), &faulty_);
  fs_.is_full = true;
  std::thread switcher([&] { EXPECT_OK(log_->SwitchFile()); });
  faulty_.ReleaseCalls();
  switcher.join();
  EXPECT_OK(sync.Wait());
  EXPECT_EQ(log_->statistics().switches, 0u);
  fs_.is_full = false;
  ASSERT_OK(Add(log_.get(), 2, "y"));
  ASSERT_OK(log_->Sync());
  EXPECT_EQ(ReplayAll(disk_.CrashClone(1).get()).sequences, Range(1, 2));
}

TEST_F(LogMemoryTest, AFailedLogStaysFailedUntilThereIsMemoryForANewSegment) {
  ASSERT_OK(Add(log_.get(), 1, "x"));
  log_->Fail(absl::UnavailableError("injected"));
  log_->ReleaseThrough(1);
  fs_.is_full = true;
  EXPECT_EQ(log_->StartNewSegment().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(log_->failed());
  fs_.is_full = false;
  ASSERT_OK(log_->StartNewSegment());
  ASSERT_OK(Add(log_.get(), 2, "y"));
  ASSERT_OK(log_->Sync());
  EXPECT_EQ(ReplayAll(disk_.CrashClone(1).get()).sequences, Range(2, 2));
}

}  // namespace
}  // namespace bigtable
