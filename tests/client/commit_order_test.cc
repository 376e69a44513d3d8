// The order of the calls of MutationObserver::After: a commit waits for those that began before it
// and may get a smaller sequence number, whatever becomes of them.
#include "client/commit_order.h"

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
             absl::Status status = absl::OkStatus())
      : thread_([this, order, last, sequence, status] {
          const auto commit = [&](SequenceNumber* committed) {
            begun_.Notify();
            release_.WaitForNotification();
            *committed = sequence;
            return status;
          };
          result_ = order->Run(last, {}, commit, [](const absl::Status&) {});
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
