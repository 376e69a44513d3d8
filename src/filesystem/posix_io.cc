#include "filesystem/posix_io.h"

#include <fcntl.h>
#include <limits>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

#include "absl/strings/cord.h"

#include "bigtable/system_shortage.h"

#include "base/status.h"
#include "base/strings.h"
#include "filesystem/file_errors.h"

namespace bigtable {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::StatusCode::kResourceExhausted;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EXDEV:
      return absl::StatusCode::kFailedPrecondition;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return absl::StatusCode::kInvalidArgument;
    default:  // EIO and similar errors
      return absl::StatusCode::kUnavailable;
  }
}

// A payload of a status, which is empty.
constexpr std::string_view kShortage = "bigtable/system-shortage";

constexpr uint64_t kMaxOffset = std::numeric_limits<off_t>::max();

}  // namespace

absl::Status PosixError(std::string_view path, std::string_view operation, int error) {
  // Not strerror(), whose result another thread may overwrite.
  const std::string reason = std::generic_category().message(error);
  absl::Status status(CodeOf(error), Cat(path, ": ", operation, ": ", reason));
  // A file that is larger than the process may write is none: there will never be room for it.
  if (absl::IsResourceExhausted(status) && error != EFBIG) {
    status.SetPayload(ToAbsl(kShortage), absl::Cord());
  }
  return status;
}

bool IsSystemShortage(const absl::Status& status) {
  return status.GetPayload(ToAbsl(kShortage)).has_value();
}

int Fd::Close() {
  if (fd_ < 0) return 0;
  const int result = ::close(std::exchange(fd_, -1));
  return result == 0 || errno == EINTR ? 0 : errno;
}

absl::StatusOr<Fd> OpenFd(const PosixPath& path, int flags) {
  const int fd = RetryInterrupted(
      [&] { return ::openat(path.directory(), path.name(), flags | O_CLOEXEC, 0644); });
  if (fd < 0) return PosixError(path.text(), "open", errno);
  return Fd(fd);
}

absl::StatusOr<Fd> OpenRegularFile(const PosixPath& path, int flags, uint64_t* size) {
  BT_ASSIGN_OR_RETURN(Fd fd, OpenFd(path, flags));
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return PosixError(path.text(), "fstat", errno);
  BT_RETURN_IF_ERROR(RequireRegularFile(path.text(), info));
  *size = static_cast<uint64_t>(info.st_size);
  return fd;
}

absl::Status RequireRegularFile(std::string_view path, const struct stat& info) {
  if (S_ISREG(info.st_mode)) return absl::OkStatus();
  return absl::FailedPreconditionError(Cat(path, ": open: not a regular file"));
}

uint64_t FileSizeLimit() {
  struct rlimit limit;
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

absl::Status CheckFileSize(std::string_view path, uint64_t size, uint64_t limit) {
  if (size <= limit) return absl::OkStatus();
  return PosixError(
      path, Cat("a file of ", size, " bytes is larger than the process's limit of ", limit), EFBIG);
}

absl::Status WriteFully(const Fd& fd, std::string_view path, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = RetryInterrupted([&] { return ::write(fd.get(), data.data(), data.size()); });
    if (n < 0) return PosixError(path, "write", errno);
    if (n == 0) return PosixError(path, "write", EIO);  // never for a regular file; do not spin
    data.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status WriteFullyAt(const Fd& fd, std::string_view path, uint64_t offset,
                          std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = RetryInterrupted(
        [&] { return ::pwrite(fd.get(), data.data(), data.size(), static_cast<off_t>(offset)); });
    if (n < 0) return PosixError(path, Cat("pwrite at ", offset), errno);
    if (n == 0) return PosixError(path, Cat("pwrite at ", offset), EIO);
    data.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

absl::Status ReadFullyAt(const Fd& fd, std::string_view path, uint64_t offset, size_t n,
                         char* buffer) {
  const uint64_t start = offset;
  size_t left = n;
  while (left > 0) {
    // An offset that the system cannot represent is after the end of every file.
    ssize_t got = 0;
    if (offset <= kMaxOffset && left <= kMaxOffset - offset) {
      got = RetryInterrupted(
          [&] { return ::pread(fd.get(), buffer, left, static_cast<off_t>(offset)); });
      if (got < 0) return PosixError(path, Cat("pread at ", offset), errno);
    }
    if (got == 0) return FileTooShort(path, start, n, offset);
    buffer += got;
    left -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
  return absl::OkStatus();
}

}  // namespace bigtable
