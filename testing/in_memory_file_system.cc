#include "bigtable/testing/in_memory_file_system.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "testing/in_memory_bytes.h"
#include "testing/in_memory_disk.h"
#include "testing/in_memory_names.h"

namespace bigtable {
namespace {

using LockMode = FileSystem::LockMode;

// The non-empty components of a path.
std::vector<std::string_view> Split(std::string_view path) {
  std::vector<std::string_view> steps;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view step = path.substr(0, slash);
    if (!step.empty() && step != ".") steps.push_back(step);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return steps;
}

absl::Status NoSuchFile(std::string_view path, std::string_view operation) {
  return absl::NotFoundError(Cat(path, ": ", operation, ": no such file or directory"));
}
absl::Status NotAFile(std::string_view path, std::string_view operation) {
  return absl::FailedPreconditionError(Cat(path, ": ", operation, ": is a directory"));
}
absl::Status NotADirectory(std::string_view path, std::string_view operation) {
  return absl::FailedPreconditionError(Cat(path, ": ", operation, ": not a directory"));
}

// A name in an existing directory; the name itself may be free.
struct Place {
  std::shared_ptr<InMemoryDirectory> directory;
  std::string name;

  InMemoryNode node() const { return directory->Find(name); }
};

absl::StatusOr<Place> Locate(const InMemoryNames& names, std::string_view path,
                             std::string_view operation) {
  const std::vector<std::string_view> steps = Split(path);
  if (steps.empty()) return NotAFile(path, operation);  // the root
  Place place{names.root(), std::string(steps.back())};
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    const InMemoryNode node = place.directory->Find(steps[i]);
    if (!node.exists()) return NoSuchFile(path, operation);
    if (!node.directory) return NotADirectory(path, operation);
    place.directory = node.directory;
  }
  return place;
}

absl::StatusOr<std::shared_ptr<InMemoryDirectory>> FindDirectory(const InMemoryNames& names,
                                                                 std::string_view path,
                                                                 std::string_view operation) {
  if (Split(path).empty()) return names.root();
  BT_ASSIGN_OR_RETURN(const Place place, Locate(names, path, operation));
  const InMemoryNode node = place.node();
  if (!node.exists()) return NoSuchFile(path, operation);
  if (!node.directory) return NotADirectory(path, operation);
  return node.directory;
}

absl::StatusOr<std::shared_ptr<InMemoryFile>> FindFile(const InMemoryNames& names,
                                                       std::string_view path,
                                                       std::string_view operation) {
  BT_ASSIGN_OR_RETURN(const Place place, Locate(names, path, operation));
  const InMemoryNode node = place.node();
  if (!node.exists()) return NoSuchFile(path, operation);
  if (!node.file) return NotAFile(path, operation);
  return node.file;
}

// The file at `place` with `bytes` as its content: a new file, or the existing one, emptied.
absl::StatusOr<std::shared_ptr<InMemoryFile>> CreateFile(InMemoryNames* names, const Place& place,
                                                         std::string_view path,
                                                         std::shared_ptr<InMemoryBytes> bytes) {
  const InMemoryNode node = place.node();
  if (node.directory) return NotAFile(path, "open");
  if (node.file) {
    node.file->Replace(std::move(bytes));
    return node.file;
  }
  auto file = std::make_shared<InMemoryFile>();
  file->bytes = std::move(bytes);
  names->Bind(place.directory.get(), place.name, {.file = file, .directory = nullptr});
  return file;
}

class InMemoryFileLock final : public FileLock {
 public:
  // The file must be locked in `mode` already.
  InMemoryFileLock(std::shared_ptr<InMemoryDisk> disk, std::string_view path,
                   std::shared_ptr<InMemoryFile> file, FileSystem::LockMode mode)
      : disk_(std::move(disk)), path_(path), file_(std::move(file)), mode_(mode) {}

  ~InMemoryFileLock() override {
    MutexLock lock(&disk_->mutex);
    if (mode_ == FileSystem::LockMode::kExclusive) {
      file_->exclusively_locked = false;
    } else {
      --file_->shared_locks;
    }
  }

  absl::Status Check() const override {
    MutexLock lock(&disk_->mutex);
    const auto found = FindFile(disk_->names, path_, "lock");
    if (found.ok() && *found == file_) return absl::OkStatus();
    return absl::FailedPreconditionError(
        Cat(path_, ": lock: the locked file was removed or replaced while it was in use"));
  }

 private:
  const std::shared_ptr<InMemoryDisk> disk_;
  const std::string path_;
  const std::shared_ptr<InMemoryFile> file_;
  const FileSystem::LockMode mode_;
};

void CollectFiles(const InMemoryDirectory& directory, const std::string& path,
                  std::vector<std::string>* files) {
  for (const auto& [key, name] : directory.names) {
    if (name.now().file) files->push_back(Cat(path, "/", key));
    if (name.now().directory) CollectFiles(*name.now().directory, Cat(path, "/", key), files);
  }
}

}  // namespace

