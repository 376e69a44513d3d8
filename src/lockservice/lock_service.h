// The lock service: the part that Chubby plays in the paper (sections 4 and 5.2). Small files that
// are read and written whole, advisory locks on them that die with their holder's session, events,
// and a client cache that is never stale. The rest of the engine keeps here what must be agreed on
// before any table can be read: where METADATA begins, the tables' schemas, access lists, which
// tablet servers there are and who is the master.
//
// This is the interface only; local_lock_service.h is the implementation inside one process. It
// asks for nothing that ZooKeeper or etcd could not give: behind each call stands how it maps.
//
// Names. A file is named by a path, "schema/web": components with '/' between them, of letters,
// digits and -_.+=@%. A component is not empty, does not begin with '.', and has at most
// kMaxComponentLength bytes, the path at most kMaxNameLength. A directory is there as soon as, and
// at least as long as, it has a file, so none needs to be created. A name is a file's or a
// directory's, not both.
//     ZooKeeper: a znode; parents are made on the way, empty, while a file's data begin with a byte
//     of the adapter's. etcd: a key; a directory is a prefix.
//
// Generations. Each write gives a file a generation: a number larger than all that the service gave
// out before, to any file, also before it was restarted. So a generation stands for one content of
// one file for ever: a file that was removed and created again has another one.
//     ZooKeeper: mzxid. etcd: mod_revision.
//
// Sessions. Whatever a caller does, it does in a session, which has a lease: unless it is renewed,
// the session is lost when the lease ends, and with it its locks, its watches and its cache. From
// then on every call in it is FailedPrecondition: nothing that the caller repeats can help, it must
// stop what its locks protected and begin anew with another session. A call that was on its way
// when the session was lost may still take effect, but not after somebody else got one of the
// session's locks.
//
// Locks are advisory: reads and writes do not look at them. Who is told to do something by the
// holder of a lock, and must not do it for one that has lost it without knowing, is shown the
// lock's sequencer and asks CheckSequencer, or remembers the largest generation it has seen.
//
// Errors that any call may return, beside its own:
//   * FailedPrecondition: the session is lost. (If alive() says that it is not: the format of what
//     is stored is of a later version.)
//   * InvalidArgument: the name is none, or something else was the caller's mistake.
//   * Unavailable: the service cannot be reached, or its disk cannot. Whether a write or a removal
//     has taken effect, as a whole, the next Read that succeeds says, for good.
//   * DataLoss: what is stored is damaged. A write or removal without an expected generation goes
//     through, and ends that.
//   * ResourceExhausted: the service has no room.
//
// No ephemeral files (files that vanish with a session): the paper's servers do not need them. A
// server's file stays when the server dies, unlocked, and it is the master that removes it, once
// the server's tablets are safe from it.
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

namespace bigtable {

using Generation = uint64_t;
inline constexpr Generation kNoFile = 0;                  // of a file that is not there
inline constexpr Generation kAnyGeneration = UINT64_MAX;  // to expect nothing

enum class LockMode { kExclusive, kShared };

struct LockServiceFile {
  std::string contents;
  Generation generation = kNoFile;
};

// Proof that a lock was acquired: to be handed to others, who have it checked. A plain value.
struct LockSequencer {
  std::string name;
  LockMode mode = LockMode::kExclusive;
  // Of this acquisition: larger than that of every earlier one, of whatever lock.
  Generation generation = kNoFile;

  friend bool operator==(const LockSequencer&, const LockSequencer&) = default;
};

enum class LockEventKind {
  kFileChanged,        // the watched file was created or written
  kFileRemoved,        // the watched file was removed
  kDirectoryChanged,   // a file of the watched directory was created or removed
  kLockLost,           // the locked file was removed
  kLockFree,           // a lock that TryLock did not get may be had now; once for each such call
  kSessionInJeopardy,  // half of the lease is over without a renewal
  kSessionSafe,        // renewed after that
  kSessionLost,        // the last event of a session
};

struct LockEvent {
  LockEventKind kind;
  std::string name;  // of the file or directory; empty if it is about the session
  // kFileChanged: the file's, or 0 if the write failed half way. kLockLost: the sequencer's.
  Generation generation = 0;

