// The seeds of a random test:
//   by default: the same few in each run;
//   with BIGTABLE_TEST_SEEDS=odd or even: half of these. Two builds share them so;
//   with BIGTABLE_TEST_LONG_SECONDS=N: new seeds for N seconds, consecutive from a random start. A
//     seed is printed before its run, unless one was printed less than a second ago;
//   with BIGTABLE_TEST_SEED=S: only S, to reproduce a failure;
//   with both: the seeds from S on, to reproduce a crash or a stall that occurred less than a
//     second after S was printed.
#ifndef BIGTABLE_TESTS_SUPPORT_SEEDS_H_
#define BIGTABLE_TESTS_SUPPORT_SEEDS_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "absl/base/config.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/steady_time.h"

namespace bigtable {

// Sanitizers make a program several times slower and larger.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Tests do less, and wait longer, under sanitizers and emulators.
#ifdef BIGTABLE_TESTS_ARE_EMULATED
inline constexpr bool kSlow = true;
#else
inline constexpr bool kSlow = kSanitized;
#endif

// Calls `run(seed)` for each seed until the test fails.
template <typename Run>
void ForEachSeed(int default_count, Run run) {
  const auto run_one = [&run](uint64_t seed) {
    SCOPED_TRACE("to reproduce: BIGTABLE_TEST_SEED=" + std::to_string(seed));
    run(seed);
    return !testing::Test::HasFailure();
  };
  const char* const seed_text = std::getenv("BIGTABLE_TEST_SEED");
  const char* const seconds = std::getenv("BIGTABLE_TEST_LONG_SECONDS");
  uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : 0;
  if (seconds != nullptr) {
    const SteadyTime end = SteadyTime::Now() + absl::Seconds(std::atoi(seconds));
    if (seed_text == nullptr) seed = std::random_device()();
    SteadyTime next_print;
    for (SteadyTime now = SteadyTime::Now(); now < end; now = SteadyTime::Now()) {
      if (now >= next_print) {
        std::printf("BIGTABLE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
        std::fflush(stdout);
        next_print = now + absl::Seconds(1);
      }
      if (!run_one(seed++)) return;
    }
    return;
  }
  if (seed_text != nullptr) {
    run_one(seed);
    return;
  }
  const char* const half = std::getenv("BIGTABLE_TEST_SEEDS");
  const uint64_t step = half != nullptr ? 2 : 1;
  const bool is_even = half != nullptr && std::string_view(half) == "even" && default_count > 1;
  for (seed = is_even ? 2 : 1; seed <= static_cast<uint64_t>(default_count); seed += step) {
    if (!run_one(seed)) return;
  }
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SEEDS_H_