InMemoryFileSystem::InMemoryFileSystem() : disk_(std::make_shared<InMemoryDisk>()) {}
InMemoryFileSystem::~InMemoryFileSystem() = default;

std::unique_ptr<InMemoryFileSystem> InMemoryFileSystem::CrashClone(uint64_t seed,
                                                                   Unsynced survives) const {
  auto clone = std::make_unique<InMemoryFileSystem>();
  CrashRandom random(seed);
  MutexLock lock(&disk_->mutex);
  MutexLock clone_lock(&clone->disk_->mutex);
  clone->disk_->names = disk_->names.AfterCrash(&random, survives);
  clone->disk_->max_total_bytes = disk_->max_total_bytes;
  return clone;
}

std::string InMemoryFileSystem::Contents(std::string_view path) const {
  MutexLock lock(&disk_->mutex);
  const auto file = FindFile(disk_->names, path, "read");
  return file.ok() ? (*file)->bytes->Copy() : std::string();
}

void InMemoryFileSystem::SetContents(std::string_view path, std::string_view bytes) {
  MutexLock lock(&disk_->mutex);
  InMemoryDirectory* directory = disk_->names.root().get();
  const std::vector<std::string_view> steps = Split(path);
  for (size_t i = 0; i < steps.size(); ++i) {
    InMemoryNode node = directory->Find(steps[i]);
    if (!node.exists()) {
      if (i + 1 < steps.size()) {
        node.directory = std::make_shared<InMemoryDirectory>();
      } else {
        node.file = std::make_shared<InMemoryFile>();
      }
      disk_->names.Bind(directory, steps[i], node);
    }
    disk_->names.SyncName(directory, steps[i]);
    directory = node.directory.get();
    if (node.file == nullptr) continue;
    node.file->bytes = std::make_shared<AppendedBytes>(std::string(bytes));
    node.file->emptied.reset();
    return;
  }
}

std::vector<std::string> InMemoryFileSystem::AllFiles() const {
  MutexLock lock(&disk_->mutex);
  std::vector<std::string> files;
  CollectFiles(*disk_->names.root(), "", &files);
  std::sort(files.begin(), files.end());
  return files;
}

void InMemoryFileSystem::set_max_total_bytes(uint64_t bytes) {
  MutexLock lock(&disk_->mutex);
  disk_->max_total_bytes = bytes;
}

uint64_t InMemoryFileSystem::total_bytes() const {
  MutexLock lock(&disk_->mutex);
  return disk_->TotalBytes();
}

absl::StatusOr<std::unique_ptr<WritableFile>> InMemoryFileSystem::NewWritableFile(
    std::string_view path) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const Place place, Locate(disk_->names, path, "open"));
  auto bytes = std::make_shared<AppendedBytes>();
  BT_ASSIGN_OR_RETURN(auto file, CreateFile(&disk_->names, place, path, bytes));
  return NewInMemoryWritableFile(disk_, std::move(file), std::move(bytes), std::string(path));
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> InMemoryFileSystem::NewRandomAccessFile(
    std::string_view path, ReadMode mode) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(auto file, FindFile(disk_->names, path, "open"));
  const uint64_t size = file->bytes->size();
  auto mapping = mode == ReadMode::kMapped ? file->bytes->Map() : nullptr;
  return NewInMemoryRandomAccessFile(disk_, std::move(file), size, std::move(mapping),
                                     std::string(path));
}

absl::StatusOr<std::unique_ptr<LogFile>> InMemoryFileSystem::NewLogFile(std::string_view path,
                                                                        uint64_t size) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const Place place, Locate(disk_->names, path, "open"));
  // Emptied first, so that its old space is free for the new file.
  BT_ASSIGN_OR_RETURN(auto file,
                      CreateFile(&disk_->names, place, path, std::make_shared<AppendedBytes>()));
  if (size > disk_->FreeBytes()) {
    disk_->names.Bind(place.directory.get(), place.name, {});
    return absl::ResourceExhaustedError(Cat(path, ": reserving ", size, " bytes, of which ",
                                            disk_->FreeBytes(),
                                            " are free: no space left on the disk"));
  }
  auto bytes = std::make_shared<LogBytes>(size);
  file->bytes = bytes;
  return NewInMemoryLogFile(disk_, std::move(file), std::move(bytes), std::string(path));
}

absl::StatusOr<std::string> InMemoryFileSystem::ReadFile(std::string_view path) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const auto file, FindFile(disk_->names, path, "open"));
  return file->bytes->Copy();
}

absl::StatusOr<uint64_t> InMemoryFileSystem::FileSize(std::string_view path) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const auto file, FindFile(disk_->names, path, "stat"));
  return file->bytes->size();
}

