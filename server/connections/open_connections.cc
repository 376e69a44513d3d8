#include "server/connections/open_connections.h"

#include <sys/stat.h>

namespace bigtable::server {
namespace {

constexpr std::chrono::milliseconds kLook(10);

// 0: it is not open.
ino_t InodeOf(int descriptor) {
  struct stat status = {};
  return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

}  // namespace

bool OpenConnections::Add(int descriptor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A descriptor that is known was closed meanwhile: it is that of the new connection now.
  inodes_.erase(descriptor);
  if (inodes_.size() >= most_ && std::chrono::steady_clock::now() - last_look_ > kLook) {
    ForgetClosed();
  }
  if (inodes_.size() >= most_) return false;
  inodes_[descriptor] = InodeOf(descriptor);
  return true;
}

size_t OpenConnections::Count() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ForgetClosed();
  return inodes_.size();
}

void OpenConnections::ForgetClosed() {
  absl::erase_if(inodes_, [](const auto& known) { return InodeOf(known.first) != known.second; });
  last_look_ = std::chrono::steady_clock::now();
}

}  // namespace bigtable::server
