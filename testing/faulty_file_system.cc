#include "bigtable/testing/faulty_file_system.h"

#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "testing/fault_plan.h"

namespace bigtable {
namespace {

class FaultyWritableFile final : public WritableFile {
 public:
  FaultyWritableFile(std::shared_ptr<FaultPlan> plan, std::string path,
                     std::unique_ptr<WritableFile> base)
      : plan_(std::move(plan)), path_(std::move(path)), base_(std::move(base)) {}

  absl::Status Append(std::string_view data) override {
    return Remember(plan_->RunWrite(FileCall::kAppend, path_, data, [&](std::string_view part) {
      return usable_.ok() ? base_->Append(part) : usable_;
    }));
  }
  absl::Status Sync() override {
    return Remember(plan_->Run(FileCall::kSync, path_, {},
                               [&] { return usable_.ok() ? base_->Sync() : usable_; }));
  }
  absl::Status Close() override {
    return plan_->Run(FileCall::kClose, path_, {}, [&] { return base_->Close(); });
  }

 private:
  const absl::Status& Remember(const absl::Status& status) {
    usable_.Update(status);  // keeps the first error
    return usable_;
  }

  const std::shared_ptr<FaultPlan> plan_;
  const std::string path_;
  const std::unique_ptr<WritableFile> base_;
  absl::Status usable_;
};

class FaultyRandomAccessFile final : public RandomAccessFile {
 public:
  FaultyRandomAccessFile(std::shared_ptr<FaultPlan> plan, std::string path,
                         std::unique_ptr<RandomAccessFile> base)
      : plan_(std::move(plan)), path_(std::move(path)), base_(std::move(base)) {}

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    return plan_->Run(FileCall::kRead, path_, {}, [&] { return base_->Read(offset, n, buffer); });
  }
  uint64_t size() const override { return base_->size(); }
  uint64_t identity() const override { return base_->identity(); }
  const char* mapping() const override { return base_->mapping(); }
  absl::Status Populate(uint64_t offset, size_t n) const override {
    return plan_->Run(FileCall::kPopulate, path_, {}, [&] { return base_->Populate(offset, n); });
  }
  bool ReadsByPosition() const override { return base_->ReadsByPosition(); }
  absl::Status ReadUncached(uint64_t offset, size_t n, char* buffer) const override {
    return plan_->Run(FileCall::kRead, path_, {},
                      [&] { return base_->ReadUncached(offset, n, buffer); });
  }
  bool ReadsUncached() const override { return base_->ReadsUncached(); }
  // A fault is known when the read is begun, and seen when it is waited for.
  bool BeginRead(ReadQueue* queue, ReadQueue::Read* read) const override {
    const absl::Status status =
        plan_->Run(FileCall::kRead, path_, {}, [] { return absl::OkStatus(); });
    if (status.ok()) return base_->BeginRead(queue, read);
    read->status = status;
    read->is_done = true;
    return true;
  }
  void WillNeed(uint64_t offset, size_t n) const override { base_->WillNeed(offset, n); }
  bool IsResident(uint64_t offset, size_t n) const override { return base_->IsResident(offset, n); }

 private:
  const std::shared_ptr<FaultPlan> plan_;
  const std::string path_;
  const std::unique_ptr<RandomAccessFile> base_;
};

class FaultyLogFile final : public LogFile {
 public:
  FaultyLogFile(std::shared_ptr<FaultPlan> plan, std::string path, std::unique_ptr<LogFile> base,
                bool hide_mapping)
      : plan_(std::move(plan)),
        path_(std::move(path)),
        base_(std::move(base)),
        hide_mapping_(hide_mapping) {
    plan_->AddLogFile(&path_);
  }
  ~FaultyLogFile() override { plan_->RemoveLogFile(&path_); }

  uint64_t size() const override { return base_->size(); }
  char* mapping() override { return hide_mapping_ ? nullptr : base_->mapping(); }
  absl::Status Write(uint64_t offset, std::string_view data) override {
    return plan_->RunWrite(FileCall::kLogWrite, path(), data,
                           [&](std::string_view part) { return base_->Write(offset, part); });
  }
  absl::Status Sync() override {
    const absl::Status status = plan_->Run(FileCall::kLogSync, path(), {}, [&] {
      {
        MutexLock lock(&mutex_);
        BT_RETURN_IF_ERROR(usable_);
      }
      return base_->Sync();
    });
    MutexLock lock(&mutex_);
    usable_.Update(status);
    return usable_;
  }

 private:
  std::string path() const { return plan_->PathOf(path_); }

