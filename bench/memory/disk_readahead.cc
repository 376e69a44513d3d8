#include "disk_readahead.h"

#include <cerrno>
#include <fstream>
#include <iostream>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <utility>

#include "common/strings.h"

namespace bench {

absl::StatusOr<DiskReadahead> DiskReadahead::Of(const std::string& directory) {
  struct stat info;
  if (::stat(directory.c_str(), &info) != 0) return absl::ErrnoToStatus(errno, directory);
  const std::string device =
      Concat("/sys/dev/block/", ::major(info.st_dev), ":", ::minor(info.st_dev));
  // A partition has the setting of its disk.
  for (const std::string_view way : {"/bdi/read_ahead_kb", "/../bdi/read_ahead_kb"}) {
    const std::string path = Concat(device, way);
    uint64_t kilobytes = 0;
    if (std::ifstream(path) >> kilobytes) return DiskReadahead(path, kilobytes);
  }
  return absl::NotFoundError(
      Concat(directory, ": is on no disk whose readahead is known: ", device, " has no bdi"));
}

DiskReadahead::DiskReadahead(DiskReadahead&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      found_(other.found_),
      is_changed_(std::exchange(other.is_changed_, false)) {}

DiskReadahead::~DiskReadahead() {
  if (!is_changed_) return;
  if (absl::Status s = Set(found_); !s.ok()) std::cerr << s << "\n";
}

absl::Status DiskReadahead::Set(uint64_t kilobytes) {
  std::ofstream file(path_);
  file << kilobytes;
  file.close();
  if (!file) return absl::PermissionDeniedError(Concat(path_, ": cannot be set to ", kilobytes));
  is_changed_ = true;
  return absl::OkStatus();
}

}  // namespace bench
