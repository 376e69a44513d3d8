// Whether a server may serve: it serves while it holds its lock (server_lock.h), and never again
// once its file is fenced.
//
// Any thread may call everything here, except Renew, which one thread at a time calls, and Begin,
// which is called once. Has no lock of its own.
#ifndef BIGTABLE_COMMIT_SERVING_STATE_H_
#define BIGTABLE_COMMIT_SERVING_STATE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"

#include "commit/server_lock.h"

namespace bigtable {

class ServingState {
 public:
  // `wake` wakes the background work, which renews the lock.
  explicit ServingState(std::function<void()> wake) : wake_(std::move(wake)) {}
  ServingState(const ServingState&) = delete;
  ServingState& operator=(const ServingState&) = delete;

  // From here on the server serves only while it holds this lock. Null: it needs none.
  void Begin(std::unique_ptr<ServerLock> lock) {
    owned_ = std::move(lock);
    lock_.store(owned_.get(), std::memory_order_release);
  }

  bool serving() const {
    const ServerLock* const lock = lock_.load(std::memory_order_acquire);
    return lock == nullptr || lock->held();
  }
  // Returns once the server serves again (true), or has ended (false).
  bool AwaitServing() const { return serving() || AwaitRenewal(); }
  // Renews the lock, or tries to get it back.
  ServerLock::State Renew() {
    ServerLock* const lock = lock_.load(std::memory_order_acquire);
    return lock == nullptr ? ServerLock::State::kHeld : lock->Renew();
  }
  // The caller has found that the server is not serving: the background work renews the lock soon.
  void RequestRenewal() const { wake_(); }

  // The server's file is fenced, so it never serves again. Threads that wait for its lock return.
  void MarkEnded() { ended_ = true; }
  bool ended() const { return ended_; }

  // The server closes: gives the lock up and removes the server's file.
  absl::Status Release() { return owned_ == nullptr ? absl::OkStatus() : owned_->Release(); }
  // For tests: frees the lock as if the server's process had died.
  void Abandon() { owned_->Abandon(); }

 private:
  bool AwaitRenewal() const;

  const std::function<void()> wake_;
  std::unique_ptr<ServerLock> owned_;
  std::atomic<ServerLock*> lock_{nullptr};  // owned_
  std::atomic<bool> ended_{false};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_SERVING_STATE_H_
