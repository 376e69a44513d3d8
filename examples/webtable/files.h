// The directory of pages, and the size of the directory of the database.
#ifndef BIGTABLE_EXAMPLES_WEBTABLE_FILES_H_
#define BIGTABLE_EXAMPLES_WEBTABLE_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "url.h"

namespace webtable {

struct PageFile {
  std::string path;
  Url url;
  std::string row;  // RowKey(url)
  uint64_t size = 0;
};

// The files *.html and *.htm below `directory`, as pages below the URL `base`, in the order of
// their rows; the first `limit` of them unless that is 0. Links to directories are not followed.
absl::StatusOr<std::vector<PageFile>> FindPages(const std::string& directory, const Url& base,
                                                uint64_t limit);

absl::StatusOr<std::string> ReadFile(const std::string& path);

// The size in bytes of the output of `gzip -6 -n` for `data`.
uint64_t GzipSize(std::string_view data);

struct DiskUsage {
  uint64_t tables = 0;  // bytes in SSTables, METADATA's included, and in the lock service's files
  uint64_t whole = 0;   // bytes of all files and directories, as `du` counts them
};

// The database must be closed.
absl::StatusOr<DiskUsage> MeasureDatabase(const std::string& directory);

}  // namespace webtable

#endif  // BIGTABLE_EXAMPLES_WEBTABLE_FILES_H_
