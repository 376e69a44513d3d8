// Checks of command line flags.
#ifndef BIGTABLE_BENCH_COMMON_FLAGS_H_
#define BIGTABLE_BENCH_COMMON_FLAGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bench {

// InvalidArgument unless `value` is from `least` to `most`.
absl::Status CheckRange(std::string_view flag, uint64_t value, uint64_t least, uint64_t most);

// The names in the comma-separated `list`, each of which must be one of `known`, and given only
// once; all of `known` if the list is empty. `rule` states what a name must be, as in "a
// benchmark".
absl::StatusOr<std::vector<std::string>> Names(std::string_view flag, const std::string& list,
                                               const std::vector<std::string>& known,
                                               std::string_view rule);

// The whole numbers and ranges of them, as in "1,4..7", in the comma-separated `list`: from `least`
// to `most`, each number only once.
absl::StatusOr<std::vector<uint64_t>> Numbers(std::string_view flag, const std::string& list,
                                              uint64_t least, uint64_t most);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_FLAGS_H_
