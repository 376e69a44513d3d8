#include "routing/async_pool.h"

#include <utility>

#include "base/start_thread.h"
#include "base/strings.h"

namespace bigtable {

AsyncPool::~AsyncPool() { Stop(); }

absl::Status AsyncPool::Add(AsyncRead&& read, uint64_t most_bytes) {
  MutexLock lock(&mutex_);
  if (is_stopped_) return absl::FailedPreconditionError("the database is closed");
  const uint64_t bytes = read.bytes();
  if (bytes_ + bytes > most_bytes) {
    return absl::ResourceExhaustedError(Cat("asynchronous reads of ", queue_.size(),
                                            " rows wait already, and take ", bytes_,
                                            " bytes; more than ", most_bytes, " may not"));
  }
  JoinEnded();
  if (queue_.size() >= idle_ && threads_.size() < most_threads_) {
    const auto place = threads_.emplace(threads_.end());
    absl::StatusOr<std::thread> thread = StartThread([this, place] { Run(place); });
    if (thread.ok()) {
      *place = *std::move(thread);
    } else {
      threads_.erase(place);
      if (threads_.empty()) return absl::UnavailableError(thread.status().message());
    }
  }
  bytes_ += bytes;
  queue_.push_back(std::move(read));
  changed_.Signal();
  return absl::OkStatus();
}

void AsyncPool::Stop() {
  std::list<std::thread> threads;
  {
    MutexLock lock(&mutex_);
    is_stopped_ = true;
    changed_.SignalAll();
    // A thread puts itself among those that have ended.
    while (!threads_.empty()) changed_.Wait(&mutex_);
    threads.swap(ended_);
  }
  for (std::thread& thread : threads) thread.join();
}

size_t AsyncPool::threads() const {
  MutexLock lock(&mutex_);
  return threads_.size();
}

AsyncPool::Waiting AsyncPool::waiting() const {
  MutexLock lock(&mutex_);
  return {queue_.size(), bytes_};
}

void AsyncPool::JoinEnded() {
  for (std::thread& thread : ended_) thread.join();
  ended_.clear();
}

void AsyncPool::Run(std::list<std::thread>::iterator self) {
  while (std::optional<AsyncRead> read = Take(self)) {
    read->Read(nullptr);
    read->Tell();
  }
}

std::optional<AsyncRead> AsyncPool::Take(std::list<std::thread>::iterator self) {
  MutexLock lock(&mutex_);
  bool is_signalled = true;
  while (queue_.empty() && !is_stopped_ && is_signalled) {
    ++idle_;
    is_signalled = changed_.WaitFor(&mutex_, most_idle_);
    --idle_;
  }
  if (queue_.empty()) {
    ended_.splice(ended_.end(), threads_, self);
    if (is_stopped_) changed_.SignalAll();
    return std::nullopt;
  }
  AsyncRead read = std::move(queue_.front());
  queue_.pop_front();
  bytes_ -= read.bytes();
  return read;
}

}  // namespace bigtable
