// A file system on top of another one that cannot unlink an open file. Like NFS and FUSE, it
// renames the file to .hiddenN in the same directory until the last handle is closed. A directory
// that contains such a file cannot be removed. Works for files that are opened through it.
// Thread-safe.
#ifndef BIGTABLE_TESTS_SUPPORT_HIDING_FILE_SYSTEM_H_
#define BIGTABLE_TESTS_SUPPORT_HIDING_FILE_SYSTEM_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bigtable/file_system_wrapper.h"

#include "base/mutex.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

class HidingFileSystem final : public FileSystemWrapper {
 public:
  // `base` must outlive this object, and this object its files.
  explicit HidingFileSystem(FileSystem* base) : FileSystemWrapper(base) {}

  int open_files() const {
    MutexLock lock(&mutex_);
    return static_cast<int>(open_.size());
  }

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(std::string_view path,
                                                                        ReadMode mode) override {
    BT_ASSIGN_OR_RETURN(auto file, base()->NewRandomAccessFile(path, mode));
    return std::make_unique<OpenRandomAccessFile>(this, path, std::move(file));
  }
  absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                      uint64_t size) override {
    BT_ASSIGN_OR_RETURN(auto file, base()->NewLogFile(path, size));
    return std::make_unique<OpenLogFile>(this, path, std::move(file));
  }
  absl::Status RemoveFile(std::string_view path) override {
    MutexLock lock(&mutex_);
    return Hides(path) ? Hide(path) : base()->RemoveFile(path);
  }
  absl::Status RenameFile(std::string_view from, std::string_view to) override {
    MutexLock lock(&mutex_);
    if (from != to && Hides(to)) BT_RETURN_IF_ERROR(Hide(to));
    BT_RETURN_IF_ERROR(base()->RenameFile(from, to));
    Rename(from, to);
    return absl::OkStatus();
  }

 private:
  // One object for each open handle; its address identifies the handle.
  class Opened {
   public:
    Opened(HidingFileSystem* owner, std::string_view path) : owner_(owner) {
      MutexLock lock(&owner_->mutex_);
      owner_->open_[this] = path;
    }
    ~Opened() {
      MutexLock lock(&owner_->mutex_);
      const std::string path = owner_->open_[this];
      owner_->open_.erase(this);
      if (owner_->hidden_.contains(path) && !owner_->Hides(path)) {
        owner_->hidden_.erase(path);
        owner_->base()->RemoveFile(path).IgnoreError();
      }
    }

   private:
    HidingFileSystem* const owner_;
  };
  class OpenRandomAccessFile final : public RandomAccessFile {
   public:
    OpenRandomAccessFile(HidingFileSystem* owner, std::string_view path,
                         std::unique_ptr<RandomAccessFile> base)
        : opened_(owner, path), base_(std::move(base)) {}
    absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
      return base_->Read(offset, n, buffer);
    }
    uint64_t size() const override { return base_->size(); }
    uint64_t identity() const override { return base_->identity(); }
    const char* mapping() const override { return base_->mapping(); }
    absl::Status Populate(uint64_t offset, size_t n) const override {
      return base_->Populate(offset, n);
    }

   private:
    const Opened opened_;
    const std::unique_ptr<RandomAccessFile> base_;
  };
  class OpenLogFile final : public LogFile {
   public:
    OpenLogFile(HidingFileSystem* owner, std::string_view path, std::unique_ptr<LogFile> base)
        : opened_(owner, path), base_(std::move(base)) {}
    uint64_t size() const override { return base_->size(); }
    char* mapping() override { return base_->mapping(); }
    absl::Status Write(uint64_t offset, std::string_view data) override {
      return base_->Write(offset, data);
    }
    absl::Status Sync() override { return base_->Sync(); }

   private:
    const Opened opened_;
    const std::unique_ptr<LogFile> base_;
  };

  bool Hides(std::string_view path) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const auto& [file, name] : open_) {
      if (name == path) return true;
    }
    return false;
  }
  void Rename(std::string_view from, std::string_view to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (auto& [file, name] : open_) {
      if (name == from) name = to;
    }
  }
  absl::Status Hide(std::string_view path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const std::string hidden = Cat(path.substr(0, path.rfind('/')), "/.hidden", ++last_hidden_);
    BT_RETURN_IF_ERROR(base()->RenameFile(path, hidden));
    Rename(path, hidden);
    hidden_.insert(hidden);
    return absl::OkStatus();
  }

  mutable Mutex mutex_;
  std::map<const Opened*, std::string> open_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> hidden_ ABSL_GUARDED_BY(mutex_);
  int last_hidden_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_HIDING_FILE_SYSTEM_H_
