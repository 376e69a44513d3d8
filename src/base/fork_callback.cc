#include "base/fork_callback.h"

#include <mutex>
#include <pthread.h>
#include <utility>

namespace bigtable {

// The live callbacks. The forking thread holds the mutex from before the fork until after it, in
// parent and child.
struct ForkCallback::List {
  std::mutex mutex;
  ForkCallback* first = nullptr;
};

ForkCallback::List& ForkCallback::All() {
  static List* const list = [] {
    // If there is no memory for this, forks are not detected, as with clone().
    (void)::pthread_atfork(&BeforeFork, &AfterForkInParent, &AfterForkInChild);
    return new List();
  }();
  return *list;
}

void ForkCallback::BeforeFork() { All().mutex.lock(); }
void ForkCallback::AfterForkInParent() { All().mutex.unlock(); }
void ForkCallback::AfterForkInChild() {
  forks_.fetch_add(1, std::memory_order_relaxed);
  for (const ForkCallback* each = All().first; each != nullptr; each = each->next_) {
    each->in_child_();
  }
  All().mutex.unlock();
}

ForkCallback::ForkCallback(std::function<void()> in_child) : in_child_(std::move(in_child)) {
  List& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  next_ = all.first;
  if (next_ != nullptr) next_->previous_ = this;
  all.first = this;
}

ForkCallback::~ForkCallback() {
  List& all = All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : all.first) = next_;
}

}  // namespace bigtable
