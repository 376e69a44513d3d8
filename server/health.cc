#include "server/health.h"

#include <chrono>
#include <sys/stat.h>
#include <utility>

#include "bigtable/statistics.h"

#include "server/convert/errors.h"

namespace bigtable::server {

Health::Health(Database* database, std::string directory,
               std::function<void(const absl::Status&)> report)
    : database_(database), directory_(std::move(directory)), report_(std::move(report)) {
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

absl::Status Health::Check() const {
  struct stat status = {};
  if (stat(directory_.c_str(), &status) != 0 || status.st_dev != device_ ||
      status.st_ino != inode_) {
    return absl::DataLossError(Cat("the directory ", directory_, " is not there any more"));
  }
  const DatabaseStatistics statistics = database_->Statistics();
  SERVER_RETURN_IF_ERROR(statistics.background_error);
  for (const FailingWork& work : statistics.failing_work) SERVER_RETURN_IF_ERROR(work.status);
  return absl::OkStatus();
}

void Health::Run() {
  absl::Status last = Check();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_changed_.wait_for(lock, std::chrono::seconds(1), [this] { return ends_; })) {
    lock.unlock();
    absl::Status now = Check();
    if (now.code() != last.code()) report_(now);
    last = std::move(now);
    lock.lock();
  }
}

}  // namespace bigtable::server
