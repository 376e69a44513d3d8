// System calls on file descriptors as the POSIX file system needs them: interrupted calls are made
// again, short reads and writes go on, and errno becomes an absl::Status. Any thread; nothing here
// has state but Fd, which one thread owns.
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

// A path as system calls take it: by its last part, seen from an open directory.
class PosixPath {
 public:
  // From the root of the machine, or from where the process works at the time of each call.
  PosixPath(std::string text) : text_(std::move(text)) {}  // NOLINT: paths are written as text
  // `text` without its first `skipped` characters, from `directory`, which outlives this.
  PosixPath(std::string text, int directory, size_t skipped)
      : text_(std::move(text)), directory_(directory), skipped_(skipped) {}

  const std::string& text() const { return text_; }  // for messages
  // The first two arguments of openat() and its kin.
  int directory() const { return directory_; }
  const char* name() const {
    return directory_ != AT_FDCWD && skipped_ >= text_.size() ? "." : text_.c_str() + skipped_;
  }

 private:
  std::string text_;
  int directory_ = AT_FDCWD;
  size_t skipped_ = 0;
};

// "path: operation: reason", with the code that include/bigtable/file_system.h promises for the
// errno value `error`.
absl::Status PosixError(std::string_view path, std::string_view operation, int error);

// Calls `call` until it is not interrupted by a signal. It returns -1 and sets errno on errors.
template <typename Call>
auto RetryInterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

// An open file descriptor, closed when this goes.
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
  // Somebody else closes it.
  int Release() { return std::exchange(fd_, -1); }
  // Returns 0 or the errno value. An interrupted close has closed on Linux: not an error.
  int Close();

 private:
  int fd_ = -1;
};

// openat(2) with O_CLOEXEC; what it creates is rw-r--r-- less the umask.
absl::StatusOr<Fd> OpenFd(const PosixPath& path, int flags);
// The same for what must be a regular file; `*size` is its length.
absl::StatusOr<Fd> OpenRegularFile(const PosixPath& path, int flags, uint64_t* size);

// FailedPrecondition unless `info` is that of a regular file.
absl::Status RequireRegularFile(std::string_view path, const struct stat& info);

// How large the process may make a file (RLIMIT_FSIZE); UINT64_MAX: as large as it likes.
uint64_t FileSizeLimit();
// ResourceExhausted for a file that is to have `size` bytes, which is more than `limit`. To be
// asked before the system is: it would answer with SIGXFSZ, which ends the process.
absl::Status CheckFileSize(std::string_view path, uint64_t size, uint64_t limit);

// Writes all of `data` at the descriptor's position. After an error a part of it may be written.
absl::Status WriteFully(const Fd& fd, std::string_view path, std::string_view data);
// Writes all of `data` at `offset`.
absl::Status WriteFullyAt(const Fd& fd, std::string_view path, uint64_t offset,
                          std::string_view data);
// Reads exactly `n` bytes at `offset`; DataLoss when the file ends before.
absl::Status ReadFullyAt(const Fd& fd, std::string_view path, uint64_t offset, size_t n,
                         char* buffer);

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_POSIX_IO_H_
