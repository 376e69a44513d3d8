// Counts the work of random tests, to show how much was tested. The counters:
//   operations, reads, reopenings, kills, power losses, faults, flipped bytes, compactions, cases.
// With BIGTABLE_TEST_LONG_SECONDS set, the test program prints a line "TALLY <what> <n>" for each
// counter at its exit, so that a script can add up the lines of several programs; otherwise it
// prints nothing. Thread-safe. Cost: a mutex, so a loop with iterations of less than a microsecond
// keeps its own count and adds the sum.
//
// Only the process that counted first prints: the counts of a child of fork() are lost.
#ifndef BIGTABLE_TESTS_SUPPORT_TALLY_H_
#define BIGTABLE_TESTS_SUPPORT_TALLY_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>

#include "base/mutex.h"

namespace bigtable {

class Tallies {
 public:
  // Never deleted, since threads may count while the program exits.
  static Tallies& Get() {
    static Tallies* const tallies = [] {
      if (std::getenv("BIGTABLE_TEST_LONG_SECONDS") != nullptr) {
        std::atexit([] { Get().Print(); });
      }
      return new Tallies();
    }();
    return *tallies;
  }

  void Add(std::string_view what, uint64_t n) {
    MutexLock lock(&mutex_);
    const auto it = counts_.find(what);
    if (it != counts_.end()) {
      it->second += n;
    } else {
      counts_.emplace(what, n);
    }
  }

 private:
  void Print() {
    if (getpid() != process_) return;
    MutexLock lock(&mutex_);
    for (const auto& [what, n] : counts_) {
      std::printf("TALLY %s %llu\n", what.c_str(), static_cast<unsigned long long>(n));
    }
    std::fflush(stdout);
  }

  const pid_t process_ = getpid();
  Mutex mutex_;
  std::map<std::string, uint64_t, std::less<>> counts_ ABSL_GUARDED_BY(mutex_);
};

inline void Tally(std::string_view what, uint64_t n = 1) { Tallies::Get().Add(what, n); }

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_TALLY_H_
