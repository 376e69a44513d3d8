#include "common/temporary_directory.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "common/strings.h"

namespace bench {

void RemoveAll(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) absl::FPrintF(stderr, "%s: %s\n", path, error.message());
}

absl::StatusOr<TemporaryDirectory> TemporaryDirectory::Make(std::string_view parent,
                                                            std::string_view prefix) {
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) return absl::InvalidArgumentError(Concat(parent, ": ", error.message()));
  std::string path = Concat(parent, "/", prefix, "-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) return absl::ErrnoToStatus(errno, path);
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::TemporaryDirectory(std::string path) : path_(std::move(path)) {}
TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}
TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) RemoveAll(path_);
}

}  // namespace bench
