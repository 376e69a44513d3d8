// The lock service: the part that Chubby plays in the paper (sections 4 and 5.2). It has small
// files that are read and written whole, advisory locks on them that end with their holder's
// session, events, and a client cache that is never stale. The engine keeps here what must be known
// before any table can be read: the location of METADATA, the tables' schemas, access lists, the
// tablet servers and the master.
//
// This is only the interface; local_lock_service.h is the implementation inside one process. It
// requires nothing that ZooKeeper or etcd could not provide: the comment of each call shows how it
// maps.
//
// Names. The name of a file is a path, "schema/web": components separated by '/', of letters,
// digits and -_.+=@%. A component is not empty, does not begin with '.', and has at most
// kMaxComponentLength bytes; the path has at most kMaxNameLength. A directory exists at least as
// long as it has a file, so it is never created explicitly. A name is either a file's or a
// directory's.
//     ZooKeeper: a znode; parents are created on the way, empty, while the data of a file begins
//     with a byte that the adapter adds. etcd: a key; a directory is a prefix.
//
// Generations. Each write gives a file a generation: a number larger than all that the service has
// assigned to any file, even before a restart. So a generation identifies one content of one file
// for ever: a file that is removed and created again has another one.
//     ZooKeeper: mzxid. etcd: mod_revision.
//
// Sessions. Every call is made in a session, which has a lease. If the lease is not renewed, the
// session is lost when it ends, with its locks, watches and cache. Every later call in it returns
// FailedPrecondition: retrying does not help. The caller must stop what its locks protected and
// start again with another session. A call that was running when the session was lost may still
// take effect, but not after another session got one of its locks.
//
// Locks are advisory: reads and writes do not check them. A server that receives a command from the
// holder of a lock must not execute it if the holder has lost the lock without knowing. So the
// command carries the lock's sequencer, and the server calls CheckSequencer or remembers the
// largest generation it has seen.
//
// Errors that any call may return, besides its own:
//   * FailedPrecondition: the session is lost. (If alive() is true: a stored file has a later
//     format version.)
//   * InvalidArgument: the name is not valid, or another mistake of the caller.
//   * Unavailable: the service or its disk cannot be reached. A write or removal may have taken
//     effect, as a whole; the next successful Read shows the final result.
//   * DataLoss: a stored file is damaged. A write or removal without an expected generation
//     succeeds, and repairs that.
//   * ResourceExhausted: the service has no space.
//
// There are no ephemeral files (files that end with a session): the paper's servers do not need
// them. When a server dies, its file stays, unlocked. The master removes it after it has moved the
// server's tablets to safety.
#ifndef BIGTABLE_LOCKSERVICE_LOCK_SERVICE_H_
#define BIGTABLE_LOCKSERVICE_LOCK_SERVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/call_limits.h"

namespace bigtable {

using Generation = uint64_t;
inline constexpr Generation kNoFile = 0;                  // of a file that does not exist
inline constexpr Generation kAnyGeneration = UINT64_MAX;  // expect any generation, or no file

enum class LockMode { kExclusive, kShared };

struct LockServiceFile {
  std::string contents;
  Generation generation = kNoFile;
};

// Proof that a lock was acquired: sent to other servers, which check it. A plain value.
struct LockSequencer {
  std::string name;
  LockMode mode = LockMode::kExclusive;
  // Of this acquisition: larger than that of every earlier acquisition of any lock.
  Generation generation = kNoFile;

  friend bool operator==(const LockSequencer&, const LockSequencer&) = default;
};

enum class LockEventKind {
  kFileChanged,        // the watched file was created or written
  kFileRemoved,        // the watched file was removed
  kDirectoryChanged,   // a file of the watched directory was created or removed
  kLockLost,           // the locked file was removed
  kLockFree,           // a lock that TryLock did not get may be free; once for each such call
  kSessionInJeopardy,  // half of the lease has passed without a renewal
  kSessionSafe,        // the lease was renewed after that
  kSessionLost,        // the last event of a session
};

struct LockEvent {
  LockEventKind kind;
  std::string name;  // of the file or directory; empty for events of the session
  // kFileChanged: the file's generation, or 0 if the write failed part way. kLockLost: the
  // sequencer's.
  Generation generation = 0;

