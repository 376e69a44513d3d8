// The read mode of tests that do not choose one: mapped by default, positional if the environment
// has BIGTABLE_TEST_READ_MODE=positional, as in the asan preset. With positional reads the bytes
// are on the heap, where the sanitizer detects overruns; and all tests cover both modes.
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
