// A number of bytes of which calls take parts. A call that finds too few waits its turn.
//
// Thread-safe. While there is room, taking and returning are one atomic operation each.
#ifndef BIGTABLE_SERVER_CALLS_BYTE_POOL_H_
#define BIGTABLE_SERVER_CALLS_BYTE_POOL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>

namespace bigtable::server {

class BytePool {
 public:
  explicit BytePool(uint64_t size) : size_(size) {}
  BytePool(const BytePool&) = delete;
  BytePool& operator=(const BytePool&) = delete;

  // Takes them if there is room and nobody waits.
  bool TryTake(uint64_t bytes) { return waiting_.load() == 0 && TakeIfRoom(bytes); }
  // Waits in the order of the calls, at most for `most_wait`. False: there was no room, or
  // RefuseYoungest or Close was called. More bytes than the pool has are never granted.
  bool Take(uint64_t bytes, std::chrono::nanoseconds most_wait);
  // Takes them even if there is no room: nobody gets any more until there is.
  void TakeAnyway(uint64_t bytes) { used_.fetch_add(bytes); }
  void Return(uint64_t bytes) {
    used_.fetch_sub(bytes);
    if (waiting_.load() > 0) GrantNext();
  }
  // The younger half of those that wait get nothing.
  void RefuseYoungest();
  // Take does not wait from now on.
  void Close();

  // Whether TryTake would succeed with a byte.
  bool HasRoom() const { return waiting_.load() == 0 && used_.load() < size_; }
  uint64_t size() const { return size_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  struct Waiter {
    uint64_t bytes = 0;
    bool is_granted = false;
    bool is_refused = false;
    std::condition_variable decided;
  };

  bool TakeIfRoom(uint64_t bytes) {
    uint64_t used = used_.load();
    do {
      if (used + bytes > size_) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return true;
  }
  void GrantNext();
  void GrantLocked();

  const uint64_t size_;
  // One that waits counts itself before it looks for room, and Return looks for those that wait
  // after it has made room: so one of the two sees the other.
  std::atomic<uint64_t> used_{0};
  std::atomic<size_t> waiting_{0};

  std::mutex mutex_;
  std::list<Waiter*> waiters_;  // from old to new
  bool is_closed_ = false;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_BYTE_POOL_H_
