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
  for (std::filesystem::recursive_directory_iterator i(directory, error), end; !error && i != end;
       i.increment(error)) {
    std::error_code removed;  // during the walk
    if (!i->is_regular_file(removed)) continue;
    const int fd = ::open(i->path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) continue;
    if (fd < 0) return absl::ErrnoToStatus(errno, i->path().string());
    const int result = ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
    if (result != 0) return absl::ErrnoToStatus(result, i->path().string());
  }
  return error ? absl::InternalError(Concat(directory, ": ", error.message())) : absl::OkStatus();
}

}  // namespace bench
