// The lock that only one master can hold: the exclusive lock on the file "master" of the lock
// service (section 5.2 of the paper). A master whose session is lost has given up for good: it
// checks this before each of its steps.
#ifndef BIGTABLE_MASTER_MASTER_LOCK_H_
#define BIGTABLE_MASTER_MASTER_LOCK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/status.h"
#include "base/strings.h"
#include "cluster/server_host.h"
#include "lockservice/lock_service.h"
#include "master/master_session.h"

namespace bigtable {

// Thread-safe.
class MasterLock {
 public:
  static constexpr std::string_view kFile = "master";
  static constexpr std::string_view kOwner = "master";

  // Takes the lock; Unavailable if another master has it. `on_step` is called before each step.
  // A master of a read-only database needs no lock, because no master changes anything.
  static absl::StatusOr<std::unique_ptr<MasterLock>> Acquire(LockService* service, bool read_only,
                                                             std::function<void()> on_step) {
    std::unique_ptr<MasterLock> lock(new MasterLock(std::move(on_step)));
    // Master and lock service are in one process, so no lease is needed.
    BT_ASSIGN_OR_RETURN(
        std::unique_ptr<LockSession> session,
        service->OpenSession({.owner = std::string(kOwner), .lease = absl::InfiniteDuration()}));
    lock->session_ = std::make_unique<MasterSession>(std::move(session));
    if (read_only) {
      const absl::Status read = lock->session_->Read(kFile).status();
      if (!read.ok() && !absl::IsNotFound(read)) return read;  // damage is an error
      return lock;
    }
    const absl::Status created = lock->session_->Write(kFile, "", kNoFile).status();
    if (!absl::IsAlreadyExists(created)) BT_RETURN_IF_ERROR(created);
    BT_ASSIGN_OR_RETURN(const std::optional<LockSequencer> sequencer,
                        lock->session_->TryLock(kFile, LockMode::kExclusive));
    if (!sequencer.has_value()) return absl::UnavailableError("there is another master");
    lock->epoch_ = sequencer->generation;
    return lock;
  }
  MasterLock(const MasterLock&) = delete;
  MasterLock& operator=(const MasterLock&) = delete;

  LockSession* session() { return session_.get(); }
  // Larger than that of every earlier master; 0 in a read-only database.
  MasterEpoch epoch() const { return epoch_; }
  bool held() const { return !given_up_.load(std::memory_order_relaxed) && session_->alive(); }
  // For calls that the master makes on behalf of callers: they end soon once it has given up.
  const std::atomic<bool>* given_up() const { return &given_up_; }

  // Call it before each step that others can see. Unavailable once the lock is lost.
  absl::Status Step() {
    if (on_step_) on_step_();
    if (held()) return absl::OkStatus();
    given_up_ = true;
    return MasterIsLostError();
  }
  void GiveUp() { given_up_ = true; }

 private:
  explicit MasterLock(std::function<void()> on_step) : on_step_(std::move(on_step)) {}

  const std::function<void()> on_step_;
  MasterEpoch epoch_ = 0;
  std::atomic<bool> given_up_{false};
  std::unique_ptr<LockSession> session_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_LOCK_H_