  friend bool operator==(const LockEvent&, const LockEvent&) = default;
};

struct LockSessionOptions {
  // The name of the owner, for people who inspect the service: "server-7".
  std::string owner;
  // Counted from the last renewal. More than zero. A short lease detects dead owners sooner, but
  // loses live ones during a pause. The default is Chubby's; a year or more means for ever.
  absl::Duration lease = absl::Seconds(12);
};

// Thread-safe, except for the destructor, which requires that no other call is running.
class LockSession {
 public:
  // Within the limits of Chubby (256 KiB), ZooKeeper (1 MiB) and etcd (1.5 MiB), or near them.
  static constexpr size_t kMaxFileSize = 512 << 10;
  static constexpr size_t kMaxNameLength = 512;
  static constexpr size_t kMaxComponentLength = 200;

  // Ends the session: locks are released at once, not when the lease ends.
  //     ZooKeeper: close(). etcd: LeaseRevoke.
  virtual ~LockSession() = default;

  // Unique among the sessions of a running service. For messages.
  //     ZooKeeper: the session's id. etcd: the lease's.
  virtual uint64_t id() const = 0;

  // ---- The lease (section 4: "A client's session expires if it is unable to renew its session
  // lease within the lease expiration time").

  // Renews the lease. The owner must call it several times per lease; nothing else renews it. It
  // does not wait for writes, so a slow disk loses no session. One message.
  //     ZooKeeper: its client library renews by itself; here it only returns whether the session is
  //     alive. etcd: LeaseKeepAlive.
  virtual absl::Status KeepAlive() = 0;
  // Whether the lease is still valid. Once false, always false. No message: it reads the clock. The
  // client never takes the lease to be longer than the service does.
  //     Both: the time at which the last answered renewal was *sent*, plus the lease.
  virtual bool alive() const = 0;

  // ---- Files.

  // NotFound. Never stale: it returns the result of the last write that was complete before the
  // call, or of a later one, and nothing older than any session's Read has returned before. If this
  // session has read the file since its last write, Read uses the cache, without a message; this
  // includes files that do not exist. Chubby's rule makes that possible: a write is not complete
  // before every session that may have the file in its cache has dropped it, or is lost.
  //     Neither system delays writes for caches. Either an adapter caches nothing: ZooKeeper sync()
  //     and getData(), etcd a linearizable Range. Or it implements the rule: a client that caches a
  //     file keeps an ephemeral node "cachers/NAME/SESSION" (etcd: a key with its lease) and
  //     watches "changing/NAME". A writer creates that first, waits until all of "cachers/NAME" are
  //     gone, writes, and removes it; while it exists, no client caches.
  // The limits end a wait for writes that are under way.
  virtual absl::StatusOr<LockServiceFile> Read(std::string_view name, const CallLimits& limits) = 0;
  absl::StatusOr<LockServiceFile> Read(std::string_view name) { return Read(name, CallLimits()); }

  // Writes the whole file, atomically and durably, and returns its new generation. `expected` makes
  // it a compare-and-swap. kNoFile: creates the file; AlreadyExists if it exists. A generation:
  // replaces that generation; Aborted if the file has another one, NotFound if there is no file.
  // The limits end a wait for other writes; then this one was not made.
  //     ZooKeeper: one multi: check(COUNTER, c), setData(COUNTER), setData or create of the file
  //     (with "locks/NAME"). The znode COUNTER is in every write, and `c` is its version from
  //     before the file's mzxid was compared with `expected`, so that no write came between; repeat
  //     on BADVERSION of COUNTER. A znode's own version would start again when it is created again.
  //
  //     etcd: Txn(If mod_revision(NAME) = expected, which is 0 if there is no key, and
  //     create_revision(SESSION) > 0, and, to create, create_revision = 0 for the range "NAME/" and
  //     for each directory's own name, Then Put). SESSION is a key with the session's lease.
  virtual absl::StatusOr<Generation> Write(std::string_view name, std::string_view contents,
                                           Generation expected = kAnyGeneration,
                                           const CallLimits& limits = {}) = 0;

  // Waits for the writes and removals of any session that are under way: to be called before a
  // write that cannot be given up. Errors of the limits.
  //     Neither system has such waits: OK.
  virtual absl::Status AwaitWrites(const CallLimits& limits) = 0;

  // Removes the file, durably. NotFound; Aborted if its generation is not `expected`, which must
  // not be kNoFile. A session that holds a lock on the file loses it and gets kLockLost. A session
  // that waits for it gets kLockFree (and finds no file). A removal that fails may have taken the
  // lock away nevertheless.
  //     ZooKeeper: multi as above, with delete() of the file and of the znodes below "locks/NAME".
  //     etcd: Txn as above Then DeleteRange of the key and of the prefix "locks/NAME/".
  virtual absl::Status Remove(std::string_view name, Generation expected = kAnyGeneration) = 0;

