#include "commitlog/group_commit.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/pause.h"
#include "monitoring/thread_calls.h"

namespace bigtable {
namespace {

// A request's state. Its owner goes from kWaits to kAsleep, the leader to the other two.
constexpr uint32_t kWaits = 0;
constexpr uint32_t kAsleep = 1;
constexpr uint32_t kLeads = 2;
constexpr uint32_t kDone = 3;

// A pause is 40 to 140 cycles, so the longest spin takes as long as a few wake-ups.
constexpr int kMostSpins = 300;
constexpr int kLeastSpins = 10;
// How many groups a leader serves at most for others who sleep.
constexpr int kMostExtraGroups = 4;

}  // namespace

// Lives on the stack of the one who sleeps, for as long as it sleeps.
struct GroupCommit::Request::Sleeper {
  Mutex mutex;
  CondVar woken;
};

GroupCommit::GroupCommit(CommitFunction commit, size_t max_group_bytes)
    : commit_(std::move(commit)), max_group_bytes_(max_group_bytes), spins_(kMostSpins) {}

void GroupCommit::Commit(Request* request) { Enqueue(request); }

void GroupCommit::RunExclusive(absl::FunctionRef<void()> function) {
  Request request;
  request.exclusive_ = &function;
  Enqueue(&request);
}

void GroupCommit::Enqueue(Request* request) {
  request->newer_ = nullptr;
  request->state_.store(kWaits, std::memory_order_relaxed);
  Request* before = newest_.load(std::memory_order_relaxed);
  do {
    request->older_ = before;
  } while (!newest_.compare_exchange_weak(before, request, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
  if (before == nullptr || Await(request) == kLeads) Lead(request);
}

// --- The leader ---

void GroupCommit::Lead(Request* first) {
  Request* const own = first;
  Request* group[kMaxGroupRequests];
  for (int round = 0;; ++round) {
    size_t size = 1;
    if (first->exclusive_ != nullptr) {
      group[0] = first;
      (*first->exclusive_)();
    } else {
      size = Gather(first, group);
      commit_({group, size});
      groups_.store(groups_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      requests_.store(requests_.load(std::memory_order_relaxed) + size, std::memory_order_relaxed);
    }
    Request* const next = NextLeader(group[size - 1]);
    // A sleeper's work is done for it; an exclusive function has to run on its own thread.
    const bool serve_next = next != nullptr && round < kMostExtraGroups &&
                            next->exclusive_ == nullptr &&
                            next->state_.load(std::memory_order_acquire) == kAsleep;
    if (next != nullptr && !serve_next) Tell(next, kLeads);
    for (size_t i = 0; i < size; ++i) {
      if (group[i] != own) Tell(group[i], kDone);
    }
    if (!serve_next) return;
    first = next;
  }
}

// Makes every request from `until` to `newest` know the one that came after it.
void GroupCommit::LinkNewer(Request* newest, Request* until) {
  for (Request* r = newest; r != until; r = r->older_) {
    if (r->older_->newer_ == r) break;  // linked by an earlier look
    r->older_->newer_ = r;
  }
}

size_t GroupCommit::Gather(Request* first, Request** group) {
  group[0] = first;
  size_t size = 1;
  Request* const newest = newest_.load(std::memory_order_acquire);
  if (newest == first) return size;
  LinkNewer(newest, first);
  size_t bytes = first->bytes;
  for (Request* r = first; r != newest && size < kMaxGroupRequests; group[size++] = r) {
    r = r->newer_;
    bytes += r->bytes;
    if (bytes > max_group_bytes_ || r->exclusive_ != nullptr) break;
  }
  return size;
}

// The request behind `last`, the last of a group; null if the queue was emptied.
GroupCommit::Request* GroupCommit::NextLeader(Request* last) {
  Request* newest = last;
  if (newest_.compare_exchange_strong(newest, nullptr, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
    return nullptr;
  }
  LinkNewer(newest, last);
  return last->newer_;
}

void GroupCommit::Tell(Request* request, uint32_t state) {
  uint32_t old = kWaits;
  if (request->state_.compare_exchange_strong(old, state, std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
    return;  // it spins, or will see this before it sleeps
  }
  Request::Sleeper* const sleeper = request->sleeper_;
  MutexLock lock(&sleeper->mutex);
  request->state_.store(state, std::memory_order_release);
  sleeper->woken.Signal();  // under the lock: the sleeper is gone as soon as it can take it
}

// --- The followers ---

uint32_t GroupCommit::Await(Request* request) {
  const int limit = spins_.load(std::memory_order_relaxed);
  for (int i = 0; i < limit; ++i) {
    const uint32_t state = request->state_.load(std::memory_order_acquire);
    if (state != kWaits) {
      // Worth it: spin longer the next time.
      if (limit < kMostSpins) {
        spins_.store(std::min(kMostSpins, limit + limit / 4 + 1), std::memory_order_relaxed);
      }
      return state;
    }
    Pause();
  }
  // In vain: groups take long, or the leader does not run. Waste less of the machine.
  if (limit > kLeastSpins) {
    spins_.store(std::max(kLeastSpins, limit - limit / 8 - 1), std::memory_order_relaxed);
  }
  return Sleep(request);
}

uint32_t GroupCommit::Sleep(Request* request) {
  const WaitTimer wait;
  Request::Sleeper sleeper;
  request->sleeper_ = &sleeper;
  uint32_t state = kWaits;
  if (!request->state_.compare_exchange_strong(state, kAsleep, std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
    return state;
  }
  MutexLock lock(&sleeper.mutex);
  while ((state = request->state_.load(std::memory_order_acquire)) == kAsleep) {
    sleeper.woken.Wait(&sleeper.mutex);
  }
  return state;
}

}  // namespace bigtable
