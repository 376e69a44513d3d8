// Group commit: one of the concurrent callers commits the requests of all of them.
//
// Callers form a queue. The first one is the leader: it runs the commit function for itself and for
// the requests after it, makes the first remaining request the leader, and wakes the threads whose
// requests are done. So the function never runs concurrently, requests are committed in the order
// of their arrival, and while one group is committed the next one gathers.
//
// Thread-safe. A caller that is alone in the queue pays two atomic exchanges. Nothing is allocated.
//
// The queue. `newest_` points to the newest request, and each request to the one before it
// (`older`). A caller that finds the queue empty becomes the leader. The leader adds the reverse
// links (`newer`) as far as it needs them. At the end of a group it empties the queue if no request
// was added; otherwise the request after the group leads. A follower's request may be destroyed as
// soon as its state is kDone, so everything needed from it is read before.
//
// Takeover. If a leader's call into the file system (Guarded) stalls, a waiting thread that has
// slept for a while takes over. It claims the lead by exchanging the start time of the call,
// `stalled_since_`, for 0. The leader does the same when its call returns, so exactly one of them
// has the lead afterwards. The thread that loses waits on the Stall on its own stack until the
// other thread has committed its group, touches nothing, and returns. So a stalled call holds up
// one caller, and no thread is reserved for takeovers. A takeover itself is not guarded: its calls
// may stall too. So a waiting thread with limits starts a thread that takes over, and waits on
// within its limits. (A stall is rare, and takes longer than to start a thread.)
//
// An exception. An exclusive function may throw: its turn ends, and its caller gets the exception.
// A commit function must not. Other callers wait for it, and it is not known what it has done for
// them, so std::terminate is called instead of leaving them waiting. The same holds for the
// functions of a takeover: they run while a request of the thread is in the queue.
//
// Leaving (group_commit.cc). A caller with limits leaves the queue when they end before its
// turn has begun; its request is then as if it had never been there. Only what the leader does
// between turns follows the links of waiting requests: it gathers a group, or finds the next
// leader. While it runs the commit function, which may stall, a thread that leaves takes its
// request out of the list by itself. `in_turn_` and `leaving_` keep the two apart: the leader
// resets the one, then reads the other; a thread that leaves does the opposite. A request whose
// turn has begun stays until the turn ends.
//
// If the next thread in the queue sleeps, the leader commits its group too, a few times, instead of
// waiting for it to wake up. Otherwise two threads on a busy machine would hand over the lead with
// a context switch for each request.
#ifndef BIGTABLE_COMMIT_GROUP_COMMIT_H_
#define BIGTABLE_COMMIT_GROUP_COMMIT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "base/thread_roles.h"

namespace bigtable {

class GroupCommit {
 public:
  // A request of a caller: derive from it, and put it on the caller's stack.
  class Request {
   public:
    explicit Request(size_t size = 0) : bytes(size) {}
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    size_t bytes;  // bytes that it adds to its group

   private:
    friend class GroupCommit;
    struct Sleeper;

    Request* older_ = nullptr;
    Request* newer_ = nullptr;
    const absl::FunctionRef<void()>* exclusive_ = nullptr;  // set by RunExclusive
    Sleeper* sleeper_ = nullptr;                            // set before the state is kAsleep
    std::atomic<uint32_t> state_{0};
  };

  // Commits all `requests` in their order, and stores the result in each. Runs on the thread of one
  // of the callers. Of GroupCommit, it may call only Guarded. Throws nothing.
  using CommitFunction = std::function<void(std::span<Request* const> requests)>;

  // How to take over from a leader that stalls in Guarded(). Without it, all callers wait.
  struct TakeOver {
    // How much longer to wait if the call has been running for this long; not positive: take over
    // now. Called by any waiting thread at any time; the leader may go on concurrently.
    std::function<absl::Duration(absl::Duration running)> stall_timeout;
    // Like the commit function, continuing where it called Guarded(); the original function stops
    // there. Called on the thread of a caller, or on one that was started for it.
    CommitFunction commit;
  };

  static constexpr size_t kMaxGroupRequests = 64;

  // A group ends before the request that would make it larger than `max_group_bytes`; a single
  // request may be larger.
  explicit GroupCommit(CommitFunction commit, TakeOver take_over = {},
                       size_t max_group_bytes = size_t{1} << 20);
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Returns after the commit function has returned for a group with `request`, and sees all its
  // effects.
  void Commit(Request* request) { static_cast<void>(Enqueue(request, nullptr)); }
  // The same within limits. An error of the limits, in which `what` names the call: the request was
  // not committed, and will not be. Limits that end once its turn has begun end nothing.
  absl::Status Commit(Request* request, const CallLimits& limits, std::string_view what);
  // Runs `function` on this thread, in queue order, while no group is committed.
  void RunExclusive(absl::FunctionRef<void()> function);
  // The same within limits. An error of the limits: the function did not run.
  absl::Status RunExclusive(absl::FunctionRef<void()> function, const CallLimits& limits);
  // Waits until the turn that is under way has ended, if there is one, and sees all its effects. If
  // the turn takes long, it sleeps in the queue, after the requests that are there. Not in a turn.
  // Cost: two loads if no turn is under way. An error of the limits: it may be under way still.
  absl::Status WaitForTurn(const CallLimits& limits);
  void WaitForTurn() { WaitForTurn(CallLimits()).IgnoreError(); }
  // As RunExclusive if the queue is empty. Otherwise does nothing and returns false, at once.
  [[nodiscard]] bool TryRunExclusive(absl::FunctionRef<void()> function);