  // The names of the files in the directory, without the directory's name, sorted; "" is the top
  // directory. Empty if there is no such directory. Subdirectories are not listed. Not cached. The
  // limits: as of Read.
  //     ZooKeeper: sync() and getChildren(). etcd: Range of the prefix, keys only. Both: only files
  //     of this directory itself.
  virtual absl::StatusOr<std::vector<std::string>> List(std::string_view directory,
                                                        const CallLimits& limits) = 0;
  absl::StatusOr<std::vector<std::string>> List(std::string_view directory) {
    return List(directory, CallLimits());
  }

  // ---- Locks (section 5.2: a tablet server holds one on its file, the master has its own).

  // Acquires the lock of the file if it is available at once: kExclusive if no session holds it,
  // kShared if no session holds it exclusively. NotFound if there is no file. Nullopt if other
  // sessions hold it; then this session gets kLockFree once they do not. There is no queue: the
  // first session that tries after that gets the lock. A session that already holds the lock gets
  // the same sequencer; in the other mode, InvalidArgument.
  //     ZooKeeper: an ephemeral sequential znode below "locks/NAME", which is deleted again if an
  //     earlier one conflicts; watches that one; the generation is its czxid.
  //
  //     etcd: Txn(If create_revision(NAME) > 0, and create_revision = 0 for "locks/NAME/x" and, if
  //     exclusive, for the range "locks/NAME/s/" Then Put with the session's lease); the generation
  //     is the revision; watches the prefix.
  virtual absl::StatusOr<std::optional<LockSequencer>> TryLock(std::string_view name,
                                                               LockMode mode) = 0;
  // NotFound if the session does not hold it. Does not wait for writes.
  //     ZooKeeper: delete() of the znode. etcd: Delete of the key.
  virtual absl::Status Unlock(std::string_view name) = 0;
  // OK while this session holds the lock; Aborted if it does not; FailedPrecondition if the session
  // is lost. No message (section 5.2: "an efficient mechanism that allows a tablet server to check
  // whether it still holds its lock without incurring network traffic"). Cheaper still, if no other
  // session removes the file: alive().
  //     Both: alive(), and no event yet of the deletion of the lock's znode or key.
  virtual absl::Status CheckLock(std::string_view name) = 0;
  // OK if the session that acquired the lock with this sequencer, whichever it is, still holds it;
  // Aborted if not. Does not wait for writes.
  //     ZooKeeper: sync() and exists(), czxid. etcd: Range, create_revision.
  virtual absl::Status CheckSequencer(const LockSequencer& sequencer) = 0;

  // ---- Events (section 4: "register callbacks on Chubby files and directories for notification of
  // changes or session expiration").
  //
  // Events wait in the session until its owner takes them, on a thread of its choice. The owner's
  // code never runs inside the service or on another thread, so it cannot deadlock. An event means
  // that something should be checked again; it is not a history. An event that is already waiting
  // moves to the end instead of being added again, so the number of waiting events is bounded by
  // the number of watched names. When an event can be taken, the cache has dropped the file. An
  // event may come for a write that failed.
  //     Both: the client library's callbacks only append to the queue.

  // Until Unwatch, sends kFileChanged and kFileRemoved of a file, which need not exist, and
  // kDirectoryChanged of a directory. A client that watches first and then reads misses nothing.
  // The session's own changes are included.
  //     ZooKeeper: addWatch(PERSISTENT), exists() again after a reconnect. etcd: Watch of the key;
  //     for a directory, of the prefix, using only creations and deletions.
  virtual absl::Status WatchFile(std::string_view name) = 0;
  virtual absl::Status WatchDirectory(std::string_view directory) = 0;
  // Ends both kinds of watch of the name; events that wait are still delivered.
  virtual absl::Status Unwatch(std::string_view name) = 0;

  // The events since the last call, in order. Also of a lost session.
  virtual std::vector<LockEvent> TakeEvents() = 0;
  // Waits until TakeEvents would return an event or the session is lost. Returns false after this
  // much time (not by the service's clock).
  virtual bool WaitForEvents(absl::Duration timeout) = 0;
};

// Thread-safe. Outlives its sessions.
class LockService {
 public:
  virtual ~LockService() = default;

  // A new session with a running lease. InvalidArgument if the lease is not more than zero.
  //     ZooKeeper: a new handle, with the lease as session timeout. etcd: LeaseGrant, and a put of
  //     the key SESSION with that lease.
  virtual absl::StatusOr<std::unique_ptr<LockSession>> OpenSession(LockSessionOptions options) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_LOCK_SERVICE_H_
