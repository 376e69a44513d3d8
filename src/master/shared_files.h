// SSTables that several tablets name, because these were one tablet when the files were written. A
// file is removed when the last of them has compacted it away. What is here is found anew from
// METADATA at each opening.
#ifndef BIGTABLE_MASTER_SHARED_FILES_H_
#define BIGTABLE_MASTER_SHARED_FILES_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"

#include "base/mutex.h"

namespace bigtable {

// Thread-safe.
class SharedFiles {
 public:
  // One more tablet names the file than so far.
  void Share(uint64_t number) {
    MutexLock lock(&mutex_);
    ++others_[number];
  }
  // A tablet does not name the file any more: true if none does.
  [[nodiscard]] bool Release(uint64_t number) {
    MutexLock lock(&mutex_);
    const auto found = others_.find(number);
    if (found == others_.end()) return true;
    if (--found->second == 0) others_.erase(found);
    return false;
  }

 private:
  Mutex mutex_;
  // How many tablets name the file, beside one.
  absl::flat_hash_map<uint64_t, uint64_t> others_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_SHARED_FILES_H_
