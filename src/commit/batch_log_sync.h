// The logs with parts of batches that are not known to be durable.
//
// A batch on several servers has a part in the log of each. After a crash of the machine, a part
// counts only if all parts are there, and what follows it in its log counts only if the part does
// (recovery/batch_recovery.h). So whoever makes something durable that follows a part in its log,
// or that contains one, first makes all parts durable: a write that requires kSync, and a flush.
//
// Not only the logs of the same batch are synced then: a part in another log may follow the part of
// another batch there, and so on. Logs that have parts of one group of batches are linked, as are
// those that are linked with them, until all of these were synced. Other logs are not needed: a
// sync does not wait for one of them that stalls, or fail with one that cannot be synced.
//
// A log is synced through the files that it has open, also if its server has ended. Through other
// descriptors a sync could succeed after one that failed, without having written the data: Linux
// reports an error once. And the files of an ended server may be removed at any time.
//
// Thread-safe. The lock is held briefly, and no other lock is taken under it.
#ifndef BIGTABLE_COMMIT_BATCH_LOG_SYNC_H_
#define BIGTABLE_COMMIT_BATCH_LOG_SYNC_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "base/mutex.h"
#include "commit/serving_state.h"
#include "commit/write_error.h"
#include "commitlog/commit_log.h"

namespace bigtable {

class BatchLogSync {
 public:
  BatchLogSync() = default;
  BatchLogSync(const BatchLogSync&) = delete;
  BatchLogSync& operator=(const BatchLogSync&) = delete;

  struct LinkedLog {
    std::shared_ptr<CommitLog> log;
    const ServingState* state = nullptr;  // of its server; outlives this, as does the error
    WriteError* error = nullptr;
  };
  // Parts of a group of batches, all of them, were appended to these logs and flushed where that is
  // needed. Called before they are in a memtable.
  void Add(absl::Span<const LinkedLog> parts);
  // Makes all parts durable that were added before the call. Costs one load if there are none. An
  // error of a log that could not be synced: it is unknown what of its parts is durable, and its
  // server refuses writes until Resume. The error does not count if this thread resumes the server
  // (WriteError::BeginResume): then the flushes of that server make the parts durable.
  absl::Status SyncAll();
  // The same for what something in this log follows: before that is made durable. `*is_durable`, if
  // given, is set to false if there is an error that does not count.
  absl::Status SyncLinked(const CommitLog* log, bool* is_durable = nullptr);
  // All that is in the log of the server with this state is durable, there or elsewhere.
  void Forget(const ServingState* state);

 private:
  struct Unsynced {
    // Expired: the log was dropped, after all that is in it was made durable.
    std::weak_ptr<CommitLog> log;
    const CommitLog* identity;
    const ServingState* state;
    WriteError* error;
    uint64_t end;    // the log offset after the last part
    uint64_t group;  // of all logs that are linked
  };

  std::vector<Unsynced>::iterator Find(const CommitLog* log) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Syncs these, which are all that are linked with any of them.
  absl::Status SyncEach(const std::vector<Unsynced>& all, bool* is_durable);
  static absl::Status Sync(const Unsynced& unsynced);

  std::atomic<bool> any_{false};
  Mutex mutex_;
  uint64_t last_group_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Unsynced> unsynced_ ABSL_GUARDED_BY(mutex_);  // one for each log
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_BATCH_LOG_SYNC_H_
