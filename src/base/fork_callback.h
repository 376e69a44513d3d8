// Callbacks that run in a child process of fork(), before fork() returns there. The child has only
// the thread that forked; what the parent's other threads were doing stays incomplete in its memory
// for ever. So a child must not use what the parent has open, and must not release what both share,
// such as a lock on a file.
//
// fork() waits for a running addition or removal of a callback, and these wait for fork(), for a
// short time. vfork(), posix_spawn() and a bare clone() run no callbacks: they should run another
// program, which inherits none of our descriptors.
#ifndef BIGTABLE_BASE_FORK_CALLBACK_H_
#define BIGTABLE_BASE_FORK_CALLBACK_H_

#include <atomic>
#include <cstdint>
#include <functional>

namespace bigtable {

// As long as this lives, `in_child` is called in each child, on its only thread. It may take no
// lock and allocate nothing: it stores to atomics and closes descriptors. It should be the last
// member of its object, so that it is destroyed first. Any thread.
class ForkCallback {
 public:
  explicit ForkCallback(std::function<void()> in_child);
  ~ForkCallback();
  // The number of forks between this process and the first one that had a callback. An object that
  // stored it earlier reads a different number only in a child.
  static uint64_t Forks() { return forks_.load(std::memory_order_relaxed); }
  ForkCallback(const ForkCallback&) = delete;
  ForkCallback& operator=(const ForkCallback&) = delete;

 private:
  struct List;
  static List& All();
  static void BeforeFork();
  static void AfterForkInParent();
  static void AfterForkInChild();

  inline static std::atomic<uint64_t> forks_{0};

  const std::function<void()> in_child_;
  ForkCallback* previous_ = nullptr;
  ForkCallback* next_ = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_FORK_CALLBACK_H_
