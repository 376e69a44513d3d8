// The thread that replaces the lost servers of one role, and does nothing else. It may wait for a
// server of an earlier role, but never for a server of its own role, which it replaces.
#ifndef BIGTABLE_MASTER_LIVENESS_H_
#define BIGTABLE_MASTER_LIVENESS_H_

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "base/mutex.h"
#include "base/retry_pause.h"
#include "cluster/server_role.h"
#include "master/assignment.h"

namespace bigtable {

// Thread-safe, except for Start and Stop.
class LivenessThread {
 public:
  // `assignment` outlives this.
  LivenessThread(Assignment* assignment, ServerRole role) : assignment_(assignment), role_(role) {}
  ~LivenessThread() { Stop(); }
  LivenessThread(const LivenessThread&) = delete;
  LivenessThread& operator=(const LivenessThread&) = delete;

  absl::Status Start();
  // Waits for the thread.
  void Stop();
  // A server may have been lost.
  void Wake();
  // The cause that prevented an assignment may be over: the thread does not wait for the end of its
  // pause.
  void WakeNow();

 private:
  void Loop();
  // False: the thread must end.
  bool WaitUntilDue(const RetryPause& pause);

  Assignment* const assignment_;
  const ServerRole role_;
  Mutex mutex_;
  CondVar changed_;
  bool due_ ABSL_GUARDED_BY(mutex_) = false;
  bool now_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_LIVENESS_H_
