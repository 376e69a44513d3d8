// When a call is tried again: after errors that may pass, with pauses that grow from ten
// milliseconds to five seconds, a random part of each left out, until RemoteOptions::retry_for. A
// server that names a delay (google.rpc.RetryInfo) is asked again after that delay.
#ifndef BIGTABLE_REMOTE_CALLS_RETRIES_H_
#define BIGTABLE_REMOTE_CALLS_RETRIES_H_

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/call_limits.h"
#include "remote/calls/connection.h"

namespace bigtable::remote {

// Whether a call that may be made twice is made again after this error.
bool IsPassing(const absl::Status& error);

// How long the pause is, without what is left out, after one of this length.
absl::Duration PauseAfter(absl::Duration pause);

// The tries of one call. One thread at a time.
class Retries {
 public:
  // Both outlive this.
  Retries(Connection* connection, const CallLimits* limits);

  // After an attempt that has failed with `error`, an error that IsPassing: waits. OK: make the
  // next attempt. Otherwise what the call returns: the error, or that of the limits.
  absl::Status Pause(const absl::Status& error);
  // The last attempt has got something done: the time and the pauses begin anew.
  void Restart();

 private:
  Connection* const connection_;
  const CallLimits* const limits_;
  Deadline end_;
  absl::Duration pause_;
  absl::BitGen random_;
};

// Runs `attempt` until its error is none that passes. For calls that may be made twice.
template <typename Attempt>
absl::Status WithRetries(Connection* connection, const CallLimits& limits, const Attempt& attempt) {
  Retries retries(connection, &limits);
  while (true) {
    const absl::Status status = attempt();
    if (!IsPassing(status)) return status;
    if (absl::Status paused = retries.Pause(status); !paused.ok()) return paused;
  }
}

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_CALLS_RETRIES_H_
