#include "filesystem/faulty_file_system.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"

namespace bigtable {

bool FileCallFilter::Matches(FileCall kind, std::string_view path,
                             std::string_view other_path) const {
  if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) return false;
  return path.find(path_contains) != path.npos || other_path.find(path_contains) != path.npos;
}

template <typename Call>
auto FaultyFileSystem::Run(FileCall kind, std::string_view path, std::string_view other_path,
                           Call call) -> decltype(call()) {
  const Verdict verdict = Judge(kind, path, other_path);
  if (verdict.status.ok()) return call();
  if (verdict.done == Done::kAll) (void)call();
  return verdict.status;
}

template <typename Write>
absl::Status FaultyFileSystem::RunWrite(FileCall kind, std::string_view path, std::string_view data,
                                        Write write) {
  const Verdict verdict = Judge(kind, path);
  if (verdict.status.ok()) return write(data);
  if (verdict.done == Done::kHalf) data = data.substr(0, data.size() / 2);
  if (verdict.done != Done::kNothing) (void)write(data);
  return verdict.status;
}

class FaultyWritableFile final : public WritableFile {
 public:
  FaultyWritableFile(FaultyFileSystem* owner, std::string path, std::unique_ptr<WritableFile> base)
      : owner_(owner), path_(std::move(path)), base_(std::move(base)) {}

  absl::Status Append(std::string_view data) override {
    return Remember(owner_->RunWrite(FileCall::kAppend, path_, data, [&](std::string_view part) {
      return usable_.ok() ? base_->Append(part) : usable_;
    }));
  }
  absl::Status Sync() override {
    return Remember(owner_->Run(FileCall::kSync, path_, {},
                                [&] { return usable_.ok() ? base_->Sync() : usable_; }));
  }
  absl::Status Close() override {
    return owner_->Run(FileCall::kClose, path_, {}, [&] { return base_->Close(); });
  }

 private:
  const absl::Status& Remember(const absl::Status& status) {
    usable_.Update(status);  // keeps the first error
    return usable_;
  }

  FaultyFileSystem* const owner_;
  const std::string path_;
  const std::unique_ptr<WritableFile> base_;
  absl::Status usable_;
};

class FaultyRandomAccessFile final : public RandomAccessFile {
 public:
  FaultyRandomAccessFile(FaultyFileSystem* owner, std::string path,
                         std::unique_ptr<RandomAccessFile> base)
      : owner_(owner), path_(std::move(path)), base_(std::move(base)) {}

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    return owner_->Run(FileCall::kRead, path_, {}, [&] { return base_->Read(offset, n, buffer); });
  }
  uint64_t size() const override { return base_->size(); }
  uint64_t identity() const override { return base_->identity(); }
  const char* mapping() const override { return base_->mapping(); }
  absl::Status Populate(uint64_t offset, size_t n) const override {
    return owner_->Run(FileCall::kPopulate, path_, {}, [&] { return base_->Populate(offset, n); });
  }
  bool ReadsByPosition() const override { return base_->ReadsByPosition(); }
  void WillNeed(uint64_t offset, size_t n) const override { base_->WillNeed(offset, n); }
  bool IsResident(uint64_t offset, size_t n) const override { return base_->IsResident(offset, n); }

 private:
  FaultyFileSystem* const owner_;
  const std::string path_;
  const std::unique_ptr<RandomAccessFile> base_;
};

class FaultyLogFile final : public LogFile {
 public:
  FaultyLogFile(FaultyFileSystem* owner, std::string path, std::unique_ptr<LogFile> base)
      : owner_(owner), path_(std::move(path)), base_(std::move(base)) {
    MutexLock lock(&owner_->mutex_);
    owner_->log_files_.insert(this);
  }
  ~FaultyLogFile() override {
    MutexLock lock(&owner_->mutex_);
    owner_->log_files_.erase(this);
  }

  // Under the owner's lock.
  void Renamed(std::string_view from, std::string_view to) {
    if (path_ == from) path_ = to;
  }

