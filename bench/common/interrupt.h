// SIGINT and SIGTERM as a flag, so that a run can remove its databases.
#ifndef BIGTABLE_BENCH_COMMON_INTERRUPT_H_
#define BIGTABLE_BENCH_COMMON_INTERRUPT_H_

#include <signal.h>

namespace bench {

// During its lifetime, SIGINT and SIGTERM interrupt system calls and set interrupted(), instead of
// ending the process. One at a time.
class InterruptHandler {
 public:
  InterruptHandler();
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

  static bool interrupted();

 private:
  struct sigaction old_int_ = {};
  struct sigaction old_term_ = {};
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_INTERRUPT_H_
