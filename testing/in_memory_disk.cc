#include "testing/in_memory_disk.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "filesystem/file_errors.h"

namespace bigtable {
namespace {

class InMemoryWritableFile final : public WritableFile {
 public:
  InMemoryWritableFile(std::shared_ptr<InMemoryDisk> disk, std::shared_ptr<InMemoryFile> file,
                       std::shared_ptr<AppendedBytes> bytes, std::string path)
      : disk_(std::move(disk)),
        file_(std::move(file)),
        bytes_(std::move(bytes)),
        path_(std::move(path)) {}

  absl::Status Append(std::string_view data) override {
    BT_RETURN_IF_ERROR(usable_);
    MutexLock lock(&disk_->mutex);
    const uint64_t fits = std::min<uint64_t>(data.size(), disk_->FreeBytes());
    bytes_->Append(data.substr(0, fits));  // like a disk that becomes full
    if (fits < data.size()) {
      usable_ = absl::ResourceExhaustedError(Cat(path_, ": write: no space left on the disk"));
    }
    return usable_;
  }

  absl::Status Sync() override {
    BT_RETURN_IF_ERROR(usable_);
    MutexLock lock(&disk_->mutex);
    file_->Sync(bytes_);
    return absl::OkStatus();
  }

  absl::Status Close() override {
    if (usable_.ok()) usable_ = FileIsClosed(path_);
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<InMemoryDisk> disk_;
  const std::shared_ptr<InMemoryFile> file_;
  const std::shared_ptr<AppendedBytes> bytes_;
  const std::string path_;
  absl::Status usable_;
};

class InMemoryLogFile final : public LogFile {
 public:
  InMemoryLogFile(std::shared_ptr<InMemoryDisk> disk, std::shared_ptr<InMemoryFile> file,
                  std::shared_ptr<LogBytes> bytes, std::string path)
      : disk_(std::move(disk)),
        file_(std::move(file)),
        bytes_(std::move(bytes)),
        path_(std::move(path)) {}

  uint64_t size() const override { return bytes_->size(); }
  char* mapping() override { return size() == 0 ? nullptr : bytes_->memory(); }

  absl::Status Write(uint64_t offset, std::string_view data) override {
    BT_RETURN_IF_ERROR(CheckLogWrite(path_, offset, data.size(), size()));
    MutexLock lock(&disk_->mutex);
    std::copy(data.begin(), data.end(), bytes_->memory() + offset);
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    MutexLock lock(&disk_->mutex);
    file_->Sync(bytes_);
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<InMemoryDisk> disk_;
  const std::shared_ptr<InMemoryFile> file_;
  const std::shared_ptr<LogBytes> bytes_;
  const std::string path_;
};

class InMemoryRandomAccessFile final : public RandomAccessFile {
 public:
  InMemoryRandomAccessFile(std::shared_ptr<InMemoryDisk> disk, std::shared_ptr<InMemoryFile> file,
                           uint64_t size, std::shared_ptr<const char> mapping, std::string path)
      : disk_(std::move(disk)),
        file_(std::move(file)),
        size_(size),
        mapping_(std::move(mapping)),
        path_(std::move(path)) {}

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    MutexLock lock(&disk_->mutex);
    const uint64_t size = file_->bytes->size();
    if (n > 0 && (offset > size || n > size - offset)) return FileTooShort(path_, offset, n, size);
    if (n > 0) file_->bytes->Read(offset, n, buffer);
    return absl::OkStatus();
  }

  uint64_t size() const override { return size_; }
  uint64_t identity() const override { return reinterpret_cast<uintptr_t>(file_.get()); }
  const char* mapping() const override { return mapping_.get(); }

  absl::Status Populate(uint64_t offset, size_t n) const override {
    if (mapping_ == nullptr) return RandomAccessFile::Populate(offset, n);
    if (offset > size_ || n > size_ - offset) return FileTooShort(path_, offset, n, size_);
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<InMemoryDisk> disk_;
  const std::shared_ptr<InMemoryFile> file_;
  const uint64_t size_;
  const std::shared_ptr<const char> mapping_;
  const std::string path_;
};

// Bytes that have several names are counted once.
uint64_t TotalBytesIn(const InMemoryDirectory& directory, std::set<const InMemoryBytes*>* counted) {
  uint64_t total = 0;
  for (const auto& [_, name] : directory.names) {
    const InMemoryNode& node = name.now();
    if (node.file && counted->insert(node.file->bytes.get()).second) {
      total += node.file->bytes->size();
    }
    if (node.directory) total += TotalBytesIn(*node.directory, counted);
  }
  return total;
}

}  // namespace

uint64_t InMemoryDisk::TotalBytes() const {
  std::set<const InMemoryBytes*> counted;
  return TotalBytesIn(*names.root(), &counted);
}

uint64_t InMemoryDisk::FreeBytes() const {
  if (max_total_bytes == UINT64_MAX) return UINT64_MAX;  // avoids the walk for every append
  const uint64_t total = TotalBytes();
  return total < max_total_bytes ? max_total_bytes - total : 0;
}

std::unique_ptr<WritableFile> NewInMemoryWritableFile(std::shared_ptr<InMemoryDisk> disk,
                                                      std::shared_ptr<InMemoryFile> file,
                                                      std::shared_ptr<AppendedBytes> bytes,
                                                      std::string path) {
  return std::make_unique<InMemoryWritableFile>(std::move(disk), std::move(file), std::move(bytes),
                                                std::move(path));
}

std::unique_ptr<LogFile> NewInMemoryLogFile(std::shared_ptr<InMemoryDisk> disk,
                                            std::shared_ptr<InMemoryFile> file,
                                            std::shared_ptr<LogBytes> bytes, std::string path) {
  return std::make_unique<InMemoryLogFile>(std::move(disk), std::move(file), std::move(bytes),
                                           std::move(path));
}

std::unique_ptr<RandomAccessFile> NewInMemoryRandomAccessFile(std::shared_ptr<InMemoryDisk> disk,
                                                              std::shared_ptr<InMemoryFile> file,
                                                              uint64_t size,
                                                              std::shared_ptr<const char> mapping,
                                                              std::string path) {
  return std::make_unique<InMemoryRandomAccessFile>(std::move(disk), std::move(file), size,
                                                    std::move(mapping), std::move(path));
}

}  // namespace bigtable
