// Starts threads without exceptions: std::thread throws if the system has none.
//
// The engine has the like (src/base/start_thread.h). The server sees the engine's interface alone,
// which has no threads to start, and no file stands below both.
#ifndef BIGTABLE_SERVER_CALLS_START_THREAD_H_
#define BIGTABLE_SERVER_CALLS_START_THREAD_H_

#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"

#include "server/text/errors.h"

namespace bigtable::server {

// Makes `*thread`, which does not run, one that calls `body`. ResourceExhausted: the system has no
// thread, for what `purpose` says.
template <typename Body>
absl::Status StartThread(std::string_view purpose, Body body, std::thread* thread) {
  try {
    *thread = std::thread(std::move(body));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(Cat("there is no memory for a thread ", purpose));
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        Cat("the system has no thread ", purpose, ": ", error.code().message()));
  }
  return absl::OkStatus();
}

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_START_THREAD_H_
