// Resumes the database after an error that has stopped its writes: for the admin call, and for the
// status page.
#ifndef BIGTABLE_SERVER_ADMIN_RESUMPTION_H_
#define BIGTABLE_SERVER_ADMIN_RESUMPTION_H_

#include <functional>
#include <mutex>
#include <utility>

#include "absl/status/status.h"

namespace bigtable::server {

// Thread-safe.
class Resumption {
 public:
  // `resume` is Database::Resume, and is called by one thread at a time.
  explicit Resumption(std::function<absl::Status()> resume) : resume_(std::move(resume)) {}
  Resumption(const Resumption&) = delete;
  Resumption& operator=(const Resumption&) = delete;

  // Returns how it went. It takes as long as the flush of all memtables, so a second call does not
  // wait, but is Aborted.
  absl::Status Run() {
    const std::unique_lock<std::mutex> running(mutex_, std::try_to_lock);
    if (!running.owns_lock()) return absl::AbortedError("the database is being resumed already");
    return resume_();
  }

 private:
  const std::function<absl::Status()> resume_;
  std::mutex mutex_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_RESUMPTION_H_
