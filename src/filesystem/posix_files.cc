#include "filesystem/posix_files.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "filesystem/file_errors.h"
#include "filesystem/posix_io.h"
#include "filesystem/uring_queue.h"

#ifndef MADV_POPULATE_READ  // Linux 5.14
#define MADV_POPULATE_READ 22
#endif

namespace bigtable {
namespace {

uint64_t PageSize() {
  static const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return page;
}

// The number is the kernel's, from linux/magic.h, and also that of ext3 and ext2.
bool IsExt4(const Fd& fd) {
  struct statfs info;
  return ::fstatfs(fd.get(), &info) == 0 && static_cast<uint32_t>(info.f_type) == 0xef53;
}

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  ~PosixWritableFile() override {
    if (fd_.is_open()) FreeReserved();
  }

  absl::Status Append(std::string_view data) override {
    BT_RETURN_IF_ERROR(usable_);
    BT_RETURN_IF_ERROR(usable_ = CheckFileSize(path_, size_ + data.size(), limit_));
    Reserve(size_ + data.size());
    BT_RETURN_IF_ERROR(usable_ = WriteFully(fd_, path_, data));
    size_ += data.size();
    return usable_ = StartWriteback();
  }

  // A failed sync is not retried: the kernel reports an error once and marks the pages clean, so
  // the next sync would return OK although the data is lost.
  absl::Status Sync() override {
    BT_RETURN_IF_ERROR(usable_);
    FreeReserved();
    // fdatasync also writes the length, without which the bytes could not be read.
    if (RetryInterrupted([&] { return ::fdatasync(fd_.get()); }) != 0) {
      usable_ = PosixError(path_, "fdatasync", errno);
    }
    return usable_;
  }

  absl::Status Close() override {
    if (!fd_.is_open()) return absl::OkStatus();
    FreeReserved();
    if (usable_.ok()) usable_ = FileIsClosed(path_);
    const int error = fd_.Close();
    return error == 0 ? absl::OkStatus() : PosixError(path_, "close", error);
  }

 private:
  // Reserves space behind the file, some megabytes at a time, before it grows to `end`: that takes
  // less than finding space for each block that is written. Not for small files, and only on ext4:
  // others reserve on their own, or do not give back a part of what was reserved. If it fails, the
  // write finds out whether there is space.
  void Reserve(uint64_t end) {
    constexpr uint64_t kLarge = 1 << 20;
    constexpr uint64_t kStep = 4 << 20;
    if (end <= reserved_ || end < kLarge || end > limit_ - std::min(limit_, kStep)) return;
    if (!may_reserve_.has_value()) may_reserve_ = IsExt4(fd_);
    if (!*may_reserve_) return;
    reserved_ = end + kStep;
    const auto begin = static_cast<off_t>(size_);
    const auto length = static_cast<off_t>(reserved_ - size_);
    RetryInterrupted([&] { return ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, begin, length); });
  }

  // Gives back the space behind the file. If that fails, it only takes space.
  void FreeReserved() {
    if (std::exchange(reserved_, 0) <= size_) return;
    const auto size = static_cast<off_t>(size_);
    static_cast<void>(RetryInterrupted([&] { return ::ftruncate(fd_.get(), size); }));
  }

  // Has the kernel begin to write appended data, one large range at a time, so that Sync finds most
  // of it on the disk and need not wait for all of it. Errors of the writing itself are errors of
  // Sync.
  absl::Status StartWriteback() {
    constexpr uint64_t kStretch = 1 << 20;
    const uint64_t end = size_ / PageSize() * PageSize();  // the last page is not full yet
    if (end < started_ + kStretch) return absl::OkStatus();
    const auto begin = static_cast<off64_t>(std::exchange(started_, end));
    const auto length = static_cast<off64_t>(end) - begin;
    const int result = RetryInterrupted(
        [&] { return ::sync_file_range(fd_.get(), begin, length, SYNC_FILE_RANGE_WRITE); });
    // Some file systems and kernels do not support it.
    if (result == 0 || errno == ENOSYS || errno == EINVAL || errno == ESPIPE) {
      return absl::OkStatus();
    }
    return PosixError(path_, "sync_file_range", errno);
  }

