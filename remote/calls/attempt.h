// One attempt of a call: its context and completion queue, and waiting for its events.
//
// The thread that waits looks at the call's limits, and whether the database was closed, every ten
// milliseconds, since neither is signalled.
#ifndef BIGTABLE_REMOTE_CALLS_ATTEMPT_H_
#define BIGTABLE_REMOTE_CALLS_ATTEMPT_H_

#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/support/status.h"

#include "base/call_limits.h"
#include "remote/calls/connection.h"

namespace bigtable::remote {

// One thread at a time.
class Attempt {
 public:
  // Both outlive this.
  Attempt(Connection* connection, const CallLimits* limits);
  // Requires that no event is outstanding.
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // Connection::Prepare. Only after OK may the call begin.
  absl::Status Prepare(std::string_view resource_field, std::string_view resource) {
    return connection_->Prepare(resource_field, resource, &context_);
  }
  grpc::ClientContext* context() { return &context_; }
  grpc::CompletionQueue* queue() { return &queue_; }

  // Waits for the next event, cancelling the call if the limits end it or nothing comes for
  // RemoteOptions::attempt_timeout. Returns whether the operation of the event has succeeded.
  // `*tag`, unless it is null, is the event's.
  bool Wait(void** tag = nullptr);
  // The result of the call, given its status: why it was cancelled here, if it was.
  absl::Status ResultOf(const grpc::Status& status) const;

 private:
  Connection* const connection_;
  const CallLimits* const limits_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  absl::Status ended_;  // why it was cancelled
};

// A call with one response. `start`: (context, queue) -> the response reader, not started.
template <typename Response, typename Start>
absl::Status CallOnce(Connection* connection, const CallLimits& limits, std::string_view field,
                      std::string_view resource, const Start& start, Response* response) {
  Attempt attempt(connection, &limits);
  if (absl::Status prepared = attempt.Prepare(field, resource); !prepared.ok()) return prepared;
  const auto reader = start(attempt.context(), attempt.queue());
  reader->StartCall();
  grpc::Status status;
  reader->Finish(response, &status, response);
  attempt.Wait();
  return attempt.ResultOf(status);
}

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_CALLS_ATTEMPT_H_
