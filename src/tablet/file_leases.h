// Keeps the names of SSTables while a checkpoint or a backup copies them: what compactions replace
// meanwhile is removed when the last lease ends. A process that ends before that leaves files that
// no table names, and the next opening sweeps them.
#ifndef BIGTABLE_TABLET_FILE_LEASES_H_
#define BIGTABLE_TABLET_FILE_LEASES_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"

namespace bigtable {

// Thread-safe.
class FileLeases {
 public:
  FileLeases() = default;
  FileLeases(const FileLeases&) = delete;
  FileLeases& operator=(const FileLeases&) = delete;

  // No file that a tablet names when the lease begins loses its name before it ends.
  class Lease {
   public:
    // `leases` outlives this.
    explicit Lease(FileLeases* leases) : leases_(leases) {
      MutexLock lock(&leases_->mutex_);
      ++leases_->held_;
    }
    ~Lease() { leases_->End(); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

   private:
    FileLeases* const leases_;
  };

  bool is_held() const {
    MutexLock lock(&mutex_);
    return held_ > 0;
  }
  // Removes a file that no tablet names any more, now or when the last lease ends, on whatever
  // thread. `remove` may be called at any time as long as there are leases.
  void Remove(std::function<void()> remove) {
    {
      MutexLock lock(&mutex_);
      if (held_ > 0) {
        deferred_.push_back(std::move(remove));
        return;
      }
    }
    remove();
  }

 private:
  void End() {
    std::vector<std::function<void()>> deferred;
    {
      MutexLock lock(&mutex_);
      if (--held_ == 0) deferred.swap(deferred_);
    }
    for (const std::function<void()>& remove : deferred) remove();
  }

  mutable Mutex mutex_;
  int held_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::function<void()>> deferred_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_FILE_LEASES_H_
