// The SSTables of a database that are read by position, of which only so many are open at a time. A
// read of one that is not open opens it again, by its name, and closes one that was not read lately
// (by CLOCK). So the descriptors that SSTables cost have a bound, however many there are. A mapped
// file is none of the pool's: it holds no descriptor.
//
// What always holds:
// * No more files are open than the capacity, and one more for each thread that reads at the time.
//   A file is never closed while a thread reads it.
// * A file that was opened again is the same file: same size, same identity. If it is another one,
//   or is not there any more, the read is DataLoss that names it.
// * A file that is removed (Remove) while somebody has it here stays readable. If it is open at
//   that time, it is kept open, and the name goes at once. But files that are kept open are at most
//   half of the capacity; beyond that, and of a file that is not open, the name stays until nobody
//   has the file any more. *Why not one of the two alone:* a scan that holds a thousand removed
//   files must not hold a thousand descriptors, and usually they are few, and then their names and
//   what they occupy go as soon as those of any other file.
// * Errors of opening again are not remembered: the next read tries again.
//
// A read of a file that is open takes no lock: it costs two additions to a counter of that file.
#ifndef BIGTABLE_FILESYSTEM_FILE_POOL_H_
#define BIGTABLE_FILESYSTEM_FILE_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/mutex.h"

namespace bigtable {

class PooledFile;

// Thread-safe. Its files share it, and may outlive the database.
class FilePool : public std::enable_shared_from_this<FilePool> {
 public:
  // `capacity` is at least 1. `file_system` is used until Detach.
  FilePool(FileSystem* file_system, size_t capacity);
  ~FilePool();

  // DatabaseOptions::max_open_files; or, if that is 0, half of the descriptors that the process may
  // have by now (RLIMIT_NOFILE, the soft limit) and that other pools have not taken.
  static size_t CapacityFor(int max_open_files);

  // As FileSystem::NewRandomAccessFile.
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> Open(std::string_view path,
                                                         FileSystem::ReadMode mode);
  // The holder may open the file later, also when it is removed meanwhile.
  class Hold {
   public:
    Hold(std::shared_ptr<FilePool> pool, std::string_view path);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    const std::shared_ptr<FilePool> pool_;
    const std::string path_;
  };

  // As FileSystem::RemoveFile, but OK when the name goes later. The path is not used again.
  absl::Status Remove(std::string_view path);
  // Removes the names that were to go later, and does not use the file system any more. From then
  // on no file is open, and reading one is FailedPrecondition. Waits for calls under way.
  void Detach();

  size_t capacity() const { return capacity_; }
  // How many files are open now.
  size_t open_files() const;
  // How often a file was opened again.
  uint64_t reopened() const { return reopened_.load(std::memory_order_relaxed); }

 private:
  friend class PooledFile;

  // The files and holds of a path, and whether its name is to go with the last of them.
  struct Name {
    std::vector<PooledFile*> files;
    size_t holds = 0;
    bool is_removed = false;
  };
  // Closed without the lock.
  using Closed = std::vector<std::unique_ptr<RandomAccessFile>>;

  // Opens the file, as one of those that are being opened. If there are too many, or if the process
  // has no descriptor left, others are closed for it.
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenNow(std::string_view path,
                                                            FileSystem::ReadMode mode);
  // Another file of the pool begins.
  void Add(PooledFile* file);
  // What OpenNow has returned is not being opened any more: it is open, and counts this thread as a
  // reader; or it is none of the pool's.
  void EndOpening(PooledFile* file, std::unique_ptr<RandomAccessFile> opened);
  void EndOpening();
  // The file ends; a hold does.
  void Forget(PooledFile* file);
  void EndHold(const std::string& path);
  // Nobody may have the name any more: true if it is to go now.
  bool ReleaseName(const std::string& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Closes files that are not being read, `least` of them, and more while there are too many.
  // Returns how many.
  size_t CloseSome(size_t least, Closed* closed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<RandomAccessFile> TakeOut(PooledFile* file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t capacity_;
  const uint64_t forks_;                         // when it began
  mutable std::shared_mutex file_system_mutex_;  // shared during a call; before mutex_
  FileSystem* file_system_;                      // null once detached

  mutable Mutex mutex_;
  std::vector<PooledFile*> open_ ABSL_GUARDED_BY(mutex_);
  size_t hand_ ABSL_GUARDED_BY(mutex_) = 0;     // of the clock: a place in open_
  size_t opening_ ABSL_GUARDED_BY(mutex_) = 0;  // not in open_ yet
  size_t kept_ ABSL_GUARDED_BY(mutex_) = 0;     // of open_: removed, and never closed
  absl::flat_hash_map<std::string, Name> names_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> reopened_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_FILE_POOL_H_
