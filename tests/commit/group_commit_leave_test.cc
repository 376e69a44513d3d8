// Callers with limits leave the queue of a group commit while a turn stalls.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/call_options.h"

#include "base/call_limits.h"
#include "commit/group_commit.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

struct NumberedRequest : GroupCommit::Request {
  explicit NumberedRequest(int number) : Request(10), id(number) {}
  int id;
};

// A queue whose first turn lasts until EndTurn, and callers behind it, one after another.
class StalledQueue {
 public:
  StalledQueue() {
    leader_ = std::thread([&] {
      queue_.RunExclusive([&] {
        has_begun_ = true;
        while (!may_end_) std::this_thread::yield();
      });
    });
    while (!has_begun_) std::this_thread::yield();
  }
  ~StalledQueue() { EndTurn(); }

  GroupCommit& queue() { return queue_; }
  // Returns once the call is in the queue, as far as a test can know.
  void Start(std::function<void()> call) {
    threads_.emplace_back(std::move(call));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  void Commit(int id, const CallLimits& limits, absl::Status* status) {
    Start([=, this] {
      NumberedRequest request(id);
      *status = queue_.Commit(&request, limits, "the write");
    });
  }
  void EndTurn() {
    may_end_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    if (leader_.joinable()) leader_.join();
  }
  // The requests that were committed, in their order. After EndTurn.
  const std::vector<int>& committed() const { return committed_; }

 private:
  std::vector<int> committed_;
  std::atomic<bool> has_begun_{false};
  std::atomic<bool> may_end_{false};
  GroupCommit queue_{[this](std::span<GroupCommit::Request* const> requests) {
    for (auto* request : requests) {
      committed_.push_back(static_cast<NumberedRequest*>(request)->id);
    }
  }};
  std::thread leader_;
  std::vector<std::thread> threads_;
};

CallLimits Within(absl::Duration time) { return {.deadline = Deadline::In(time)}; }

TEST(GroupCommitLeaveTest, ACallerLeavesAtItsDeadlineFromAnyPlaceInTheQueue) {
  for (int place = 0; place < 4; ++place) {
    SCOPED_TRACE(place);
    StalledQueue stalled;
    absl::Status statuses[4];
    std::vector<int> others;
    for (int i = 0; i < 4; ++i) {
      stalled.Commit(i, i == place ? Within(absl::Milliseconds(80)) : CallLimits(), &statuses[i]);
      if (i != place) others.push_back(i);
    }
    absl::SleepFor(absl::Milliseconds(100));
    stalled.EndTurn();
    EXPECT_THAT(stalled.committed(), testing::ElementsAreArray(others));
    for (int i = 0; i < 4; ++i) {
      if (i == place) {
        EXPECT_STATUS(kDeadlineExceeded, "the write ran into its deadline", statuses[i]);
      } else {
        EXPECT_OK(statuses[i]);
      }
    }
  }
}

TEST(GroupCommitLeaveTest, AllCallersLeaveAndOthersCome) {
  StalledQueue stalled;
  absl::Status early[3], late;
  for (absl::Status& status : early) stalled.Commit(0, Within(absl::Milliseconds(20)), &status);
  absl::SleepFor(absl::Milliseconds(100));
  stalled.Commit(1, Within(absl::Minutes(1)), &late);
  stalled.EndTurn();
  EXPECT_THAT(stalled.committed(), testing::ElementsAre(1));
  for (const absl::Status& status : early) EXPECT_STATUS(kDeadlineExceeded, "", status);
  EXPECT_OK(late);
}

TEST(GroupCommitLeaveTest, ACallerLeavesWhenItIsCancelled) {
  StalledQueue stalled;
  Cancellation cancellation;
  absl::Status status;
  stalled.Commit(0, {.cancellation = &cancellation}, &status);
  cancellation.Cancel();
  absl::SleepFor(absl::Milliseconds(60));
  stalled.EndTurn();
  EXPECT_STATUS(kCancelled, "the write was cancelled", status);
  EXPECT_THAT(stalled.committed(), testing::IsEmpty());
}

TEST(GroupCommitLeaveTest, ExclusiveFunctionsAndWaitsLeaveToo) {
  StalledQueue stalled;
  bool has_run = false;
  EXPECT_STATUS(
      kDeadlineExceeded, "",
      stalled.queue().RunExclusive([&] { has_run = true; }, Within(absl::Milliseconds(20))));
  EXPECT_STATUS(kDeadlineExceeded, "", stalled.queue().WaitForTurn(Within(absl::Milliseconds(20))));
  stalled.EndTurn();
  EXPECT_FALSE(has_run);
  EXPECT_OK(stalled.queue().RunExclusive([&] { has_run = true; }, Within(absl::Minutes(1))));
  EXPECT_TRUE(has_run);
}

// Its request belongs to the leader then.
TEST(GroupCommitLeaveTest, ACallerWhoseTurnHasBegunStays) {
  std::atomic<bool> may_end{false};
  std::vector<size_t> groups;
  GroupCommit queue([&](std::span<GroupCommit::Request* const> requests) {
    groups.push_back(requests.size());
    while (groups.size() == 2 && !may_end) std::this_thread::yield();
  });
  std::vector<std::thread> threads;
  absl::Status statuses[3];
  // On a thread of its own: it may lead the next group, too.
  std::thread first([&] {
    queue.RunExclusive([&] {
      for (absl::Status& status : statuses) {
        threads.emplace_back([&] {
          NumberedRequest request(0);
          status = queue.Commit(&request, Within(absl::Milliseconds(100)), "the write");
        });
      }
      groups.push_back(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    });
  });
  absl::SleepFor(absl::Milliseconds(200));
  may_end = true;
  first.join();
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) EXPECT_OK(status);
  EXPECT_THAT(groups, testing::ElementsAre(0, 3));
}

// Every request is committed once, or its caller has left and it is not committed.
TEST(GroupCommitLeaveConcurrencyTest, ARequestIsCommittedExactlyIfItsCallerHasNotLeft) {
  struct Counted : GroupCommit::Request {
    int served = 0;
  };
  int inside = 0;  // not atomic: ThreadSanitizer reports if two run concurrently
  uint64_t served = 0;
  GroupCommit queue([&](std::span<GroupCommit::Request* const> requests) {
    EXPECT_EQ(++inside, 1);
    for (auto* request : requests) ++static_cast<Counted*>(request)->served;
    served += requests.size();
    if (served % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(served % 8));
    --inside;
  });
  constexpr int kThreads = 12;
  constexpr int kPerThread = 100;
  std::atomic<uint64_t> committed{0}, left{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPerThread; ++i) {
        const CallLimits limits = Within(absl::Microseconds((i * 371 + t * 1013) % 6000));
        Counted request;
        const bool is_committed = queue.Commit(&request, limits, "the write").ok();
        EXPECT_EQ(request.served, is_committed ? 1 : 0);
        ++(is_committed ? committed : left);
        if (i % 16 != 0) continue;
        bool has_run = false;
        const auto function = [&] {
          EXPECT_EQ(++inside, 1);
          has_run = true;
          --inside;
        };
        EXPECT_EQ(queue.RunExclusive(function, limits).ok(), has_run);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(committed, served);
  EXPECT_EQ(queue.requests(), served);
  EXPECT_GT(left, 0u);
}

}  // namespace
}  // namespace bigtable
