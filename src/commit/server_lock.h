// A tablet server's right to serve: the exclusive lock on its own file in the lock service,
// "servers/NAME" (section 5.2 of the paper). The file exists as long as the server's log may be
// needed, and says what of the log is recovered (recovery/server_record.h). If the server loses the
// lock, the master takes the lock and fences the server: it writes this into the file, and the
// server never serves again, even if the lock is free.
//
//   kHeld --- session lost ---> kLost --- the file is removed, or fenced ---> kEnded
//     ^                           |
//     +--- another session has ---+
//          the lock again
#ifndef BIGTABLE_COMMIT_SERVER_LOCK_H_
#define BIGTABLE_COMMIT_SERVER_LOCK_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "lockservice/lock_service.h"
#include "recovery/server_record.h"

namespace bigtable {

class ServerLock {
 public:
  enum class State { kHeld, kLost, kEnded };

  // Creates the file, which has never existed before, and locks it. `service` outlives this.
  static absl::StatusOr<std::unique_ptr<ServerLock>> Create(LockService* service,
                                                            std::string_view server,
                                                            absl::Duration lease);
  ServerLock(const ServerLock&) = delete;
  ServerLock& operator=(const ServerLock&) = delete;

  // Whether the server may serve now. Any thread; costs what LockSession::alive costs. True only
  // while no other session can have the lock: only the holder of the lock removes the file.
  bool held() const {
    const LockSession* const session = session_.load(std::memory_order_acquire);
    return session != nullptr && session->alive();
  }

  // Renews the lease, or tries to get a lost lock back. Called several times during a lease, and
  // when held() has become false; one thread at a time.
  State Renew();
  // The server closes: removes the file. held() is false after that.
  absl::Status Release();

  // For tests: frees the lock as if the server's process had died. Renew does not try to get it
  // back.
  void Abandon();

 private:
  ServerLock(LockService* service, std::string_view server, absl::Duration lease)
      : service_(service), server_(server), options_{std::string(server), lease} {}

  // A session that has the lock; null if another session has it. NotFound: the file was removed or
  // fenced.
  absl::StatusOr<std::unique_ptr<LockSession>> Acquire();

  LockService* const service_;
  const std::string server_;
  const std::string file_ = ServerRecord::FileOf(server_);
  const LockSessionOptions options_;
  bool ended_ = false;
  std::atomic<bool> abandoned_{false};
  std::atomic<LockSession*> session_{nullptr};  // null: released
  // The last one has, or had, the lock. Other threads may still read those before it.
  std::vector<std::unique_ptr<LockSession>> sessions_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_SERVER_LOCK_H_