  friend bool operator==(const LockEvent&, const LockEvent&) = default;
};

struct LockSessionOptions {
  // Who it is, for people who look at the service: "server-7".
  std::string owner;
  // From the last renewal on. More than zero. Short leases find the dead sooner, and lose the
  // living in a pause. The default is Chubby's; a year, or what is longer, is for ever.
  absl::Duration lease = absl::Seconds(12);
};

// Thread-safe, but for the destructor: that comes when no other call is under way.
class LockSession {
 public:
  // A limit that Chubby (256 KiB), ZooKeeper (1 MiB) and etcd (1.5 MiB) have too.
  static constexpr size_t kMaxFileSize = 512 << 10;
  static constexpr size_t kMaxNameLength = 512;
  static constexpr size_t kMaxComponentLength = 200;

  // Ends the session: locks are released at once, not when the lease ends.
  //     ZooKeeper: close(). etcd: LeaseRevoke.
  virtual ~LockSession() = default;

  // No two sessions of a service that lives have the same. For messages.
  //     ZooKeeper: the session's id. etcd: the lease's.
  virtual uint64_t id() const = 0;

  // ---- The lease (section 4: "A client's session expires if it is unable to renew its session
  // lease within the lease expiration time").

  // Renews the lease. Somebody has to call it several times in a lease; nothing else renews it. It
  // does not wait for writes, so that a slow disk loses no session. One message.
  //     ZooKeeper: its client library renews by itself, here it only says whether the session is
  //     alive. etcd: LeaseKeepAlive.
  virtual absl::Status KeepAlive() = 0;
  // Whether the lease runs still. Once false, always false. No message: a look at the clock; the
  // caller's lease is never taken to be longer than the service takes it.
  //     Both: the time at which the last renewal that was answered had been *sent*, plus the lease.
  virtual bool alive() const = 0;

  // ---- Files.

  // NotFound. Never stale: it returns what the last write left that was complete before the call,
  // or a later one, and not less than any other session's Read has returned before. From the cache,
  // if this session has read the file since it was last written: no message, also for a file that
  // is not there. Chubby's rule makes that possible: no write is complete before every session that
  // may have the file in its cache has dropped it, or is lost.
  //     Neither system holds writes back for caches. Either an adapter caches nothing: ZooKeeper
  //     sync() and getData(), etcd a linearizable Range. Or it builds the rule: who caches a file
  //     keeps an ephemeral node "cachers/NAME/SESSION" (etcd: a key with its lease) and watches
  //     "changing/NAME"; who writes creates that first, waits until all of "cachers/NAME" are gone,
  //     writes, and removes it; while it is there, nobody caches.
  virtual absl::StatusOr<LockServiceFile> Read(std::string_view name) = 0;

  // Writes the whole file, atomically and durably, and returns its new generation. `expected` makes
  // it a compare-and-swap: kNoFile creates the file, AlreadyExists if it is there; a generation
  // replaces that one, Aborted if there is another, NotFound if there is none.
  //     ZooKeeper: one multi: check(COUNTER, c), setData(COUNTER), setData or create of the file
  //     (with "locks/NAME"). The znode COUNTER is in every write, and `c` is its version from
  //     before the file's mzxid was compared with `expected`, so that nothing came between; on
  //     BADVERSION of COUNTER again. A znode's own version would begin anew when it is created
  //     again.
  //
  //     etcd: Txn(If mod_revision(NAME) = expected, which is 0 where there is no key, and
  //     create_revision(SESSION) > 0, and, to create, create_revision = 0 for the range "NAME/" and
  //     for each directory's own name, Then Put). SESSION is a key with the session's lease.
  virtual absl::StatusOr<Generation> Write(std::string_view name, std::string_view contents,
                                           Generation expected = kAnyGeneration) = 0;

  // Removes the file, durably. NotFound; Aborted if it has another generation than `expected`,
  // which is not kNoFile. Who holds a lock on the file loses it and gets kLockLost, whoever is
  // waiting for it kLockFree (and finds no file). A removal that fails may have taken the lock all
  // the same.
  //     ZooKeeper: multi as above, with delete() of the file and of the znodes below "locks/NAME".
  //     etcd: Txn as above Then DeleteRange of the key and of the prefix "locks/NAME/".
  virtual absl::Status Remove(std::string_view name, Generation expected = kAnyGeneration) = 0;

