// Numbers for SSTables, and the number up to which it is settled whether METADATA names the file.
// If METADATA does not name a file up to that number now, it never will, and the file can be
// removed (the mark and sweep of section 6 of the paper).
#ifndef BIGTABLE_TABLET_FILE_NUMBERS_H_
#define BIGTABLE_TABLET_FILE_NUMBERS_H_

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"

#include "base/mutex.h"

namespace bigtable {

// Thread-safe.
class FileNumbers {
 public:
  // Work that writes files and commits them to METADATA. All of its files have numbers that were
  // taken during its lifetime.
  class Work {
   public:
    explicit Work(FileNumbers* numbers) : numbers_(numbers) {
      MutexLock lock(&numbers_->mutex_);
      begin_ = numbers_->under_way_.insert(numbers_->last_);
    }
    ~Work() {
      MutexLock lock(&numbers_->mutex_);
      numbers_->under_way_.erase(begin_);
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    FileNumbers* const numbers_;
    std::multiset<uint64_t>::iterator begin_;
  };

  // Later numbers are larger.
  void AdvanceTo(uint64_t number) {
    MutexLock lock(&mutex_);
    last_ = std::max(last_, number);
  }
  uint64_t Take() {
    MutexLock lock(&mutex_);
    return ++last_;
  }
  // The work that wrote the files up to this number has ended.
  uint64_t settled() const {
    MutexLock lock(&mutex_);
    const uint64_t settled = under_way_.empty() ? last_ : *under_way_.begin();
    ABSL_ASSERT(settled <= last_ && "numbers ascend");
    return settled;
  }

 private:
  mutable Mutex mutex_;
  uint64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  // For each work under way, the last number when it began.
  std::multiset<uint64_t> under_way_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_FILE_NUMBERS_H_
