// The error because of which a server refuses writes until Resume: its log could not be written or
// synced, so what the log holds is not known, or METADATA may or may not have taken a flush.
//
// Thread-safe. The lock is held briefly, and no other lock is taken under it.
#ifndef BIGTABLE_COMMIT_WRITE_ERROR_H_
#define BIGTABLE_COMMIT_WRITE_ERROR_H_

#include <atomic>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "base/info_log.h"
#include "base/mutex.h"
#include "tablet/tablet_environment.h"

namespace bigtable {

class WriteError {
 public:
  // Both outlive this.
  WriteError(const TabletEnvironment* environment, InfoLog* info_log)
      : environment_(environment), info_log_(info_log) {}
  WriteError(const WriteError&) = delete;
  WriteError& operator=(const WriteError&) = delete;

  // Whether there is one: a relaxed load, for the path of a write.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // OK if there is none.
  absl::Status status() const;
  // Writes are refused with this from here on, unless they are already: the first error stays.
  void Set(const absl::Status& status);

  // This thread resumes the server: its flushes are committed although the log cannot be synced. It
  // flushes all memtables together, so that no mutation is kept whose predecessors may be lost.
  // That cannot be said of the flushes of other threads. Ends with EndResume, in success or
  // failure.
  void BeginResume() { resuming_.store(std::this_thread::get_id()); }
  void EndResume() { resuming_.store(std::thread::id()); }
  // Whether this thread resumes the server.
  bool resuming() const { return resuming_.load() == std::this_thread::get_id(); }
  // Resume has succeeded: writes are accepted again.
  void Clear();

 private:
  const TabletEnvironment* const environment_;
  InfoLog* const info_log_;
  std::atomic<bool> any_{false};
  std::atomic<std::thread::id> resuming_{};

  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_WRITE_ERROR_H_
