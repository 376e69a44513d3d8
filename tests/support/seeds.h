// Which seeds a random test runs with:
//   by default the same few each time;
//   with BIGTABLE_TEST_LONG_SECONDS=N fresh ones for N seconds, each printed before it is used;
//   with BIGTABLE_TEST_SEED=S only S, to see again what it did.
#ifndef BIGTABLE_TESTS_SUPPORT_SEEDS_H_
#define BIGTABLE_TESTS_SUPPORT_SEEDS_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace bigtable {

// Sanitizers make a program several times slower and larger: tests do less under them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// Calls `run(seed)` for each seed, until a test has failed.
template <typename Run>
void ForEachSeed(int default_count, Run run) {
  const auto run_one = [&run](uint64_t seed) {
    SCOPED_TRACE("to see this again: BIGTABLE_TEST_SEED=" + std::to_string(seed));
    run(seed);
    return !testing::Test::HasFailure();
  };
  if (const char* seed = std::getenv("BIGTABLE_TEST_SEED")) {
    run_one(std::strtoull(seed, nullptr, 10));
    return;
  }
  if (const char* seconds = std::getenv("BIGTABLE_TEST_LONG_SECONDS")) {
    const absl::Time end = absl::Now() + absl::Seconds(std::atoi(seconds));
    std::random_device device;
    while (absl::Now() < end) {
      const uint64_t seed = device();
      std::printf("BIGTABLE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
      std::fflush(stdout);
      if (!run_one(seed)) return;
    }
    return;
  }
  for (int seed = 1; seed <= default_count; ++seed) {
    if (!run_one(static_cast<uint64_t>(seed))) return;
  }
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SEEDS_H_
