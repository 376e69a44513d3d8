#include "standalone/parallel_tasks.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"

#include "base/mutex.h"
#include "base/start_thread.h"

namespace bigtable {
namespace {

class Tasks {
 public:
  explicit Tasks(const std::vector<std::function<absl::Status()>>& tasks) : tasks_(tasks) {}

  // Runs what is left.
  void Run() {
    while (const std::function<absl::Status()>* const task = Next()) {
      absl::Status status;
      try {
        status = (*task)();
      } catch (const std::bad_alloc&) {
        status = absl::ResourceExhaustedError("there is no memory to sort and write files");
      }
      End(status);
    }
  }
  void End(const absl::Status& status) {
    MutexLock lock(&mutex_);
    status_.Update(status);
  }
  absl::Status status() {
    MutexLock lock(&mutex_);
    return status_;
  }

 private:
  const std::function<absl::Status()>* Next() {
    MutexLock lock(&mutex_);
    return status_.ok() && next_ < tasks_.size() ? &tasks_[next_++] : nullptr;
  }

  const std::vector<std::function<absl::Status()>>& tasks_;
  Mutex mutex_;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::Status RunTasks(int threads, const std::vector<std::function<absl::Status()>>& tasks) {
  Tasks left(tasks);
  std::vector<std::thread> others;
  const size_t most = std::min(static_cast<size_t>(std::max(threads, 1)), tasks.size());
  for (size_t i = 1; i < most; ++i) {
    absl::StatusOr<std::thread> thread = StartThread([&left] { left.Run(); });
    if (!thread.ok()) break;  // the others do all
    others.push_back(*std::move(thread));
  }
  left.Run();
  for (std::thread& thread : others) thread.join();
  return left.status();
}

}  // namespace bigtable