  // The names of the files in the directory, without its own, sorted; "" is the top one. None if
  // there is no such directory. Directories in it are not listed. Not cached.
  //     ZooKeeper: sync() and getChildren(). etcd: Range of the prefix, keys only. Of either, those
  //     that are files of this directory itself.
  virtual absl::StatusOr<std::vector<std::string>> List(std::string_view directory) = 0;

  // ---- Locks (section 5.2: a tablet server holds one on its file, the master has one of its own).

  // Acquires the lock of the file, if the session can have it at once: kExclusive if nobody holds
  // it, kShared if nobody holds it exclusively. NotFound if there is no file. Nothing, if others
  // hold it; then the session gets kLockFree once they do not. It is not queued: whoever tries
  // first after that has the lock. A session that holds the lock already gets the same sequencer,
  // in the other mode InvalidArgument.
  //     ZooKeeper: an ephemeral sequential znode below "locks/NAME", which is deleted again if one
  //     before it is in the way; watches that one; the generation is its czxid.
  //
  //     etcd: Txn(If create_revision(NAME) > 0, and create_revision = 0 for "locks/NAME/x" and, if
  //     exclusive, for the range "locks/NAME/s/" Then Put with the session's lease); the generation
  //     is the revision; watches the prefix.
  virtual absl::StatusOr<std::optional<LockSequencer>> TryLock(std::string_view name,
                                                               LockMode mode) = 0;
  // NotFound if the session does not hold it. Does not wait for writes.
  //     ZooKeeper: delete() of the znode. etcd: Delete of the key.
  virtual absl::Status Unlock(std::string_view name) = 0;
  // OK while this session holds the lock; Aborted if it does not, FailedPrecondition if it is lost.
  // No message (section 5.2: "an efficient mechanism that allows a tablet server to check whether
  // it still holds its lock without incurring network traffic"). Cheaper still, where nobody else
  // removes the file: alive().
  //     Both: alive(), and no event yet of the deletion of the lock's znode or key.
  virtual absl::Status CheckLock(std::string_view name) = 0;
  // OK if the lock is still held by whoever acquired it with this sequencer, of whatever session;
  // Aborted if not. Does not wait for writes.
  //     ZooKeeper: sync() and exists(), czxid. etcd: Range, create_revision.
  virtual absl::Status CheckSequencer(const LockSequencer& sequencer) = 0;

  // ---- Events (section 4: "register callbacks on Chubby files and directories for notification of
  // changes or session expiration").
  //
  // They wait in the session until its owner takes them, on a thread of its choice: no code of the
  // owner's ever runs inside the service, or on somebody else's thread, so nothing can lock up. An
  // event says that something is to be looked at again, and is no history: one that waits already
  // moves to the end instead of standing there twice, so that no more wait than there are names
  // watched. When an event can be taken, the cache has dropped what it is about. An event may come
  // for a write that failed.
  //     Both: the client library's callbacks do nothing but append to the queue.

  // From now on, until Unwatch: kFileChanged and kFileRemoved of a file, which need not be there,
  // and kDirectoryChanged of a directory. Who watches first and reads then misses nothing. Changes
  // that the session makes itself count too.
  //     ZooKeeper: addWatch(PERSISTENT), exists() again after a reconnect. etcd: Watch of the key;
  //     of the prefix, of which creations and deletions matter.
  virtual absl::Status WatchFile(std::string_view name) = 0;
  virtual absl::Status WatchDirectory(std::string_view directory) = 0;
  // Ends what there is of both; what waits still comes.
  virtual absl::Status Unwatch(std::string_view name) = 0;

  // What has come since the last call, in its order. Also of a lost session.
  virtual std::vector<LockEvent> TakeEvents() = 0;
  // Waits until TakeEvents would return something, or the session is lost, or this much time (not
  // the service's clock) is over: then false.
  virtual bool WaitForEvents(absl::Duration timeout) = 0;
};

// Thread-safe. Outlives its sessions.
class LockService {
 public:
  virtual ~LockService() = default;

  // A new session, its lease running. InvalidArgument if the lease is not more than zero.
  //     ZooKeeper: a new handle, with the lease as session timeout. etcd: LeaseGrant, and the key
  //     SESSION put with that lease.
  virtual absl::StatusOr<std::unique_ptr<LockSession>> OpenSession(LockSessionOptions options) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_LOCK_SERVICE_H_
