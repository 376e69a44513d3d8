// A session of LocalLockService: its state in the service, and the object that its owner has.
//
// The two halves correspond to server and client. The owner's object accesses only the marked
// fields of LocalSessionState, and calls the service for the rest. With a remote service, these
// calls would be messages.
#ifndef BIGTABLE_LOCKSERVICE_LOCAL_SESSION_H_
#define BIGTABLE_LOCKSERVICE_LOCAL_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bigtable/clock.h"

#include "base/mutex.h"
#include "lockservice/file_cache.h"
#include "lockservice/lock_service.h"

namespace bigtable {

// The events that wait in a session for its owner (lock_service.h says why they wait). One thread
// at a time.
class EventQueue {
 public:
  bool empty() const { return events_.empty(); }

  // Adds an event at the end. Replaces a waiting event of the same kind and name, so that the
  // number of names bounds the queue.
  void Add(LockEventKind kind, std::string_view name = {}, Generation generation = 0) {
    std::erase_if(events_,
                  [&](const LockEvent& event) { return event.kind == kind && event.name == name; });
    events_.push_back({kind, std::string(name), generation});
  }
  std::vector<LockEvent> Take() { return std::exchange(events_, {}); }

 private:
  std::vector<LockEvent> events_;
};

class LocalLockService;

struct LocalSessionState {
  LocalSessionState(uint64_t its_id, LockSessionOptions options)
      : id(its_id), owner(std::move(options.owner)), lease(options.lease) {}

  const uint64_t id;
  const std::string owner;
  const absl::Duration lease;

  // Read by the owner without the service's lock; written under it.
  FileCache cache;
  static constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> lease_end{0};  // nanoseconds since 1970, by the service's clock
  std::atomic<bool> lost{false};      // once true, stays true

  // Guarded by the service's `mutex_`.
  EventQueue events;
  CondVar woken;  // `events` or `lost` changed, or a lease began that may end before all others
  bool in_jeopardy = false;
  std::set<std::string, std::less<>> watched_files;
  std::set<std::string, std::less<>> watched_directories;
};

// Thread-safe, except for the destructor.
class LocalLockSession final : public LockSession {
 public:
  LocalLockSession(LocalLockService* service, Clock* clock,
                   std::shared_ptr<LocalSessionState> state)
      : service_(service), clock_(clock), state_(std::move(state)) {}
  ~LocalLockSession() override;
  LocalLockSession(const LocalLockSession&) = delete;
  LocalLockSession& operator=(const LocalLockSession&) = delete;

  uint64_t id() const override { return state_->id; }
  absl::Status KeepAlive() override;
  bool alive() const override;

  using LockSession::List;
  using LockSession::Read;
  absl::StatusOr<LockServiceFile> Read(std::string_view name, const CallLimits& limits) override;
  absl::StatusOr<Generation> Write(std::string_view name, std::string_view contents,
                                   Generation expected, const CallLimits& limits) override;
  absl::Status AwaitWrites(const CallLimits& limits) override;
  absl::Status Remove(std::string_view name, Generation expected) override;
  absl::StatusOr<std::vector<std::string>> List(std::string_view directory,
                                                const CallLimits& limits) override;

  absl::StatusOr<std::optional<LockSequencer>> TryLock(std::string_view name,
                                                       LockMode mode) override;
  absl::Status Unlock(std::string_view name) override;
  absl::Status CheckLock(std::string_view name) override;
  absl::Status CheckSequencer(const LockSequencer& sequencer) override;

  absl::Status WatchFile(std::string_view name) override;
  absl::Status WatchDirectory(std::string_view directory) override;
  absl::Status Unwatch(std::string_view name) override;
  std::vector<LockEvent> TakeEvents() override;
  bool WaitForEvents(absl::Duration timeout) override;

 private:
  LocalLockService* const service_;
  Clock* const clock_;
  const std::shared_ptr<LocalSessionState> state_;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_LOCAL_SESSION_H_
