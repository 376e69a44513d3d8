#include "recording/recording_file.h"

#include <utility>

#include "absl/base/macros.h"
#include "absl/memory/memory.h"
#include "absl/random/random.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

// Two of them bound how far the thread may be behind. On a machine whose processors are all busy,
// it may have to wait for some hundredths of a second before it runs, in which programs make
// 100,000 calls.
constexpr size_t kBlock = size_t{4} << 20;
constexpr uint64_t kLeastFile = uint64_t{1} << 20;
// For the last block: its header, the calls that were lost, and the end.
constexpr uint64_t kEndBytes = 64;
// A program that makes few calls finds them in the file after this time.
constexpr absl::Duration kMostDelay = absl::Seconds(1);

std::string BeginBlock(RecordedKeys keys) {
  std::string block(kRecordingBlockHeader, '\0');
  block.push_back(static_cast<char>(RecordKind::kBegin));
  AppendVarint64(&block, kRecordingVersion);
  block.push_back(static_cast<char>(keys));
  AppendFixed64(&block, static_cast<uint64_t>(absl::ToUnixMicros(absl::Now())));
  return block;
}

}  // namespace

RecordingFile::RecordingFile(std::unique_ptr<WritableFile> file, const RecordingOptions& options,
                             uint64_t secret)
    : file_(std::move(file)), most_bytes_(options.most_bytes), mask_(options.keys, secret) {}

absl::StatusOr<std::unique_ptr<RecordingFile>> RecordingFile::Create(
    std::string_view path, const RecordingOptions& options) {
  if (options.most_bytes < kLeastFile) {
    return absl::InvalidArgumentError(Cat("RecordingOptions::most_bytes must be at least ",
                                          kLeastFile, ", and is ", options.most_bytes));
  }
  FileSystem* const file_system =
      options.file_system != nullptr ? options.file_system : FileSystem::Posix();
  if (file_system->FileExists(path)) {
    return absl::AlreadyExistsError(Cat(path, ": a recording is written to a new file"));
  }
  BT_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, file_system->NewWritableFile(path));
  auto created = absl::WrapUnique(
      new RecordingFile(std::move(file), options, absl::Uniform<uint64_t>(absl::BitGen())));
  if (absl::Status begun = created->Begin(options.keys); !begun.ok()) {
    file_system->RemoveFile(path).IgnoreError();
    return begun;
  }
  return created;
}

absl::Status RecordingFile::Begin(RecordedKeys keys) {
  std::string block = BeginBlock(keys);
  BT_RETURN_IF_ERROR(WriteBlock(&block));
  {
    MutexLock lock(&mutex_);
    passed_bytes_ = written_;
  }
  MutexLock lock(&finish_mutex_);
  BT_ASSIGN_OR_RETURN(thread_, StartThread([this] { WriteBlocks(); }));
  return absl::OkStatus();
}

bool RecordingFile::Claim() {
  if (is_forked()) return false;
  MutexLock lock(&mutex_);
  if (is_claimed_ || ends_) return false;
  is_claimed_ = true;
  return true;
}

void RecordingFile::Release() {
  MutexLock lock(&mutex_);
  is_claimed_ = false;
}

uint64_t RecordingFile::DefineTable(std::string_view name, const std::string& layout) {
  MutexLock lock(&mutex_);
  auto found = tables_.find(name);
  if (found == tables_.end()) {
    found = tables_.emplace(name, Table{.number = tables_.size() + 1, .layout = {}}).first;
  }
  Table& table = found->second;
  if (table.layout != layout && !ends_ && HasRoom(name.size() + layout.size() + kEndBytes)) {
    table.layout = layout;
    // It is not lost because the thread is behind: later calls name it. There are few of them.
    AppendRecordedTable(&filling_, table.number, name, layout);
  }
  return table.number;
}

void RecordingFile::Append(std::string_view call) {
  MutexLock lock(&mutex_);
  if (ends_) return;
  ++(Add(call) ? calls_ : lost_);
}

bool RecordingFile::HasRoom(size_t bytes) {
  is_full_ |= passed_bytes_ + filling_.size() + bytes + 2 * kEndBytes > most_bytes_;
  return !is_full_;
}

bool RecordingFile::Add(std::string_view record) {
  if (!status_.ok() || record.size() > kMostRecord || !HasRoom(record.size())) return false;
  if (filling_.size() > kRecordingBlockHeader && filling_.size() + record.size() > kBlock) {
    if (!ready_.empty()) return false;
    PassOn();
  }
  if (lost_ != reported_lost_) AddLost();
  filling_.append(record);
  return true;
}

void RecordingFile::AddLost() {
  filling_.push_back(static_cast<char>(RecordKind::kLost));
  AppendVarint64(&filling_, lost_ - reported_lost_);
  reported_lost_ = lost_;
}

void RecordingFile::PassOn() {
  ABSL_ASSERT(ready_.empty() && "a block is written before the next one is ready");
  passed_bytes_ += filling_.size();
  ready_.swap(filling_);
  filling_.assign(kRecordingBlockHeader, '\0');
  changed_.SignalAll();
}

void RecordingFile::WriteBlocks() {
  std::string block;
  MutexLock lock(&mutex_);
  for (;;) {
    while (ready_.empty() && !ends_) {
      const bool is_late = !changed_.WaitFor(&mutex_, kMostDelay);
      if (is_late && ready_.empty() && filling_.size() > kRecordingBlockHeader) PassOn();
    }
    if (ready_.empty()) return;
    block.swap(ready_);
    mutex_.Unlock();
    absl::Status written = WriteBlock(&block);
    mutex_.Lock();
    if (status_.ok()) status_ = std::move(written);
  }
}

absl::Status RecordingFile::WriteBlock(std::string* block) {
  FinishBlock(block, written_);
  const absl::Status written = file_->Append(*block);
  if (written.ok()) written_ += block->size();
  block->clear();
  return written;
}

absl::Status RecordingFile::WriteEnd() {
  std::string block;
  {
    MutexLock lock(&mutex_);
    BT_RETURN_IF_ERROR(status_);
    if (lost_ != reported_lost_) AddLost();
    filling_.push_back(static_cast<char>(RecordKind::kEnd));
    block.swap(filling_);
  }
  BT_RETURN_IF_ERROR(WriteBlock(&block));
  return file_->Sync();
}

absl::Status RecordingFile::Finish() {
  if (is_forked()) return absl::FailedPreconditionError("the recording is another process's");
  MutexLock finish(&finish_mutex_);
  if (thread_.joinable()) {
    {
      MutexLock lock(&mutex_);
      ends_ = true;
      changed_.SignalAll();
    }
    thread_.join();
    absl::Status ended = WriteEnd();
    const absl::Status closed = file_->Close();
    if (ended.ok()) ended = closed;
    MutexLock lock(&mutex_);
    if (status_.ok()) status_ = std::move(ended);
  }
  MutexLock lock(&mutex_);
  return status_;
}

RecordingCounts RecordingFile::Counts() const {
  MutexLock lock(&mutex_);
  return {.calls = calls_, .lost_calls = lost_, .bytes = passed_bytes_ + filling_.size()};
}

}  // namespace bigtable
