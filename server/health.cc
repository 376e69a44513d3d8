#include "server/health.h"

#include <chrono>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

#include "bigtable/options.h"
#include "bigtable/statistics.h"

#include "server/text/errors.h"

namespace bigtable::server {

const uint64_t Health::kLeastFreeBytes = DatabaseOptions().log_segment_size;

Health::Health(Database* database, std::string directory, std::function<void(const State&)> report,
               uint64_t least_free_bytes)
    : database_(database),
      directory_(std::move(directory)),
      report_(std::move(report)),
      least_free_bytes_(least_free_bytes) {
  struct stat status = {};
  if (stat(directory_.c_str(), &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
  report_(Check());
  thread_ = std::thread([this] { Run(); });
}

Health::~Health() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  ends_changed_.notify_one();
  thread_.join();
}

Health::State Health::Check() const {
  State state{.reads = CheckReads(), .writes = {}};
  state.writes = state.reads.ok() ? CheckWrites() : state.reads;
  return state;
}

absl::Status Health::CheckReads() const {
  struct stat status = {};
  if (stat(directory_.c_str(), &status) != 0 || status.st_dev != device_ ||
      status.st_ino != inode_) {
    return absl::DataLossError(Cat("the directory ", directory_, " is not there any more"));
  }
  return absl::OkStatus();
}

absl::Status Health::CheckWrites() const {
  const DatabaseStatistics statistics = database_->Statistics();
  SERVER_RETURN_IF_ERROR(statistics.background_error);
  for (const FailingWork& work : statistics.failing_work) SERVER_RETURN_IF_ERROR(work.status);
  return CheckSpace();
}

// What the user that runs the server may take: a file system may reserve the rest for root.
absl::Status Health::CheckSpace() const {
  struct statvfs space = {};
  if (statvfs(directory_.c_str(), &space) != 0) return absl::OkStatus();
  const uint64_t blocks = geteuid() == 0 ? space.f_bfree : space.f_bavail;
  const uint64_t free = blocks * space.f_frsize;
  if (free >= least_free_bytes_) return absl::OkStatus();
  return absl::ResourceExhaustedError(Cat("the disk of ", directory_, " has ", free,
                                          " bytes left, and a segment of the log needs ",
                                          least_free_bytes_));
}

void Health::Run() {
  State last = Check();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_changed_.wait_for(lock, std::chrono::seconds(1), [this] { return ends_; })) {
    lock.unlock();
    State now = Check();
    const bool has_changed =
        now.reads.code() != last.reads.code() || now.writes.code() != last.writes.code();
    if (has_changed) report_(now);
    last = std::move(now);
    lock.lock();
  }
}

}  // namespace bigtable::server
