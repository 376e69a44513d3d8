#include "commitlog/group_commit.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bigtable {
namespace {

struct CountedRequest : GroupCommit::Request {
  explicit CountedRequest(int number, size_t size = 10) : Request(size), id(number) {}
  int id;
  int served = 0;
};

// Waits until `n` calls are in the queue, the best one can tell from outside.
void LetThemQueue() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

TEST(GroupCommitTest, AloneEachRequestIsAGroup) {
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

// Commits one request that holds the lead until `others` threads have each queued theirs, one
// after the other, and returns the groups as ids.
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
      max_bytes);
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

TEST(GroupCommitTest, WhoComesMeanwhileIsServedTogetherInOrder) {
  EXPECT_THAT(GroupsBehindASlowLeader(5, 10, 1000),
              testing::ElementsAre(testing::ElementsAre(0), testing::ElementsAre(1, 2, 3, 4, 5)));
}

TEST(GroupCommitTest, GroupEndsBeforeItsBytesExceedTheBound) {
  EXPECT_THAT(GroupsBehindASlowLeader(5, 10, 25),
              testing::ElementsAre(testing::ElementsAre(0), testing::ElementsAre(1, 2),
                                   testing::ElementsAre(3, 4), testing::ElementsAre(5)));
}

TEST(GroupCommitTest, RequestLargerThanTheBoundIsServedAlone) {
  EXPECT_THAT(GroupsBehindASlowLeader(2, 100, 25),
              testing::ElementsAre(testing::ElementsAre(0), testing::ElementsAre(1),
                                   testing::ElementsAre(2)));
}

TEST(GroupCommitTest, ExclusiveFunctionRunsInItsTurnOnItsOwnThread) {
  EXPECT_THAT(GroupsBehindASlowLeader(4, 10, 1000, 2),
              testing::ElementsAre(testing::ElementsAre(0), testing::ElementsAre(1),
                                   testing::ElementsAre(-2), testing::ElementsAre(3, 4)));
}

// Many threads, a function that is now quick, now slow: everything is done once, nothing at the
// same time, each thread's requests in order.
void Hammer(int threads, int per_thread, bool slow) {
  int inside = 0;  // no atomic: ThreadSanitizer tells if two run together
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
    EXPECT_LT(commit.groups() * 2, served);  // groups did form
  }
}

TEST(GroupCommitTest, TwoThreadsAreServedOnceEach) { Hammer(2, 50000, false); }
TEST(GroupCommitTest, MoreThreadsThanCoresAreServedOnceEach) { Hammer(9, 5000, false); }
TEST(GroupCommitTest, SlowGroupsMakeFollowersSleepAndGather) { Hammer(6, 1000, true); }
TEST(GroupCommitTest, MoreThreadsThanAGroupHolds) { Hammer(100, 50, true); }

}  // namespace
}  // namespace bigtable
