#include "server/calls/client_errors.h"

#include <string>

#include "absl/strings/cord.h"

#include "bigtable/string_view.h"

namespace bigtable::server {

absl::Status ClientErrors::Shortened(std::string_view method, const absl::Status& status) {
  const std::string message = text_.Of(ToStd(status.message()));
  if (message == ToStd(status.message())) return status;
  LogSome(method, status);
  absl::Status shortened(status.code(), message);
  status.ForEachPayload([&shortened](absl::string_view url, const absl::Cord& payload) {
    shortened.SetPayload(url, payload);
  });
  return shortened;
}

void ClientErrors::LogSome(std::string_view method, const absl::Status& status) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    logged_ = 0;
  }
  if (logged_ == kMostLogged) {
    ++unlogged_;
    return;
  }
  ++logged_;
  log_(method, status, std::exchange(unlogged_, 0));
}

}  // namespace bigtable::server
