#include "filesystem/memory_files.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "filesystem/file_errors.h"

namespace bigtable {

class MemoryFiles::Writer final : public WritableFile {
 public:
  Writer(std::shared_ptr<Names> names, std::string_view path)
      : names_(std::move(names)), path_(path) {}

  absl::Status Append(std::string_view data) override {
    if (closed_) return FileIsClosed(path_);
    bytes_.append(data);
    return absl::OkStatus();
  }
  absl::Status Sync() override { return closed_ ? FileIsClosed(path_) : absl::OkStatus(); }
  absl::Status Close() override {
    if (closed_) return absl::OkStatus();
    closed_ = true;
    Bytes bytes = std::make_shared<const std::string>(std::move(bytes_));
    MutexLock lock(&names_->mutex);
    names_->files[path_] = std::move(bytes);
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<Names> names_;
  const std::string path_;
  std::string bytes_;
  bool closed_ = false;
};

class MemoryFiles::Reader final : public RandomAccessFile {
 public:
  Reader(Bytes bytes, std::string_view path, ReadMode mode)
      : bytes_(std::move(bytes)), path_(path), is_mapped_(mode == ReadMode::kMapped) {}

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    BT_RETURN_IF_ERROR(CheckRange(offset, n));
    std::copy_n(bytes_->data() + offset, n, buffer);
    return absl::OkStatus();
  }
  uint64_t size() const override { return bytes_->size(); }
  uint64_t identity() const override { return reinterpret_cast<uintptr_t>(bytes_.get()); }
  const char* mapping() const override {
    return is_mapped_ && !bytes_->empty() ? bytes_->data() : nullptr;
  }
  absl::Status Populate(uint64_t offset, size_t n) const override { return CheckRange(offset, n); }

 private:
  absl::Status CheckRange(uint64_t offset, size_t n) const {
    const uint64_t size = bytes_->size();
    if (n == 0 || (offset <= size && n <= size - offset)) return absl::OkStatus();
    return FileTooShort(path_, offset, n, size);
  }

  const Bytes bytes_;
  const std::string path_;
  const bool is_mapped_;
};

MemoryFiles::MemoryFiles() : names_(std::make_shared<Names>()) {}
MemoryFiles::~MemoryFiles() = default;

absl::StatusOr<MemoryFiles::Bytes> MemoryFiles::Find(std::string_view path) const {
  MutexLock lock(&names_->mutex);
  const auto file = names_->files.find(path);
  if (file == names_->files.end()) return absl::NotFoundError(Cat(path, ": no such file"));
  return file->second;
}

absl::StatusOr<std::unique_ptr<WritableFile>> MemoryFiles::NewWritableFile(std::string_view path) {
  MutexLock lock(&names_->mutex);
  names_->files[std::string(path)] = std::make_shared<const std::string>();
  return std::make_unique<Writer>(names_, path);
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> MemoryFiles::NewRandomAccessFile(
    std::string_view path, ReadMode mode) {
  BT_ASSIGN_OR_RETURN(Bytes bytes, Find(path));
  return std::make_unique<Reader>(std::move(bytes), path, mode);
}

absl::StatusOr<std::unique_ptr<LogFile>> MemoryFiles::NewLogFile(std::string_view path, uint64_t) {
  return absl::UnimplementedError(Cat(path, ": no log file can be written here"));
}

absl::StatusOr<std::string> MemoryFiles::ReadFile(std::string_view path) {
  BT_ASSIGN_OR_RETURN(const Bytes bytes, Find(path));
  return *bytes;
}

absl::StatusOr<uint64_t> MemoryFiles::FileSize(std::string_view path) {
  BT_ASSIGN_OR_RETURN(const Bytes bytes, Find(path));
  return bytes->size();
}

bool MemoryFiles::FileExists(std::string_view path) { return Find(path).ok(); }

absl::StatusOr<std::vector<std::string>> MemoryFiles::ListDirectory(std::string_view path) {
  const std::string prefix = Cat(path, "/");
  std::vector<std::string> names;
  MutexLock lock(&names_->mutex);
  for (auto file = names_->files.lower_bound(prefix);
       file != names_->files.end() && file->first.starts_with(prefix); ++file) {
    std::string name = file->first.substr(prefix.size());
    if (name.find('/') == name.npos) names.push_back(std::move(name));
  }
  return names;
}

absl::Status MemoryFiles::CreateDirectory(std::string_view) { return absl::OkStatus(); }

absl::Status MemoryFiles::RemoveDirectory(std::string_view) { return absl::OkStatus(); }

absl::Status MemoryFiles::RemoveFile(std::string_view path) {
  BT_RETURN_IF_ERROR(Find(path).status());
  MutexLock lock(&names_->mutex);
  names_->files.erase(std::string(path));
  return absl::OkStatus();
}

absl::Status MemoryFiles::RenameFile(std::string_view from, std::string_view to) {
  BT_ASSIGN_OR_RETURN(Bytes bytes, Find(from));
  MutexLock lock(&names_->mutex);
  names_->files.erase(std::string(from));
  names_->files[std::string(to)] = std::move(bytes);
  return absl::OkStatus();
}

absl::Status MemoryFiles::SyncFile(std::string_view path) { return Find(path).status(); }

absl::Status MemoryFiles::SyncDirectory(std::string_view) { return absl::OkStatus(); }

absl::StatusOr<std::unique_ptr<FileLock>> MemoryFiles::LockFile(std::string_view path, LockMode) {
  return absl::UnimplementedError(Cat(path, ": nothing can be locked here"));
}

}  // namespace bigtable
