#include "filesystem/file_pool.h"

#include <algorithm>
#include <mutex>
#include <sys/resource.h>
#include <utility>

#include "base/fork_callback.h"
#include "base/limited_mutex.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

// The sum of the capacities of all pools of the process.
std::atomic<size_t> taken_by_pools{0};

absl::Status DetachedError(std::string_view path) {
  return absl::FailedPreconditionError(Cat(path, ": the database is closed"));
}

}  // namespace

// A file whose descriptor is opened and closed as needed.
//
// `state_` counts the threads that may be reading `file_`, and has kOpen set while it is open. A
// thread that has incremented it and found kOpen set may use file_ until it decrements it. kOpen is
// set, together with file_, only under the pool's mutex. It is cleared only under that mutex, and
// only while the count is zero; so file_ changes only while no thread uses it.
class PooledFile final : public RandomAccessFile {
 public:
  PooledFile(std::shared_ptr<FilePool> pool, std::string_view path)
      : pool_(std::move(pool)), path_(path) {}
  ~PooledFile() override { pool_->Forget(this); }

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    return ReadWithin(offset, n, buffer, nullptr);
  }
  absl::Status ReadWithin(uint64_t offset, size_t n, char* buffer, const CallLimits* limits) const {
    if ((state_.fetch_add(1, std::memory_order_acquire) & kOpen) == 0) [[unlikely]] {
      state_.fetch_sub(1, std::memory_order_relaxed);
      BT_RETURN_IF_ERROR(Reopen(limits));
    }
    // Checked first, so that readers do not contend for the cache line needlessly.
    if (!was_read_.load(std::memory_order_relaxed)) {
      was_read_.store(true, std::memory_order_relaxed);
    }
    absl::Status status = file_->Read(offset, n, buffer);
    state_.fetch_sub(1, std::memory_order_release);
    return status;
  }
  // Does not open the file: the read that follows does.
  void WillNeed(uint64_t offset, size_t n) const override {
    if ((state_.fetch_add(1, std::memory_order_acquire) & kOpen) != 0) file_->WillNeed(offset, n);
    state_.fetch_sub(1, std::memory_order_release);
  }
  uint64_t size() const override { return size_; }
  uint64_t identity() const override { return identity_; }

 private:
  friend class FilePool;
  static constexpr uint64_t kOpen = uint64_t{1} << 63;

  // Opens the file, unless another thread has opened it by now. After OK this thread is counted.
  absl::Status Reopen(const CallLimits* limits) const {
    const LimitedMutexLock lock(&reopen_mutex_, limits, "the read");
    BT_RETURN_IF_ERROR(lock.status());
    if ((state_.fetch_add(1, std::memory_order_acquire) & kOpen) != 0) return absl::OkStatus();
    state_.fetch_sub(1, std::memory_order_relaxed);
    absl::StatusOr<std::unique_ptr<RandomAccessFile>> file =
        pool_->OpenNow(path_, FileSystem::ReadMode::kPositional);
    if (absl::IsNotFound(file.status())) {
      return absl::DataLossError(Cat(ToStd(file.status().message()),
                                     ": the file was removed while the database was open"));
    }
    BT_RETURN_IF_ERROR(file.status());
    if ((*file)->size() != size_ || (*file)->identity() != identity_) {
      file->reset();
      pool_->EndOpening();
      return absl::DataLossError(
          Cat(path_, ": another file has taken its place while the database was open"));
    }
    pool_->reopened_.fetch_add(1, std::memory_order_relaxed);
    pool_->EndOpening(const_cast<PooledFile*>(this), *std::move(file));
    return absl::OkStatus();
  }

  const std::shared_ptr<FilePool> pool_;
  const std::string path_;
  uint64_t size_ = 0;      // of the file when it was first opened
  uint64_t identity_ = 0;  // the same
  mutable std::atomic<uint64_t> state_{0};
  mutable std::atomic<bool> was_read_{true};  // since the clock hand passed it
  std::unique_ptr<RandomAccessFile> file_;    // see above
  mutable LimitedMutex reopen_mutex_;         // taken before all locks of the pool

  // Used by the pool, under its mutex.
  size_t slot_ = 0;       // in open_, if it is open
  bool is_kept_ = false;  // counted in kept_
  bool has_name_ = true;  // it is in names_
};

