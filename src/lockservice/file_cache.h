// A session's cache of files, and of names that have none: the client's half of the promise that a
// read is never stale (lock_service.h). The service's half is that it has a file dropped here
// before it writes it, and does not write before it knows that this was done or the session is
// lost.
//
// A fetch may be on its way while the file is dropped; what it brings is old then and must not be
// put in. Therefore a fetch takes a ticket first, and what it brings is put in only if nothing was
// dropped since:
//
//   const FileCache::Ticket ticket = cache.BeginFetch();
//   ... ask the service ...
//   cache.Put(ticket, name, what_it_said);
//
// The owner looks at its lease after Find(), not before. Once the lease is over the service writes
// without this session's acknowledgement; so what was found is the truth only if the lease ran
// still when it was found.
#ifndef BIGTABLE_LOCKSERVICE_FILE_CACHE_H_
#define BIGTABLE_LOCKSERVICE_FILE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "lockservice/lock_service.h"

namespace bigtable {

// Thread-safe; calls nothing while it holds its lock.
class FileCache {
 public:
  using Ticket = uint64_t;
  // The file, or nothing where it is known that there is none.
  using Entry = std::optional<LockServiceFile>;

  // When there are more it begins anew: these are few files, and read again and again.
  static constexpr size_t kMaxFiles = 1024;

  // Nothing if the cache does not know.
  std::optional<Entry> Find(std::string_view name) const;
  Ticket BeginFetch() const;
  void Put(Ticket ticket, std::string_view name, Entry entry);
  // After it has returned, no Find() finds what was in the file before.
  void Drop(std::string_view name);
  void DropAll();

 private:
  mutable Mutex mutex_;
  Ticket drops_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Entry, std::less<>> files_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_FILE_CACHE_H_
