// A run of this program in another process, whose stdout we read: what the kernel counts for that
// process is then of one piece of work alone.
#ifndef BIGTABLE_BENCH_COMMON_CHILD_PROCESS_H_
#define BIGTABLE_BENCH_COMMON_CHILD_PROCESS_H_

#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "absl/status/status.h"

namespace bench {

// For the child's main(): it is killed when its parent dies.
void DieWithParent();

// One thread at a time. The child is killed with this object, if it has not ended.
class ChildProcess {
 public:
  // The description is for errors.
  explicit ChildProcess(std::string description);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The program's main() is called with `arguments`, of which the first is its name.
  absl::Status Start(const std::vector<std::string>& arguments);
  // Calls `line` for each line that the child prints, until it ends, or `line` returns an error.
  // Fails also if the child does, and with Cancelled when an InterruptHandler was told to end.
  absl::Status ReadLines(const std::function<absl::Status(std::string_view)>& line);

 private:
  absl::Status Wait();

  const std::string description_;
  int output_ = -1;
  pid_t process_ = -1;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_CHILD_PROCESS_H_
