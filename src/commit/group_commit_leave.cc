// How a caller leaves the queue before its turn. See the top of group_commit.h.
#include <cstdint>
#include <thread>

#include "base/pause.h"
#include "commit/group_commit.h"

namespace bigtable {

void GroupCommit::BeginLinking() {
  constexpr int kSpins = 100;
  in_turn_.store(nullptr, std::memory_order_seq_cst);
  // A thread that leaves walks the list once.
  for (int i = 0; leaving_.load(std::memory_order_seq_cst) != 0; ++i) {
    if (i < kSpins) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
}

bool GroupCommit::Leave(Request* request) {
  leaving_.fetch_add(1, std::memory_order_seq_cst);
  bool has_left = false;
  // Before `in_turn_`: a later turn may have a request at the same place on a stack.
  const uint64_t turn = turns_.load(std::memory_order_acquire);
  // Not null: the leader waits in BeginLinking until this thread is done, before it follows a link
  // or notifies anybody. So no request of the list ends meanwhile.
  if (const Request* const last = in_turn_.load(std::memory_order_seq_cst); last != nullptr) {
    MutexLock lock(&leave_mutex_);
    has_left = Unlink(request, last, turn);
  }
  leaving_.fetch_sub(1, std::memory_order_seq_cst);
  return has_left;
}

bool GroupCommit::Unlink(Request* request, const Request* last, uint64_t turn) {
  while (true) {
    Request* const newest = newest_.load(std::memory_order_acquire);
    // Another value: the queue was empty meanwhile, so the request is not in it any more.
    if (in_turn_.load(std::memory_order_seq_cst) != last ||
        turns_.load(std::memory_order_acquire) != turn) {
      return false;
    }
    Request* newer = nullptr;
    Request* r = newest;
    for (; r != request && r != last && r != nullptr; r = r->older_) newer = r;
    if (r != request || r == last) return false;  // its turn has begun
    Request* const older = request->older_;
    // Links to newer requests may be missing at the newer end of the list.
    if (older->newer_ == request) older->newer_ = request->newer_;
    if (newer != nullptr) {
      newer->older_ = older;
      return true;
    }
    // From here on the leader may find the queue empty, and the older request may end.
    Request* expected = request;
    if (newest_.compare_exchange_strong(expected, older, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      return true;
    }
    // A request has arrived.
  }
}

}  // namespace bigtable
