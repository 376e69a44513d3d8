// Runs of a test in which one call of the file system fails after the other.
#ifndef BIGTABLE_TESTS_SUPPORT_EACH_CALL_H_
#define BIGTABLE_TESTS_SUPPORT_EACH_CALL_H_

#include <cstdint>

#include "gtest/gtest.h"

#include "support/seeds.h"

namespace bigtable {

// Calls `run(call, &is_over)` with the number of the call that fails, until a run is over before
// that call. An ordinary test run takes every `stride`-th call; seeds one after the other take all
// (support/seeds.h).
template <typename Run>
void ForEachCall(uint64_t stride, Run run) {
  if (kSlow) stride *= 4;
  ForEachSeed(1, [&](uint64_t seed) {
    bool is_over = false;
    for (uint64_t call = 1 + seed % stride; !is_over; call += stride) {
      SCOPED_TRACE(call);
      run(call, &is_over);
      if (testing::Test::HasFailure()) return;
    }
  });
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_EACH_CALL_H_
