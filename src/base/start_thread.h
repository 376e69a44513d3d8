// Starts threads. The standard library throws if the system cannot create a thread, which would end
// the host program.
#ifndef BIGTABLE_BASE_START_THREAD_H_
#define BIGTABLE_BASE_START_THREAD_H_

#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/strings.h"

namespace bigtable {

// Returns a thread that runs `body`. ResourceExhausted: the system cannot create one (RLIMIT_NPROC,
// the pids of a cgroup, memory).
template <typename Body>
absl::StatusOr<std::thread> StartThread(Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("no thread can be started: there is no memory for it");
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(Cat("no thread can be started: ", error.code().message()));
  }
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_START_THREAD_H_
