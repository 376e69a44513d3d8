// A fuzz target: a function that takes any bytes, and must neither crash, nor leak, nor take more
// memory or time than such bytes deserve. It checks with Require() what must hold of the result.
//
// The file targets/NAME.cc defines the target NAME. With BIGTABLE_BUILD_FUZZERS each is a libFuzzer
// program; in every build, corpora_test.cc gives it the files of corpus/NAME and changes of them.
//
// One thread at a time.
#ifndef BIGTABLE_TESTS_FUZZ_TARGET_H_
#define BIGTABLE_TESTS_FUZZ_TARGET_H_

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace bigtable {

using FuzzTarget = void (*)(std::string_view bytes);

// Null if there is no target of this name. In a libFuzzer program there is one.
FuzzTarget FindFuzzTarget(std::string_view name);

// Registers a target, as a static object.
class FuzzTargetRegistration {
 public:
  FuzzTargetRegistration(std::string_view name, FuzzTarget target);
};

// Ends the process, as a sanitizer does, with the text.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "the target requires: %s\n", what);
  std::abort();
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_FUZZ_TARGET_H_
