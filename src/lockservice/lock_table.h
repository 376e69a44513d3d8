// Which sessions hold which locks, and which wait for one to become free. Identifies sessions by
// id, and knows nothing of files, leases or events.
//
// Invariants: a lock has one exclusive holder, or any number of shared ones, or none. A session
// holds a lock at most once. A session that waits for a lock does not hold it, and another one
// does.
#ifndef BIGTABLE_LOCKSERVICE_LOCK_TABLE_H_
#define BIGTABLE_LOCKSERVICE_LOCK_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lockservice/lock_service.h"

namespace bigtable {

// One thread at a time.
class LockTable {
 public:
  using SessionId = uint64_t;

  // The result of a removal: the sessions that lost the lock, with their generations, and those
  // that waited for it.
  struct Dropped {
    std::map<SessionId, Generation> holders;
    std::set<SessionId> waiters;
  };

  // The session's sequencer, if it holds the lock.
  std::optional<LockSequencer> Held(std::string_view name, SessionId session) const;
  // Whether a session holds the lock with this sequencer.
  bool IsHeld(const LockSequencer& sequencer) const;
  // The names of the locks that the session holds, sorted.
  std::vector<std::string> HeldBy(SessionId session) const;

  // Whether a session that does not hold the lock could acquire it.
  bool IsFree(std::string_view name, LockMode mode) const;
  // Requires IsFree.
  LockSequencer Acquire(std::string_view name, LockMode mode, SessionId session,
                        Generation generation);
  // Requires not IsFree.
  void Wait(std::string_view name, SessionId session);

  // Returns false if the session does not hold the lock. If no session holds it afterwards, removes
  // the waiting sessions and returns them in `waiters`.
  bool Release(std::string_view name, SessionId session, std::set<SessionId>* waiters);
  // Releases all locks that the session holds or waits for. Returns the waiting sessions of each
  // lock that is free now.
  std::map<std::string, std::set<SessionId>> ReleaseAll(SessionId session);
  // Removes the lock, whichever sessions hold it.
  Dropped Drop(std::string_view name);

 private:
  struct Lock {
    LockMode mode = LockMode::kExclusive;  // of all holders
    std::map<SessionId, Generation> holders;
    std::set<SessionId> waiters;
  };

  const Lock* Find(std::string_view name) const;

  std::map<std::string, Lock, std::less<>> locks_;  // those that have a holder
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_LOCK_TABLE_H_
