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
  // thread of one of the callers. Must not call the GroupCommit.
  using CommitFunction = std::function<void(std::span<Request* const> requests)>;

  static constexpr size_t kMaxGroupRequests = 64;

  // A group ends before the request that would bring it over `max_group_bytes`; a single request
  // may be larger.
  explicit GroupCommit(CommitFunction commit, size_t max_group_bytes = size_t{1} << 20);
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Returns when the commit function has returned for a group with `request`, and sees everything
  // it did.
  void Commit(Request* request);
  // Runs `function` on this thread, in its turn, while no group is committed.
  void RunExclusive(absl::FunctionRef<void()> function);

  // So far; may lag behind by the group that is being committed.
  uint64_t groups() const { return groups_.load(std::memory_order_relaxed); }
  uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }

 private:
  void Enqueue(Request* request);
  void Lead(Request* first);
  size_t Gather(Request* first, Request** group);
  Request* NextLeader(Request* last);
  // Returns when the state is kLeads or kDone, and says which.
  uint32_t Await(Request* request);
  static uint32_t Sleep(Request* request);
  static void Tell(Request* request, uint32_t state);
  static void LinkNewer(Request* newest, Request* until);

  const CommitFunction commit_;
  const size_t max_group_bytes_;

  // What every caller writes apart from what they only read.
  alignas(64) std::atomic<Request*> newest_{nullptr};
  alignas(64) std::atomic<int> spins_;
  std::atomic<uint64_t> groups_{0};
  std::atomic<uint64_t> requests_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_GROUP_COMMIT_H_
