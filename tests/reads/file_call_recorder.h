// A file system that records which parts of its SSTables are requested and read, in order.
#ifndef BIGTABLE_TESTS_READS_FILE_CALL_RECORDER_H_
#define BIGTABLE_TESTS_READS_FILE_CALL_RECORDER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/file_system_wrapper.h"

#include "base/mutex.h"

namespace bigtable {

// Thread-safe. Outlives its files.
class FileCallRecorder final : public FileSystemWrapper {
 public:
  enum class Kind { kWillNeed, kRead, kPopulate };
  struct Call {
    Kind kind;
    std::string path;
    uint64_t offset;
    size_t size;
  };

  using FileSystemWrapper::FileSystemWrapper;

  // Whether pages of mapped files seem to have been dropped.
  void SetCold(bool is_cold) { is_cold_ = is_cold; }
  // Returns the calls since the last Take.
  std::vector<Call> Take() {
    MutexLock lock(&mutex_);
    return std::exchange(calls_, {});
  }

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(std::string_view path,
                                                                        ReadMode mode) override {
    auto file = FileSystemWrapper::NewRandomAccessFile(path, mode);
    if (!file.ok() || !path.ends_with(".sst")) return file;
    return std::make_unique<File>(this, std::string(path), *std::move(file));
  }

 private:
  class File final : public RandomAccessFile {
   public:
    File(FileCallRecorder* recorder, std::string path, std::unique_ptr<RandomAccessFile> file)
        : recorder_(recorder), path_(std::move(path)), file_(std::move(file)) {}

    absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
      recorder_->Add({Kind::kRead, path_, offset, n});
      return file_->Read(offset, n, buffer);
    }
    uint64_t size() const override { return file_->size(); }
    uint64_t identity() const override { return file_->identity(); }
    const char* mapping() const override { return file_->mapping(); }
    absl::Status Populate(uint64_t offset, size_t n) const override {
      recorder_->Add({Kind::kPopulate, path_, offset, n});
      return file_->Populate(offset, n);
    }
    void WillNeed(uint64_t offset, size_t n) const override {
      recorder_->Add({Kind::kWillNeed, path_, offset, n});
      file_->WillNeed(offset, n);
    }
    bool ReadsByPosition() const override { return file_->ReadsByPosition(); }
    bool IsResident(uint64_t offset, size_t n) const override {
      return !recorder_->is_cold_ && file_->IsResident(offset, n);
    }

   private:
    FileCallRecorder* const recorder_;
    const std::string path_;
    const std::unique_ptr<RandomAccessFile> file_;
  };

  void Add(Call call) {
    MutexLock lock(&mutex_);
    calls_.push_back(std::move(call));
  }

  std::atomic<bool> is_cold_ = false;
  Mutex mutex_;
  std::vector<Call> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_READS_FILE_CALL_RECORDER_H_
