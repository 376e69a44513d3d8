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
#include "filesystem/posix_file_lock.h"
#include "filesystem/posix_io.h"
#include "filesystem/posix_log_file.h"

namespace bigtable {

FileSystem* FileSystem::Posix() {
  static PosixFileSystem* const file_system = new PosixFileSystem();
  return file_system;
}

absl::StatusOr<std::unique_ptr<WritableFile>> PosixFileSystem::NewWritableFile(
    std::string_view path) {
  return NewPosixWritableFile(std::string(path));
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> PosixFileSystem::NewRandomAccessFile(
    std::string_view path, ReadMode mode) {
  return NewPosixRandomAccessFile(std::string(path),
                                  mode == ReadMode::kMapped ? &mappings_ : nullptr);
}

absl::StatusOr<std::unique_ptr<LogFile>> PosixFileSystem::NewLogFile(std::string_view path,
                                                                     uint64_t size) {
  return NewPosixLogFile(std::string(path), size, reserve_log_files_);
}

absl::StatusOr<std::string> PosixFileSystem::ReadFile(std::string_view path) {
  const std::string name(path);
  uint64_t size = 0;
  BT_ASSIGN_OR_RETURN(const Fd fd, OpenRegularFile(name, O_RDONLY, &size));
  std::string contents(static_cast<size_t>(size), '\0');
  BT_RETURN_IF_ERROR(ReadFullyAt(fd, path, 0, contents.size(), contents.data()));
  return contents;
}

absl::StatusOr<uint64_t> PosixFileSystem::FileSize(std::string_view path) {
  struct stat info;
  if (::stat(std::string(path).c_str(), &info) != 0) return PosixError(path, "stat", errno);
  BT_RETURN_IF_ERROR(RequireRegularFile(path, info));
  return static_cast<uint64_t>(info.st_size);
}

bool PosixFileSystem::FileExists(std::string_view path) {
  return ::access(std::string(path).c_str(), F_OK) == 0;
}

absl::StatusOr<std::vector<std::string>> PosixFileSystem::ListDirectory(std::string_view path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(std::string(path).c_str()),
                                                      &::closedir);
  if (directory == nullptr) return PosixError(path, "opendir", errno);
  std::vector<std::string> names;
  while (true) {
    errno = 0;  // null is the end as well as an error
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
  const std::string name(path);
  if (::mkdir(name.c_str(), 0755) == 0) return absl::OkStatus();
  const int error = errno;
  struct stat info;
  if (error == EEXIST && ::stat(name.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return absl::OkStatus();
  }
  return PosixError(path, "mkdir", error);
}

absl::Status PosixFileSystem::RemoveDirectory(std::string_view path) {
  if (::rmdir(std::string(path).c_str()) == 0) return absl::OkStatus();
  // POSIX lets a system say "exists" of a directory that is not empty.
  return PosixError(path, "rmdir", errno == EEXIST ? ENOTEMPTY : errno);
}

absl::Status PosixFileSystem::RemoveFile(std::string_view path) {
  if (::unlink(std::string(path).c_str()) == 0) return absl::OkStatus();
  return PosixError(path, "unlink", errno);
}

absl::Status PosixFileSystem::RenameFile(std::string_view from, std::string_view to) {
  if (::rename(std::string(from).c_str(), std::string(to).c_str()) == 0) return absl::OkStatus();
  return PosixError(from, Cat("rename to ", to), errno);
}

absl::Status PosixFileSystem::SyncFile(std::string_view path) {
  uint64_t size = 0;
  BT_ASSIGN_OR_RETURN(const Fd fd, OpenRegularFile(std::string(path), O_RDONLY, &size));
  if (RetryInterrupted([&] { return ::fsync(fd.get()); }) == 0) return absl::OkStatus();
  return PosixError(path, "fsync", errno);
}

absl::Status PosixFileSystem::SyncDirectory(std::string_view path) {
  BT_ASSIGN_OR_RETURN(const Fd fd, OpenFd(std::string(path), O_RDONLY | O_DIRECTORY));
  if (RetryInterrupted([&] { return ::fsync(fd.get()); }) == 0) return absl::OkStatus();
  return PosixError(path, "fsync", errno);
}

absl::StatusOr<std::unique_ptr<FileLock>> PosixFileSystem::LockFile(std::string_view path,
                                                                    LockMode mode) {
  return LockPosixFile(std::string(path), mode);
}

}  // namespace bigtable
