// The rule for names of files and directories in the lock service (lock_service.h). Any thread.
#ifndef BIGTABLE_LOCKSERVICE_FILE_NAME_H_
#define BIGTABLE_LOCKSERVICE_FILE_NAME_H_

#include <string_view>

#include "absl/status/status.h"

namespace bigtable {

// InvalidArgument with the reason if the name is not valid.
absl::Status CheckLockFileName(std::string_view name);
// The same for a directory; the top directory, "", is valid.
absl::Status CheckLockDirectoryName(std::string_view name);

// "schema" of "schema/web", "" of "root".
inline std::string_view LockDirectoryOf(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

}  // namespace bigtable

#endif  // BIGTABLE_LOCKSERVICE_FILE_NAME_H_
