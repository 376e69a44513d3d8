// The commit log, on the machine's own file system, and the group commit.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"

#include "base/sequence.h"
#include "base/status.h"
#include "commit/group_commit.h"
#include "commitlog/commit_log.h"
#include "commitlog/log_format.h"
#include "common.h"
#include "common/strings.h"
#include "filesystem/posix_file_system.h"

namespace bigtable {
namespace {

// Below $TMPDIR or /tmp. The destructor removes it with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const char* const parent = std::getenv("TMPDIR");
    path_ = Cat(parent != nullptr ? parent : "/tmp", "/bigtable_bench.XXXXXX");
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }  // empty: it could not be created

 private:
  std::string path_;
};

// A log whose records are never needed, so that its segments are reused.
class RecyclingLog {
 public:
  explicit RecyclingLog(std::unique_ptr<CommitLog> log) : log_(std::move(log)) {}

  absl::Status Append(std::string_view payload, AppendedRecord* record) {
    BT_RETURN_IF_ERROR(log_->Append(RecordType::kMutation, ++sequence_, {&payload, 1}, record));
    return log_->NeedsFlush() ? log_->Flush() : absl::OkStatus();
  }
  bool NeedsUpkeep() const { return log_->NeedsUpkeep(); }
  absl::Status KeepUp() {
    log_->ReleaseThrough(sequence_);
    return log_->PrepareSpare();
  }
  // Runs until several segments in a row were used before.
  absl::Status WarmUp(std::string_view payload) {
    constexpr uint64_t kReused = 4;
    AppendedRecord record;
    while (log_->statistics().segments_reused < kReused) {
      BT_RETURN_IF_ERROR(Append(payload, &record));
      if (NeedsUpkeep()) BT_RETURN_IF_ERROR(KeepUp());
    }
    return absl::OkStatus();
  }

 private:
  const std::unique_ptr<CommitLog> log_;
  SequenceNumber sequence_ = 0;
};

// The preparation of segments, which the engine does in the background, is not timed.
void AppendToLog(benchmark::State& state, bool mapped) {
  const TemporaryDirectory directory;
  if (directory.path().empty()) {
    Failed(state, absl::UnavailableError("cannot create a directory in $TMPDIR or /tmp"));
    return;
  }
  PosixFileSystem file_system({.reserve_log_files = mapped});
  absl::StatusOr<std::unique_ptr<CommitLog>> created =
      CommitLog::Create(&file_system, Cat(directory.path(), "/log"), {});
  if (Failed(state, created.status())) return;
  RecyclingLog log(*std::move(created));
  const std::string_view payload = ValueOf(0, static_cast<size_t>(state.range(0)));
  if (Failed(state, log.WarmUp(payload))) return;

  AppendedRecord record;
  for (auto _ : state) {
    if (Failed(state, log.Append(payload, &record))) break;
    benchmark::DoNotOptimize(record.payload);
    if (log.NeedsUpkeep()) [[unlikely]] {
      state.PauseTiming();
      if (Failed(state, log.KeepUp())) break;
      state.ResumeTiming();
    }
  }
  if (mapped && record.payload.data() == nullptr) {
    Failed(state, absl::UnimplementedError("log files are not mapped on this file system"));
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// Appending a record of this size to reused mapped segments, without a sync.
void BM_LogAppendMapped(benchmark::State& state) { AppendToLog(state, /*mapped=*/true); }
BENCHMARK(BM_LogAppendMapped)->ArgName("bytes")->Arg(100)->Arg(1000);

// The same with write(), as on file systems that cannot reserve space.
void BM_LogAppendWrite(benchmark::State& state) { AppendToLog(state, /*mapped=*/false); }
BENCHMARK(BM_LogAppendWrite)->ArgName("bytes")->Arg(100)->Arg(1000);

// Passing a request through the queue when there is nothing to commit, alone and with another
// thread.
void BM_GroupCommit(benchmark::State& state) {
  static GroupCommit queue([](std::span<GroupCommit::Request* const> requests) {
    benchmark::DoNotOptimize(requests.front());
  });
  // Before the first and after the last thread is in the loop: all threads start and end together.
  const bool counts = state.thread_index() == 0;
  const uint64_t groups = counts ? queue.groups() : 0;
  const uint64_t requests = counts ? queue.requests() : 0;
  for (auto _ : state) {
    GroupCommit::Request request(kLargeValue);
    queue.Commit(&request);
  }
  if (counts) {
    state.counters["group"] = static_cast<double>(queue.requests() - requests) /
                              static_cast<double>(queue.groups() - groups);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_GroupCommit)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace bigtable
