#include "filesystem/posix_files.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "filesystem/file_errors.h"
#include "filesystem/posix_io.h"

#ifndef MADV_POPULATE_READ  // Linux 5.14
#define MADV_POPULATE_READ 22
#endif

namespace bigtable {
namespace {

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::Status Append(std::string_view data) override {
    BT_RETURN_IF_ERROR(usable_);
    BT_RETURN_IF_ERROR(usable_ = WriteFully(fd_, path_, data));
    size_ += data.size();
    return usable_ = StartWriteback();
  }

  // A failed sync is not tried again: the kernel reports an error once and marks the pages clean,
  // so that the next sync would say OK and lose them.
  absl::Status Sync() override {
    BT_RETURN_IF_ERROR(usable_);
    // fdatasync writes the length too, without which the bytes could not be read.
    if (RetryInterrupted([&] { return ::fdatasync(fd_.get()); }) != 0) {
      usable_ = PosixError(path_, "fdatasync", errno);
    }
    return usable_;
  }

  absl::Status Close() override {
    if (!fd_.is_open()) return absl::OkStatus();
    if (usable_.ok()) usable_ = FileIsClosed(path_);
    const int error = fd_.Close();
    return error == 0 ? absl::OkStatus() : PosixError(path_, "close", error);
  }

 private:
  // Has the kernel begin to write what was appended, a stretch at a time, so that Sync finds most
  // of it on the disk and need not wait for all. What goes wrong with the writing itself is an
  // error of Sync.
  absl::Status StartWriteback() {
    constexpr uint64_t kStretch = 1 << 20;
    constexpr uint64_t kPage = 4096;  // the last one is not full yet
    const uint64_t end = size_ / kPage * kPage;
    if (end < started_ + kStretch) return absl::OkStatus();
    const auto begin = static_cast<off64_t>(std::exchange(started_, end));
    const auto length = static_cast<off64_t>(end) - begin;
    const int result = RetryInterrupted(
        [&] { return ::sync_file_range(fd_.get(), begin, length, SYNC_FILE_RANGE_WRITE); });
    // Some file systems and kernels do not know it.
    if (result == 0 || errno == ENOSYS || errno == EINVAL || errno == ESPIPE) {
      return absl::OkStatus();
    }
    return PosixError(path_, "sync_file_range", errno);
  }

  const std::string path_;
  Fd fd_;
  uint64_t size_ = 0;
  uint64_t started_ = 0;  // writing up to here has begun
  absl::Status usable_;
};

class PosixRandomAccessFile final : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string path, Fd fd, uint64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  ~PosixRandomAccessFile() override {
    if (mapping_ == nullptr) return;
    ::munmap(mapping_, static_cast<size_t>(size_));
    limit_->now.fetch_sub(1, std::memory_order_relaxed);
  }

  // Leaves mapping() null where the file cannot be mapped. Before anybody else knows this object.
  //
  // The mapping keeps the kernel's default readahead: MADV_RANDOM would make Populate read a cold
  // block page by page, one request each.
  void Map(MappingLimit* limit) {
    if (size_ == 0 || size_ > SIZE_MAX) return;
    if (limit->now.fetch_add(1, std::memory_order_relaxed) < limit->most) {
      void* const memory =
          ::mmap(nullptr, static_cast<size_t>(size_), PROT_READ, MAP_SHARED, fd_.get(), 0);
      if (memory != MAP_FAILED) {
        mapping_ = memory;
        limit_ = limit;
        return;
      }
    }
    limit->now.fetch_sub(1, std::memory_order_relaxed);
  }

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    return ReadFullyAt(fd_, path_, offset, n, buffer);
  }
  uint64_t size() const override { return size_; }
  const char* mapping() const override { return static_cast<const char*>(mapping_); }

  absl::Status Populate(uint64_t offset, size_t n) const override {
    if (mapping_ == nullptr) return RandomAccessFile::Populate(offset, n);
    if (offset > size_ || n > size_ - offset) return FileTooShort(path_, offset, n, size_);
    if (n == 0 || PopulateByAdvice(offset, n) == 0) return absl::OkStatus();
    // Either the kernel is older than the advice, or the pages cannot be had: it does not say why.
    // Reading them does, and brings them in.
    BT_RETURN_IF_ERROR(PopulateByReading(offset, n));
    const int error = PopulateByAdvice(offset, n);
    if (error == 0 || error == EINVAL) return absl::OkStatus();
    return absl::UnavailableError(
        Cat(PosixError(path_, Cat("madvise at ", offset), error).message()));
  }

 private:
  int PopulateByAdvice(uint64_t offset, size_t n) const {
    static const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t start = offset / page * page;
    char* const from = static_cast<char*>(mapping_) + start;
    const size_t length = static_cast<size_t>(offset + n - start);
    const int result =
        RetryInterrupted([&] { return ::madvise(from, length, MADV_POPULATE_READ); });
    return result == 0 ? 0 : errno;
  }

  absl::Status PopulateByReading(uint64_t offset, size_t n) const {
    std::vector<char> scratch(std::min<size_t>(n, 256 << 10));
    while (n > 0) {
      const size_t now = std::min(n, scratch.size());
      BT_RETURN_IF_ERROR(ReadFullyAt(fd_, path_, offset, now, scratch.data()));
      offset += now;
      n -= now;
    }
    return absl::OkStatus();
  }

  const std::string path_;
  const Fd fd_;
  const uint64_t size_;
  void* mapping_ = nullptr;
  MappingLimit* limit_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<WritableFile>> NewPosixWritableFile(std::string path) {
  BT_ASSIGN_OR_RETURN(Fd fd, OpenFd(path, O_WRONLY | O_CREAT | O_TRUNC));
  return std::make_unique<PosixWritableFile>(std::move(path), std::move(fd));
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewPosixRandomAccessFile(std::string path,
                                                                           MappingLimit* limit) {
  uint64_t size = 0;
  BT_ASSIGN_OR_RETURN(Fd fd, OpenRegularFile(path, O_RDONLY, &size));
  auto file = std::make_unique<PosixRandomAccessFile>(std::move(path), std::move(fd), size);
  if (limit != nullptr) file->Map(limit);
  return file;
}

}  // namespace bigtable
