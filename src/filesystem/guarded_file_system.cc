#include "filesystem/guarded_file_system.h"

#include "base/status.h"

namespace bigtable {
namespace {

const absl::Status& ErrorOf(const absl::Status& found) { return found; }
template <typename T>
const absl::Status& ErrorOf(const absl::StatusOr<T>& found) {
  return found.status();
}

}  // namespace

template <typename Found>
Found GuardedFileSystem::Explained(Found found) const {
  if (absl::IsNotFound(ErrorOf(found))) BT_RETURN_IF_ERROR(Check());
  return found;
}

// A lock that its file system checks while it is held.
class GuardingLock final : public FileLock {
 public:
  GuardingLock(GuardedFileSystem* owner, std::unique_ptr<FileLock> lock)
      : owner_(owner), lock_(std::move(lock)) {
    owner_->lock_ = lock_.get();
  }
  ~GuardingLock() override { owner_->lock_ = nullptr; }

  absl::Status Check() const override { return lock_->Check(); }

 private:
  GuardedFileSystem* const owner_;
  const std::unique_ptr<FileLock> lock_;
};

absl::StatusOr<std::unique_ptr<GuardedFileSystem>> GuardedFileSystem::Hold(
    FileSystem* base, std::string_view directory) {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<FileSystem> held, base->HoldDirectory(directory));
  return std::unique_ptr<GuardedFileSystem>(
      new GuardedFileSystem(base, std::move(held), directory));
}

absl::StatusOr<std::unique_ptr<FileLock>> GuardedFileSystem::LockFile(std::string_view path,
                                                                      LockMode mode) {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<FileLock> lock, base_->LockFile(path, mode));
  if (mode == LockMode::kShared || !path.starts_with(below_)) return lock;
  return std::make_unique<GuardingLock>(this, std::move(lock));
}

// --- Calls that change names ---

absl::StatusOr<std::unique_ptr<WritableFile>> GuardedFileSystem::NewWritableFile(
    std::string_view path) {
  BT_RETURN_IF_ERROR(Check());
  return base_->NewWritableFile(path);
}

absl::StatusOr<std::unique_ptr<LogFile>> GuardedFileSystem::NewLogFile(std::string_view path,
                                                                       uint64_t size) {
  BT_RETURN_IF_ERROR(Check());
  return base_->NewLogFile(path, size);
}

absl::Status GuardedFileSystem::CreateDirectory(std::string_view path) {
  BT_RETURN_IF_ERROR(Check());
  return base_->CreateDirectory(path);
}

absl::Status GuardedFileSystem::RemoveDirectory(std::string_view path) {
  BT_RETURN_IF_ERROR(Check());
  return base_->RemoveDirectory(path);
}

absl::Status GuardedFileSystem::RemoveFile(std::string_view path) {
  BT_RETURN_IF_ERROR(Check());
  return base_->RemoveFile(path);
}

absl::Status GuardedFileSystem::RenameFile(std::string_view from, std::string_view to) {
  BT_RETURN_IF_ERROR(Check());
  return base_->RenameFile(from, to);
}

absl::Status GuardedFileSystem::LinkFile(std::string_view from, std::string_view to) {
  BT_RETURN_IF_ERROR(Check());
  return Explained(base_->LinkFile(from, to));
}

// --- Other calls ---

absl::StatusOr<std::unique_ptr<RandomAccessFile>> GuardedFileSystem::NewRandomAccessFile(
    std::string_view path, ReadMode mode) {
  return Explained(base_->NewRandomAccessFile(path, mode));
}

absl::StatusOr<std::string> GuardedFileSystem::ReadFile(std::string_view path) {
  return Explained(base_->ReadFile(path));
}

absl::StatusOr<uint64_t> GuardedFileSystem::FileSize(std::string_view path) {
  return Explained(base_->FileSize(path));
}

bool GuardedFileSystem::FileExists(std::string_view path) { return base_->FileExists(path); }

absl::StatusOr<std::vector<std::string>> GuardedFileSystem::ListDirectory(std::string_view path) {
  return Explained(base_->ListDirectory(path));
}

absl::Status GuardedFileSystem::SyncFile(std::string_view path) {
  return Explained(base_->SyncFile(path));
}

absl::Status GuardedFileSystem::SyncDirectory(std::string_view path) {
  return Explained(base_->SyncDirectory(path));
}

}  // namespace bigtable
