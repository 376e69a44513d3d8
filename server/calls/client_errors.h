// Errors on their way to clients: these get the message without what is the server's own
// (convert/public_text.h); the whole message goes to the server's log, if the two differ.
//
// Thread-safe. Costs a call without an error nothing.
#ifndef BIGTABLE_SERVER_CALLS_CLIENT_ERRORS_H_
#define BIGTABLE_SERVER_CALLS_CLIENT_ERRORS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

#include "server/text/public_text.h"

namespace bigtable::server {

class ClientErrors {
 public:
  // In a second; further ones are counted.
  static constexpr int kMostLogged = 10;

  // Called by any thread, for one error at a time. `unlogged`: how many errors were not passed to
  // it since the last call.
  using Log =
      std::function<void(std::string_view method, const absl::Status& error, uint64_t unlogged)>;

  ClientErrors(PublicText text, Log log) : text_(std::move(text)), log_(std::move(log)) {}
  ClientErrors(const ClientErrors&) = delete;
  ClientErrors& operator=(const ClientErrors&) = delete;

  // The status as the client of the method sees it, with the same code and payloads.
  absl::Status For(std::string_view method, const absl::Status& status) {
    return status.ok() ? status : Shortened(method, status);
  }

 private:
  absl::Status Shortened(std::string_view method, const absl::Status& status);
  void LogSome(std::string_view method, const absl::Status& status);

  const PublicText text_;
  const Log log_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point second_;  // its beginning
  int logged_ = 0;                                // in it
  uint64_t unlogged_ = 0;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_CLIENT_ERRORS_H_
