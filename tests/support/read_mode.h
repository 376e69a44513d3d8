// How tests read files where the way does not matter: mapped, as is the default; or by position,
// where the environment says BIGTABLE_TEST_READ_MODE=positional, as the asan preset does. Then what
// is read lies in the heap, where an overrun is seen, and both ways are tested by all tests.
#ifndef BIGTABLE_TESTS_SUPPORT_READ_MODE_H_
#define BIGTABLE_TESTS_SUPPORT_READ_MODE_H_

#include <cstdlib>
#include <string_view>

#include "bigtable/file_system.h"
#include "bigtable/options.h"

namespace bigtable {

inline FileSystem::ReadMode TestReadMode() {
  const char* const mode = std::getenv("BIGTABLE_TEST_READ_MODE");
  return mode != nullptr && std::string_view(mode) == "positional"
             ? FileSystem::ReadMode::kPositional
             : FileSystem::ReadMode::kMapped;
}

// The default options of a test's database.
inline DatabaseOptions TestOptions() {
  DatabaseOptions options;
  options.read_mode = TestReadMode();
  return options;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_READ_MODE_H_
