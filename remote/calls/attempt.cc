#include "remote/calls/attempt.h"

#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/steady_time.h"
#include "base/strings.h"
#include "convert/status.h"
#include "remote/calls/credentials.h"
#include "remote/calls/poll_interval.h"

namespace bigtable::remote {
namespace {

// The server may end a call itself so much later than this side does.
constexpr absl::Duration kServersSlack = absl::Milliseconds(100);

std::chrono::system_clock::time_point After(absl::Duration wait) {
  return std::chrono::system_clock::now() + absl::ToChronoNanoseconds(wait);
}

}  // namespace

Attempt::Attempt(Connection* connection, const CallLimits* limits)
    : connection_(connection), limits_(limits) {
  if (!limits->deadline.is_never()) {
    context_.set_deadline(After(limits->deadline.left() + kServersSlack));
  }
}

Attempt::~Attempt() {
  queue_.Shutdown();
  void* tag;
  bool ok;
  while (queue_.Next(&tag, &ok)) {
  }
}

bool Attempt::Wait(void** tag) {
  void* its_tag;
  bool ok = false;
  const Deadline stalled = Deadline::In(connection_->options().attempt_timeout);
  while (true) {
    switch (queue_.AsyncNext(&its_tag, &ok, After(kPollInterval))) {
      case grpc::CompletionQueue::GOT_EVENT:
        if (tag != nullptr) *tag = its_tag;
        return ok;
      case grpc::CompletionQueue::SHUTDOWN:
        return false;
      case grpc::CompletionQueue::TIMEOUT:
        break;
    }
    if (!ended_.ok()) continue;  // the event of the cancelled call is about to come
    ended_ = limits_->Check();
    ended_.Update(connection_->CheckOpen());
    if (ended_.ok() && stalled.has_passed()) {
      ended_ =
          absl::UnavailableError(Cat("the server has not answered for ",
                                     absl::FormatDuration(connection_->options().attempt_timeout)));
    }
    if (!ended_.ok()) context_.TryCancel();
  }
}

absl::Status Attempt::ResultOf(const grpc::Status& status) const {
  if (status.ok() || ended_.ok())
    return ExplainTls(convert::ToStatus(status), connection_->options());
  return ended_;
}

}  // namespace bigtable::remote
