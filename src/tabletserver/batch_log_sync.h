// The logs with parts of batches that are not known to be durable.
//
// A batch on several servers has a part in the log of each. After a crash of the machine, a part
// counts only if all parts are there, and what follows it in its log counts only if the part does
// (cluster/batch_recovery.h). So whoever makes something durable that follows a part in its log, or
// that contains one, first makes all parts durable: a write that requires kSync, and a flush.
//
// All logs are synced then, and not only those of the same batches: a part in another log may
// follow the part of another batch there, and so on.
//
// A log is synced through the files that it has open, also if its server has ended. Through other
// descriptors a sync could succeed after one that failed, without having written the data: Linux
// reports an error once. And the files of an ended server may be removed at any time.
//
// Thread-safe. The lock is held briefly, and no other lock is taken under it.
#ifndef BIGTABLE_TABLETSERVER_BATCH_LOG_SYNC_H_
#define BIGTABLE_TABLETSERVER_BATCH_LOG_SYNC_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "base/mutex.h"
#include "commitlog/commit_log.h"
#include "tabletserver/serving_state.h"
#include "tabletserver/write_error.h"

namespace bigtable {

class BatchLogSync {
 public:
  BatchLogSync() = default;
  BatchLogSync(const BatchLogSync&) = delete;
  BatchLogSync& operator=(const BatchLogSync&) = delete;

  // A part was appended to the log of a server with this state and error, which outlive this, and
  // flushed where that is needed. Called before the part is in a memtable.
  void Add(const std::shared_ptr<CommitLog>& log, const ServingState* state, WriteError* error);
  // Makes all parts durable that were added before the call. Costs one load if there are none. An
  // error of a log that could not be synced: it is unknown what of its parts is durable, and its
  // server refuses writes until Resume.
  absl::Status SyncAll();
  // The same for a flush by Resume. Ignores errors of the logs of servers that are being resumed as
  // well: their parts become durable by flushes, too.
  absl::Status SyncAllForResume();
  // The same for other servers that load the tablets of ended servers, whose logs are in these
  // directories. Ignores errors of these logs, for the same reason.
  absl::Status SyncAllForReplacement(const std::set<std::string>& directories);
  // All that is in the log of the server with this state is durable elsewhere.
  void Forget(const ServingState* state);

 private:
  struct Unsynced {
    // Expired: the log was dropped, after all that is in it was flushed.
    std::weak_ptr<CommitLog> log;
    const CommitLog* identity;
    std::string directory;
    const ServingState* state;
    WriteError* error;
    uint64_t end;  // the log offset after the last part
  };

  absl::Status SyncEach(absl::FunctionRef<bool(const Unsynced&)> is_ignored);
  static absl::Status Sync(const Unsynced& unsynced);

  std::atomic<bool> any_{false};
  Mutex mutex_;
  std::vector<Unsynced> unsynced_ ABSL_GUARDED_BY(mutex_);  // one for each log
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_BATCH_LOG_SYNC_H_
