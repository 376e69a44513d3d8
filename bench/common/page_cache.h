// The kernel's page cache.
#ifndef BIGTABLE_BENCH_COMMON_PAGE_CACHE_H_
#define BIGTABLE_BENCH_COMMON_PAGE_CACHE_H_

#include <string>

#include "absl/status/status.h"

namespace bench {

// Drops the pages of all files below `directory`, after a sync. The kernel keeps those that are
// mapped.
absl::Status DropFromPageCache(const std::string& directory);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_PAGE_CACHE_H_
