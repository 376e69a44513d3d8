// A lock service on top of a local one that loses a session at the n-th call made in any session:
// either before the call takes effect, or after it and before the caller receives the result, as
// when a reply is lost with the session. Thread-safe.
//
// It counts the calls of LockSession that return a status. Typical use: run the work once and query
// calls(); then, for each n up to that count, run the work again with LoseAtCall(n, ...).
#ifndef BIGTABLE_TESTS_SUPPORT_LOSING_LOCK_SERVICE_H_
#define BIGTABLE_TESTS_SUPPORT_LOSING_LOCK_SERVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lockservice/local_lock_service.h"
#include "lockservice/lock_service.h"

namespace bigtable {

class LosingLockService final : public LockService {
 public:
  enum class When { kBeforeCall, kBeforeReply };

  // `base` must outlive this object.
  explicit LosingLockService(LocalLockService* base) : base_(base) {}

  // Restarts the count at 0. No session is lost until LoseAtCall.
  void CountCalls() {
    lose_at_ = 0;
    calls_ = 0;
  }
  uint64_t calls() const { return calls_; }
  void LoseAtCall(uint64_t n, When when) {
    when_ = when;
    lose_at_ = n;
  }

  absl::StatusOr<std::unique_ptr<LockSession>> OpenSession(LockSessionOptions options) override;

 private:
  class Session;

  LocalLockService* const base_;
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> lose_at_{0};
  std::atomic<When> when_{When::kBeforeCall};
};

class LosingLockService::Session final : public LockSession {
 public:
  Session(LosingLockService* service, std::unique_ptr<LockSession> base)
      : service_(service), base_(std::move(base)) {}

  uint64_t id() const override { return base_->id(); }
  bool alive() const override { return base_->alive(); }
  absl::Status KeepAlive() override {
    return Run([&] { return base_->KeepAlive(); });
  }
  using LockSession::List;
  using LockSession::Read;
  absl::StatusOr<LockServiceFile> Read(std::string_view name, const CallLimits& limits) override {
    return Run([&] { return base_->Read(name, limits); });
  }
  absl::StatusOr<Generation> Write(std::string_view name, std::string_view contents,
                                   Generation expected, const CallLimits& limits) override {
    return Run([&] { return base_->Write(name, contents, expected, limits); });
  }
  absl::Status AwaitWrites(const CallLimits& limits) override { return base_->AwaitWrites(limits); }
  absl::Status Remove(std::string_view name, Generation expected) override {
    return Run([&] { return base_->Remove(name, expected); });
  }
  absl::StatusOr<std::vector<std::string>> List(std::string_view directory,
                                                const CallLimits& limits) override {
    return Run([&] { return base_->List(directory, limits); });
  }
  absl::StatusOr<std::optional<LockSequencer>> TryLock(std::string_view name,
                                                       LockMode mode) override {
    return Run([&] { return base_->TryLock(name, mode); });
  }
  absl::Status Unlock(std::string_view name) override {
    return Run([&] { return base_->Unlock(name); });
  }
  absl::Status CheckLock(std::string_view name) override {
    return Run([&] { return base_->CheckLock(name); });
  }
  absl::Status CheckSequencer(const LockSequencer& sequencer) override {
    return Run([&] { return base_->CheckSequencer(sequencer); });
  }
  absl::Status WatchFile(std::string_view name) override {
    return Run([&] { return base_->WatchFile(name); });
  }
  absl::Status WatchDirectory(std::string_view directory) override {
    return Run([&] { return base_->WatchDirectory(directory); });
  }
  absl::Status Unwatch(std::string_view name) override {
    return Run([&] { return base_->Unwatch(name); });
  }
  std::vector<LockEvent> TakeEvents() override { return base_->TakeEvents(); }
  bool WaitForEvents(absl::Duration timeout) override { return base_->WaitForEvents(timeout); }

 private:
  template <typename Call>
  auto Run(Call call) -> decltype(call()) {
    const bool lose = ++service_->calls_ == service_->lose_at_;
    const bool before = service_->when_ == When::kBeforeCall;
    if (lose && before) service_->base_->ExpireSession(id()).IgnoreError();
    auto result = call();
    if (!lose || before) return result;
    service_->base_->ExpireSession(id()).IgnoreError();
    return base_->KeepAlive();  // the error of a lost session
  }

  LosingLockService* const service_;
  const std::unique_ptr<LockSession> base_;
};

inline absl::StatusOr<std::unique_ptr<LockSession>> LosingLockService::OpenSession(
    LockSessionOptions options) {
  absl::StatusOr<std::unique_ptr<LockSession>> session = base_->OpenSession(std::move(options));
  if (!session.ok()) return session.status();
  return std::make_unique<Session>(this, *std::move(session));
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_LOSING_LOCK_SERVICE_H_
