#include "server/calls/call_threads.h"

#include <pthread.h>
#include <utility>

#include "server/calls/event.h"

namespace bigtable::server {
namespace {

// Threads that wait beyond this many end. More than one, so that threads do not start and end with
// each call of a few at a time.
constexpr int kMostWaiting = 4;

}  // namespace

CallThreads::CallThreads(std::unique_ptr<grpc::ServerCompletionQueue> queue, int most_threads)
    : queue_(std::move(queue)), most_threads_(most_threads) {}

CallThreads::~CallThreads() {
  Shutdown();  // a queue must be shut down and drained in any case
}

absl::Status CallThreads::Start() {
  if (StartThread()) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no thread for calls");
}

void CallThreads::Shutdown() {
  {
    const std::lock_guard<std::shared_mutex> lock(shutdown_mutex_);
    if (std::exchange(is_shut_down_, true)) return;
    queue_->Shutdown();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return threads_ == 0; });
  void* tag;
  bool ok;
  while (queue_->Next(&tag, &ok)) static_cast<Event*>(tag)->Run(ok);
}

int CallThreads::threads() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return threads_;
}

// False: there are as many as there may be, or the system has none.
bool CallThreads::StartThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (threads_ >= most_threads_) return false;
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

void CallThreads::Run() {
  void* tag;
  bool ok;
  while (queue_->Next(&tag, &ok)) {
    if (waiting_.fetch_sub(1) == 1) StartThread();
    static_cast<Event*>(tag)->Run(ok);
    if (waiting_.fetch_add(1) >= kMostWaiting) break;
  }
  waiting_.fetch_sub(1);
  const std::lock_guard<std::mutex> lock(mutex_);
  --threads_;
  ended_.notify_all();  // under the lock: this object may be destroyed once it is released
}

}  // namespace bigtable::server
