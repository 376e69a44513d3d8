#include "server/calls/call_threads.h"

#include <pthread.h>
#include <utility>

namespace bigtable::server {

CallThreads::CallThreads(grpc::CompletionQueue* queue, int waiting, int most, Next next)
    : queue_(queue), most_waiting_(waiting), most_(most), next_(std::move(next)) {}

absl::Status CallThreads::Start() {
  if (StartThread()) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no thread for calls");
}

void CallThreads::JoinThreads() {
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return threads_ == 0; });
  lock.unlock();
  void* tag;
  bool ok;
  while (queue_->Next(&tag, &ok)) static_cast<Event*>(tag)->Run(ok);
}

// False: there are as many as there may be, or the system has none.
bool CallThreads::StartThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (threads_ >= most_) return false;
    ++threads_;
  }
  waiting_.fetch_add(1);
  // Not std::thread, which throws.
  pthread_t thread;
  const auto run = [](void* self) -> void* {
    static_cast<CallThreads*>(self)->Run();
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, run, this) == 0) {
    pthread_detach(thread);
    return true;
  }
  waiting_.fetch_sub(1);
  const std::lock_guard<std::mutex> lock(mutex_);
  --threads_;
  return false;
}

// Counts the thread among those that wait, unless they are enough. One that is not to wait is never
// counted: the last one that waits would take it for another.
bool CallThreads::MayWait() {
  int waiting = waiting_.load();
  do {
    if (waiting >= most_waiting_) return false;
  } while (!waiting_.compare_exchange_weak(waiting, waiting + 1));
  return true;
}

void CallThreads::Run() {
  void* tag;
  bool ok;
  do {
    if (!next_(&tag, &ok)) {
      waiting_.fetch_sub(1);
      break;
    }
    if (waiting_.fetch_sub(1) == 1) StartThread();
    static_cast<Event*>(tag)->Run(ok);
  } while (MayWait());
  const std::lock_guard<std::mutex> lock(mutex_);
  --threads_;
  ended_.notify_all();  // under the lock: this object may be destroyed once it is released
}

}  // namespace bigtable::server
