// The readers of log_file.h.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "encryption/log_file.h"
#include "encryption/log_format.h"
#include "filesystem/file_errors.h"

namespace bigtable {
namespace {

// What a thread reads with, as for files that are written once (appended_reader.cc).
struct LogReadingThread {
  static constexpr uint64_t kMostBytes = 64 << 10;  // whole units

  Xts xts;
  char bytes[kMostBytes];
};

class EncryptedLogReader final : public RandomAccessFile {
 public:
  EncryptedLogReader(std::string path, std::unique_ptr<RandomAccessFile> base, uint64_t size,
                     const DataKey& key)
      : path_(std::move(path)), base_(std::move(base)), size_(size), key_(key) {}

  uint64_t size() const override { return size_; }
  uint64_t identity() const override { return base_->identity(); }

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    if (offset > size_ || n > size_ - offset) return FileTooShort(path_, offset, n, size_);
    thread_local const auto thread = std::make_unique<LogReadingThread>();
    BT_RETURN_IF_ERROR(thread->xts.SetKey(key_.xts(), Direction::kDecrypt));
    while (n > 0) {
      const uint64_t begin = offset / Xts::kUnit * Xts::kUnit;
      const uint64_t end =
          std::min(begin + LogReadingThread::kMostBytes, StoredLogSize(offset + n));
      const size_t take = std::min<uint64_t>(n, end - offset);
      BT_RETURN_IF_ERROR(base_->Read(kLogContentsAt + begin, end - begin, thread->bytes));
      BT_RETURN_IF_ERROR(DecryptUnits(&thread->xts, begin, thread->bytes, end - begin));
      std::memcpy(buffer, thread->bytes + (offset - begin), take);
      offset += take;
      buffer += take;
      n -= take;
    }
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  const std::unique_ptr<RandomAccessFile> base_;
  const uint64_t size_;
  const DataKey key_;
};

class ZerosReader final : public RandomAccessFile {
 public:
  ZerosReader(std::string path, uint64_t size, uint64_t identity)
      : path_(std::move(path)), size_(size), identity_(identity) {}

  uint64_t size() const override { return size_; }
  uint64_t identity() const override { return identity_; }
  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    if (offset > size_ || n > size_ - offset) return FileTooShort(path_, offset, n, size_);
    std::memset(buffer, 0, n);
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  const uint64_t size_;
  const uint64_t identity_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenEncryptedLogFile(
    std::string path, std::unique_ptr<RandomAccessFile> base, uint64_t size, const DataKey& key) {
  const uint64_t stored = base->size();
  if (stored < kLogContentsAt || size > stored - kLogContentsAt) {
    return absl::DataLossError(Cat(path, " at offset ", stored, ": the file was cut off; its ",
                                   size, " bytes begin at offset ", kLogContentsAt));
  }
  return std::make_unique<EncryptedLogReader>(std::move(path), std::move(base), size, key);
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenUnsyncedLogFile(
    std::string path, const RandomAccessFile& base) {
  if (base.size() < kLogContentsAt) return nullptr;
  std::string begin(kLogContentsAt, '\0');
  BT_RETURN_IF_ERROR(base.Read(0, begin.size(), begin.data()));
  if (begin.find_first_not_of('\0') != std::string::npos) return nullptr;
  return std::make_unique<ZerosReader>(std::move(path), base.size() - kLogContentsAt,
                                       base.identity());
}

}  // namespace bigtable
