// The lock service inside one process: files on a FileSystem, everything else in memory.
//
// Files are durable. Sessions, and so locks and watches, end with the process, as if all leases had
// ended at once. After the directory is opened again, every file is unlocked, with its contents and
// generation. No other process has the directory open then, because of the database's LOCK file.
// Generations of files and sequencers continue to grow over openings.
//
// Every call checks the leases, by the given clock. An owner that waits for events wakes when the
// next lease ends. So a session that is not renewed is lost as soon as a call depends on it, and
// the service needs no thread of its own. A clock that jumps forward ends leases early, one that
// jumps back late; a lost session stays lost.
//
// Mutexes, in the order in which they are taken:
//   * files_mutex_: held by calls that read or write files, and so during I/O, and to acquire
//     locks. So writes are ordered, no fetch sees half of a write, and no session gets a lock while
//     the session that lost it is still writing.
//   * mutex_: for state in memory, held for short times. KeepAlive, Unlock, the checks and events
//     take only this one, and so never wait for a disk.
//   * the mutex of each session's cache, under which nothing is called.
//
// Steps of a write: check that the session is alive; check that the file has the expected
// generation; take the next generation; drop the file from every session's cache, which is their
// acknowledgement; write and sync the file; queue the events of watchers. Fetches wait for
// files_mutex_ during a write. So no session caches the file while it changes, and no session sees
// new contents before the old ones are dropped everywhere.
#ifndef BIGTABLE_LOCKSERVICE_LOCAL_LOCK_SERVICE_H_
#define BIGTABLE_LOCKSERVICE_LOCAL_LOCK_SERVICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/clock.h"
#include "bigtable/file_system.h"

#include "base/limited_mutex.h"
#include "base/mutex.h"
#include "lockservice/file_cache.h"
#include "lockservice/local_session.h"
#include "lockservice/lock_service.h"
#include "lockservice/lock_table.h"
#include "lockservice/versioned_files.h"

namespace bigtable {

class LocalLockService final : public LockService {
 public:
  struct SessionInfo {
    uint64_t id = 0;
    std::string owner;
    absl::Time lease_end;
    std::vector<std::string> locks;  // names, sorted
  };

  // Files are below `directory`, whose parent exists; nothing is created before the first write.
  // File system and clock must outlive the service. DataLoss: the generation counter is damaged.
  // `copies`: whether there is a second copy of each file (small_files.h).
  static absl::StatusOr<std::unique_ptr<LocalLockService>> Open(FileSystem* file_system,
                                                                std::string directory, Clock* clock,
                                                                SmallFileCopies copies = {});

  absl::StatusOr<std::unique_ptr<LockSession>> OpenSession(LockSessionOptions options) override;

  // For inspection and tests.

  // All live sessions, from oldest to newest.
  std::vector<SessionInfo> Sessions();
  // Makes the session lost now, as if its lease had ended. NotFound.
  absl::Status ExpireSession(uint64_t id);
  // Makes sessions whose lease has ended lost, as every call does first. For tests whose clock
  // jumps while owners wait for events.
  void ExpireLapsedSessions();

 private:
  friend class LocalLockSession;
  using NameSet = std::set<std::string, std::less<>>;

  LocalLockService(FileSystem* file_system, std::string directory, Clock* clock,
                   SmallFileCopies copies)
      : clock_(clock), files_(file_system, std::move(directory), std::move(copies)) {}

  // The calls of LockSession, each on behalf of a session. Names have been checked.
  absl::Status KeepAlive(LocalSessionState* session);
  void Close(LocalSessionState* session);
  absl::Status CheckSession(LocalSessionState* session);
  absl::StatusOr<FileCache::Entry> Fetch(LocalSessionState* session, std::string_view name,
                                         const CallLimits& limits);
  absl::StatusOr<Generation> Write(LocalSessionState* session, std::string_view name,
                                   std::string_view contents, Generation expected,
                                   const CallLimits& limits);
  absl::Status AwaitWrites(const CallLimits& limits);
  absl::Status Remove(LocalSessionState* session, std::string_view name, Generation expected);
  absl::StatusOr<std::vector<std::string>> List(LocalSessionState* session,
                                                std::string_view directory,
                                                const CallLimits& limits);
  absl::StatusOr<std::optional<LockSequencer>> TryLock(LocalSessionState* session,
                                                       std::string_view name, LockMode mode);
  absl::Status Unlock(LocalSessionState* session, std::string_view name);
  absl::Status CheckLock(LocalSessionState* session, std::string_view name);
  absl::Status CheckSequencer(LocalSessionState* session, const LockSequencer& sequencer);
  absl::Status Watch(LocalSessionState* session, std::string_view name,
                     NameSet LocalSessionState::*names);
  absl::Status Unwatch(LocalSessionState* session, std::string_view name);
  std::vector<LockEvent> TakeEvents(LocalSessionState* session);
  bool WaitForEvents(LocalSessionState* session, absl::Duration timeout);

  // The generation of the file; kNoFile if there is none. For a damaged file that is replaced or
  // removed with kAnyGeneration, SmallFiles::kUnknownGeneration.
  absl::StatusOr<Generation> FindForChange(std::string_view name, Generation expected)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(files_mutex_);
  // Afterwards no session has the file in its cache.
  void DropFromCaches(std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(files_mutex_);
  // Queues events about a file. `names_changed`: the file was created or removed, or may have been.
  void NotifyWatchers(std::string_view name, LockEventKind kind, Generation generation,
                      bool names_changed);

  // Sessions whose lease has ended become lost; others are notified if they are in jeopardy.
  void ExpireLeases() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckLive(LocalSessionState* session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Lose(LocalSessionState* session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(LocalSessionState* session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartLease(LocalSessionState* session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The time when the next lease ends or comes into jeopardy.
  absl::Time NextLeaseChange() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Notify(LocalSessionState* session, LockEventKind kind, std::string_view name = {},
              Generation generation = 0) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NotifyFree(std::string_view name, const std::set<LockTable::SessionId>& waiters)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock* const clock_;

  LimitedMutex files_mutex_;
  VersionedFiles files_ ABSL_GUARDED_BY(files_mutex_);

  Mutex mutex_ ABSL_ACQUIRED_AFTER(files_mutex_);
  uint64_t last_session_ ABSL_GUARDED_BY(mutex_) = 0;
  // Live sessions, by id.
  std::map<uint64_t, std::shared_ptr<LocalSessionState>> sessions_ ABSL_GUARDED_BY(mutex_);
  LockTable locks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_LOCAL_LOCK_SERVICE_H_
