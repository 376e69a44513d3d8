#include "commit/group_commit.h"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <utility>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "base/pause.h"
#include "base/start_thread.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

namespace {

// The state of a request. Its owner changes it from kWaits to kAsleep, the leader to kLeads or
// kDone.
constexpr uint32_t kWaits = 0;
constexpr uint32_t kAsleep = 1;
constexpr uint32_t kLeads = 2;
constexpr uint32_t kDone = 3;
// It has left the queue.
constexpr uint32_t kLeft = 5;
// It led, and its call stalls while another thread has taken over. Its thread detects that itself.
constexpr uint32_t kStalled = 4;

// A pause is 40 to 140 cycles, so the longest spin takes as long as a few wake-ups.
constexpr int kMostSpins = 300;
constexpr int kLeastSpins = 10;
// How many groups a leader commits at most for sleeping threads.
constexpr int kMostExtraGroups = 4;

}  // namespace

// Lives on the stack of the sleeping thread while it sleeps.
struct GroupCommit::Request::Sleeper {
  Mutex mutex;
  CondVar woken;
};

// Lives on the stack of the thread whose call may stall, until a thread that took over is done.
struct GroupCommit::Stall {
  Request* const leader;
  const std::span<Request* const> group;
  Mutex mutex;
  CondVar changed;
  bool committed ABSL_GUARDED_BY(mutex) = false;
};

GroupCommit::GroupCommit(CommitFunction commit, TakeOver take_over, size_t max_group_bytes)
    : commit_(std::move(commit)),
      take_over_(std::move(take_over)),
      max_group_bytes_(max_group_bytes),
      spins_(kMostSpins) {}

GroupCommit::~GroupCommit() {
  ABSL_ASSERT(newest_.load(std::memory_order_relaxed) == nullptr && "its callers have returned");
  MutexLock lock(&rescuer_mutex_);
  if (rescuer_.joinable()) rescuer_.join();
}

absl::Status GroupCommit::Commit(Request* request, const CallLimits& limits,
                                 std::string_view what) {
  return Enqueue(request, &limits) ? absl::OkStatus() : limits.Check(what);
}

void GroupCommit::RunExclusive(absl::FunctionRef<void()> function) {
  Request request;
  request.exclusive_ = &function;
  static_cast<void>(Enqueue(&request, nullptr));
}

absl::Status GroupCommit::RunExclusive(absl::FunctionRef<void()> function,
                                       const CallLimits& limits) {
  Request request;
  request.exclusive_ = &function;
  return Enqueue(&request, &limits) ? absl::OkStatus() : limits.Check();
}

