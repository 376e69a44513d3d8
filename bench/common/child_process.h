// Runs this program in another process and reads its stdout. So the kernel's counters of that
// process are those of one piece of work.
#ifndef BIGTABLE_BENCH_COMMON_CHILD_PROCESS_H_
#define BIGTABLE_BENCH_COMMON_CHILD_PROCESS_H_

#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "absl/status/status.h"

namespace bench {

// For the child's main(): the child is killed when its parent ends.
void DieWithParent();

// One thread at a time. The destructor kills the child if it has not ended.
class ChildProcess {
 public:
  // The description is for errors.
  explicit ChildProcess(std::string description);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Calls the program's main() with `arguments`, of which the first is its name.
  absl::Status Start(const std::vector<std::string>& arguments);
  // Calls `line` for each line that the child prints, until it ends, or `line` returns an error.
  // Also returns an error if the child does, and Cancelled if an InterruptHandler was interrupted.
  absl::Status ReadLines(const std::function<absl::Status(std::string_view)>& line);

 private:
  absl::Status Wait();

  const std::string description_;
  int output_ = -1;
  pid_t process_ = -1;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_CHILD_PROCESS_H_
