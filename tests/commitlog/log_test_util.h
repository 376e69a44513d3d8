// Helpers for tests of the commit log.
#ifndef BIGTABLE_TESTS_COMMITLOG_LOG_TEST_UTIL_H_
#define BIGTABLE_TESTS_COMMITLOG_LOG_TEST_UTIL_H_

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/file_system.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "commitlog/commit_log.h"
#include "recovery/log_replay.h"
#include "support/expect_status.h"
#include "support/read_mode.h"

namespace bigtable {

inline constexpr uint64_t kSmallSegment = 16384;

inline std::unique_ptr<CommitLog> NewLog(FileSystem* fs, uint64_t segment_size = kSmallSegment,
                                         std::string directory = "log") {
  CommitLogOptions options;
  options.segment_size = segment_size;
  auto log = CommitLog::Create(fs, std::move(directory), options);
  EXPECT_EQ(log.status(), absl::OkStatus());
  return log.ok() ? *std::move(log) : nullptr;
}

inline absl::Status Add(CommitLog* log, SequenceNumber sequence, std::string_view payload,
                        AppendedRecord* out = nullptr) {
  const absl::Status status = log->Append(RecordType::kMutation, sequence, {&payload, 1}, out);
  return status.ok() ? log->Flush() : status;
}

// A payload that identifies its record.
inline std::string Payload(SequenceNumber sequence, size_t size) {
  std::string out;
  while (out.size() < size) out += Cat("<", sequence, ">");
  out.resize(size);
  return out;
}

// A Sync on a thread of its own, which waits while `fs` stalls it.
class StallingSync {
 public:
  // Waits until one more call is stalled than before.
  StallingSync(CommitLog* log, FaultyFileSystem* fs) : fs_(fs) {
    const int before = fs->stalled();
    thread_ = std::thread([this, log] { status_ = log->Sync(); });
    EXPECT_TRUE(fs->WaitUntilStalled(before + 1));
  }
  ~StallingSync() {
    if (!thread_.joinable()) return;
    fs_->ReleaseCalls();
    thread_.join();
  }
  // Returns the result, after the call was released.
  absl::Status Wait() {
    thread_.join();
    return status_;
  }

 private:
  FaultyFileSystem* const fs_;
  absl::Status status_;
  std::thread thread_;
};

struct Replayed {
  absl::Status status;
  LogEnd end;
  std::vector<SequenceNumber> sequences;
  std::vector<std::string> payloads;
};

// ReplayOptions with another default for the read mode.
struct TestReplayOptions {
  SequenceNumber must_reach = 0;
  bool must_exist = true;
  FileSystem::ReadMode read_mode = TestReadMode();

  operator ReplayOptions() const {  // NOLINT(google-explicit-constructor)
    return {.must_reach = must_reach, .must_exist = must_exist, .read_mode = read_mode};
  }
};

inline Replayed ReplayAll(FileSystem* fs, const TestReplayOptions& options = {},
                          std::string_view directory = "log") {
  Replayed out;
  auto end = ReplayLog(fs, directory, options,
                       [&](RecordType, SequenceNumber sequence, std::string_view payload) {
                         out.sequences.push_back(sequence);
                         out.payloads.emplace_back(payload);
                         return absl::OkStatus();
                       });
  out.status = end.status();
  if (end.ok()) out.end = *end;
  return out;
}

// first, first + 1, ..., last.
inline std::vector<SequenceNumber> Range(SequenceNumber first, SequenceNumber last) {
  std::vector<SequenceNumber> out;
  for (; first <= last; ++first) out.push_back(first);
  return out;
}

inline std::string SegmentPath(uint64_t number) { return Cat("log/", SegmentName(number)); }

// The numbers of the segment files.
inline std::vector<uint64_t> SegmentNumbers(FileSystem* fs) {
  std::vector<uint64_t> out;
  auto names = fs->ListDirectory("log");
  if (!names.ok()) return out;
  for (const std::string& name : *names) {
    if (auto number = ParseSegmentName(name)) out.push_back(*number);
  }
  return out;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_COMMITLOG_LOG_TEST_UTIL_H_
