#include "server/connections/open_connections.h"

#include <sys/stat.h>

namespace bigtable::server {
namespace {

using std::chrono::steady_clock;

// After a look there is none for so many times as long. Of a thousand connections a look takes less
// than a millisecond, so one that was closed is found within a tenth of a second.
constexpr int kPauses = 100;

}  // namespace

// No file has inode 0: the descriptor is not open.
OpenConnections::File OpenConnections::FileOf(int descriptor) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) return {};
  return {.device = status.st_dev, .inode = status.st_ino};
}

bool OpenConnections::Add(int descriptor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A descriptor that is known was closed meanwhile: it is that of the new connection now.
  files_.erase(descriptor);
  if (files_.size() >= most_ && steady_clock::now() >= next_look_) ForgetClosed();
  if (files_.size() >= most_) return false;
  files_[descriptor] = FileOf(descriptor);
  return true;
}

size_t OpenConnections::Count() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ForgetClosed();
  return files_.size();
}

void OpenConnections::ForgetClosed() {
  const auto began = steady_clock::now();
  absl::erase_if(files_, [](const auto& known) { return FileOf(known.first) != known.second; });
  const auto ended = steady_clock::now();
  next_look_ = ended + kPauses * (ended - began);
}

}  // namespace bigtable::server
