#include "lockservice/lock_table.h"

#include <utility>

namespace bigtable {

std::optional<LockSequencer> LockTable::Held(std::string_view name, SessionId session) const {
  const Lock* const lock = Find(name);
  if (lock == nullptr) return std::nullopt;
  const auto holder = lock->holders.find(session);
  if (holder == lock->holders.end()) return std::nullopt;
  return LockSequencer{std::string(name), lock->mode, holder->second};
}

bool LockTable::IsHeld(const LockSequencer& sequencer) const {
  const Lock* const lock = Find(sequencer.name);
  if (lock == nullptr || lock->mode != sequencer.mode) return false;
  for (const auto& [_, generation] : lock->holders) {
    if (generation == sequencer.generation) return true;
  }
  return false;
}

std::vector<std::string> LockTable::HeldBy(SessionId session) const {
  std::vector<std::string> names;
  for (const auto& [name, lock] : locks_) {
    if (lock.holders.contains(session)) names.push_back(name);
  }
  return names;
}

bool LockTable::IsFree(std::string_view name, LockMode mode) const {
  const Lock* const lock = Find(name);
  return lock == nullptr || (mode == LockMode::kShared && lock->mode == LockMode::kShared);
}

LockSequencer LockTable::Acquire(std::string_view name, LockMode mode, SessionId session,
                                 Generation generation) {
  Lock& lock = locks_[std::string(name)];
  lock.mode = mode;
  lock.holders.emplace(session, generation);
  lock.waiters.erase(session);
  return {std::string(name), mode, generation};
}

void LockTable::Wait(std::string_view name, SessionId session) {
  locks_.find(name)->second.waiters.insert(session);
}

bool LockTable::Release(std::string_view name, SessionId session, std::set<SessionId>* waiters) {
  const auto found = locks_.find(name);
  if (found == locks_.end() || found->second.holders.erase(session) == 0) return false;
  if (found->second.holders.empty()) {
    *waiters = std::move(found->second.waiters);
    locks_.erase(found);
  }
  return true;
}

std::map<std::string, std::set<LockTable::SessionId>> LockTable::ReleaseAll(SessionId session) {
  std::map<std::string, std::set<SessionId>> freed;
  for (auto lock = locks_.begin(); lock != locks_.end();) {
    lock->second.waiters.erase(session);
    lock->second.holders.erase(session);
    if (!lock->second.holders.empty()) {
      ++lock;
      continue;
    }
    freed.emplace(lock->first, std::move(lock->second.waiters));
    lock = locks_.erase(lock);
  }
  return freed;
}

LockTable::Dropped LockTable::Drop(std::string_view name) {
  const auto found = locks_.find(name);
  if (found == locks_.end()) return {};
  Dropped dropped{std::move(found->second.holders), std::move(found->second.waiters)};
  locks_.erase(found);
  return dropped;
}

const LockTable::Lock* LockTable::Find(std::string_view name) const {
  const auto found = locks_.find(name);
  return found == locks_.end() ? nullptr : &found->second;
}

}  // namespace bigtable
