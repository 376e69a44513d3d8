// The SSTables of a database that are read by position. Only a limited number is open at a time. A
// read of a file that is not open opens it again, by its name, and closes one that was not read
// lately (by CLOCK). So the descriptors for SSTables are bounded, however many there are. A mapped
// file is not in the pool: it holds no descriptor.
//
// Invariants:
// * At most `capacity` files are open, plus one for each thread that is reading. A file is never
//   closed while a thread reads it.
// * A file that is opened again is the same file: same size, same identity. If it is another file,
//   or is missing, the read returns DataLoss that names it.
// * A file that is removed (Remove) while it is in use here stays readable. If it is open at that
//   time, it is kept open, and its name is removed at once. But at most half of the capacity is
//   used for files that are kept open. Beyond that, and for a file that is not open, the name stays
//   until the file is no longer in use. *Why both:* a scan that uses a thousand removed files must
//   not hold a thousand descriptors. Usually there are few, and then their names and space are
//   freed as early as those of any other file.
// * Errors of reopening are not remembered: the next read tries again.
//
// A read of an open file takes no lock: it costs two additions to a counter of that file.
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

#include "base/call_limits.h"
#include "base/mutex.h"

namespace bigtable {

class PooledFile;

// Thread-safe. Its files share ownership of it, and may outlive the database.
class FilePool : public std::enable_shared_from_this<FilePool> {
 public:
  // `capacity` is at least 1. `file_system` is used until Detach.
  FilePool(FileSystem* file_system, size_t capacity);
  ~FilePool();

  // DatabaseOptions::max_open_files; if that is 0, half of the descriptors that the process may
  // have at present (RLIMIT_NOFILE, the soft limit) and that other pools have not taken.
  static size_t CapacityFor(int max_open_files);

  // Like FileSystem::NewRandomAccessFile.
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> Open(std::string_view path,
                                                         FileSystem::ReadMode mode);
  // RandomAccessFile::Read of any file. If it is one of a pool, the limits, which may be null, end
  // a wait for another thread that opens it again.
  static absl::Status Read(const RandomAccessFile& file, uint64_t offset, size_t n, char* buffer,
                           const CallLimits* limits);
  // Allows the holder to open the file later, even if it is removed before.
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

  // Like FileSystem::RemoveFile, but also OK if the name is removed later. The path is not used
  // again.
  absl::Status Remove(std::string_view path);
  // Removes the names whose removal was delayed, and stops using the file system. Afterwards no
  // file is open, and reading one returns FailedPrecondition. Waits for running calls.
  void Detach();

  size_t capacity() const { return capacity_; }
  // The number of open files.
  size_t open_files() const;
  // How many times a file was opened again.
  uint64_t reopened() const { return reopened_.load(std::memory_order_relaxed); }

 private:
  friend class PooledFile;

  // The files and holds of a path, and whether its name is removed with the last of them.
  struct Name {
    std::vector<PooledFile*> files;
    size_t holds = 0;
    bool is_removed = false;
  };
  // Files that are closed after the lock is released.
  using Closed = std::vector<std::unique_ptr<RandomAccessFile>>;

  // Opens the file and counts it as being opened. If too many files are open, or if the process has
  // no descriptor left, closes others.
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenNow(std::string_view path,
                                                            FileSystem::ReadMode mode);
  // Registers a new file of the pool.
  void Add(PooledFile* file);
  // Ends what OpenNow began: the file is open, and counts this thread as a reader; or it is not in
  // the pool.
  void EndOpening(PooledFile* file, std::unique_ptr<RandomAccessFile> opened);
  void EndOpening();
  // Called when the file is destroyed, or a hold ends.
  void Forget(PooledFile* file);
  void EndHold(const std::string& path);
  // Called when a user of the name is gone: returns true if the name is to be removed now.
  bool ReleaseName(const std::string& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Closes at least `least` files that are not being read, and more while too many are open.
  // Returns how many.
  size_t CloseSome(size_t least, Closed* closed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<RandomAccessFile> TakeOut(PooledFile* file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t capacity_;
  const uint64_t forks_;                         // when it was created
  mutable std::shared_mutex file_system_mutex_;  // shared during a call; before mutex_
  FileSystem* file_system_;                      // null once detached

  mutable Mutex mutex_;
  std::vector<PooledFile*> open_ ABSL_GUARDED_BY(mutex_);
  size_t hand_ ABSL_GUARDED_BY(mutex_) = 0;     // clock hand: an index into open_
  size_t opening_ ABSL_GUARDED_BY(mutex_) = 0;  // not in open_ yet
  size_t kept_ ABSL_GUARDED_BY(mutex_) = 0;     // in open_: removed files that are kept open
  absl::flat_hash_map<std::string, Name> names_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> reopened_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_FILE_POOL_H_
