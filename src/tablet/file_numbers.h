// Numbers for SSTables, and up to which one it is settled whether METADATA names the file: what is
// not named up to there, and is not now, never will be, and can go (the mark and sweep of section 6
// of the paper).
#ifndef BIGTABLE_TABLET_FILE_NUMBERS_H_
#define BIGTABLE_TABLET_FILE_NUMBERS_H_

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"

namespace bigtable {

// Thread-safe.
class FileNumbers {
 public:
  // Work that writes files and has METADATA name them, until it ends: all of its files have numbers
  // that were taken meanwhile.
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

  // Numbers that are given out are larger.
  void AdvanceTo(uint64_t number) {
    MutexLock lock(&mutex_);
    last_ = std::max(last_, number);
  }
  uint64_t Take() {
    MutexLock lock(&mutex_);
    return ++last_;
  }
  // All files up to this number are of work that has ended.
  uint64_t settled() const {
    MutexLock lock(&mutex_);
    return under_way_.empty() ? last_ : *under_way_.begin();
  }

 private:
  mutable Mutex mutex_;
  uint64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::multiset<uint64_t> under_way_ ABSL_GUARDED_BY(mutex_);  // the last number when it began
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_FILE_NUMBERS_H_
