#include "filesystem/posix_log_file.h"

#include <algorithm>
#include <fcntl.h>
#include <limits>
#include <linux/fs.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "base/strings.h"
#include "filesystem/file_errors.h"
#include "filesystem/posix_io.h"

namespace bigtable {
namespace {

class PosixLogFile final : public LogFile {
 public:
  // `mapping` is null or has `size` bytes, which this object unmaps.
  PosixLogFile(std::string path, Fd fd, uint64_t size, char* mapping)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size), mapping_(mapping) {}

  ~PosixLogFile() override {
    if (mapping_ != nullptr) ::munmap(mapping_, static_cast<size_t>(size_));
  }

  uint64_t size() const override { return size_; }
  char* mapping() override { return mapping_; }

  absl::Status Write(uint64_t offset, std::string_view data) override {
    BT_RETURN_IF_ERROR(CheckLogWrite(path_, offset, data.size(), size_));
    return WriteFullyAt(fd_, path_, offset, data);
  }

  // On Linux, fdatasync writes back every dirty page of the file, including pages that were changed
  // by stores into a shared mapping: no msync is needed. A failed sync is not retried: the kernel
  // reports an error once and marks the pages clean.
  absl::Status Sync() override {
    // One at a time: the kernel would report an error to only one of two concurrent syncs.
    MutexLock lock(&mutex_);
    BT_RETURN_IF_ERROR(usable_);
    if (RetryInterrupted([&] { return ::fdatasync(fd_.get()); }) != 0) {
      usable_ = PosixError(path_, "fdatasync", errno);
    }
    return usable_;
  }

 private:
  const std::string path_;
  const Fd fd_;
  const uint64_t size_;
  char* const mapping_;
  Mutex mutex_;
  absl::Status usable_ ABSL_GUARDED_BY(mutex_);
};

// Whether fallocate guarantees space for a later store into the file. Only file systems known to do
// so are trusted. A file system that never writes in place allocates new space for every write, and
// a network file system or a user-space one depends on another system.
//
// fstatfs identifies the file system, except one that is stacked on another: overlayfs reports only
// itself. But it passes on the attributes of the file below. Only ext4 has files that are marked as
// using extents (ext3's and ext2's are not, and cannot reserve space), and only XFS marks a file
// whose space was reserved. (The numbers are the kernel's, from linux/magic.h.)
bool ReservationHolds(const Fd& fd) {
  struct statfs info;
  if (::fstatfs(fd.get(), &info) != 0) return false;
  switch (static_cast<uint32_t>(info.f_type)) {
    case 0xef53:      // ext4, and ext3 and ext2, where fallocate fails
    case 0x58465342:  // XFS
    case 0x01021994:  // tmpfs
      return true;
    case 0x794c7630: {  // overlayfs
      int flags = 0;
      if (::ioctl(fd.get(), FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_EXTENT_FL) != 0) {
        return true;
      }
      struct fsxattr attributes = {};
      return ::ioctl(fd.get(), FS_IOC_FSGETXATTR, &attributes) == 0 &&
             (attributes.fsx_xflags & FS_XFLAG_PREALLOC) != 0;
    }
    default:
      return false;
  }
}

// The error of a failed fallocate, with the free space. Truncates the file, because a part may have
// been allocated.
absl::Status NoSpaceError(const Fd& fd, std::string_view path, uint64_t size) {
  struct statvfs info;
  std::string free;
  if (::ftruncate(fd.get(), 0) == 0 && ::fstatvfs(fd.get(), &info) == 0) {
    free = Cat("; ", uint64_t{info.f_bavail} * info.f_frsize, " are free");
  }
  return PosixError(path, Cat("fallocate of ", size, " bytes", free), ENOSPC);
}

// Gives the empty file its length, and its space if `reserve`. Sets `*reserved` to whether the
// space is reserved.
absl::Status Allocate(const Fd& fd, std::string_view path, uint64_t size, bool reserve,
                      bool* reserved) {
  *reserved = false;
  if (size > static_cast<uint64_t>(std::numeric_limits<off_t>::max())) {
    return PosixError(path, Cat("fallocate of ", size, " bytes"), EFBIG);
  }
  BT_RETURN_IF_ERROR(CheckFileSize(path, size, FileSizeLimit()));
  const off_t length = static_cast<off_t>(size);
  if (reserve && size > 0) {
    if (RetryInterrupted([&] { return ::fallocate(fd.get(), 0, 0, length); }) == 0) {
      *reserved = ReservationHolds(fd);
      return absl::OkStatus();
    }
    if (errno == ENOSPC) return NoSpaceError(fd, path, size);
    if (errno != EOPNOTSUPP && errno != ENOSYS) {
      return PosixError(path, Cat("fallocate of ", size, " bytes"), errno);
    }
  }
  if (RetryInterrupted([&] { return ::ftruncate(fd.get(), length); }) != 0) {
    return PosixError(path, Cat("ftruncate to ", size, " bytes"), errno);
  }
  return absl::OkStatus();
}

// Where the file system can use them, the kernel allocates larger pages for a write than for a
// store into a mapping, and it finds all of them when it populates the mapping. So on ext4 this
// takes a third of the CPU of letting it populate an allocated file (docs/internals/tried.md).
absl::Status WriteZeros(const Fd& fd, std::string_view path, uint64_t size) {
  constexpr uint64_t kPiece = 256 << 10;
  const std::string zeros(std::min(size, kPiece), '\0');
  for (uint64_t offset = 0; offset < size; offset += zeros.size()) {
    const std::string_view piece = std::string_view(zeros).substr(0, size - offset);
    BT_RETURN_IF_ERROR(WriteFullyAt(fd, path, offset, piece));
  }
  return absl::OkStatus();
}

// Null if memory cannot be mapped: the file is then written.
char* MapForWriting(const Fd& fd, uint64_t size) {
  if (size > std::numeric_limits<size_t>::max()) return nullptr;
  const size_t length = static_cast<size_t>(size);
  void* const memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return nullptr;
#ifdef MADV_POPULATE_WRITE
  // Populated, so that stores do not fault; kernels before 5.14 refuse.
  ::madvise(memory, length, MADV_POPULATE_WRITE);
#endif
  return static_cast<char*>(memory);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogFile>> NewPosixLogFile(const PosixPath& path, uint64_t size,
                                                         bool reserve) {
  BT_ASSIGN_OR_RETURN(Fd fd, OpenFd(path, O_RDWR | O_CREAT | O_TRUNC));
  bool reserved = false;
  absl::Status made = Allocate(fd, path.text(), size, reserve, &reserved);
  if (made.ok() && reserved) made = WriteZeros(fd, path.text(), size);
  if (!made.ok()) {
    ::unlinkat(path.directory(), path.name(), 0);
    return made;
  }
  char* const mapping = reserved ? MapForWriting(fd, size) : nullptr;
  return std::make_unique<PosixLogFile>(path.text(), std::move(fd), size, mapping);
}

}  // namespace bigtable
