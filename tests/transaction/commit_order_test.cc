// The order of the calls of MutationObserver::After: a commit waits for those that began before it
// and may get a smaller sequence number, whatever becomes of them.
#include "transaction/commit_order.h"

#include <atomic>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

// A commit on a thread of its own, which ends as the test says.
class HeldCommit {
 public:
  HeldCommit(CommitOrder* order, SequenceNumber last, SequenceNumber sequence,
             absl::Status status = absl::OkStatus(), CallLimits limits = {})
      : thread_([this, order, last, sequence, status, limits] {
          const auto commit = [&](SequenceNumber* committed) {
            begun_.Notify();
            release_.WaitForNotification();
            *committed = sequence;
            return status;
          };
          result_ = order->Run(last, {}, limits, commit, [](const absl::Status&) {});
          returned_ = true;
        }) {
    begun_.WaitForNotification();
  }
  ~HeldCommit() { thread_.join(); }

  void End() { release_.Notify(); }
  // After some time for what may happen without it.
  bool HasReturned() const {
    absl::SleepFor(absl::Milliseconds(20));
    return returned_;
  }
  absl::Status Result() {
    while (!returned_) absl::SleepFor(absl::Microseconds(100));
    return result_;
  }

 private:
  absl::Notification begun_;
  absl::Notification release_;
  std::atomic<bool> returned_{false};
  absl::Status result_;
  std::thread thread_;
};

TEST(CommitOrderTest, ACommitWaitsForOneThatBeganBeforeIt) {
  CommitOrder order;
  HeldCommit first(&order, 10, 11);
  HeldCommit second(&order, 10, 12);
  second.End();
  EXPECT_FALSE(second.HasReturned());
  first.End();
  EXPECT_OK(first.Result());
  EXPECT_OK(second.Result());
}

TEST(CommitOrderTest, ACommitWaitsForOneThatFails) {
  CommitOrder order;
  HeldCommit first(&order, 10, 0, absl::OutOfRangeError("failed"));
  HeldCommit second(&order, 10, 12);
  second.End();
  EXPECT_FALSE(second.HasReturned());
  first.End();
  EXPECT_STATUS(kOutOfRange, "failed", first.Result());
  EXPECT_OK(second.Result());
}

TEST(CommitOrderTest, ACommitWhoseLimitsEndDoesNotWaitAnyLonger) {
  CommitOrder order;
  Cancellation cancellation;
  HeldCommit first(&order, 10, 11);
  HeldCommit second(&order, 10, 12, absl::OkStatus(), {.cancellation = &cancellation});
  HeldCommit third(&order, 10, 13);
  second.End();
  third.End();
  EXPECT_FALSE(second.HasReturned());
  cancellation.Cancel();
  EXPECT_OK(second.Result());
  EXPECT_FALSE(third.HasReturned());
  first.End();
  EXPECT_OK(first.Result());
  EXPECT_OK(third.Result());  // after the calls of the second
}

TEST(CommitOrderTest, ACommitDoesNotBeginWhileTooMuchIsLeft) {
  CommitOrder order(1);
  const CallLimits soon{.deadline = Deadline::In(absl::Milliseconds(1))};
  HeldCommit first(&order, 10, 11);
  HeldCommit left(&order, 10, 12, absl::OkStatus(), soon);
  left.End();
  EXPECT_OK(left.Result());
  const auto run = [&](const CallLimits& limits, SequenceNumber sequence) {
    bool has_run = false;
    const absl::Status status = order.Run(
        12, {}, limits,
        [&](SequenceNumber* committed) {
          has_run = true;
          *committed = sequence;
          return absl::OkStatus();
        },
        [](const absl::Status&) {});
    EXPECT_EQ(has_run, status.ok());
    return status;
  };
  EXPECT_STATUS(kDeadlineExceeded, "the write",
                run({.deadline = Deadline::In(absl::Milliseconds(20))}, 13));
  std::thread ending([&] {
    absl::SleepFor(absl::Milliseconds(20));
    first.End();
  });
  EXPECT_OK(run({}, 13));
  EXPECT_OK(run({.deadline = Deadline::In(absl::ZeroDuration())}, 14));  // nothing is left
  ending.join();
  EXPECT_OK(first.Result());
}

TEST(CommitOrderTest, ACommitDoesNotWaitForOneThatBeganAfterIt) {
  CommitOrder order;
  HeldCommit first(&order, 10, 11);
  HeldCommit later(&order, 11, 12);  // the number of the first was assigned by then
  first.End();
  EXPECT_OK(first.Result());
  EXPECT_FALSE(later.HasReturned());
  later.End();
  EXPECT_OK(later.Result());
}

}  // namespace
}  // namespace bigtable
