// Group commit: callers that come at the same time are served together, by one of them.
//
// Callers stand in a queue. The first one leads: it runs the commit function for itself and for
// those who have come behind it, hands the lead to the first one that is left, and wakes the
// others, whose work is done. So the function never runs twice at a time, requests are served in
// the order of their arrival, and while one group is written the next one gathers.
//
// Thread-safe. Alone in the queue a caller pays two atomic exchanges. Nothing is allocated.
//
// How the queue works. `newest_` points to the last request that came, each request to the one
// before it (`older`); who finds the queue empty on arrival leads. The leader turns the links
// around (`newer`) as far as it needs them. At the end of a group it either empties the queue, if
// nobody has come, or the request behind the group leads. A follower's request may be gone as soon
// as its state says kDone, so everything that is needed of it is read before.
//
// A leader whose call into the file system stalls (Guarded) can be left alone with it: one of those
// who wait, and have slept for a while, takes over. It claims the lead by exchanging the moment at
// which the call began, `stalled_since_`, for 0; the leader does the same when its call returns, so
// that one of the two has the lead afterwards. Who lost it waits, on its own stack's Stall, until
// its group is committed by the other one, touches nothing, and returns. So a call that stalls
// holds up one caller, and no thread stands by for it. A take-over is not guarded itself.
//
// If the next one sleeps already, the leader serves it as well, a few times, instead of waiting for
// it to wake up: otherwise two threads on a busy machine would hand over the lead at the price of a
// context switch for each request.
#ifndef BIGTABLE_COMMITLOG_GROUP_COMMIT_H_
#define BIGTABLE_COMMITLOG_GROUP_COMMIT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace bigtable {

class GroupCommit {
 public:
  // What a caller wants done: derive from it, and put it on the caller's stack.
  class Request {
   public:
    explicit Request(size_t size = 0) : bytes(size) {}
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    size_t bytes;  // what it will add to its group

   private:
    friend class GroupCommit;
    struct Sleeper;

    Request* older_ = nullptr;
    Request* newer_ = nullptr;
    const absl::FunctionRef<void()>* exclusive_ = nullptr;  // set: RunExclusive's
    Sleeper* sleeper_ = nullptr;                            // set before the state is kAsleep
    std::atomic<uint32_t> state_{0};
  };

  // Does what all `requests` ask, in their order, and leaves the outcome in them. Runs on the
  // thread of one of the callers. Must call nothing of the GroupCommit but Guarded.
  using CommitFunction = std::function<void(std::span<Request* const> requests)>;

  // What is done about a leader that stalls in Guarded(). Without it, everybody waits.
  struct TakeOver {
    // How long to wait still, when the call has been running for so long; not positive: the one who
    // asks takes over. Called by any thread that waits, at any time: nothing keeps the leader where
    // it is meanwhile.
    std::function<absl::Duration(absl::Duration running)> stall_timeout;
    // As the commit function, from where that one called Guarded(): it does not go on itself.
    CommitFunction commit;
  };

  static constexpr size_t kMaxGroupRequests = 64;

  // A group ends before the request that would bring it over `max_group_bytes`; a single request
  // may be larger.
  explicit GroupCommit(CommitFunction commit, TakeOver take_over = {},
                       size_t max_group_bytes = size_t{1} << 20);
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Returns when the commit function has returned for a group with `request`, and sees everything
  // it did.
  void Commit(Request* request);
  // Runs `function` on this thread, in its turn, while no group is committed.
  void RunExclusive(absl::FunctionRef<void()> function);

  // Runs `call`, which may stall, on this thread. Only for the commit function, with its
  // `requests`, once at most. False if another thread has taken over: then everything is done, and
  // the commit function must return without another touch of what it shares with later groups.
  [[nodiscard]] bool Guarded(std::span<Request* const> requests, absl::FunctionRef<void()> call);

  // So far; may lag behind by the group that is being committed.
  uint64_t groups() const { return groups_.load(std::memory_order_relaxed); }
  uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }
  // Groups that were committed by a thread that took over.
  uint64_t take_overs() const { return take_overs_.load(std::memory_order_relaxed); }

 private:
  struct Stall;

  void Enqueue(Request* request);
  void Lead(Request* first);
  size_t Gather(Request* first, Request** group);
  void CountGroup(size_t size);
  Request* NextLeader(Request* last);
  // Returns when the state is kLeads or kDone, and says which.
  uint32_t Await(Request* request);
  uint32_t Sleep(Request* request);
  // Takes over if it is time; how long to sleep before the next look.
  absl::Duration LookAfterLeader();
  void CommitFor(Stall* stall);
  static void Notify(Request* request, uint32_t state);
  static void LinkNewer(Request* newest, Request* until);

  const CommitFunction commit_;
  const TakeOver take_over_;
  const size_t max_group_bytes_;

  // What every caller writes apart from what they only read.
  alignas(64) std::atomic<Request*> newest_{nullptr};
  alignas(64) std::atomic<int> spins_;
  std::atomic<uint64_t> groups_{0};
  std::atomic<uint64_t> requests_{0};
  std::atomic<uint64_t> take_overs_{0};

  // The leader's own, and in Guarded() that of who takes over.
  Request* leader_ = nullptr;
  Stall* stall_ = nullptr;
  int64_t last_stall_ = 0;
  // When the leader has entered Guarded(), in nanoseconds; no two are equal. 0: it is not in there.
  std::atomic<int64_t> stalled_since_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_GROUP_COMMIT_H_
