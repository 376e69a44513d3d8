// A file system whose calls a test hears of.
#ifndef BIGTABLE_TESTS_SUPPORT_WATCHED_FILE_SYSTEM_H_
#define BIGTABLE_TESTS_SUPPORT_WATCHED_FILE_SYSTEM_H_

#include <atomic>
#include <functional>
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

// Calls a function before each call that changes something below a path.
class WatchedFileSystem final : public FileSystemWrapper {
 public:
  explicit WatchedFileSystem(FileSystem* base, std::string path = "")
      : FileSystemWrapper(base), path_(std::move(path)) {}

  void Watch(std::function<void()> before) {
    MutexLock lock(&mutex_);
    before_ = std::move(before);
  }
  // As of a file system that has none.
  void RefuseLinks() { refuses_links_ = true; }
  // Files below the path that were created and whose names end like this; links do not count.
  int created(std::string_view ending) const {
    MutexLock lock(&mutex_);
    int count = 0;
    for (const std::string& path : created_) count += path.ends_with(ending) ? 1 : 0;
    return count;
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(std::string_view path) override {
    Look(path);
    if (path.starts_with(path_)) {
      MutexLock lock(&mutex_);
      created_.emplace_back(path);
    }
    return FileSystemWrapper::NewWritableFile(path);
  }
  absl::Status CreateDirectory(std::string_view path) override {
    Look(path);
    return FileSystemWrapper::CreateDirectory(path);
  }
  absl::Status RemoveFile(std::string_view path) override {
    Look(path);
    return FileSystemWrapper::RemoveFile(path);
  }
  absl::Status RenameFile(std::string_view from, std::string_view to) override {
    Look(to);
    return FileSystemWrapper::RenameFile(from, to);
  }
  absl::Status LinkFile(std::string_view from, std::string_view to) override {
    Look(to);
    if (refuses_links_) return FileSystem::LinkFile(from, to);
    return FileSystemWrapper::LinkFile(from, to);
  }
  absl::Status SyncFile(std::string_view path) override {
    Look(path);
    return FileSystemWrapper::SyncFile(path);
  }
  absl::Status SyncDirectory(std::string_view path) override {
    Look(path);
    return FileSystemWrapper::SyncDirectory(path);
  }

 private:
  void Look(std::string_view path) {
    if (!path.starts_with(path_)) return;
    std::function<void()> before;
    {
      MutexLock lock(&mutex_);
      before = before_;
    }
    if (before != nullptr) before();
  }

  const std::string path_;
  mutable Mutex mutex_;
  std::function<void()> before_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> created_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> refuses_links_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_WATCHED_FILE_SYSTEM_H_
