// The session of a master with the lock service. Once it is lost, its calls return Unavailable, as
// each step of the master does (master_lock.h), instead of FailedPrecondition: whoever has called
// the master may call again, and gets the next one.
#ifndef BIGTABLE_MASTER_MASTER_SESSION_H_
#define BIGTABLE_MASTER_MASTER_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/call_limits.h"
#include "lockservice/lock_service.h"

namespace bigtable {

inline absl::Status MasterIsLostError() {
  return absl::UnavailableError(
      "the master has lost its lock; whether the call took effect is unknown");
}

// Thread-safe.
class MasterSession final : public LockSession {
 public:
  explicit MasterSession(std::unique_ptr<LockSession> session) : session_(std::move(session)) {}

  uint64_t id() const override { return session_->id(); }
  absl::Status KeepAlive() override { return Checked(session_->KeepAlive()); }
  bool alive() const override { return session_->alive(); }
  absl::StatusOr<LockServiceFile> Read(std::string_view name, const CallLimits& limits) override {
    return Checked(session_->Read(name, limits));
  }
  absl::StatusOr<Generation> Write(std::string_view name, std::string_view contents,
                                   Generation expected, const CallLimits& limits) override {
    return Checked(session_->Write(name, contents, expected, limits));
  }
  absl::Status AwaitWrites(const CallLimits& limits) override {
    return Checked(session_->AwaitWrites(limits));
  }
  absl::Status Remove(std::string_view name, Generation expected) override {
    return Checked(session_->Remove(name, expected));
  }
  absl::StatusOr<std::vector<std::string>> List(std::string_view directory,
                                                const CallLimits& limits) override {
    return Checked(session_->List(directory, limits));
  }
  absl::StatusOr<std::optional<LockSequencer>> TryLock(std::string_view name,
                                                       LockMode mode) override {
    return Checked(session_->TryLock(name, mode));
  }
  absl::Status Unlock(std::string_view name) override { return Checked(session_->Unlock(name)); }
  absl::Status CheckLock(std::string_view name) override {
    return Checked(session_->CheckLock(name));
  }
  absl::Status CheckSequencer(const LockSequencer& sequencer) override {
    return Checked(session_->CheckSequencer(sequencer));
  }
  absl::Status WatchFile(std::string_view name) override {
    return Checked(session_->WatchFile(name));
  }
  absl::Status WatchDirectory(std::string_view directory) override {
    return Checked(session_->WatchDirectory(directory));
  }
  absl::Status Unwatch(std::string_view name) override { return Checked(session_->Unwatch(name)); }
  std::vector<LockEvent> TakeEvents() override { return session_->TakeEvents(); }
  bool WaitForEvents(absl::Duration timeout) override { return session_->WaitForEvents(timeout); }

  using LockSession::List;
  using LockSession::Read;

 private:
  // `result`: a Status or a StatusOr.
  template <typename Result>
  Result Checked(Result result) const {
    if (result.ok() || session_->alive()) return result;
    return MasterIsLostError();
  }

  const std::unique_ptr<LockSession> session_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_SESSION_H_
