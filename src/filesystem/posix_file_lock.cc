#include "filesystem/posix_file_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

#include "base/fork_callback.h"
#include "base/status.h"
#include "base/strings.h"
#include "filesystem/posix_io.h"

namespace bigtable {
namespace {

// Whether `path` names the file that is open as `fd`.
absl::StatusOr<bool> IsNameOf(const Fd& fd, const PosixPath& path) {
  struct stat open_file, named_file;
  if (::fstat(fd.get(), &open_file) != 0) return PosixError(path.text(), "fstat", errno);
  if (::fstatat(path.directory(), path.name(), &named_file, 0) != 0) {
    if (errno == ENOENT) return false;
    return PosixError(path.text(), "stat", errno);
  }
  return open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

class PosixFileLock final : public FileLock {
 public:
  PosixFileLock(PosixPath path, Fd fd, bool exclusive)
      : path_(std::move(path)), fd_(std::move(fd)), exclusive_(exclusive) {}
  ~PosixFileLock() override {
    if (!fd_.is_open()) return;
    // Done before the close that releases the lock. If it fails, only a stale number is left.
    if (exclusive_ && ::ftruncate(fd_.get(), 0) != 0) return;
  }

  absl::Status Check() const override {
    if (!fd_.is_open()) {
      return absl::FailedPreconditionError(
          Cat(path_.text(), ": lock: held by the process that this one was forked from"));
    }
    BT_ASSIGN_OR_RETURN(const bool named, IsNameOf(fd_, path_));
    if (named) return absl::OkStatus();
    return absl::FailedPreconditionError(
        Cat(path_.text(),
            ": lock: the locked file was removed or replaced while it was in use; "
            "another process may own the directory now"));
  }

  // Writes this process's number, for processes that are refused the lock.
  absl::Status WriteOwner() {
    const std::string owner = Cat(::getpid());
    BT_RETURN_IF_ERROR(CheckFileSize(path_.text(), owner.size(), FileSizeLimit()));
    if (::ftruncate(fd_.get(), 0) != 0) return PosixError(path_.text(), "ftruncate", errno);
    return WriteFullyAt(fd_, path_.text(), 0, owner);
  }

 private:
  const PosixPath path_;
  Fd fd_;  // closed in a child process
  const bool exclusive_;
  const ForkCallback on_fork_{[this] { fd_.Close(); }};
};

// The live process that the file names as its holder: "held by process 42".
std::string DescribeHolder(const Fd& fd) {
  char digits[24];
  const ssize_t n =
      RetryInterrupted([&] { return ::pread(fd.get(), digits, sizeof digits, off_t{0}); });
  int pid = 0;
  // SimpleAtoi accepts only digits and spaces. If the holder has not written yet, the result is 0.
  if (n <= 0 || !absl::SimpleAtoi(absl::string_view(digits, static_cast<size_t>(n)), &pid) ||
      pid <= 0 || (::kill(pid, 0) != 0 && errno == ESRCH)) {
    return "held by another process";
  }
  return Cat("held by process ", pid, pid == ::getpid() ? " (this one)" : "");
}

absl::Status Lock(const Fd& fd, const std::string& path, bool exclusive) {
  const auto lock = [&](int how) {
    return RetryInterrupted([&] { return ::flock(fd.get(), how | LOCK_NB); }) == 0;
  };
  if (lock(exclusive ? LOCK_EX : LOCK_SH)) return absl::OkStatus();
  if (errno != EWOULDBLOCK) return PosixError(path, "flock", errno);
  // A shared lock is compatible with other shared ones; the close releases it.
  const bool is_shared = exclusive && lock(LOCK_SH);
  return absl::FailedPreconditionError(
      Cat(path, ": lock: ",
          is_shared ? "shared by other processes, which opened it read-only" : DescribeHolder(fd)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> LockPosixFile(const PosixPath& path,
                                                        FileSystem::LockMode mode) {
  const bool exclusive = mode == FileSystem::LockMode::kExclusive;
  while (true) {
    uint64_t size = 0;
    BT_ASSIGN_OR_RETURN(Fd fd,
                        OpenRegularFile(path, exclusive ? O_RDWR | O_CREAT : O_RDONLY, &size));
    BT_RETURN_IF_ERROR(Lock(fd, path.text(), exclusive));
    // If the file was removed between open and lock, this is a lock that no other process can find.
    BT_ASSIGN_OR_RETURN(const bool named, IsNameOf(fd, path));
    if (!named) continue;
    auto lock = std::make_unique<PosixFileLock>(path, std::move(fd), exclusive);
    if (exclusive) BT_RETURN_IF_ERROR(lock->WriteOwner());
    return lock;
  }
}

}  // namespace bigtable
