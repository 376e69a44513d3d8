#include "filesystem/posix_file_system.h"

#include <algorithm>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/try_allocate.h"
#include "filesystem/posix_file_lock.h"
#include "filesystem/posix_io.h"
#include "filesystem/posix_log_file.h"
#include "filesystem/uring_queue.h"

namespace bigtable {

FileSystem* FileSystem::Posix() {
  static PosixFileSystem* const file_system = new PosixFileSystem();
  return file_system;
}

absl::StatusOr<std::unique_ptr<FileSystem>> PosixFileSystem::HoldDirectory(std::string_view path) {
  BT_ASSIGN_OR_RETURN(Fd held, OpenFd(Find(path), O_PATH | O_DIRECTORY));
  return std::unique_ptr<FileSystem>(new PosixFileSystem(this, path, std::move(held)));
}

PosixPath PosixFileSystem::Find(std::string_view path) const {
  const size_t length = held_path_.size();
  if (!held_.is_open() || !path.starts_with(held_path_)) return PosixPath(std::string(path));
  if (path.size() > length && path[length] != '/') return PosixPath(std::string(path));
  return PosixPath(std::string(path), held_.get(), std::min(path.size(), length + 1));
}

absl::StatusOr<std::unique_ptr<WritableFile>> PosixFileSystem::NewWritableFile(
    std::string_view path) {
  return NewPosixWritableFile(Find(path));
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> PosixFileSystem::NewRandomAccessFile(
    std::string_view path, ReadMode mode) {
  return NewPosixRandomAccessFile(Find(path), mode == ReadMode::kMapped ? mappings_ : nullptr);
}

absl::StatusOr<std::unique_ptr<LogFile>> PosixFileSystem::NewLogFile(std::string_view path,
                                                                     uint64_t size) {
  return NewPosixLogFile(Find(path), size, reserve_log_files_);
}

std::unique_ptr<ReadQueue> PosixFileSystem::NewReadQueue() { return NewUringQueue(); }

absl::StatusOr<std::string> PosixFileSystem::ReadFile(std::string_view path) {
  uint64_t size = 0;
  BT_ASSIGN_OR_RETURN(const Fd fd, OpenRegularFile(Find(path), O_RDONLY, &size));
  std::string contents;
  if (!TryResize(&contents, size)) return NoMemoryFor(path, "this file", size);
  BT_RETURN_IF_ERROR(ReadFullyAt(fd, path, 0, contents.size(), contents.data()));
  return contents;
}

absl::StatusOr<uint64_t> PosixFileSystem::FileSize(std::string_view path) {
  const PosixPath found = Find(path);
  struct stat info;
  if (::fstatat(found.directory(), found.name(), &info, 0) != 0) {
    return PosixError(path, "stat", errno);
  }
  BT_RETURN_IF_ERROR(RequireRegularFile(path, info));
  return static_cast<uint64_t>(info.st_size);
}

bool PosixFileSystem::FileExists(std::string_view path) {
  const PosixPath found = Find(path);
  return ::faccessat(found.directory(), found.name(), F_OK, 0) == 0;
}

absl::StatusOr<std::vector<std::string>> PosixFileSystem::ListDirectory(std::string_view path) {
  BT_ASSIGN_OR_RETURN(Fd fd, OpenFd(Find(path), O_RDONLY | O_DIRECTORY));
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(fd.get()), &::closedir);
  if (directory == nullptr) return PosixError(path, "opendir", errno);
  fd.Release();
  std::vector<std::string> names;
  while (true) {
    errno = 0;  // null means the end or an error
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return PosixError(path, "readdir", errno);
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status PosixFileSystem::CreateDirectory(std::string_view path) {
  const PosixPath found = Find(path);
  if (::mkdirat(found.directory(), found.name(), 0755) == 0) return absl::OkStatus();
  const int error = errno;
  struct stat info;
  if (error == EEXIST && ::fstatat(found.directory(), found.name(), &info, 0) == 0 &&
      S_ISDIR(info.st_mode)) {
    return absl::OkStatus();
  }
  return PosixError(path, "mkdir", error);
}

absl::Status PosixFileSystem::RemoveDirectory(std::string_view path) {
  const PosixPath found = Find(path);
  if (::unlinkat(found.directory(), found.name(), AT_REMOVEDIR) == 0) return absl::OkStatus();
  // POSIX allows EEXIST for a directory that is not empty.
  return PosixError(path, "rmdir", errno == EEXIST ? ENOTEMPTY : errno);
}

absl::Status PosixFileSystem::RemoveFile(std::string_view path) {
  const PosixPath found = Find(path);
  if (::unlinkat(found.directory(), found.name(), 0) == 0) return absl::OkStatus();
  return PosixError(path, "unlink", errno);
}

absl::Status PosixFileSystem::RenameFile(std::string_view from, std::string_view to) {
  const PosixPath source = Find(from);
  const PosixPath target = Find(to);
  if (::renameat(source.directory(), source.name(), target.directory(), target.name()) == 0) {
    return absl::OkStatus();
  }
  return PosixError(from, Cat("rename to ", to), errno);
}

absl::Status PosixFileSystem::LinkFile(std::string_view from, std::string_view to) {
  const PosixPath source = Find(from);
  const PosixPath target = Find(to);
  // Of a symbolic link, the file that it names.
  if (::linkat(source.directory(), source.name(), target.directory(), target.name(),
               AT_SYMLINK_FOLLOW) == 0) {
    return absl::OkStatus();
  }
  switch (const int error = errno) {
    case EXDEV:
    case EPERM:
    case EMLINK:
    case ENOSYS:
    case EOPNOTSUPP:
      return absl::UnimplementedError(PosixError(from, Cat("link to ", to), error).message());
    case EEXIST:
      return PosixError(to, "link", error);
    default:
      return PosixError(from, Cat("link to ", to), error);
  }
}

absl::Status PosixFileSystem::SyncFile(std::string_view path) {
  uint64_t size = 0;
  BT_ASSIGN_OR_RETURN(const Fd fd, OpenRegularFile(Find(path), O_RDONLY, &size));
  if (RetryInterrupted([&] { return ::fsync(fd.get()); }) == 0) return absl::OkStatus();
  return PosixError(path, "fsync", errno);
}

absl::Status PosixFileSystem::SyncDirectory(std::string_view path) {
  BT_ASSIGN_OR_RETURN(const Fd fd, OpenFd(Find(path), O_RDONLY | O_DIRECTORY));
  if (RetryInterrupted([&] { return ::fsync(fd.get()); }) == 0) return absl::OkStatus();
  return PosixError(path, "fsync", errno);
}

absl::StatusOr<std::unique_ptr<FileLock>> PosixFileSystem::LockFile(std::string_view path,
                                                                    LockMode mode) {
  return LockPosixFile(Find(path), mode);
}

}  // namespace bigtable