  uint64_t size() const override { return base_->size(); }
  char* mapping() override {
    return owner_->options_.hide_log_mappings ? nullptr : base_->mapping();
  }
  absl::Status Write(uint64_t offset, std::string_view data) override {
    return owner_->RunWrite(FileCall::kLogWrite, path(), data,
                            [&](std::string_view part) { return base_->Write(offset, part); });
  }
  absl::Status Sync() override {
    const absl::Status status = owner_->Run(FileCall::kLogSync, path(), {}, [&] {
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
  std::string path() const {
    MutexLock lock(&owner_->mutex_);
    return path_;
  }

  FaultyFileSystem* const owner_;
  std::string path_;
  const std::unique_ptr<LogFile> base_;
  Mutex mutex_;
  absl::Status usable_ ABSL_GUARDED_BY(mutex_);
};

FaultyFileSystem::FaultyFileSystem(FileSystem* base) : FaultyFileSystem(base, Options()) {}
FaultyFileSystem::FaultyFileSystem(FileSystem* base, Options options)
    : base_(base), options_(options) {}
FaultyFileSystem::FaultyFileSystem(FaultyFileSystem* root, std::unique_ptr<FileSystem> base)
    : held_(std::move(base)), base_(held_.get()), root_(root), options_(root->options_) {}

void FaultyFileSystem::CountCalls(FileCallFilter filter) {
  MutexLock lock(&mutex_);
  counted_ = std::move(filter);
  calls_ = 0;
  faults_.clear();
}

uint64_t FaultyFileSystem::calls() const {
  MutexLock lock(&mutex_);
  return calls_;
}

void FaultyFileSystem::FailCall(uint64_t n, absl::Status status, Repeat repeat, Done done) {
  MutexLock lock(&mutex_);
  faults_.push_back(
      {.call = n, .repeat = repeat, .filter = {}, .status = std::move(status), .done = done});
}

void FaultyFileSystem::FailCalls(FileCallFilter filter, absl::Status status, Done done) {
  MutexLock lock(&mutex_);
  faults_.push_back({.filter = std::move(filter), .status = std::move(status), .done = done});
}

void FaultyFileSystem::ClearFaults() {
  MutexLock lock(&mutex_);
  faults_.clear();
}

uint64_t FaultyFileSystem::faults() const {
  MutexLock lock(&mutex_);
  return failed_;
}

void FaultyFileSystem::StallCalls(FileCallFilter filter) {
  MutexLock lock(&mutex_);
  stalls_.push_back({.filter = std::move(filter), .one_file = false, .file = {}});
}

void FaultyFileSystem::StallOneFile(FileCallFilter filter) {
  MutexLock lock(&mutex_);
  stalls_.push_back({.filter = std::move(filter), .one_file = true, .file = {}});
}

void FaultyFileSystem::ReleaseCalls() {
  MutexLock lock(&mutex_);
  stalls_.clear();
  stall_changed_.SignalAll();
}

void FaultyFileSystem::ReleaseCalls(std::string_view path) {
  MutexLock lock(&mutex_);
  std::erase_if(stalls_, [&](const Stall& stall) {
    return stall.one_file ? stall.file == path : path.find(stall.filter.path_contains) != path.npos;
  });
  stall_changed_.SignalAll();
}

const FaultyFileSystem::Stall* FaultyFileSystem::FindStall(FileCall kind, std::string_view path,
                                                           std::string_view other_path) {
  for (Stall& stall : stalls_) {
    if (!stall.filter.Matches(kind, path, other_path)) continue;
    if (stall.one_file && stall.file.empty()) stall.file = path;
    if (!stall.one_file || stall.file == path) return &stall;
  }
  return nullptr;
}

int FaultyFileSystem::stalled() const {
  MutexLock lock(&mutex_);
  return stalled_;
}

bool FaultyFileSystem::WaitUntilStalled(int n, absl::Duration timeout) const {
  const SteadyTime end = SteadyTime::Now() + timeout;
  MutexLock lock(&mutex_);
  while (stalled_ < n) {
    const absl::Duration left = end - SteadyTime::Now();
    if (left <= absl::ZeroDuration()) return false;
    stall_changed_.WaitFor(&mutex_, left);
  }
  return true;
}

void FaultyFileSystem::DelayCalls(FileCallFilter filter, absl::Duration delay) {
  MutexLock lock(&mutex_);
  delay_ = Delay{std::move(filter), delay};
}

FaultyFileSystem::Verdict FaultyFileSystem::Judge(FileCall kind, std::string_view path,
                                                  std::string_view other_path) {
  absl::Duration sleep = absl::ZeroDuration();
  {
    MutexLock lock(&mutex_);
    if (delay_ && delay_->filter.Matches(kind, path, other_path)) sleep = delay_->duration;
  }
  if (sleep > absl::ZeroDuration()) std::this_thread::sleep_for(absl::ToChronoNanoseconds(sleep));

  MutexLock lock(&mutex_);
  if (FindStall(kind, path, other_path) != nullptr) {
    ++stalled_;
    stall_changed_.SignalAll();
    while (FindStall(kind, path, other_path) != nullptr) stall_changed_.Wait(&mutex_);
    --stalled_;
  }

  const bool counted = counted_.Matches(kind, path, other_path);
  if (counted) ++calls_;
  for (const Fault& fault : faults_) {
    const bool hit = fault.call == 0                 ? fault.filter.Matches(kind, path, other_path)
                     : fault.repeat == Repeat::kOnce ? counted && calls_ == fault.call
                                                     : counted && calls_ >= fault.call;
    if (!hit) continue;
    ++failed_;
    return {absl::Status(fault.status.code(), ToAbsl(Cat(path, ": ", fault.status.message()))),
            fault.done};
  }
  return {};
}

absl::StatusOr<std::unique_ptr<FileSystem>> FaultyFileSystem::HoldDirectory(std::string_view path) {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<FileSystem> held, base_->HoldDirectory(path));
  if (held == nullptr) return held;
  return std::unique_ptr<FileSystem>(new FaultyFileSystem(root_, std::move(held)));
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultyFileSystem::NewWritableFile(
    std::string_view path) {
  BT_ASSIGN_OR_RETURN(auto file, root_->Run(FileCall::kNewWritableFile, path, {},
                                            [&] { return base_->NewWritableFile(path); }));
  return std::make_unique<FaultyWritableFile>(root_, std::string(path), std::move(file));
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> FaultyFileSystem::NewRandomAccessFile(
    std::string_view path, ReadMode mode) {
  if (options_.hide_file_mappings) mode = ReadMode::kPositional;
  BT_ASSIGN_OR_RETURN(auto file, root_->Run(FileCall::kNewRandomAccessFile, path, {}, [&] {
    return base_->NewRandomAccessFile(path, mode);
  }));
  return std::make_unique<FaultyRandomAccessFile>(root_, std::string(path), std::move(file));
}

absl::StatusOr<std::unique_ptr<LogFile>> FaultyFileSystem::NewLogFile(std::string_view path,
                                                                      uint64_t size) {
  BT_ASSIGN_OR_RETURN(auto file, root_->Run(FileCall::kNewLogFile, path, {},
                                            [&] { return base_->NewLogFile(path, size); }));
  return std::make_unique<FaultyLogFile>(root_, std::string(path), std::move(file));
}

absl::StatusOr<std::string> FaultyFileSystem::ReadFile(std::string_view path) {
  return root_->Run(FileCall::kReadFile, path, {}, [&] { return base_->ReadFile(path); });
}

absl::StatusOr<uint64_t> FaultyFileSystem::FileSize(std::string_view path) {
  return root_->Run(FileCall::kFileSize, path, {}, [&] { return base_->FileSize(path); });
}

bool FaultyFileSystem::FileExists(std::string_view path) { return base_->FileExists(path); }

absl::StatusOr<std::vector<std::string>> FaultyFileSystem::ListDirectory(std::string_view path) {
  return root_->Run(FileCall::kListDirectory, path, {}, [&] { return base_->ListDirectory(path); });
}

absl::Status FaultyFileSystem::CreateDirectory(std::string_view path) {
  return root_->Run(FileCall::kCreateDirectory, path, {},
                    [&] { return base_->CreateDirectory(path); });
}

absl::Status FaultyFileSystem::RemoveDirectory(std::string_view path) {
  return root_->Run(FileCall::kRemoveDirectory, path, {},
                    [&] { return base_->RemoveDirectory(path); });
}

absl::Status FaultyFileSystem::RemoveFile(std::string_view path) {
  return root_->Run(FileCall::kRemoveFile, path, {}, [&] { return base_->RemoveFile(path); });
}

absl::Status FaultyFileSystem::RenameFile(std::string_view from, std::string_view to) {
  return root_->Run(FileCall::kRenameFile, from, to, [&] {
    absl::Status status = base_->RenameFile(from, to);
    MutexLock lock(&root_->mutex_);
    if (status.ok()) {
      for (FaultyLogFile* file : root_->log_files_) file->Renamed(from, to);
    }
    return status;
  });
}

absl::Status FaultyFileSystem::SyncFile(std::string_view path) {
  return root_->Run(FileCall::kSyncFile, path, {}, [&] { return base_->SyncFile(path); });
}

absl::Status FaultyFileSystem::SyncDirectory(std::string_view path) {
  return root_->Run(FileCall::kSyncDirectory, path, {}, [&] { return base_->SyncDirectory(path); });
}

absl::StatusOr<std::unique_ptr<FileLock>> FaultyFileSystem::LockFile(std::string_view path,
                                                                     LockMode mode) {
  return root_->Run(FileCall::kLockFile, path, {}, [&] { return base_->LockFile(path, mode); });
}

}  // namespace bigtable
