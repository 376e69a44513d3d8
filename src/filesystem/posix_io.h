// System calls on file descriptors for the POSIX file system: interrupted calls are repeated, short
// reads and writes are continued, and errno becomes an absl::Status. Any thread; only Fd has state,
// and one thread owns it.
#ifndef BIGTABLE_FILESYSTEM_POSIX_IO_H_
#define BIGTABLE_FILESYSTEM_POSIX_IO_H_

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/types.h>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bigtable {

// A path as arguments of system calls: a relative path and an open directory.
class PosixPath {
 public:
  // From the root directory, or from the working directory at the time of each call.
  PosixPath(std::string text) : text_(std::move(text)) {}  // NOLINT: paths are written as text
  // `text` without its first `skipped` characters, relative to `directory`, which must outlive
  // this.
  PosixPath(std::string text, int directory, size_t skipped)
      : text_(std::move(text)), directory_(directory), skipped_(skipped) {}

  const std::string& text() const { return text_; }  // for messages
  // The first two arguments of openat() and similar calls.
  int directory() const { return directory_; }
  const char* name() const {
    return directory_ != AT_FDCWD && skipped_ >= text_.size() ? "." : text_.c_str() + skipped_;
  }

 private:
  std::string text_;
  int directory_ = AT_FDCWD;
  size_t skipped_ = 0;
};

// "path: operation: reason", with the code that include/bigtable/file_system.h specifies for the
// errno value `error`.
absl::Status PosixError(std::string_view path, std::string_view operation, int error);

// Repeats `call` until it is not interrupted by a signal. On errors it returns -1 and sets errno.
template <typename Call>
auto RetryInterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

// An open file descriptor, closed by the destructor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { Close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // Transfers the descriptor: the caller closes it.
  int Release() { return std::exchange(fd_, -1); }
  // Returns 0 or the errno value. On Linux an interrupted close has closed the descriptor: not an
  // error.
  int Close();

 private:
  int fd_ = -1;
};

// openat(2) with O_CLOEXEC; a created file is rw-r--r-- minus the umask.
absl::StatusOr<Fd> OpenFd(const PosixPath& path, int flags);
// The same, but requires a regular file; `*size` is its length.
absl::StatusOr<Fd> OpenRegularFile(const PosixPath& path, int flags, uint64_t* size);

// FailedPrecondition unless `info` describes a regular file.
absl::Status RequireRegularFile(std::string_view path, const struct stat& info);

// How large the process may make a file (RLIMIT_FSIZE); UINT64_MAX: no limit.
uint64_t FileSizeLimit();
// ResourceExhausted if `size` is more than `limit`. Call it before the system call, which would
// send SIGXFSZ and so end the process.
absl::Status CheckFileSize(std::string_view path, uint64_t size, uint64_t limit);

// Writes all of `data` at the descriptor's position. After an error, part of it may be written.
absl::Status WriteFully(const Fd& fd, std::string_view path, std::string_view data);
// Writes all of `data` at `offset`.
absl::Status WriteFullyAt(const Fd& fd, std::string_view path, uint64_t offset,
                          std::string_view data);
// Reads exactly `n` bytes at `offset`; DataLoss if the file ends before.
absl::Status ReadFullyAt(const Fd& fd, std::string_view path, uint64_t offset, size_t n,
                         char* buffer);

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_POSIX_IO_H_
