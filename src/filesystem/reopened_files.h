// Descriptors of mapped files, which hold none of their own, for reads that bypass the mapping. A
// file's descriptor is opened when it is first needed. At most `most` are open at a time; then one
// that was not used lately is closed, and reopened when it is needed again.
//
// Thread-safe. Must outlive the files.
#ifndef BIGTABLE_FILESYSTEM_REOPENED_FILES_H_
#define BIGTABLE_FILESYSTEM_REOPENED_FILES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "filesystem/posix_io.h"

namespace bigtable {

class ReopenedFiles {
 public:
  // The state of one file.
  class Entry {
   public:
    // The descriptor, open as long as the caller holds it; null if it is not open. Costs an
    // uncontended lock.
    std::shared_ptr<const Fd> Find();

   private:
    friend class ReopenedFiles;
    static constexpr size_t kNowhere = SIZE_MAX;

    Mutex mutex_;
    std::shared_ptr<const Fd> fd_ ABSL_GUARDED_BY(mutex_);
    std::atomic<bool> is_used_{false};  // since the hand last passed it
    size_t slot_ = kNowhere;            // in entries_, under ReopenedFiles::mutex_
  };

  // Adds the descriptor of `entry`, unless another thread has added it already. If there are `most`
  // already, removes an entry that was not used lately (by CLOCK). `most` is at least 1.
  void Add(Entry* entry, std::shared_ptr<const Fd> fd, size_t most);
  // Must be called before `entry` is destroyed.
  void Remove(Entry* entry);

  size_t size() const;

 private:
  void TakeFrom(size_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;  // taken before an entry's
  std::vector<Entry*> entries_ ABSL_GUARDED_BY(mutex_);
  size_t hand_ ABSL_GUARDED_BY(mutex_) = 0;  // clock hand: an index into entries_
};

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_REOPENED_FILES_H_
