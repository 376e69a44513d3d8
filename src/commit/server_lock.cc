#include "commit/server_lock.h"

#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::StatusOr<std::unique_ptr<ServerLock>> ServerLock::Create(LockService* service,
                                                               std::string_view server,
                                                               absl::Duration lease) {
  std::unique_ptr<ServerLock> lock(new ServerLock(service, server, lease));
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<LockSession> creator,
                      service->OpenSession(lock->options_));
  BT_RETURN_IF_ERROR(creator->Write(lock->file_, "", kNoFile).status());
  BT_ASSIGN_OR_RETURN(std::unique_ptr<LockSession> session, lock->Acquire());
  if (session == nullptr) {
    return absl::AbortedError(Cat("another session has locked ", Quoted(lock->file_)));
  }
  lock->session_ = session.get();
  lock->sessions_.push_back(std::move(session));
  return lock;
}

absl::StatusOr<std::unique_ptr<LockSession>> ServerLock::Acquire() {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<LockSession> session, service_->OpenSession(options_));
  BT_ASSIGN_OR_RETURN(const std::optional<LockSequencer> sequencer,
                      session->TryLock(file_, LockMode::kExclusive));
  if (!sequencer.has_value()) return nullptr;
  // Read after the lock is taken, because a server is fenced under the lock.
  BT_ASSIGN_OR_RETURN(const ServerRecord record, ReadServerRecord(session.get(), server_));
  if (record.is_fenced) return absl::NotFoundError(Cat(Quoted(file_), " is fenced"));
  return session;
}

ServerLock::State ServerLock::Renew() {
  if (ended_) return State::kEnded;
  // Loaded once: Abandon or Release may reset it meanwhile.
  LockSession* const present = session_.load(std::memory_order_acquire);
  // An error does not end the session: the lease is still valid.
  if (present != nullptr && present->alive()) present->KeepAlive().IgnoreError();
  if (held()) return State::kHeld;
  if (abandoned_) return State::kLost;
  absl::StatusOr<std::unique_ptr<LockSession>> session = Acquire();
  ended_ = absl::IsNotFound(session.status());
  if (ended_) return State::kEnded;
  if (!session.ok() || *session == nullptr) return State::kLost;
  sessions_.push_back(*std::move(session));
  session_.store(sessions_.back().get(), std::memory_order_release);
  return State::kHeld;
}

void ServerLock::Abandon() {
  abandoned_ = true;
  LockSession* const session = session_.exchange(nullptr, std::memory_order_acq_rel);
  if (session != nullptr) session->Unlock(file_).IgnoreError();
}

absl::Status ServerLock::Release() {
  ended_ = true;
  session_.store(nullptr, std::memory_order_release);
  const absl::Status removed = sessions_.back()->Remove(file_);
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

}  // namespace bigtable
