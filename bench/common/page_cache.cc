#include "common/page_cache.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include "common/measure.h"
#include "common/strings.h"

namespace bench {

absl::Status DropFromPageCache(const std::string& directory) {
  if (absl::Status s = SyncFileSystem(directory); !s.ok()) return s;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
    if (!entry.is_regular_file()) continue;
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return absl::ErrnoToStatus(errno, entry.path().string());
    const int result = ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
    if (result != 0) return absl::ErrnoToStatus(result, entry.path().string());
  }
  return error ? absl::InternalError(Concat(directory, ": ", error.message())) : absl::OkStatus();
}

}  // namespace bench