bool InMemoryFileSystem::FileExists(std::string_view path) {
  MutexLock lock(&disk_->mutex);
  if (Split(path).empty()) return true;
  const auto place = Locate(disk_->names, path, "stat");
  return place.ok() && place->node().exists();
}

absl::StatusOr<std::vector<std::string>> InMemoryFileSystem::ListDirectory(std::string_view path) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const auto directory, FindDirectory(disk_->names, path, "opendir"));
  std::vector<std::string> names;
  for (const auto& [key, name] : directory->names) {
    if (name.now().exists()) names.push_back(key);
  }
  return names;
}

absl::Status InMemoryFileSystem::CreateDirectory(std::string_view path) {
  MutexLock lock(&disk_->mutex);
  if (Split(path).empty()) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(const Place place, Locate(disk_->names, path, "mkdir"));
  const InMemoryNode node = place.node();
  if (node.file) return absl::AlreadyExistsError(Cat(path, ": mkdir: a file has this name"));
  if (!node.directory) {
    disk_->names.Bind(place.directory.get(), place.name,
                      {.file = nullptr, .directory = std::make_shared<InMemoryDirectory>()});
  }
  return absl::OkStatus();
}

absl::Status InMemoryFileSystem::RemoveDirectory(std::string_view path) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const Place place, Locate(disk_->names, path, "rmdir"));
  BT_ASSIGN_OR_RETURN(const auto directory, FindDirectory(disk_->names, path, "rmdir"));
  if (!directory->IsEmpty()) {
    return absl::FailedPreconditionError(Cat(path, ": rmdir: directory not empty"));
  }
  disk_->names.Bind(place.directory.get(), place.name, {});
  return absl::OkStatus();
}

absl::Status InMemoryFileSystem::RemoveFile(std::string_view path) {
  MutexLock lock(&disk_->mutex);
  BT_RETURN_IF_ERROR(FindFile(disk_->names, path, "unlink").status());
  BT_ASSIGN_OR_RETURN(const Place place, Locate(disk_->names, path, "unlink"));
  disk_->names.Bind(place.directory.get(), place.name, {});
  return absl::OkStatus();
}

absl::Status InMemoryFileSystem::RenameFile(std::string_view from, std::string_view to) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const auto file, FindFile(disk_->names, from, "rename"));
  BT_ASSIGN_OR_RETURN(const Place source, Locate(disk_->names, from, "rename"));
  BT_ASSIGN_OR_RETURN(const Place target, Locate(disk_->names, to, "rename"));
  if (target.node().directory) return NotAFile(to, "rename");
  if (target.node().file == file) return absl::OkStatus();  // like rename(2)
  disk_->names.Rename(source.directory.get(), source.name, target.directory, target.name);
  return absl::OkStatus();
}

absl::Status InMemoryFileSystem::LinkFile(std::string_view from, std::string_view to) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const auto file, FindFile(disk_->names, from, "link"));
  BT_ASSIGN_OR_RETURN(const Place target, Locate(disk_->names, to, "link"));
  if (target.node().exists()) return absl::AlreadyExistsError(Cat(to, ": link: file exists"));
  auto linked = std::make_shared<InMemoryFile>();
  linked->bytes = file->bytes;
  disk_->names.Bind(target.directory.get(), target.name, {.file = linked, .directory = nullptr});
  return absl::OkStatus();
}

absl::Status InMemoryFileSystem::SyncFile(std::string_view path) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const auto file, FindFile(disk_->names, path, "open"));
  file->bytes->Sync();
  return absl::OkStatus();
}

absl::Status InMemoryFileSystem::SyncDirectory(std::string_view path) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const auto directory, FindDirectory(disk_->names, path, "open"));
  disk_->names.Sync(directory.get());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<FileLock>> InMemoryFileSystem::LockFile(std::string_view path,
                                                                       LockMode mode) {
  MutexLock lock(&disk_->mutex);
  BT_ASSIGN_OR_RETURN(const Place place, Locate(disk_->names, path, "open"));
  if (mode == LockMode::kExclusive && !place.node().exists()) {
    BT_RETURN_IF_ERROR(
        CreateFile(&disk_->names, place, path, std::make_shared<AppendedBytes>()).status());
  }
  BT_ASSIGN_OR_RETURN(auto file, FindFile(disk_->names, path, "open"));
  if (file->exclusively_locked || (mode == LockMode::kExclusive && file->shared_locks > 0)) {
    return absl::FailedPreconditionError(
        Cat(path, ": lock: held by process ", ::getpid(), " (this one)"));
  }
  if (mode == LockMode::kExclusive) {
    file->exclusively_locked = true;
  } else {
    ++file->shared_locks;
  }
  return std::make_unique<InMemoryFileLock>(disk_, path, std::move(file), mode);
}

}  // namespace bigtable
