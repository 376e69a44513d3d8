#include "following/image_file_system.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_format.h"
#include "commitlog/log_state.h"

namespace bigtable {
namespace {

constexpr uint64_t kStateSize = 8192;  // two slots, of which the second is empty

absl::Status ReadOnly(std::string_view path) {
  return absl::FailedPreconditionError(Cat(path, ": the database is followed, and only read"));
}

// A file that stays open, for one of its users.
class HeldFile final : public RandomAccessFile {
 public:
  explicit HeldFile(std::shared_ptr<RandomAccessFile> file) : file_(std::move(file)) {}

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    return file_->Read(offset, n, buffer);
  }
  uint64_t size() const override { return file_->size(); }
  uint64_t identity() const override { return file_->identity(); }
  const char* mapping() const override { return file_->mapping(); }
  absl::Status Populate(uint64_t offset, size_t n) const override {
    return file_->Populate(offset, n);
  }
  void WillNeed(uint64_t offset, size_t n) const override { file_->WillNeed(offset, n); }
  // A file that was removed cannot be opened again.
  bool ReadsByPosition() const override { return false; }
  bool IsResident(uint64_t offset, size_t n) const override { return file_->IsResident(offset, n); }
  absl::Status ReadUncached(uint64_t offset, size_t n, char* buffer) const override {
    return file_->ReadUncached(offset, n, buffer);
  }
  bool ReadsUncached() const override { return file_->ReadsUncached(); }
  bool BeginRead(ReadQueue* queue, ReadQueue::Read* read) const override {
    return file_->BeginRead(queue, read);
  }

 private:
  const std::shared_ptr<RandomAccessFile> file_;
};

class NoLock final : public FileLock {};

}  // namespace

absl::StatusOr<std::unique_ptr<RandomAccessFile>> HeldFileSystem::NewRandomAccessFile(
    std::string_view path, ReadMode /*mode*/) {
  BT_ASSIGN_OR_RETURN(std::shared_ptr<RandomAccessFile> file, held_->Hold(path));
  return std::make_unique<HeldFile>(std::move(file));
}

absl::StatusOr<uint64_t> HeldFileSystem::FileSize(std::string_view path) {
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<RandomAccessFile> file, held_->Hold(path));
  return file->size();
}

class ImageFileSystem::Reader final : public RandomAccessFile {
 public:
  Reader(File file, std::string_view path) : file_(std::move(file)), path_(path) {}

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    if (offset > file_->size() || n > file_->size() - offset) {
      return absl::DataLossError(Cat(path_, ": has no ", n, " bytes at ", offset));
    }
    file_->copy(buffer, n, offset);
    return absl::OkStatus();
  }
  uint64_t size() const override { return file_->size(); }

 private:
  const File file_;
  const std::string path_;
};

ImageFileSystem::ImageFileSystem(FileSystem* base, HeldFileSystem* sstables,
                                 DatabaseDirectory directory, const LiveImage& image)
    : FileSystemWrapper(base), sstables_(sstables), directory_(std::move(directory)) {
  for (const auto& [path, bytes] : image.service_files()) {
    Add(path, bytes);
  }
  for (const auto& [server, log] : image.logs()) {
    const std::string log_path = directory_.log_of(server);
    for (const std::string& name : log.names().files) {
      const std::string path = Cat(log_path, "/", name);
      const std::optional<uint64_t> number = ParseSegmentName(name);
      const std::string* const records = number.has_value() ? log.Find(*number) : nullptr;
      if (name == kLogStateName) {
        std::string state = EncodeLogState(log.names().state);
        state.resize(kStateSize);
        Add(path, std::move(state));
      } else {
        Add(path, records != nullptr ? *records : "");
      }
    }
  }
}

void ImageFileSystem::Add(std::string path, std::string bytes) {
  files_[std::move(path)] = std::make_shared<const std::string>(std::move(bytes));
}

ImageFileSystem::Place ImageFileSystem::PlaceOf(std::string_view path) const {
  const auto is_in = [&](const std::string& directory) {
    return path.starts_with(directory) &&
           (path.size() == directory.size() || path[directory.size()] == '/');
  };
  if (is_in(directory_.lock_service()) || is_in(directory_.copies_of_lock_service()) ||
      is_in(directory_.logs())) {
    return Place::kImage;
  }
  const std::string sstables = directory_.sstables();
  return is_in(sstables) && path.size() > sstables.size() ? Place::kSSTable : Place::kElsewhere;
}

absl::StatusOr<ImageFileSystem::File> ImageFileSystem::Find(std::string_view path) const {
  if (const auto found = files_.find(path); found != files_.end()) return found->second;
  return absl::NotFoundError(Cat(path, ": there is no such file"));
}

