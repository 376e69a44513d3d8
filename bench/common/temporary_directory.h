// The directory of a run's databases.
#ifndef BIGTABLE_BENCH_COMMON_TEMPORARY_DIRECTORY_H_
#define BIGTABLE_BENCH_COMMON_TEMPORARY_DIRECTORY_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace bench {

// Removes `path` and everything below it. Prints an error to stderr.
void RemoveAll(const std::string& path);

// A directory for each run, which the destructor removes. Movable.
class TemporaryDirectory {
 public:
  // Below `parent`, which is created if it does not exist, with a name that begins with `prefix`.
  static absl::StatusOr<TemporaryDirectory> Make(std::string_view parent, std::string_view prefix);
  ~TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path);
  std::string path_;  // empty: moved from
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_TEMPORARY_DIRECTORY_H_
