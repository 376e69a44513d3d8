// SSTables that several tablets name: these were one tablet when the files were written, or have
// written them together (background/shared_output.h). The last tablet to drop its reference deletes
// the file. The counts are rebuilt from METADATA at each opening.
#ifndef BIGTABLE_TABLET_SHARED_FILES_H_
#define BIGTABLE_TABLET_SHARED_FILES_H_

#include <cstdint>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"

#include "base/mutex.h"

namespace bigtable {

// Thread-safe.
class SharedFiles {
 public:
  // One more tablet names the file.
  void Share(uint64_t number) {
    MutexLock lock(&mutex_);
    ++others_[number];
  }
  // A tablet no longer names the file. True if no tablet does.
  [[nodiscard]] bool Release(uint64_t number) {
    MutexLock lock(&mutex_);
    const auto found = others_.find(number);
    if (found == others_.end()) return true;
    ABSL_ASSERT(found->second > 0 && "a count of none is not kept");
    if (--found->second == 0) others_.erase(found);
    return false;
  }

  // How many tablets name the file, which at least one does.
  uint64_t Names(uint64_t number) const {
    MutexLock lock(&mutex_);
    const auto found = others_.find(number);
    return found == others_.end() ? 1 : found->second + 1;
  }

 private:
  mutable Mutex mutex_;
  // How many tablets besides the first name the file.
  absl::flat_hash_map<uint64_t, uint64_t> others_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_SHARED_FILES_H_
