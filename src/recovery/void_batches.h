// The batches on several servers that were logged, and are not applied: the log of one server
// failed, or the server has lost its lock, when the others had logged their parts. Recovery ignores
// every part of such a batch (recovery/batch_recovery.h).
//
// The sequence numbers of these batches are in a file of the lock service, "void_batches": a line
// "FIRST LAST" for each. It is written before a server with a part goes on, so that no later write
// of that server is recovered beside the batch. If it cannot be written, the servers of the batch
// refuse writes until Resume, which writes the file before it starts new logs. The next opening
// removes the file when no log of an earlier opening is left.
//
// Thread-safe.
#ifndef BIGTABLE_RECOVERY_VOID_BATCHES_H_
#define BIGTABLE_RECOVERY_VOID_BATCHES_H_

#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "base/sequence.h"
#include "lockservice/lock_service.h"

namespace bigtable {

class VoidBatches {
 public:
  static constexpr std::string_view kFile = "void_batches";

  struct Batch {
    SequenceNumber first = 0;
    SequenceNumber last = 0;

    bool has(SequenceNumber sequence) const { return first <= sequence && sequence <= last; }
  };

  // `session` outlives this.
  explicit VoidBatches(LockSession* session) : session_(session) {}
  VoidBatches(const VoidBatches&) = delete;
  VoidBatches& operator=(const VoidBatches&) = delete;

  // Reads the file. DataLoss if its contents are unknown. Before any other call.
  absl::Status Load();
  std::vector<Batch> All() const;
  // After OK the batch is in the file. After an error it is kept in memory for WritePending.
  absl::Status Add(const Batch& batch);
  // Writes what earlier calls could not write. To be called before anything is removed that keeps
  // a part of such a batch from being recovered. Errors of the limits: it is not written.
  absl::Status WritePending(const CallLimits& limits = {});
  // No log has any of these batches.
  absl::Status Clear();

 private:
  absl::Status Write(const CallLimits& limits = {}) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  LockSession* const session_;
  mutable LimitedMutex mutex_;  // held while the file is written
  std::vector<Batch> batches_ ABSL_GUARDED_BY(mutex_);
  bool is_pending_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_VOID_BATCHES_H_
