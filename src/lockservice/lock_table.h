// Who holds which lock, and who waits to hear that one is free. Knows sessions by their ids only,
// and nothing of files, leases or events.
//
// What always holds: a lock has one exclusive holder, or any number of shared ones, or none. A
// session holds a lock at most once. Who waits for a lock does not hold it, and somebody else does.
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

  // What a removal leaves: who lost the lock, each with its generation, and who waited for it.
  struct Dropped {
    std::map<SessionId, Generation> holders;
    std::set<SessionId> waiters;
  };

  // What the session holds of the lock, if it does.
  std::optional<LockSequencer> Held(std::string_view name, SessionId session) const;
  // Whether somebody holds the lock with this sequencer.
  bool IsHeld(const LockSequencer& sequencer) const;
  // The names of the locks that the session holds, sorted.
  std::vector<std::string> HeldBy(SessionId session) const;

  // Whether a session that does not hold the lock could.
  bool IsFree(std::string_view name, LockMode mode) const;
  // Requires IsFree.
  LockSequencer Acquire(std::string_view name, LockMode mode, SessionId session,
                        Generation generation);
  // Requires not IsFree.
  void Wait(std::string_view name, SessionId session);

  // False if the session does not hold the lock. If nobody does after that, `waiters` are those who
  // waited; they do no more.
  bool Release(std::string_view name, SessionId session, std::set<SessionId>* waiters);
  // Everything that the session has or waits for. Returns who waited for what is free now, by lock.
  std::map<std::string, std::set<SessionId>> ReleaseAll(SessionId session);
  // The lock is gone, whoever has it.
  Dropped Drop(std::string_view name);

 private:
  struct Lock {
    LockMode mode = LockMode::kExclusive;  // of all holders
    std::map<SessionId, Generation> holders;
    std::set<SessionId> waiters;
  };

  const Lock* Find(std::string_view name) const;

  std::map<std::string, Lock, std::less<>> locks_;  // that have a holder
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_LOCK_TABLE_H_