  const std::string path_;
  Fd fd_;
  const uint64_t limit_ = FileSizeLimit();
  uint64_t size_ = 0;
  uint64_t reserved_ = 0;  // the space up to here, at most; 0: none
  std::optional<bool> may_reserve_;
  uint64_t started_ = 0;  // writing up to here has begun
  absl::Status usable_;
};

// Whether the kernel supports MADV_POPULATE_READ. Without it a mapped file keeps its descriptor,
// since only read() reports what is wrong with a page; so fewer files are mapped.
bool KernelPopulates() {
  static const bool populates = [] {
    const auto size = static_cast<size_t>(PageSize());
    void* const page = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    const bool result = ::madvise(page, size, MADV_POPULATE_READ) == 0;
    ::munmap(page, size);
    return result;
  }();
  return populates;
}

int MostMappings(const MappedFiles& mapped) {
  struct rlimit descriptors;
  if (KernelPopulates() || ::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return mapped.most;
  return static_cast<int>(std::min<rlim_t>(descriptors.rlim_cur / 4, mapped.most));
}

// Opening a file again costs little compared with a read from the disk.
size_t MostReopened() {
  constexpr rlim_t kMost = 1024;
  struct rlimit descriptors;
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return 1;
  return static_cast<size_t>(std::clamp<rlim_t>(descriptors.rlim_cur / 8, 1, kMost));
}

// Memory of the calling thread for reads past the system's memory, at a page's boundary.
constexpr size_t kUncachedBuffer = 64 << 10;

char* UncachedBuffer() {
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  static thread_local const std::unique_ptr<char, Free> buffer(
      static_cast<char*>(std::aligned_alloc(4096, kUncachedBuffer)));
  return buffer.get();
}

class PosixRandomAccessFile final : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string path, Fd fd, const struct stat& info)
      : path_(std::move(path)),
        fd_(std::move(fd)),
        size_(static_cast<uint64_t>(info.st_size)),
        device_(info.st_dev),
        inode_(info.st_ino),
        // mincore reports every page as resident to users who could not write the file.
        sees_residency_(info.st_uid == ::geteuid() || ::geteuid() == 0) {}

  ~PosixRandomAccessFile() override {
    if (mapping_ == nullptr) return;
    mapped_->reopened.Remove(&reopened_);
    mapped_->reopened.Remove(&uncached_);
    ::munmap(mapping_, static_cast<size_t>(size_));
    mapped_->now.fetch_sub(1, std::memory_order_relaxed);
  }

  // Leaves mapping() null if the file cannot be mapped. Called before other threads know this
  // object.
  //
  // The mapping disables the kernel's readahead: on a fault the kernel would read as much as is
  // configured for the disk, up to megabytes, and evict pages that are needed. A caller that wants
  // more than a page calls WillNeed.
  void Map(MappedFiles* mapped) {
    if (size_ == 0 || size_ > SIZE_MAX) return;
    if (mapped->now.fetch_add(1, std::memory_order_relaxed) < MostMappings(*mapped)) {
      const auto size = static_cast<size_t>(size_);
      void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_.get(), 0);
      if (memory != MAP_FAILED) {
        ::madvise(memory, size, MADV_RANDOM);
        mapping_ = memory;
        mapped_ = mapped;
        if (KernelPopulates()) fd_.Close();
        return;
      }
    }
    mapped->now.fetch_sub(1, std::memory_order_relaxed);
  }

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    if (fd_.is_open()) return ReadFullyAt(fd_, path_, offset, n, buffer);
    if (const auto fd = reopened_.Find()) return ReadFullyAt(*fd, path_, offset, n, buffer);
    WillNeed(offset, n);
    BT_RETURN_IF_ERROR(Populate(offset, n));
    if (n > 0) std::memcpy(buffer, mapping() + offset, n);
    return absl::OkStatus();
  }
  uint64_t size() const override { return size_; }
  uint64_t identity() const override {
    return static_cast<uint64_t>(device_) * 0x9e3779b97f4a7c15 ^ static_cast<uint64_t>(inode_);
  }
  const char* mapping() const override { return static_cast<const char*>(mapping_); }

  absl::Status Populate(uint64_t offset, size_t n) const override {
    if (mapping_ == nullptr) return RandomAccessFile::Populate(offset, n);
    if (!Contains(offset, n)) return FileTooShort(path_, offset, n, size_);
    if (n == 0) return absl::OkStatus();
    if (!sees_residency_) WillNeed(offset, n);  // IsResident may return a wrong answer
    if (KernelPopulates() && Advise(offset, n, MADV_POPULATE_READ) == 0) return absl::OkStatus();
    // Either the kernel is older than this advice, or the pages cannot be read; madvise does not
    // report why. Reading them reports the error, and brings them in.
    BT_RETURN_IF_ERROR(PopulateByReading(offset, n));
    const int error = Advise(offset, n, MADV_POPULATE_READ);
    if (error == 0 || error == EINVAL) return absl::OkStatus();
    return absl::UnavailableError(
        Cat(PosixError(path_, Cat("madvise at ", offset), error).message()));
  }

  bool ReadsByPosition() const override {
    return fd_.is_open() || Reopen(&reopened_, 0) != nullptr;
  }

  absl::Status ReadUncached(uint64_t offset, size_t n, char* buffer) const override {
    const auto fd = mapping_ == nullptr ? nullptr : uncached_.Find();
    while (fd != nullptr && n > 0 && Contains(offset, n)) {
      const uint64_t sector = sector_.load(std::memory_order_relaxed);
      if (sector == 0) break;
      const uint64_t begin = offset / sector * sector;
      const uint64_t end = (offset + n + sector - 1) / sector * sector;
      const bool is_whole =
          begin == offset && end == offset + n && reinterpret_cast<uintptr_t>(buffer) % sector == 0;
      char* memory = buffer;
      if (!is_whole) memory = end - begin <= kUncachedBuffer ? UncachedBuffer() : nullptr;
      if (memory == nullptr) break;
      const ssize_t got = RetryInterrupted([&] {
        return ::pread(fd->get(), memory, static_cast<size_t>(end - begin),
                       static_cast<off_t>(begin));
      });
      if (got < 0 && errno == EINVAL) {  // its sectors are larger, or it cannot be read so
        sector_.store(sector < kLargestSector ? kLargestSector : 0, std::memory_order_relaxed);
        continue;
      }
      if (got < 0 || static_cast<uint64_t>(got) < offset + n - begin) break;
      if (!is_whole) std::memcpy(buffer, memory + (offset - begin), n);
      return absl::OkStatus();
    }
    return Read(offset, n, buffer);  // it also reports errors
  }
  bool ReadsUncached() const override {
    return mapping_ != nullptr && sector_.load(std::memory_order_relaxed) != 0 &&
           Reopen(&uncached_, O_DIRECT) != nullptr;
  }

  bool BeginRead(ReadQueue* queue, ReadQueue::Read* read) const override {
    auto* const ring = dynamic_cast<UringQueue*>(queue);
    const uint64_t sector = sector_.load(std::memory_order_relaxed);
    if (ring == nullptr || mapping_ == nullptr || sector == 0 || read->size == 0 ||
        !Contains(read->offset, read->size)) {
      return false;
    }
    auto fd = Reopen(&uncached_, O_DIRECT);
    if (fd == nullptr) return false;
    const uint64_t begin = read->offset / sector * sector;
    const uint64_t end = (read->offset + read->size + sector - 1) / sector * sector;
    // To whole pages: a page that is shared with other memory would be copied by a fork meanwhile.
    const auto address = reinterpret_cast<uintptr_t>(read->memory);
    char* const to = read->memory + (kLargestSector - address % kLargestSector) % kLargestSector;
    return ring->Add(std::move(fd), begin, static_cast<size_t>(end - begin), to, read);
  }

  void WillNeed(uint64_t offset, size_t n) const override {
    if (n == 0 || !Contains(offset, n)) return;
    if (mapping_ != nullptr) {
      Advise(offset, n, MADV_WILLNEED);
    } else {
      ::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(n),
                      POSIX_FADV_WILLNEED);
    }
  }

  bool IsResident(uint64_t offset, size_t n) const override {
    if (mapping_ == nullptr || n == 0 || !Contains(offset, n) || !sees_residency_) return true;
    constexpr size_t kPagesAtOnce = 512;
    unsigned char pages[kPagesAtOnce];
    const uint64_t end = offset + n;
    for (uint64_t at = offset / PageSize() * PageSize(); at < end;) {
      const uint64_t length = std::min(end - at, kPagesAtOnce * PageSize());
      if (::mincore(static_cast<char*>(mapping_) + at, static_cast<size_t>(length), pages) != 0) {
        return true;
      }
      const uint64_t count = (length + PageSize() - 1) / PageSize();
      if (!std::all_of(pages, pages + count, [](unsigned char page) { return (page & 1) != 0; })) {
        return false;
      }
      at += length;
    }
    return true;
  }

 private:
  bool Contains(uint64_t offset, size_t n) const { return offset <= size_ && n <= size_ - offset; }

  // Returns 0 or the errno value.
  int Advise(uint64_t offset, size_t n, int advice) const {
    const uint64_t start = offset / PageSize() * PageSize();
    char* const from = static_cast<char*>(mapping_) + start;
    const auto length = static_cast<size_t>(offset + n - start);
    const int result = RetryInterrupted([&] { return ::madvise(from, length, advice); });
    return result == 0 ? 0 : errno;
  }

  // Null if it cannot be opened: its name may be gone or may name another file, or the file system
  // does not know the flags.
  std::shared_ptr<const Fd> Reopen(ReopenedFiles::Entry* entry, int flags) const {
    if (auto fd = entry->Find()) return fd;
    absl::StatusOr<Fd> fd = OpenFd(path_, O_RDONLY | O_NONBLOCK | flags);
    if (!fd.ok() && absl::IsInvalidArgument(fd.status())) {
      sector_.store(0, std::memory_order_relaxed);
    }
    struct stat info;
    if (!fd.ok() || ::fstat(fd->get(), &info) != 0 || info.st_dev != device_ ||
        info.st_ino != inode_) {
      return nullptr;
    }
    // It was for the opening. io_uring would not wait for the disk.
    ::fcntl(fd->get(), F_SETFL, flags);
    auto shared = std::make_shared<const Fd>(*std::move(fd));
    mapped_->reopened.Add(entry, shared, MostReopened());
    return shared;
  }

  absl::Status PopulateByReading(uint64_t offset, size_t n) const {
    if (fd_.is_open()) return ReadThrough(fd_, offset, n);
    const std::shared_ptr<const Fd> fd = Reopen(&reopened_, 0);
    // Without a descriptor, only the error of the advice is known.
    return fd == nullptr ? absl::OkStatus() : ReadThrough(*fd, offset, n);
  }

  absl::Status ReadThrough(const Fd& fd, uint64_t offset, size_t n) const {
    std::vector<char> scratch(std::min<size_t>(n, 256 << 10));
    while (n > 0) {
      const size_t now = std::min(n, scratch.size());
      BT_RETURN_IF_ERROR(ReadFullyAt(fd, path_, offset, now, scratch.data()));
      offset += now;
      n -= now;
    }
    return absl::OkStatus();
  }

  const std::string path_;
  Fd fd_;  // closed once the file is mapped
  const uint64_t size_;
  const dev_t device_;
  const ino_t inode_;
  const bool sees_residency_;
  void* mapping_ = nullptr;
  MappedFiles* mapped_ = nullptr;
  // Once it is mapped; and what ReadUncached reads a multiple of, 0 if the file system cannot do
  // it.
  static constexpr uint32_t kSmallestSector = 512;
  static constexpr uint32_t kLargestSector = 4096;
  mutable ReopenedFiles::Entry reopened_;
  mutable ReopenedFiles::Entry uncached_;
  mutable std::atomic<uint32_t> sector_{kSmallestSector};
};

}  // namespace

absl::StatusOr<std::unique_ptr<WritableFile>> NewPosixWritableFile(const PosixPath& path) {
  BT_ASSIGN_OR_RETURN(Fd fd, OpenFd(path, O_WRONLY | O_CREAT | O_TRUNC));
  return std::make_unique<PosixWritableFile>(path.text(), std::move(fd));
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewPosixRandomAccessFile(const PosixPath& path,
                                                                           MappedFiles* mapped) {
  uint64_t size = 0;
  BT_ASSIGN_OR_RETURN(Fd fd, OpenRegularFile(path, O_RDONLY, &size));
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return PosixError(path.text(), "fstat", errno);
  auto file = std::make_unique<PosixRandomAccessFile>(path.text(), std::move(fd), info);
  if (mapped != nullptr) file->Map(mapped);
  return file;
}

}  // namespace bigtable