absl::StatusOr<std::unique_ptr<FileSystem>> ImageFileSystem::HoldDirectory(std::string_view) {
  return nullptr;
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> ImageFileSystem::NewRandomAccessFile(
    std::string_view path, ReadMode mode) {
  const Place place = PlaceOf(path);
  if (place == Place::kSSTable) return sstables_->NewRandomAccessFile(path, mode);
  if (place == Place::kElsewhere) return FileSystemWrapper::NewRandomAccessFile(path, mode);
  BT_ASSIGN_OR_RETURN(File file, Find(path));
  return std::make_unique<Reader>(std::move(file), path);
}

absl::StatusOr<std::string> ImageFileSystem::ReadFile(std::string_view path) {
  if (PlaceOf(path) != Place::kImage) return FileSystemWrapper::ReadFile(path);
  BT_ASSIGN_OR_RETURN(const File file, Find(path));
  return *file;
}

absl::StatusOr<uint64_t> ImageFileSystem::FileSize(std::string_view path) {
  const Place place = PlaceOf(path);
  if (place == Place::kSSTable) return sstables_->FileSize(path);
  if (place == Place::kElsewhere) return FileSystemWrapper::FileSize(path);
  BT_ASSIGN_OR_RETURN(const File file, Find(path));
  return file->size();
}

bool ImageFileSystem::FileExists(std::string_view path) {
  const Place place = PlaceOf(path);
  if (place == Place::kSSTable) return sstables_->FileSize(path).ok();
  if (place == Place::kElsewhere) return FileSystemWrapper::FileExists(path);
  if (files_.contains(path) || path == directory_.lock_service() || path == directory_.logs()) {
    return true;
  }
  const std::string below = Cat(path, "/");
  const auto first = files_.lower_bound(below);
  return first != files_.end() && first->first.starts_with(below);
}

absl::StatusOr<std::vector<std::string>> ImageFileSystem::ListDirectory(std::string_view path) {
  if (PlaceOf(path) != Place::kImage) return FileSystemWrapper::ListDirectory(path);
  if (!FileExists(path)) return absl::NotFoundError(Cat(path, ": there is no such directory"));
  const std::string below = Cat(path, "/");
  std::set<std::string> names;
  for (auto file = files_.lower_bound(below);
       file != files_.end() && file->first.starts_with(below); ++file) {
    const std::string_view rest = std::string_view(file->first).substr(below.size());
    names.emplace(rest.substr(0, rest.find('/')));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

absl::StatusOr<std::unique_ptr<FileLock>> ImageFileSystem::LockFile(std::string_view path,
                                                                    LockMode mode) {
  if (IsOutside(path)) return FileSystemWrapper::LockFile(path, mode);
  return std::make_unique<NoLock>();
}

// A copy of the database is written outside of it.

absl::StatusOr<std::unique_ptr<WritableFile>> ImageFileSystem::NewWritableFile(
    std::string_view path) {
  return IsOutside(path) ? FileSystemWrapper::NewWritableFile(path) : ReadOnly(path);
}
absl::StatusOr<std::unique_ptr<LogFile>> ImageFileSystem::NewLogFile(std::string_view path,
                                                                     uint64_t size) {
  return IsOutside(path) ? FileSystemWrapper::NewLogFile(path, size) : ReadOnly(path);
}
absl::Status ImageFileSystem::CreateDirectory(std::string_view path) {
  return IsOutside(path) ? FileSystemWrapper::CreateDirectory(path) : ReadOnly(path);
}
absl::Status ImageFileSystem::RemoveDirectory(std::string_view path) {
  return IsOutside(path) ? FileSystemWrapper::RemoveDirectory(path) : ReadOnly(path);
}
absl::Status ImageFileSystem::RemoveFile(std::string_view path) {
  return IsOutside(path) ? FileSystemWrapper::RemoveFile(path) : ReadOnly(path);
}
absl::Status ImageFileSystem::RenameFile(std::string_view from, std::string_view to) {
  if (!IsOutside(from) || !IsOutside(to)) return ReadOnly(from);
  return FileSystemWrapper::RenameFile(from, to);
}
absl::Status ImageFileSystem::LinkFile(std::string_view from, std::string_view to) {
  if (!IsOutside(to)) return ReadOnly(to);
  const absl::Status linked = FileSystemWrapper::LinkFile(from, to);
  if (!absl::IsNotFound(linked)) return linked;
  // The writer has removed it, and it can still be copied.
  return absl::UnimplementedError(Cat(from, ": is held without a name"));
}
// An opening makes what it finds durable before it relies on it. Here nobody does.
absl::Status ImageFileSystem::SyncFile(std::string_view path) {
  return IsOutside(path) ? FileSystemWrapper::SyncFile(path) : absl::OkStatus();
}
absl::Status ImageFileSystem::SyncDirectory(std::string_view path) {
  return IsOutside(path) ? FileSystemWrapper::SyncDirectory(path) : absl::OkStatus();
}

bool ImageFileSystem::IsOutside(std::string_view path) const {
  return path != directory_.path() && !path.starts_with(Cat(directory_.path(), "/"));
}

}  // namespace bigtable