  // Runs `call`, which may stall, on this thread. Only for the commit function, with its
  // `requests`, at most once. False if another thread has taken over: then everything is done, and
  // the commit function must return without touching anything that later groups use.
  [[nodiscard]] bool Guarded(std::span<Request* const> requests, absl::FunctionRef<void()> call);

  // Of the queue of a server's writes: this thread is in a turn. Asserts that some thread is, and
  // declares to the static analysis that it is this one.
  void AssertInTurn() const ABSL_ASSERT_EXCLUSIVE_LOCK(server_writer) {
    ABSL_ASSERT(is_in_turn() && "only a thread in a turn writes at the server");
  }

  // Counts so far; they may lag by the group that is being committed.
  uint64_t groups() const { return groups_.load(std::memory_order_relaxed); }
  // Turns so far: of groups, and of exclusive functions.
  uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }
  uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }
  // Groups that were committed by a takeover.
  uint64_t take_overs() const { return take_overs_.load(std::memory_order_relaxed); }

 private:
  struct Stall;

  bool is_in_turn() const {
    return ended_turns_.load(std::memory_order_relaxed) != turns_.load(std::memory_order_relaxed);
  }

  // False: the limits, which may be null, have ended, and the request has left the queue.
  [[nodiscard]] bool Enqueue(Request* request, const CallLimits* limits);
  void Lead(Request* first);
  // Runs the exclusive function of the leader.
  void RunInTurn(Request* leader);
  size_t Gather(Request* first, Request** group);
  void CountGroup(size_t size);
  void EndTurn() {
    ended_turns_.store(turns_.load(std::memory_order_relaxed), std::memory_order_release);
  }
  Request* NextLeader(Request* last);
  // Returns the state, kLeads or kDone, once it is one of them; or kLeft.
  uint32_t Await(Request* request, const CallLimits* limits) noexcept;
  uint32_t Sleep(Request* request, const CallLimits* limits);
  // For the leader between turns: nobody leaves until the next turn begins.
  void BeginLinking();
  // For a sleeping follower: true if it has left the queue. Otherwise its turn has begun, or a turn
  // begins or ends just now.
  bool Leave(Request* request);
  bool Unlink(Request* request, const Request* last, uint64_t turn)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(leave_mutex_);
  // Takes over if it is time; returns how long to sleep before the next check. `limits`: of this
  // thread, or null.
  absl::Duration CheckLeaderStall(const CallLimits* limits);
  // On another thread than this one, if it can be started.
  void CommitElsewhereFor(Stall* stall);
  void CommitFor(Stall* stall);
  static void Notify(Request* request, uint32_t state);
  static void LinkNewer(Request* newest, Request* until);

  const CommitFunction commit_;
  const TakeOver take_over_;
  const size_t max_group_bytes_;

  // The fields that every caller writes are on other cache lines than those that are only read.
  alignas(64) std::atomic<Request*> newest_{nullptr};
  alignas(64) std::atomic<int> spins_;
  std::atomic<uint64_t> groups_{0};
  std::atomic<uint64_t> turns_{0};        // begun
  std::atomic<uint64_t> ended_turns_{0};  // `turns_` if none is under way
  std::atomic<uint64_t> requests_{0};
  std::atomic<uint64_t> take_overs_{0};

  // The last request of the present turn, while the leader does not follow links; it may be dead if
  // the queue is empty. Null: the leader may.
  std::atomic<const Request*> in_turn_{nullptr};
  std::atomic<int> leaving_{0};  // threads that may change links
  Mutex leave_mutex_;            // of these threads

  // Used only by the leader, and while it is in Guarded() by the thread that takes over.
  Request* leader_ = nullptr;
  Stall* stall_ = nullptr;
  int64_t last_stall_ = 0;
  // The last thread that was started to take over. It has ended, or ends soon, when another thread
  // leads.
  Mutex rescuer_mutex_;
  std::thread rescuer_ ABSL_GUARDED_BY(rescuer_mutex_);
  // When the leader entered Guarded(), in nanoseconds; no two values are equal. 0: it is not in
  // Guarded().
  std::atomic<int64_t> stalled_since_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_GROUP_COMMIT_H_
