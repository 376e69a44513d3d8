#include "server/calls/byte_pool.h"

namespace bigtable::server {

bool BytePool::Take(uint64_t bytes, std::chrono::nanoseconds most_wait) {
  if (TryTake(bytes)) return true;
  const auto until = std::chrono::steady_clock::now() + most_wait;
  Waiter self;
  self.bytes = bytes;
  std::unique_lock<std::mutex> lock(mutex_);
  waiters_.push_back(&self);
  waiting_.fetch_add(1);
  GrantLocked();
  while (!self.is_granted && !self.is_refused && !is_closed_ &&
         std::chrono::steady_clock::now() < until) {
    self.decided.wait_until(lock, until);
  }
  if (self.is_granted) return true;
  waiters_.remove(&self);
  waiting_.fetch_sub(1);
  GrantLocked();  // the next one may want less
  return false;
}

void BytePool::RefuseYoungest() {
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t left = (waiters_.size() + 1) / 2;
  for (auto waiter = waiters_.rbegin(); left > 0; ++waiter, --left) {
    (*waiter)->is_refused = true;
    (*waiter)->decided.notify_one();
  }
}

void BytePool::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_closed_ = true;
  for (Waiter* const waiter : waiters_) waiter->decided.notify_one();
}

void BytePool::GrantNext() {
  const std::lock_guard<std::mutex> lock(mutex_);
  GrantLocked();
}

void BytePool::GrantLocked() {
  while (!waiters_.empty() && TakeIfRoom(waiters_.front()->bytes)) {
    Waiter* const waiter = waiters_.front();
    waiters_.pop_front();
    waiting_.fetch_sub(1);
    waiter->is_granted = true;
    waiter->decided.notify_one();
  }
}

}  // namespace bigtable::server