bool GroupCommit::TryRunExclusive(absl::FunctionRef<void()> function) {
  Request request;
  request.exclusive_ = &function;
  request.state_.store(kWaits, std::memory_order_relaxed);
  Request* newest = nullptr;
  if (!newest_.compare_exchange_strong(newest, &request, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
    return false;
  }
  Lead(&request);
  return true;
}

absl::Status GroupCommit::WaitForTurn(const CallLimits& limits) {
  const uint64_t begun = turns_.load(std::memory_order_acquire);
  for (int i = 0; i < kMostSpins; ++i) {
    if (ended_turns_.load(std::memory_order_acquire) >= begun) return absl::OkStatus();
    Pause();
  }
  return RunExclusive([] {}, limits);  // it takes long: sleep in the queue
}

bool GroupCommit::Enqueue(Request* request, const CallLimits* limits) {
  request->newer_ = nullptr;
  request->state_.store(kWaits, std::memory_order_relaxed);
  Request* before = newest_.load(std::memory_order_relaxed);
  do {
    request->older_ = before;
  } while (!newest_.compare_exchange_weak(before, request, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
  const uint32_t state = before == nullptr ? kLeads : Await(request, limits);
  if (state == kLeads) Lead(request);
  return state != kLeft;
}

// --- The leader ---

void GroupCommit::Lead(Request* first) {
  Request* const own = first;
  leader_ = own;
  Request* group[kMaxGroupRequests];
  for (int round = 0;; ++round) {
    ABSL_ASSERT(!is_in_turn() && "one turn at a time");
    turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    size_t size = 1;
    if (first->exclusive_ != nullptr) {
      group[0] = first;
      in_turn_.store(first, std::memory_order_release);
      RunInTurn(first);
    } else {
      size = Gather(first, group);
      in_turn_.store(group[size - 1], std::memory_order_release);
      [&]() noexcept { commit_({group, size}); }();
      if (own->state_.load(std::memory_order_relaxed) == kStalled) [[unlikely]]
        return;
      CountGroup(size);
    }
    EndTurn();
    Request* const next = NextLeader(group[size - 1]);
    // A leader can commit a sleeper's request, but an exclusive function must run on its own
    // thread. A thread that ran one may hold turns of other queues, which end only afterwards.
    const bool serve_next = next != nullptr && round < kMostExtraGroups &&
                            own->exclusive_ == nullptr && next->exclusive_ == nullptr &&
                            next->state_.load(std::memory_order_acquire) == kAsleep;
    if (next != nullptr && !serve_next) Notify(next, kLeads);
    for (size_t i = 0; i < size; ++i) {
      if (group[i] != own) Notify(group[i], kDone);
    }
    if (!serve_next) return;
    first = next;
  }
}

void GroupCommit::RunInTurn(Request* leader) {
  // Ends the turn if the function throws.
  struct Turn {
    ~Turn() {
      if (has_returned) return;
      queue->EndTurn();
      if (Request* const next = queue->NextLeader(leader); next != nullptr) Notify(next, kLeads);
    }
    GroupCommit* const queue;
    Request* const leader;
    bool has_returned = false;
  };
  Turn turn{this, leader};
  (*leader->exclusive_)();
  turn.has_returned = true;
}

void GroupCommit::CountGroup(size_t size) {
  groups_.store(groups_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  requests_.store(requests_.load(std::memory_order_relaxed) + size, std::memory_order_relaxed);
}

// Links every request from `until` to `newest` to the next newer one.
void GroupCommit::LinkNewer(Request* newest, Request* until) {
  for (Request* r = newest; r != until; r = r->older_) {
    if (r->older_->newer_ == r) break;  // linked by an earlier call
    r->older_->newer_ = r;
  }
}

size_t GroupCommit::Gather(Request* first, Request** group) {
  group[0] = first;
  size_t size = 1;
  if (newest_.load(std::memory_order_acquire) == first) return size;
  BeginLinking();
  Request* const newest = newest_.load(std::memory_order_acquire);
  if (newest == first) return size;  // the others have left
  LinkNewer(newest, first);
  size_t bytes = first->bytes;
  for (Request* r = first; r != newest && size < kMaxGroupRequests; group[size++] = r) {
    r = r->newer_;
    bytes += r->bytes;
    if (bytes > max_group_bytes_ || r->exclusive_ != nullptr) break;
  }
  return size;
}

// The request after `last`, the last of a group; null if the queue was emptied.
GroupCommit::Request* GroupCommit::NextLeader(Request* last) {
  // Before the exchange: if it succeeds, `last` may be dead when the next caller leads.
  in_turn_.store(nullptr, std::memory_order_relaxed);
  while (true) {
    Request* newest = last;
    if (newest_.compare_exchange_strong(newest, nullptr, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      return nullptr;
    }
    BeginLinking();
    newest = newest_.load(std::memory_order_acquire);
    if (newest == last) continue;  // the others have left
    LinkNewer(newest, last);
    return last->newer_;
  }
}

void GroupCommit::Notify(Request* request, uint32_t state) {
  uint32_t old = kWaits;
  if (request->state_.compare_exchange_strong(old, state, std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
    return;  // it spins, or sees this before it sleeps
  }
  if (old == kStalled) return;
  ABSL_ASSERT(old == kAsleep && "a request is notified once");
  Request::Sleeper* const sleeper = request->sleeper_;
  MutexLock lock(&sleeper->mutex);
  request->state_.store(state, std::memory_order_release);
  sleeper->woken.Signal();  // under the lock: the sleeper is destroyed once it gets the lock
}

// --- The followers ---

uint32_t GroupCommit::Await(Request* request, const CallLimits* limits) noexcept {
  const int limit = spins_.load(std::memory_order_relaxed);
  for (int i = 0; i < limit; ++i) {
    const uint32_t state = request->state_.load(std::memory_order_acquire);
    if (state != kWaits) {
      // The wait was short: spin longer the next time.
      if (limit < kMostSpins) {
        spins_.store(std::min(kMostSpins, limit + limit / 4 + 1), std::memory_order_relaxed);
      }
      return state;
    }
    Pause();
  }
  // The wait was too long: groups take long, or the leader is not scheduled. Waste less CPU.
  if (limit > kLeastSpins) {
    spins_.store(std::max(kLeastSpins, limit - limit / 8 - 1), std::memory_order_relaxed);
  }
  return Sleep(request, limits);
}

uint32_t GroupCommit::Sleep(Request* request, const CallLimits* limits) {
  // Between two tries to leave.
  constexpr absl::Duration kLeavePause = absl::Milliseconds(2);
  const WaitTimer wait;
  Request::Sleeper sleeper;
  request->sleeper_ = &sleeper;
  uint32_t state = kWaits;
  if (!request->state_.compare_exchange_strong(state, kAsleep, std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
    return state;
  }
  absl::Duration until_check = take_over_.commit != nullptr
                                   ? take_over_.stall_timeout(absl::ZeroDuration())
                                   : absl::InfiniteDuration();
  while (true) {
    absl::Duration most = until_check;
    if (limits != nullptr) most = std::min(most, std::max(limits->MostSleep(), kLeavePause));
    {
      MutexLock lock(&sleeper.mutex);
      bool in_time = true;
      while ((state = request->state_.load(std::memory_order_acquire)) == kAsleep && in_time) {
        in_time = sleeper.woken.WaitFor(&sleeper.mutex, most);
      }
      if (state != kAsleep) return state;
    }
    if (limits != nullptr && !limits->Check().ok() && Leave(request)) return kLeft;
    if (take_over_.commit != nullptr) until_check = CheckLeaderStall(limits);
  }
}

// --- A stalled leader ---

bool GroupCommit::Guarded(std::span<Request* const> requests, absl::FunctionRef<void()> call) {
  ABSL_ASSERT(is_in_turn() && stalled_since_.load(std::memory_order_relaxed) == 0 &&
              "only the commit function calls this, once");
  Stall stall{.leader = leader_, .group = requests, .mutex = {}, .changed = {}};
  stall_ = &stall;
  last_stall_ = std::max(NowNanos(), last_stall_ + 1);
  int64_t since = last_stall_;
  stalled_since_.store(since, std::memory_order_release);
  call();
  if (stalled_since_.compare_exchange_strong(since, 0, std::memory_order_acq_rel)) return true;
  MutexLock lock(&stall.mutex);
  while (!stall.committed) stall.changed.Wait(&stall.mutex);
  return false;
}

absl::Duration GroupCommit::CheckLeaderStall(const CallLimits* limits) {
  int64_t since = stalled_since_.load(std::memory_order_acquire);
  if (since == 0) return take_over_.stall_timeout(absl::ZeroDuration());
  const absl::Duration left = take_over_.stall_timeout(absl::Nanoseconds(NowNanos() - since));
  if (left > absl::ZeroDuration()) return left;
  // The values are unique, so if this succeeds the same call has been running all the time.
  if (stalled_since_.compare_exchange_strong(since, 0, std::memory_order_acq_rel)) {
    const bool has_limits = limits != nullptr && limits->MostSleep() != absl::InfiniteDuration();
    has_limits ? CommitElsewhereFor(stall_) : CommitFor(stall_);
  }
  return take_over_.stall_timeout(absl::ZeroDuration());
}

void GroupCommit::CommitElsewhereFor(Stall* stall) {
  MutexLock lock(&rescuer_mutex_);
  // The one before has notified the next leader.
  if (rescuer_.joinable()) rescuer_.join();
  absl::StatusOr<std::thread> rescuer = StartThread([this, stall] { CommitFor(stall); });
  if (rescuer.ok()) {
    rescuer_ = *std::move(rescuer);
  } else {
    CommitFor(stall);
  }
}

// This thread leads now, although it may have a request of its own in the group or after it, which
// sleeps as before.
void GroupCommit::CommitFor(Stall* stall) {
  stall->leader->state_.store(kStalled, std::memory_order_relaxed);
  take_over_.commit(stall->group);
  CountGroup(stall->group.size());
  take_overs_.fetch_add(1, std::memory_order_relaxed);
  EndTurn();
  Request* const next = NextLeader(stall->group.back());
  if (next != nullptr) Notify(next, kLeads);
  for (Request* request : stall->group) Notify(request, kDone);
  MutexLock lock(&stall->mutex);
  stall->committed = true;
  stall->changed.Signal();  // under the lock: the stall is destroyed once its thread gets the lock
}

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
