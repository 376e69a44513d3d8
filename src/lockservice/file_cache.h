// A session's cache of files, and of names that have no file: the client's half of the guarantee
// that a read is never stale (lock_service.h). The service's half: before it writes a file, it has
// every session drop the file here, and it waits until that is done or the session is lost.
//
// A fetch may be in progress while the file is dropped. Its result may then be stale and must not
// be cached. Therefore a fetch takes a ticket first, and its result is cached only if nothing was
// dropped since:
//
//   const FileCache::Ticket ticket = cache.BeginFetch();
//   ... query the service ...
//   cache.Put(ticket, name, result);
//
// The owner checks its lease after Find(), not before. Once the lease has ended, the service writes
// without this session's acknowledgement. So a cached file is current only if the lease was still
// valid after it was found.
#ifndef BIGTABLE_LOCKSERVICE_FILE_CACHE_H_
#define BIGTABLE_LOCKSERVICE_FILE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"

#include "base/mutex.h"
#include "lockservice/lock_service.h"

namespace bigtable {

// Thread-safe; calls nothing while it holds its lock.
class FileCache {
 public:
  using Ticket = uint64_t;
  // The file, or nullopt if there is known to be no file.
  using Entry = std::optional<LockServiceFile>;

  // A full cache is emptied: the files are small, and are read again and again. There is one for
  // each table.
  static constexpr size_t kMaxFiles = 32 << 10;
  static constexpr size_t kMaxBytes = 32 << 20;

  // Nullopt if the cache does not know.
  std::optional<Entry> Find(std::string_view name) const;
  Ticket BeginFetch() const;
  void Put(Ticket ticket, std::string_view name, Entry entry);
  // After it returns, no Find() returns the earlier contents of the file.
  void Drop(std::string_view name);
  void DropAll();

 private:
  static size_t SizeOf(std::string_view name, const Entry& entry) {
    return name.size() + (entry.has_value() ? entry->contents.size() : 0);
  }
  void Erase(std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Clear() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Ticket drops_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, Entry> files_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of names and contents
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_FILE_CACHE_H_
