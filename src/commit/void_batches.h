// Makes batches on several servers void: the log of one server failed, or the server has lost its
// lock, when the others had logged their parts. Recovery ignores every part of such a batch.
//
// The batch is noted in the record of each of its servers (recovery/server_record.h), before one of
// them goes on. If that fails, the servers of the batch refuse writes until Resume, which notes
// what is missing before it starts new logs.
//
// Thread-safe.
#ifndef BIGTABLE_COMMIT_VOID_BATCHES_H_
#define BIGTABLE_COMMIT_VOID_BATCHES_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "lockservice/lock_service.h"
#include "recovery/server_record.h"

namespace bigtable {

class VoidBatches {
 public:
  // `session` outlives this.
  explicit VoidBatches(LockSession* session) : session_(session) {}
  VoidBatches(const VoidBatches&) = delete;
  VoidBatches& operator=(const VoidBatches&) = delete;

  // After OK the records of these servers have the batch. After an error it is kept for
  // WritePending.
  absl::Status Add(const SequenceRange& batch, const std::vector<std::string>& servers);
  // Writes what earlier calls could not write. To be called before anything is removed that keeps
  // a part of such a batch from being recovered, and before logs are read. Errors of the limits: it
  // is not written.
  absl::Status WritePending(const CallLimits& limits = {});

 private:
  struct Pending {
    SequenceRange batch;
    std::string server;
  };

  absl::Status Write(const CallLimits& limits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  LockSession* const session_;
  LimitedMutex mutex_;  // held while records are written
  std::vector<Pending> pending_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_VOID_BATCHES_H_