FilePool::FilePool(FileSystem* file_system, size_t capacity)
    : capacity_(std::max<size_t>(capacity, 1)),
      forks_(ForkCallback::Forks()),
      file_system_(file_system) {
  taken_by_pools.fetch_add(capacity_, std::memory_order_relaxed);
}

FilePool::~FilePool() {
  if (file_system_ != nullptr) taken_by_pools.fetch_sub(capacity_, std::memory_order_relaxed);
}

size_t FilePool::CapacityFor(int max_open_files) {
  constexpr rlim_t kFewest = 8;
  constexpr rlim_t kMost = 1 << 20;
  if (max_open_files > 0) return static_cast<size_t>(max_open_files);
  struct rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 512;
  const rlim_t taken = taken_by_pools.load(std::memory_order_relaxed);
  const rlim_t left = limit.rlim_cur - std::min(limit.rlim_cur, taken);
  return static_cast<size_t>(std::clamp(left / 2, kFewest, kMost));
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> FilePool::Open(std::string_view path,
                                                                 FileSystem::ReadMode mode) {
  // Registered before it is opened, so that Remove does not miss it.
  auto file = std::make_unique<PooledFile>(shared_from_this(), path);
  Add(file.get());
  BT_ASSIGN_OR_RETURN(auto opened, OpenNow(path, mode));
  if (opened->mapping() != nullptr) {
    EndOpening();
    return opened;
  }
  file->size_ = opened->size();
  file->identity_ = opened->identity();
  EndOpening(file.get(), std::move(opened));
  file->state_.fetch_sub(1, std::memory_order_release);
  return file;
}

absl::Status FilePool::Read(const RandomAccessFile& file, uint64_t offset, size_t n, char* buffer,
                            const CallLimits* limits) {
  const auto* const pooled = limits == nullptr ? nullptr : dynamic_cast<const PooledFile*>(&file);
  return pooled == nullptr ? file.Read(offset, n, buffer)
                           : pooled->ReadWithin(offset, n, buffer, limits);
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> FilePool::OpenNow(std::string_view path,
                                                                    FileSystem::ReadMode mode) {
  {
    Closed closed;
    MutexLock lock(&mutex_);
    ++opening_;
    CloseSome(0, &closed);
  }
  for (size_t more = 1;; more *= 2) {
    absl::StatusOr<std::unique_ptr<RandomAccessFile>> file = DetachedError(path);
    {
      const std::shared_lock lock(file_system_mutex_);
      if (file_system_ != nullptr) file = file_system_->NewRandomAccessFile(path, mode);
    }
    if (file.ok()) return file;
    // Another part of the process may have taken the remaining descriptors.
    Closed closed;
    MutexLock lock(&mutex_);
    if (!absl::IsResourceExhausted(file.status()) || CloseSome(more, &closed) == 0) {
      --opening_;
      return file;
    }
  }
}

void FilePool::Add(PooledFile* file) {
  MutexLock lock(&mutex_);
  names_[file->path_].files.push_back(file);
}

void FilePool::EndOpening(PooledFile* file, std::unique_ptr<RandomAccessFile> opened) {
  MutexLock lock(&mutex_);
  --opening_;
  file->file_ = std::move(opened);
  file->slot_ = open_.size();
  open_.push_back(file);
  file->was_read_.store(true, std::memory_order_relaxed);
  file->state_.fetch_add(PooledFile::kOpen + 1, std::memory_order_release);
}

void FilePool::EndOpening() {
  MutexLock lock(&mutex_);
  --opening_;
}

std::unique_ptr<RandomAccessFile> FilePool::TakeOut(PooledFile* file) {
  open_[file->slot_] = open_.back();
  open_[file->slot_]->slot_ = file->slot_;
  open_.pop_back();
  if (std::exchange(file->is_kept_, false)) --kept_;
  return std::move(file->file_);
}

size_t FilePool::CloseSome(size_t least, Closed* closed) {
  // The first round only clears the marks.
  size_t looked_at = 0;
  while ((closed->size() < least || open_.size() + opening_ > capacity_) &&
         looked_at++ < 2 * open_.size()) {
    if (hand_ >= open_.size()) hand_ = 0;
    PooledFile* const file = open_[hand_];
    uint64_t unused = PooledFile::kOpen;
    if (file->is_kept_ || file->was_read_.exchange(false, std::memory_order_relaxed) ||
        !file->state_.compare_exchange_strong(unused, 0, std::memory_order_acq_rel)) {
      ++hand_;
      continue;
    }
    closed->push_back(TakeOut(file));
    looked_at = 0;
  }
  return closed->size();
}

absl::Status FilePool::Remove(std::string_view path) {
  const std::shared_lock lock(file_system_mutex_);
  if (file_system_ == nullptr) return DetachedError(path);
  {
    MutexLock names_lock(&mutex_);
    const auto found = names_.find(ToAbsl(path));
    if (found != names_.end()) {
      std::vector<PooledFile*>& files = found->second.files;
      const auto is_open = [](const PooledFile* file) { return file->file_ != nullptr; };
      if (found->second.holds > 0 || kept_ + files.size() > capacity_ / 2 ||
          !std::all_of(files.begin(), files.end(), is_open)) {
        found->second.is_removed = true;
        return absl::OkStatus();
      }
      for (PooledFile* file : files) {
        file->is_kept_ = true;
        file->has_name_ = false;
        ++kept_;
      }
      names_.erase(found);
    }
  }
  return file_system_->RemoveFile(path);
}

void FilePool::Forget(PooledFile* file) {
  // In a child process, another thread of the parent may have been using this data, and the files
  // belong to the parent.
  if (ForkCallback::Forks() != forks_) return;
  std::unique_ptr<RandomAccessFile> closed;
  const std::shared_lock lock(file_system_mutex_);
  {
    MutexLock names_lock(&mutex_);
    if (file->file_ != nullptr) closed = TakeOut(file);
    if (!file->has_name_) return;
    std::erase(names_[file->path_].files, file);
    if (!ReleaseName(file->path_)) return;
  }
  // A file that is not removed is found by the next sweep.
  if (file_system_ != nullptr) file_system_->RemoveFile(file->path_).IgnoreError();
}

bool FilePool::ReleaseName(const std::string& path) {
  const auto found = names_.find(path);
  if (!found->second.files.empty() || found->second.holds > 0) return false;
  const bool is_removed = found->second.is_removed;
  names_.erase(found);
  return is_removed;
}

FilePool::Hold::Hold(std::shared_ptr<FilePool> pool, std::string_view path)
    : pool_(std::move(pool)), path_(path) {
  MutexLock lock(&pool_->mutex_);
  ++pool_->names_[path_].holds;
}

FilePool::Hold::~Hold() { pool_->EndHold(path_); }

void FilePool::EndHold(const std::string& path) {
  if (ForkCallback::Forks() != forks_) return;
  const std::shared_lock lock(file_system_mutex_);
  {
    MutexLock names_lock(&mutex_);
    --names_[path].holds;
    if (!ReleaseName(path)) return;
  }
  if (file_system_ != nullptr) file_system_->RemoveFile(path).IgnoreError();
}

void FilePool::Detach() {
  const std::unique_lock lock(file_system_mutex_);
  std::vector<std::string> removed;
  Closed closed;
  {
    MutexLock names_lock(&mutex_);
    for (auto& [path, name] : names_) {
      if (std::exchange(name.is_removed, false)) removed.push_back(path);
    }
    for (PooledFile* file : open_) file->was_read_.store(false, std::memory_order_relaxed);
    for (PooledFile* file : open_) file->is_kept_ = false;
    kept_ = 0;
    CloseSome(open_.size(), &closed);
  }
  if (file_system_ == nullptr) return;
  for (const std::string& path : removed) file_system_->RemoveFile(path).IgnoreError();
  file_system_ = nullptr;
  taken_by_pools.fetch_sub(capacity_, std::memory_order_relaxed);
}

size_t FilePool::open_files() const {
  MutexLock lock(&mutex_);
  return open_.size();
}

}  // namespace bigtable