  const std::shared_ptr<FaultPlan> plan_;
  std::string path_;  // the plan changes it
  const std::unique_ptr<LogFile> base_;
  const bool hide_mapping_;
  Mutex mutex_;
  absl::Status usable_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

FaultyFileSystem::FaultyFileSystem(FileSystem* base) : FaultyFileSystem(base, Options()) {}
FaultyFileSystem::FaultyFileSystem(FileSystem* base, Options options)
    : base_(base), options_(options), plan_(std::make_shared<FaultPlan>()) {}
FaultyFileSystem::FaultyFileSystem(std::unique_ptr<FileSystem> held, const FaultyFileSystem& root)
    : held_(std::move(held)), base_(held_.get()), options_(root.options_), plan_(root.plan_) {}
FaultyFileSystem::~FaultyFileSystem() = default;

void FaultyFileSystem::CountCalls(FileCallFilter filter) { plan_->CountCalls(std::move(filter)); }
uint64_t FaultyFileSystem::calls() const { return plan_->calls(); }
void FaultyFileSystem::FailCall(uint64_t n, absl::Status status, Repeat repeat, Done done) {
  plan_->FailCall(n, std::move(status), repeat, done);
}
void FaultyFileSystem::FailCalls(FileCallFilter filter, absl::Status status, Done done) {
  plan_->FailCalls(std::move(filter), std::move(status), done);
}
void FaultyFileSystem::ClearFaults() { plan_->ClearFaults(); }
uint64_t FaultyFileSystem::faults() const { return plan_->faults(); }
void FaultyFileSystem::StallCalls(FileCallFilter filter, uint64_t first) {
  plan_->Stall(std::move(filter), false, first);
}
void FaultyFileSystem::StallOneFile(FileCallFilter filter) {
  plan_->Stall(std::move(filter), true, 1);
}
void FaultyFileSystem::ReleaseCalls() { plan_->ReleaseCalls(); }
void FaultyFileSystem::ReleaseCalls(std::string_view path) { plan_->ReleaseCalls(path); }
void FaultyFileSystem::ReleaseCalls(std::thread::id thread) { plan_->ReleaseCalls(thread); }
int FaultyFileSystem::stalled() const { return plan_->stalled(); }

bool FaultyFileSystem::IsStalled(std::thread::id thread) const { return plan_->IsStalled(thread); }
bool FaultyFileSystem::WaitUntilStalled(int n, absl::Duration timeout) const {
  return plan_->WaitUntilStalled(n, timeout);
}
void FaultyFileSystem::DelayCalls(FileCallFilter filter, absl::Duration delay) {
  plan_->DelayCalls(std::move(filter), delay);
}

absl::StatusOr<std::unique_ptr<FileSystem>> FaultyFileSystem::HoldDirectory(std::string_view path) {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<FileSystem> held, base_->HoldDirectory(path));
  if (held == nullptr) return held;
  return std::unique_ptr<FileSystem>(new FaultyFileSystem(std::move(held), *this));
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultyFileSystem::NewWritableFile(
    std::string_view path) {
  BT_ASSIGN_OR_RETURN(auto file, plan_->Run(FileCall::kNewWritableFile, path, {},
                                            [&] { return base_->NewWritableFile(path); }));
  return std::make_unique<FaultyWritableFile>(plan_, std::string(path), std::move(file));
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> FaultyFileSystem::NewRandomAccessFile(
    std::string_view path, ReadMode mode) {
  if (options_.hide_file_mappings) mode = ReadMode::kPositional;
  BT_ASSIGN_OR_RETURN(auto file, plan_->Run(FileCall::kNewRandomAccessFile, path, {}, [&] {
    return base_->NewRandomAccessFile(path, mode);
  }));
  return std::make_unique<FaultyRandomAccessFile>(plan_, std::string(path), std::move(file));
}

absl::StatusOr<std::unique_ptr<LogFile>> FaultyFileSystem::NewLogFile(std::string_view path,
                                                                      uint64_t size) {
  BT_ASSIGN_OR_RETURN(auto file, plan_->Run(FileCall::kNewLogFile, path, {},
                                            [&] { return base_->NewLogFile(path, size); }));
  return std::make_unique<FaultyLogFile>(plan_, std::string(path), std::move(file),
                                         options_.hide_log_mappings);
}

std::unique_ptr<ReadQueue> FaultyFileSystem::NewReadQueue() { return base_->NewReadQueue(); }

absl::StatusOr<std::string> FaultyFileSystem::ReadFile(std::string_view path) {
  return plan_->Run(FileCall::kReadFile, path, {}, [&] { return base_->ReadFile(path); });
}

absl::StatusOr<uint64_t> FaultyFileSystem::FileSize(std::string_view path) {
  return plan_->Run(FileCall::kFileSize, path, {}, [&] { return base_->FileSize(path); });
}

bool FaultyFileSystem::FileExists(std::string_view path) { return base_->FileExists(path); }

absl::StatusOr<std::vector<std::string>> FaultyFileSystem::ListDirectory(std::string_view path) {
  return plan_->Run(FileCall::kListDirectory, path, {}, [&] { return base_->ListDirectory(path); });
}

absl::Status FaultyFileSystem::CreateDirectory(std::string_view path) {
  return plan_->Run(FileCall::kCreateDirectory, path, {},
                    [&] { return base_->CreateDirectory(path); });
}

absl::Status FaultyFileSystem::RemoveDirectory(std::string_view path) {
  return plan_->Run(FileCall::kRemoveDirectory, path, {},
                    [&] { return base_->RemoveDirectory(path); });
}

absl::Status FaultyFileSystem::RemoveFile(std::string_view path) {
  return plan_->Run(FileCall::kRemoveFile, path, {}, [&] { return base_->RemoveFile(path); });
}

absl::Status FaultyFileSystem::RenameFile(std::string_view from, std::string_view to) {
  return plan_->Run(FileCall::kRenameFile, from, to, [&] {
    absl::Status status = base_->RenameFile(from, to);
    if (status.ok()) plan_->Renamed(from, to);
    return status;
  });
}

absl::Status FaultyFileSystem::LinkFile(std::string_view from, std::string_view to) {
  return plan_->Run(FileCall::kLinkFile, from, to, [&] { return base_->LinkFile(from, to); });
}

absl::Status FaultyFileSystem::SyncFile(std::string_view path) {
  return plan_->Run(FileCall::kSyncFile, path, {}, [&] { return base_->SyncFile(path); });
}

absl::Status FaultyFileSystem::SyncDirectory(std::string_view path) {
  return plan_->Run(FileCall::kSyncDirectory, path, {}, [&] { return base_->SyncDirectory(path); });
}

absl::StatusOr<std::unique_ptr<FileLock>> FaultyFileSystem::LockFile(std::string_view path,
                                                                     LockMode mode) {
  return plan_->Run(FileCall::kLockFile, path, {}, [&] { return base_->LockFile(path, mode); });
}

}  // namespace bigtable
