#include "commit/group_commit.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "support/watchdog.h"

namespace bigtable {
namespace {

struct CountedRequest : GroupCommit::Request {
  explicit CountedRequest(int number, size_t size = 10) : Request(size), id(number) {}
  int id;
  int served = 0;
};

// Waits until `n` calls are in the queue, as far as a test can know.
void LetThemQueue() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

TEST(GroupCommitTest, RequestsOneAfterAnotherAreGroupsOfOne) {
  std::vector<size_t> sizes;
  GroupCommit commit([&](std::span<GroupCommit::Request* const> requests) {
    sizes.push_back(requests.size());
    for (auto* r : requests) ++static_cast<CountedRequest*>(r)->served;
  });
  for (int i = 0; i < 3; ++i) {
    CountedRequest request(i);
    commit.Commit(&request);
    EXPECT_EQ(request.served, 1);
  }
  EXPECT_THAT(sizes, testing::ElementsAre(1, 1, 1));
  EXPECT_EQ(commit.groups(), 3u);
  EXPECT_EQ(commit.requests(), 3u);
}

// Commits one request that holds the lead until `others` threads have queued theirs, one after
// another. Returns the groups as ids.
std::vector<std::vector<int>> GroupsBehindASlowLeader(int others, size_t bytes, size_t max_bytes,
                                                      int exclusive_at = -1) {
  std::vector<std::vector<int>> groups;
  std::atomic<bool> go{false};
  GroupCommit commit(
      [&](std::span<GroupCommit::Request* const> requests) {
        groups.emplace_back();
        for (auto* r : requests) groups.back().push_back(static_cast<CountedRequest*>(r)->id);
        while (!go) std::this_thread::yield();
      },
      {}, max_bytes);
  std::vector<std::thread> threads;
  for (int i = 0; i <= others; ++i) {
    threads.emplace_back([&, i] {
      if (i == exclusive_at) {
        const auto self = std::this_thread::get_id();
        commit.RunExclusive([&] {
          EXPECT_EQ(std::this_thread::get_id(), self);
          groups.push_back({-i});
        });
        return;
      }
      CountedRequest request(i, bytes);
      commit.Commit(&request);
    });
    LetThemQueue();
  }
  go = true;
  for (auto& thread : threads) thread.join();
  return groups;
}

TEST(GroupCommitTest, RequestsThatArriveDuringACommitAreCommittedTogetherInOrder) {
  EXPECT_THAT(GroupsBehindASlowLeader(5, 10, 1000),
              testing::ElementsAre(testing::ElementsAre(0), testing::ElementsAre(1, 2, 3, 4, 5)));
}

TEST(GroupCommitTest, AGroupEndsBeforeItsBytesExceedTheLimit) {
  EXPECT_THAT(GroupsBehindASlowLeader(5, 10, 25),
              testing::ElementsAre(testing::ElementsAre(0), testing::ElementsAre(1, 2),
                                   testing::ElementsAre(3, 4), testing::ElementsAre(5)));
}

TEST(GroupCommitTest, ARequestLargerThanTheLimitIsCommittedAlone) {
  EXPECT_THAT(GroupsBehindASlowLeader(2, 100, 25),
              testing::ElementsAre(testing::ElementsAre(0), testing::ElementsAre(1),
                                   testing::ElementsAre(2)));
}

TEST(GroupCommitTest, AnExclusiveFunctionRunsInQueueOrderOnItsOwnThread) {
  EXPECT_THAT(GroupsBehindASlowLeader(4, 10, 1000, 2),
              testing::ElementsAre(testing::ElementsAre(0), testing::ElementsAre(1),
                                   testing::ElementsAre(-2), testing::ElementsAre(3, 4)));
}

// Its caller may hold turns of other queues until it returns.
TEST(GroupCommitConcurrencyTest, AThreadThatHadAnExclusiveTurnCommitsNoOtherGroup) {
  std::thread::id committed_by;
  GroupCommit commit(
      [&](std::span<GroupCommit::Request* const>) { committed_by = std::this_thread::get_id(); });
  std::thread writer;
  std::thread::id writing;
  commit.RunExclusive([&] {
    writer = std::thread([&] {
      CountedRequest request(0);
      commit.Commit(&request);
    });
    writing = writer.get_id();
    LetThemQueue();  // and sleep
  });
  writer.join();
  EXPECT_EQ(committed_by, writing);
}

TEST(GroupCommitTest, WaitForTurnWaitsForTheTurnThatIsUnderWay) {
  std::atomic<bool> has_begun{false};
  std::atomic<bool> may_end{false};
  GroupCommit commit([&](std::span<GroupCommit::Request* const>) {
    has_begun = true;
    while (!may_end) std::this_thread::yield();
  });
  commit.WaitForTurn();  // there is none
  std::thread leader([&] {
    CountedRequest request(0);
    commit.Commit(&request);
  });
  while (!has_begun) std::this_thread::yield();
  std::atomic<bool> has_waited{false};
  std::thread waiter([&] {
    commit.WaitForTurn();
    has_waited = true;
  });
  LetThemQueue();
  EXPECT_FALSE(has_waited);
  may_end = true;
  waiter.join();
  leader.join();
  const uint64_t turns = commit.turns();
  commit.WaitForTurn();
  EXPECT_EQ(commit.turns(), turns);  // it takes no turn of its own
}

TEST(GroupCommitConcurrencyTest, AnExclusiveFunctionThatThrowsEndsItsTurn) {
  Watchdog watchdog(absl::Seconds(20));
  watchdog.Step("a request behind a turn that ends with an exception");
  GroupCommit commit([&](std::span<GroupCommit::Request* const> requests) {
    for (auto* r : requests) ++static_cast<CountedRequest*>(r)->served;
  });
  std::atomic<bool> has_begun{false};
  std::atomic<bool> may_end{false};
  std::thread leader([&] {
    EXPECT_THROW(commit.RunExclusive([&] {
      has_begun = true;
      while (!may_end) std::this_thread::yield();
      throw std::bad_alloc();
    }),
                 std::bad_alloc);
  });
  while (!has_begun) std::this_thread::yield();
  std::thread follower([&] {
    CountedRequest request(1);
    commit.Commit(&request);
    EXPECT_EQ(request.served, 1);
  });
  LetThemQueue();
  may_end = true;
  leader.join();
  follower.join();
  commit.WaitForTurn();
}

TEST(GroupCommitDeathTest, ACommitFunctionThatThrowsEndsTheProcess) {
  // Instead of leaving those waiting that it was to commit requests for.
  EXPECT_DEATH(
      {
        GroupCommit commit([](std::span<GroupCommit::Request* const>) { throw std::bad_alloc(); });
        CountedRequest request(1);
        try {
          commit.Commit(&request);
        } catch (const std::bad_alloc&) {
        }
      },
      "");
}

// As snapshots do: what had a number before the call is visible after it.
TEST(GroupCommitConcurrencyTest, WhatATurnHasBegunIsSeenAfterWaitForTurn) {
  std::atomic<uint64_t> numbers{0};
  std::atomic<uint64_t> visible{0};
  GroupCommit commit([&](std::span<GroupCommit::Request* const> requests) {
    const uint64_t last = numbers.fetch_add(requests.size()) + requests.size();
    std::this_thread::yield();
    visible.store(last, std::memory_order_release);
  });
  std::atomic<int> writers{3};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        CountedRequest request(i);
        commit.Commit(&request);
      }
      --writers;
    });
    threads.emplace_back([&] {
      while (writers > 0) {
        const uint64_t taken = numbers.load();
        commit.WaitForTurn();
        if (visible.load(std::memory_order_acquire) < taken) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// --- A stalled leader ---

// A queue whose groups stall until Release() if they contain the request with the id
// `stalls_call_`.
class StallingQueue {
 public:
  void Stall(int id) { stalls_call_ = id; }
  void Release() { released_ = true; }
  void WaitUntilItStalls() const {
    while (!is_stalled_) std::this_thread::yield();
  }
  void Commit(int id) {
    CountedRequest request(id);
    queue_.Commit(&request);
    EXPECT_EQ(request.served, 1);
  }
  GroupCommit& queue() { return queue_; }

  std::atomic<bool> may_take_over_{true};
  std::atomic<bool> takeover_stalls_{false};
  std::vector<std::vector<int>> groups_;  // in commit order
  std::vector<std::thread::id> committers_;

 private:
  void Serve(std::span<GroupCommit::Request* const> requests) {
    groups_.emplace_back();
    committers_.push_back(std::this_thread::get_id());
    for (auto* r : requests) {
      ++static_cast<CountedRequest*>(r)->served;
      groups_.back().push_back(static_cast<CountedRequest*>(r)->id);
    }
  }
  void CommitOrStall(std::span<GroupCommit::Request* const> requests) {
    const bool stall = std::any_of(requests.begin(), requests.end(), [&](auto* r) {
      return static_cast<CountedRequest*>(r)->id == stalls_call_;
    });
    const bool still_leads = queue_.Guarded(requests, [&] {
      if (stall) is_stalled_ = true;
      while (stall && !released_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    if (still_leads) Serve(requests);
  }

  std::atomic<int> stalls_call_{-1};
  std::atomic<bool> released_{false};
  std::atomic<bool> is_stalled_{false};
  GroupCommit queue_{
      [this](std::span<GroupCommit::Request* const> requests) { CommitOrStall(requests); },
      {.stall_timeout =
           [this](absl::Duration running) {
             const absl::Duration left = absl::Milliseconds(5) - running;
             return may_take_over_ ? left : std::max(left, absl::Milliseconds(1));
           },
       .commit =
           [this](std::span<GroupCommit::Request* const> requests) {
             while (takeover_stalls_ && !released_) {
               std::this_thread::sleep_for(std::chrono::milliseconds(1));
             }
             Serve(requests);
           }}};
};

TEST(GroupCommitTakeOverConcurrencyTest, AWaitingThreadCommitsTheGroupOfAStalledLeader) {
  StallingQueue queue;
  queue.Stall(0);
  std::atomic<bool> leader_returned{false};
  std::thread leader([&] {
    queue.Commit(0);
    leader_returned = true;
  });
  queue.WaitUntilItStalls();
  std::vector<std::thread> others;
  for (int i = 1; i <= 4; ++i) others.emplace_back([&, i] { queue.Commit(i); });
  for (auto& thread : others) thread.join();
  EXPECT_FALSE(leader_returned);
  for (int i = 5; i <= 8; ++i) queue.Commit(i);  // the queue continues
  EXPECT_EQ(queue.groups_.front(), std::vector<int>{0});
  EXPECT_NE(queue.committers_.front(), leader.get_id());
  EXPECT_EQ(queue.queue().take_overs(), 1u);
  EXPECT_EQ(queue.queue().requests(), 9u);
  queue.Release();
  leader.join();
}

TEST(GroupCommitTakeOverConcurrencyTest, AFollowerInTheSameGroupMayTakeOver) {
  StallingQueue queue;
  // The first leader is held until the others have gathered. Then one of them leads and stalls, or
  // the first leader stalls on their behalf.
  std::thread first([&] {
    queue.queue().RunExclusive([] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); });
  });
  LetThemQueue();
  queue.Stall(1);
  std::atomic<int> returned{0};
  std::vector<std::thread> group;
  for (int i = 1; i <= 3; ++i) {
    group.emplace_back([&, i] {
      queue.Commit(i);
      ++returned;
    });
  }
  queue.WaitUntilItStalls();
  for (int i = 0; i < 3000 && returned < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(returned, 2);  // all except the stalled one
  queue.Release();
  first.join();
  for (auto& thread : group) thread.join();
  EXPECT_EQ(queue.queue().take_overs(), 1u);
  EXPECT_EQ(queue.queue().requests(), 3u);
}

TEST(GroupCommitTakeOverConcurrencyTest, NoThreadTakesOverBeforeTheStallTimeout) {
  StallingQueue queue;
  queue.may_take_over_ = false;
  queue.Stall(0);
  std::thread leader([&] { queue.Commit(0); });
  queue.WaitUntilItStalls();
  std::thread other([&] { queue.Commit(1); });
  LetThemQueue();
  queue.Release();
  leader.join();
  other.join();
  EXPECT_EQ(queue.queue().take_overs(), 0u);
}

TEST(GroupCommitTakeOverConcurrencyTest, ExclusiveFunctionsAlsoWaitForTheTakeover) {
  StallingQueue queue;
  queue.Stall(0);
  std::thread leader([&] { queue.Commit(0); });
  queue.WaitUntilItStalls();
  bool ran = false;
  queue.queue().RunExclusive([&] { ran = true; });
  EXPECT_TRUE(ran);
  queue.queue().WaitForTurn();  // the call still stalls, but its turn has ended
  EXPECT_EQ(queue.groups_.size(), 1u);
  queue.Release();
  leader.join();
}

TEST(GroupCommitTakeOverConcurrencyTest, ACallWithLimitsTakesOverOnAnotherThread) {
  StallingQueue queue;
  queue.Stall(0);
  std::thread leader([&] { queue.Commit(0); });
  queue.WaitUntilItStalls();
  CallLimits limits{.deadline = Deadline::In(absl::Minutes(1))};
  EXPECT_TRUE(queue.queue().WaitForTurn(limits).ok());
  ASSERT_EQ(queue.groups_.size(), 1u);
  EXPECT_NE(queue.committers_.front(), leader.get_id());
  EXPECT_NE(queue.committers_.front(), std::this_thread::get_id());
  queue.Release();
  leader.join();
}

TEST(GroupCommitTakeOverConcurrencyTest, ACallEndsAtItsLimitsWhileTheTakeoverStallsToo) {
  StallingQueue queue;
  queue.Stall(0);
  queue.takeover_stalls_ = true;
  std::thread leader([&] { queue.Commit(0); });
  queue.WaitUntilItStalls();
  CallLimits limits{.deadline = Deadline::In(absl::Milliseconds(60))};
  EXPECT_TRUE(absl::IsDeadlineExceeded(queue.queue().WaitForTurn(limits)));
  Cancellation cancellation;
  limits = {.cancellation = &cancellation};
  std::thread cancelling([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cancellation.Cancel();
  });
  CountedRequest request(1);
  EXPECT_TRUE(absl::IsCancelled(queue.queue().Commit(&request, limits, "the write")));
  EXPECT_EQ(request.served, 0);
  cancelling.join();
  queue.Release();
  leader.join();
  queue.Commit(2);
  EXPECT_EQ(queue.groups_, (std::vector<std::vector<int>>{{0}, {2}}));
}

// Calls that take about as long as the stall timeout, so that leader and followers claim the lead
// at the same time.
TEST(GroupCommitTakeOverConcurrencyTest, LeaderAndFollowersMayClaimTheLeadAtTheSameTime) {
  int inside = 0;  // not atomic: ThreadSanitizer reports if two run concurrently
  uint64_t served = 0;
  const auto serve = [&](std::span<GroupCommit::Request* const> requests) {
    EXPECT_EQ(++inside, 1);
    for (auto* r : requests) ++static_cast<CountedRequest*>(r)->served;
    served += requests.size();
    --inside;
  };
  GroupCommit* self = nullptr;
  int calls = 0;
  GroupCommit queue(
      [&](std::span<GroupCommit::Request* const> requests) {
        const int micros = ++calls % 8 == 0 ? 300 : 0;
        if (self->Guarded(requests, [micros] {
              std::this_thread::sleep_for(std::chrono::microseconds(micros));
            })) {
          serve(requests);
        }
      },
      {.stall_timeout = [](absl::Duration running) { return absl::Microseconds(300) - running; },
       .commit = serve});
  self = &queue;
  constexpr int kThreads = 6;
  constexpr int kPerThread = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPerThread; ++i) {
        CountedRequest request(t * kPerThread + i);
        queue.Commit(&request);
        EXPECT_EQ(request.served, 1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(served, uint64_t{kThreads} * kPerThread);
  EXPECT_EQ(queue.requests(), served);
  EXPECT_GT(queue.take_overs(), 0u);
}

// Many threads, and a function that is sometimes quick and sometimes slow: every request is
// committed once, groups do not run concurrently, and each thread's requests stay in order.
void Hammer(int threads, int per_thread, bool slow) {
  int inside = 0;  // not atomic: ThreadSanitizer reports if two run concurrently
  std::vector<int> last(static_cast<size_t>(threads), -1);
  uint64_t served = 0;
  GroupCommit commit([&](std::span<GroupCommit::Request* const> requests) {
    EXPECT_EQ(++inside, 1);
    EXPECT_LE(requests.size(), GroupCommit::kMaxGroupRequests);
    for (auto* r : requests) {
      auto* request = static_cast<CountedRequest*>(r);
      const size_t thread = static_cast<size_t>(request->id / per_thread);
      EXPECT_EQ(last[thread] + 1, request->id % per_thread);
      last[thread] = request->id % per_thread;
      ++request->served;
      ++served;
    }
    if (slow) std::this_thread::sleep_for(std::chrono::microseconds(served % 100));
    --inside;
  });
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      for (int i = 0; i < per_thread; ++i) {
        CountedRequest request(t * per_thread + i);
        commit.Commit(&request);
        EXPECT_EQ(request.served, 1);
        if (i % 64 == 0) {
          commit.RunExclusive([&] {
            EXPECT_EQ(++inside, 1);
            --inside;
          });
        }
      }
    });
  }
  for (auto& thread : running) thread.join();
  EXPECT_EQ(served, static_cast<uint64_t>(threads) * static_cast<uint64_t>(per_thread));
  EXPECT_EQ(commit.requests(), served);
  if (slow) {
    EXPECT_LT(commit.groups() * 2, served);  // groups were formed
  }
}

TEST(GroupCommitTest, RequestsOfTwoThreadsAreCommittedOnce) { Hammer(2, 50000, false); }
TEST(GroupCommitTest, RequestsOfMoreThreadsThanCoresAreCommittedOnce) { Hammer(9, 5000, false); }
TEST(GroupCommitTest, SlowGroupsMakeFollowersSleepAndGather) { Hammer(6, 1000, true); }
TEST(GroupCommitTest, MoreThreadsThanAGroupHolds) { Hammer(100, 50, true); }

}  // namespace
}  // namespace bigtable
