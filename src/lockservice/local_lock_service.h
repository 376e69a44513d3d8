// The lock service inside one process: files on a FileSystem, everything else in memory.
//
// Files are durable. Sessions, and so locks and watches, are gone with the process, as if all
// leases had ended at once: whoever opens the directory again finds every file unlocked, with its
// contents and generation. Nobody else has the directory open then, since the database's LOCK file
// keeps others out. Generations of files and sequencers go on growing over openings.
//
// Leases are looked at on every call, by the clock that was given; and while an owner waits for
// events it wakes when the next lease ends. So a session that nobody renews is lost when somebody
// asks for something that depends on it, without a thread of the service's own. A clock that jumps
// forward ends leases early, one that jumps back late; a session that was lost stays lost.
//
// Mutexes, in the order in which they are taken:
//   * files_mutex_: by whoever reads or writes files, and so during I/O, and for acquisitions of
//     locks. So writes are in one order, no fetch sees half of one, and nobody gets a lock while a
//     write of the session that has lost it is under way.
//   * mutex_: for what is in memory, for moments. KeepAlive, Unlock, the checks and events take no
//     other, and so never wait for a disk.
//   * the one of each session's cache, under which nothing is called.
//
// A write, in order: is the session alive; has the file the expected generation; the next
// generation is taken; every session drops the file from its cache, which is their acknowledgement;
// the file is written and synced; watchers get their events. A fetch meanwhile waits for
// files_mutex_, so nobody caches the file while it changes, and nobody sees new contents before the
// old ones are dropped everywhere.
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
  // File system and clock outlive the service. DataLoss if the count of generations is damaged.
  static absl::StatusOr<std::unique_ptr<LocalLockService>> Open(FileSystem* file_system,
                                                                std::string directory,
                                                                Clock* clock);

  absl::StatusOr<std::unique_ptr<LockSession>> OpenSession(LockSessionOptions options) override;

  // For people who look, and for tests.

  // All sessions that live, from old to new.
  std::vector<SessionInfo> Sessions();
  // The session is lost, now, as if its lease had ended. NotFound.
  absl::Status ExpireSession(uint64_t id);
  // What every call does first: sessions whose lease has ended are lost. For tests whose clock
  // jumps while owners wait for events.
  void ExpireLapsedSessions();

 private:
  friend class LocalLockSession;
  using NameSet = std::set<std::string, std::less<>>;

  LocalLockService(FileSystem* file_system, std::string directory, Clock* clock)
      : clock_(clock), files_(file_system, std::move(directory)) {}

  // The calls of LockSession, each in the name of a session. Names have been checked.
  absl::Status KeepAlive(LocalSessionState* session);
  void Close(LocalSessionState* session);
  absl::Status CheckSession(LocalSessionState* session);
  absl::StatusOr<FileCache::Entry> Fetch(LocalSessionState* session, std::string_view name);
  absl::StatusOr<Generation> Write(LocalSessionState* session, std::string_view name,
                                   std::string_view contents, Generation expected);
  absl::Status Remove(LocalSessionState* session, std::string_view name, Generation expected);
  absl::StatusOr<std::vector<std::string>> List(LocalSessionState* session,
                                                std::string_view directory);
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

  // The generation that the file has, kNoFile if there is none. A damaged file that whatever it
  // holds is to be replaced or removed has SmallFiles::kUnknownGeneration.
  absl::StatusOr<Generation> FindForChange(std::string_view name, Generation expected)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(files_mutex_);
  // No session has the file in its cache after this.
  void DropFromCaches(std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(files_mutex_);
  // Events about a file. `names_changed`: it has appeared or gone, or may have.
  void NotifyWatchers(std::string_view name, LockEventKind kind, Generation generation,
                      bool names_changed);

  // Sessions whose lease is over are lost, others hear of the jeopardy they are in.
  void LookAtLeases() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckLive(LocalSessionState* session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Lose(LocalSessionState* session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(LocalSessionState* session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartLease(LocalSessionState* session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // When the next lease ends or comes into jeopardy.
  absl::Time NextLeaseChange() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Notify(LocalSessionState* session, LockEventKind kind, std::string_view name = {},
              Generation generation = 0) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NotifyFree(std::string_view name, const std::set<LockTable::SessionId>& waiters)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock* const clock_;

  Mutex files_mutex_;
  VersionedFiles files_ ABSL_GUARDED_BY(files_mutex_);

  Mutex mutex_ ABSL_ACQUIRED_AFTER(files_mutex_);
  uint64_t last_session_ ABSL_GUARDED_BY(mutex_) = 0;
  // Those that live, by id.
  std::map<uint64_t, std::shared_ptr<LocalSessionState>> sessions_ ABSL_GUARDED_BY(mutex_);
  LockTable locks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_LOCAL_LOCK_SERVICE_H_
