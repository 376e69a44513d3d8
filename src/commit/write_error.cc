#include "commit/write_error.h"

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "base/strings.h"

namespace bigtable {

absl::Status WriteError::status() const {
  MutexLock lock(&mutex_);
  return status_;
}

void WriteError::Set(const absl::Status& status) {
  ABSL_ASSERT(!status.ok() && "a failure has an error");
  {
    MutexLock lock(&mutex_);
    if (!status_.ok()) return;
    status_ = status;
    any_.store(true);
  }
  if (environment_->events != nullptr) {
    environment_->events->Push(
        &EventListener::OnBackgroundError,
        {.time = absl::Now(), .server = environment_->server, .status = status});
  }
  info_log_->Error("server ", environment_->server,
                   ": writes are refused: ", ToStd(status.message()));
}

void WriteError::Clear() {
  EndResume();
  MutexLock lock(&mutex_);
  status_ = absl::OkStatus();
  any_.store(false);
}

}  // namespace bigtable
