// The SSTables that a database that follows another one uses: they stay open, so that the writer
// may remove them. What keeps the bytes is the system, as long as a process has the file open or
// mapped. So nobody has to be told what is in use, and what a process has used is free when it
// ends, however it ends.
#ifndef BIGTABLE_FOLLOWING_HELD_FILES_H_
#define BIGTABLE_FOLLOWING_HELD_FILES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/mutex.h"

namespace bigtable {

// Thread-safe.
class HeldFiles {
 public:
  // `files` outlives this, and the files that it returns. Each is opened in this way.
  HeldFiles(FileSystem* files, FileSystem::ReadMode mode) : files_(files), mode_(mode) {}
  HeldFiles(const HeldFiles&) = delete;
  HeldFiles& operator=(const HeldFiles&) = delete;

  // The file that had this name when it was first asked for, open. NotFound.
  absl::StatusOr<std::shared_ptr<RandomAccessFile>> Hold(std::string_view path);
  // How often there was no such file.
  uint64_t missed() const { return missed_.load(std::memory_order_relaxed); }
  // Closes the files that nobody else uses.
  void DropUnused();
  // Forgets all files. One that somebody uses stays open until they are done with it.
  void Clear();
  size_t size() const;

 private:
  FileSystem* const files_;
  const FileSystem::ReadMode mode_;
  std::atomic<uint64_t> missed_{0};
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<RandomAccessFile>, std::less<>> held_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_FOLLOWING_HELD_FILES_H_
