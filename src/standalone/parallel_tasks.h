// Independent tasks on several threads.
#ifndef BIGTABLE_STANDALONE_PARALLEL_TASKS_H_
#define BIGTABLE_STANDALONE_PARALLEL_TASKS_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"

namespace bigtable {

// Runs the tasks, in their order, on up to `threads` threads, of which this is one, and returns
// when all have ended. Returns the first error; after an error, tasks that have not begun do not
// run.
absl::Status RunTasks(int threads, const std::vector<std::function<absl::Status()>>& tasks);

}  // namespace bigtable

#endif  // BIGTABLE_STANDALONE_PARALLEL_TASKS_H_
