#include "server/admin/operation_thread.h"

#include <utility>

#include "server/text/errors.h"

namespace bigtable::server {

OperationThread::OperationThread(std::function<void()> periodic, std::chrono::nanoseconds each)
    : periodic_(std::move(periodic)), each_(each), thread_([this] { Run(); }) {}

OperationThread::~OperationThread() { Stop(); }

absl::Status OperationThread::Add(std::function<void()> run) {
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return absl::UnavailableError("the server is ending");
  if (waiting_.size() >= kMostWaiting) {
    return absl::ResourceExhaustedError(
        Cat(kMostWaiting, " operations are waiting already; try again later"));
  }
  waiting_.push_back(std::move(run));
  changed_.notify_all();
  return absl::OkStatus();
}

void OperationThread::Stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void OperationThread::Run() {
  auto due = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (true) {
    const bool is_due = std::chrono::steady_clock::now() >= due;
    if (is_due && !is_stopping_) {
      lock.unlock();
      periodic_();
      lock.lock();
      due = std::chrono::steady_clock::now() + each_;
    } else if (!waiting_.empty()) {
      const std::function<void()> run = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      run();
      lock.lock();
    } else if (is_stopping_) {
      return;
    } else {
      changed_.wait_until(lock, due);
    }
  }
}

}  // namespace bigtable::server
