// What is to be done in a child process that fork() has made, before fork() returns there: of the
// parent's threads the child has only the one that forked, and what the others were about stays
// half done in its memory for ever. So a child must not use what the parent has open, and must not
// take anything from the parent that both have, such as a lock on a file.
//
// fork() waits while a callback is added or removed, and these wait for fork(), for a moment each.
// vfork(), posix_spawn() and a bare clone() make no callback: what they run is to be another
// program, which inherits no descriptor of ours.
#ifndef BIGTABLE_BASE_FORK_CALLBACK_H_
#define BIGTABLE_BASE_FORK_CALLBACK_H_

#include <atomic>
#include <cstdint>
#include <functional>

namespace bigtable {

// For as long as this lives, `in_child` is called in each child, on its only thread. It may take no
// lock and allocate nothing: it stores to atomics and closes descriptors. To be the last member of
// what it is about, so that it ends first. Any thread.
class ForkCallback {
 public:
  explicit ForkCallback(std::function<void()> in_child);
  ~ForkCallback();
  // How many forks there are between this process and the first one that had a callback: what has
  // noted it finds another number only in a child.
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
