#include "server/calls/admission.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <list>
#include <malloc.h>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

#include "convert/status.h"
#include "support/seeds.h"

namespace bigtable::server {
namespace {

// What a call of the server does with a refusal.
class RefusableCall final : public AdmittedCall {
 public:
  void Refuse(const absl::Status& status) override {
    status_ = status;
    is_refused_.store(true);
    if (holds_) release_.WaitForNotification();
  }
  // The thread that refuses this call goes on after Release.
  void Hold() { holds_ = true; }
  void Release() { release_.Notify(); }
  bool is_refused() const { return is_refused_.load(); }
  // Others find the room that it had before it hears of its refusal.
  bool IsRefusedSoon() const {
    for (int i = 0; i < 2000 && !is_refused(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return is_refused();
  }
  const absl::Status& status() const { return status_; }
  std::chrono::nanoseconds time() const { return admission_time(); }

 private:
  absl::Status status_;
  std::atomic<bool> is_refused_{false};
  bool holds_ = false;
  absl::Notification release_;
};

RequestLimits SmallLimits() {
  RequestLimits limits(8 << 20, 64);
  limits.alarm = 0;
  return limits;
}

class AdmissionTest : public testing::Test {
 protected:
  static std::chrono::nanoseconds LongTime() { return std::chrono::hours(1); }
  static std::chrono::nanoseconds ShortTime() { return std::chrono::milliseconds(60); }
  uint64_t CountOf(Admission::Reason reason) const {
    return admission_.refused()[static_cast<size_t>(reason)];
  }
  // As many as may receive at first.
  void BeginAll() {
    for (RefusableCall& call : calls_) {
      ASSERT_TRUE(admission_.BeginToReceive(&call, LongTime).ok());
      admission_.StillReceives(&call);
    }
  }
  void EndAll() {
    for (RefusableCall& call : calls_) {
      if (admission_.Received(&call, 100'000)) admission_.Leave(&call);
    }
  }

  Admission admission_{SmallLimits()};
  std::array<RefusableCall, 16> calls_;
};

// What a page of slow requests shows of it: the wait to receive, receiving, and the wait to be
// executed.
TEST_F(AdmissionTest, ACallKnowsHowLongItWasNotExecuted) {
  BeginAll();
  RefusableCall call;
  std::thread others([this] {
    std::this_thread::sleep_for(ShortTime());
    EndAll();
  });
  ASSERT_TRUE(admission_.BeginToReceive(&call, LongTime).ok());
  others.join();
  admission_.StillReceives(&call);
  std::this_thread::sleep_for(ShortTime());
  ASSERT_TRUE(admission_.Received(&call, 1000));
  RefusableCall large;
  ASSERT_TRUE(admission_.BeginExecution(&large, 2 << 20, LongTime).ok());
  std::thread end([this] {
    std::this_thread::sleep_for(ShortTime());
    admission_.EndExecution(2 << 20);
  });
  ASSERT_TRUE(admission_.BeginExecution(&call, 1000, LongTime).ok());
  end.join();
  EXPECT_EQ(large.time(), std::chrono::nanoseconds(0));
  EXPECT_GE(call.time(), 3 * ShortTime() - std::chrono::milliseconds(10));
  EXPECT_LT(call.time(), std::chrono::seconds(5));
  admission_.EndExecution(1000);
}

TEST_F(AdmissionTest, ARequestThatIsThereAtOnceIsExecutedAtOnce) {
  RefusableCall call;
  ASSERT_TRUE(admission_.BeginToReceive(&call, LongTime).ok());
  ASSERT_TRUE(admission_.BeginExecution(&call, 1000, LongTime).ok());
  EXPECT_EQ(admission_.receiving(), 0U);
  EXPECT_EQ(admission_.executing(), 1000U);
  admission_.EndExecution(1000);
  EXPECT_EQ(admission_.executing(), 0U);
}

TEST_F(AdmissionTest, WithoutRoomToReceiveACallWaitsAndIsThenRefused) {
  BeginAll();
  RefusableCall call;
  const auto before = std::chrono::steady_clock::now();
  const absl::Status status = admission_.BeginToReceive(&call, ShortTime);
  EXPECT_GE(std::chrono::steady_clock::now() - before, ShortTime() / 2);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(convert::ToGrpcStatus(status).error_details().empty());
  EXPECT_EQ(CountOf(Admission::Reason::kReceive), 1U);
  EndAll();
  EXPECT_EQ(admission_.receiving(), 0U);
}

TEST_F(AdmissionTest, ACallThatReceivesForLongGivesWay) {
  BeginAll();
  RefusableCall call;
  EXPECT_TRUE(admission_.BeginToReceive(&call, LongTime).ok());
  EXPECT_TRUE(calls_.front().IsRefusedSoon());
  EXPECT_EQ(calls_.front().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(calls_.back().is_refused());
  EXPECT_FALSE(admission_.Received(&calls_.front(), 0));
  EXPECT_EQ(CountOf(Admission::Reason::kSlow), 1U);
  ASSERT_TRUE(admission_.BeginExecution(&call, 1000, LongTime).ok());
  admission_.EndExecution(1000);
  EndAll();
  EXPECT_EQ(admission_.receiving(), 0U);
}

TEST_F(AdmissionTest, ACallGivesWayLaterWhileOthersAreReceived) {
  BeginAll();
  std::atomic<bool> is_admitted{false};
  RefusableCall call;
  std::thread waiter([&] {
    EXPECT_TRUE(admission_.BeginToReceive(&call, LongTime).ok());
    is_admitted.store(true);
  });
  // As much as each was counted with, so none makes room.
  const uint64_t each = admission_.receiving() / calls_.size();
  for (size_t i = 1; i < 14; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ASSERT_TRUE(admission_.Received(&calls_[i], each));
  }
  EXPECT_FALSE(calls_.front().is_refused());
  EXPECT_FALSE(is_admitted.load());
  waiter.join();
  EXPECT_TRUE(calls_.front().IsRefusedSoon());
  for (size_t i = 1; i < 14; ++i) admission_.Leave(&calls_[i]);
  for (size_t i = 14; i < calls_.size(); ++i) {
    if (admission_.Received(&calls_[i], each)) admission_.Leave(&calls_[i]);
  }
  admission_.Leave(&call);
  EXPECT_EQ(admission_.receiving(), 0U);
}

TEST_F(AdmissionTest, ReceivedRequestsCountUntilTheyAreExecuted) {
  const uint64_t largest = admission_.limits().largest;
  RefusableCall first;
  RefusableCall second;
  for (RefusableCall* const call : {&first, &second}) {
    ASSERT_TRUE(admission_.BeginToReceive(call, LongTime).ok());
    admission_.StillReceives(call);
  }
  for (RefusableCall* const call : {&first, &second}) {
    ASSERT_TRUE(admission_.Received(call, largest));
  }
  EXPECT_EQ(admission_.receiving(), 2 * largest);
  ASSERT_TRUE(admission_.BeginExecution(&first, largest, LongTime).ok());
  EXPECT_EQ(admission_.receiving(), largest);
  EXPECT_EQ(admission_.BeginExecution(&second, largest, ShortTime).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(CountOf(Admission::Reason::kExecute), 1U);
  EXPECT_EQ(admission_.receiving(), 0U);
  admission_.EndExecution(largest);
}

// Sixteen requests were expected to have an eighth of what they have: all are in memory.
TEST_F(AdmissionTest, ReceivedRequestsBeyondTheirLimitDoNotWait) {
  const uint64_t largest = admission_.limits().largest;
  BeginAll();
  for (RefusableCall& call : calls_) ASSERT_TRUE(admission_.Received(&call, largest));
  ASSERT_TRUE(admission_.BeginExecution(&calls_[0], largest, LongTime).ok());
  std::thread waiter([&] {
    EXPECT_TRUE(admission_.BeginExecution(&calls_[1], largest, LongTime).ok())
        << "the first of those that wait may have any size";
    admission_.EndExecution(largest);
  });
  while (admission_.waiting() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto before = std::chrono::steady_clock::now();
  for (size_t i = 2; i < calls_.size(); ++i) {
    const absl::Status status = admission_.BeginExecution(&calls_[i], largest, LongTime);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_FALSE(convert::ToGrpcStatus(status).error_details().empty());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2));
  EXPECT_EQ(CountOf(Admission::Reason::kExecute), calls_.size() - 2);
  EXPECT_EQ(admission_.receiving(), largest);
  admission_.EndExecution(largest);
  waiter.join();
  // What waited counts no longer.
  ASSERT_TRUE(admission_.BeginExecution(&calls_[2], largest, LongTime).ok());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(admission_.BeginExecution(&calls_[3], largest, ShortTime).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_GE(std::chrono::steady_clock::now() - start, ShortTime() / 2) << "so it has waited";
  EXPECT_EQ(admission_.receiving(), 0U);
  admission_.EndExecution(largest);
}

TEST_F(AdmissionTest, ATooLargeRequestIsRefusedForGood) {
  RefusableCall call;
  ASSERT_TRUE(admission_.BeginToReceive(&call, LongTime).ok());
  const absl::Status status =
      admission_.BeginExecution(&call, admission_.limits().largest + 1, LongTime);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(convert::ToGrpcStatus(status).error_details().empty());
  EXPECT_EQ(CountOf(Admission::Reason::kTooLarge), 1U);
}

TEST_F(AdmissionTest, MoreCallsWaitThanMayAreRefusedAtOnce) {
  BeginAll();
  std::vector<std::thread> threads;
  std::atomic<int> admitted{0};
  const size_t most = admission_.limits().most_waiting;
  std::vector<RefusableCall> waiting(most);
  for (RefusableCall& call : waiting) {
    threads.emplace_back([&] {
      if (!admission_.BeginToReceive(&call, LongTime).ok()) return;
      admission_.Leave(&call);
      admitted.fetch_add(1);
    });
  }
  for (int i = 0; i < 1000 && admission_.waiting() < most; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  RefusableCall call;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(admission_.BeginToReceive(&call, LongTime).code(), absl::StatusCode::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(500));
  EndAll();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admitted.load(), static_cast<int>(most));
}

// Memory that the process did not have before, whatever malloc has kept.
class ResidentBytes {
 public:
  explicit ResidentBytes(size_t size)
      : size_(size),
        bytes_(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {}
  ~ResidentBytes() { munmap(bytes_, size_); }
  ResidentBytes(const ResidentBytes&) = delete;
  ResidentBytes& operator=(const ResidentBytes&) = delete;

 private:
  const size_t size_;
  void* const bytes_;
};

// With large steps between alarms, beside which it is small what else the process takes meanwhile.
RequestLimits LimitsWithoutMemory() {
  RequestLimits limits(32 << 20, 64);
  limits.alarm = 1;
  return limits;
}

// As if gRPC received more than all requests may take: enough for one alarm, and for no second one
// if the process is looked at while it grows.
size_t GrowthForOneAlarm() {
  return LimitsWithoutMemory().receiving + LimitsWithoutMemory().receiving / 8;
}

// A process that is above its bound from the start is not the fault of requests.
TEST(AdmissionOfALargeProcessTest, OnlyGrowthIsTheFaultOfRequests) {
  malloc_trim(0);  // what the first look at the memory would do
  Admission admission(LimitsWithoutMemory());
  std::array<RefusableCall, 4> calls;
  for (RefusableCall& call : calls) {
    ASSERT_TRUE(admission.BeginToReceive(&call, [] { return std::chrono::hours(1); }).ok());
    admission.StillReceives(&call);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (const RefusableCall& call : calls) EXPECT_FALSE(call.is_refused());
  const ResidentBytes received(GrowthForOneAlarm());
  EXPECT_TRUE(calls[3].IsRefusedSoon());
  EXPECT_TRUE(calls[2].IsRefusedSoon());
  EXPECT_FALSE(calls[0].is_refused());
  EXPECT_EQ(calls[3].status().code(), absl::StatusCode::kUnavailable);
  for (RefusableCall& call : calls) {
    if (admission.Received(&call, 1000)) admission.Leave(&call);
  }
}

// While the process has no memory for requests: as if gRPC received more than all of them may.
class AdmissionWithoutMemoryTest : public testing::Test {
 protected:
  static std::chrono::nanoseconds LongTime() { return std::chrono::hours(1); }
  static RequestLimits Limits() { return LimitsWithoutMemory(); }
  void SetUp() override {
    malloc_trim(0);  // what the first look at the memory would do
    admission_.emplace(Limits());
  }
  void Grow() { memory_.assign(Limits().receiving + (4 << 20), 'x'); }
  // Long after the thread would sleep if it looked at nothing.
  static void WaitForLooks() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }
  uint64_t CountOf(Admission::Reason reason) const {
    return admission_->refused()[static_cast<size_t>(reason)];
  }

  std::optional<Admission> admission_;
  std::vector<char> memory_;
};

// Requests that were received, and wait for their execution, have all room.
TEST_F(AdmissionWithoutMemoryTest, ACallThatWaitsWhileNoneReceivesIsRefused) {
  RefusableCall received;
  ASSERT_TRUE(admission_->BeginToReceive(&received, LongTime).ok());
  admission_->StillReceives(&received);
  ASSERT_TRUE(admission_->Received(&received, Limits().receiving));
  std::atomic<bool> is_refused{false};
  std::thread waiter([&] {
    RefusableCall call;
    const absl::Status status = admission_->BeginToReceive(&call, LongTime);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    is_refused = true;
  });
  const auto before = std::chrono::steady_clock::now();
  WaitForLooks();
  EXPECT_FALSE(is_refused.load());
  Grow();
  waiter.join();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(3500))
      << "which is less than it may wait";
  EXPECT_EQ(CountOf(Admission::Reason::kReceive), 1U);
  admission_->Leave(&received);
}

TEST_F(AdmissionWithoutMemoryTest, TheOnlyRequestIsTooLarge) {
  RefusableCall call;
  ASSERT_TRUE(admission_->BeginToReceive(&call, LongTime).ok());
  admission_->StillReceives(&call);
  WaitForLooks();
  Grow();
  ASSERT_TRUE(call.IsRefusedSoon());
  EXPECT_EQ(call.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CountOf(Admission::Reason::kTooLarge), 1U);
}

// It is not known whose memory it is: both may come again.
TEST_F(AdmissionWithoutMemoryTest, ARequestIsNotTheOnlyOneWhileAnotherWaits) {
  RefusableCall receives;
  ASSERT_TRUE(admission_->BeginToReceive(&receives, LongTime).ok());
  admission_->StillReceives(&receives);
  RefusableCall received;
  admission_->StillReceives(&received);
  ASSERT_TRUE(admission_->Received(&received, Limits().receiving));
  std::thread waiter([&] {
    RefusableCall call;
    EXPECT_FALSE(admission_->BeginToReceive(&call, LongTime).ok());
  });
  while (admission_->waiting() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  WaitForLooks();
  Grow();
  ASSERT_TRUE(receives.IsRefusedSoon());
  EXPECT_EQ(receives.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CountOf(Admission::Reason::kTooLarge), 0U);
  waiter.join();
  admission_->Leave(&received);
}

// Otherwise the process could grow by all that may be received before each further refusal.
TEST_F(AdmissionWithoutMemoryTest, MoreCallsAreRefusedWhileItGrowsOn) {
  std::array<RefusableCall, 64> calls;
  for (RefusableCall& call : calls) admission_->StillReceives(&call);
  const auto refused = [&] {
    return std::count_if(calls.begin(), calls.end(),
                         [](const RefusableCall& call) { return call.is_refused(); });
  };
  WaitForLooks();
  const ResidentBytes first(GrowthForOneAlarm());
  ASSERT_TRUE(calls.back().IsRefusedSoon());
  WaitForLooks();
  auto before = refused();
  EXPECT_LT(before, 60);
  WaitForLooks();
  // A sanitizer's own memory grows.
  if (!kSanitized) {
    EXPECT_EQ(refused(), before) << "though it did not grow";
  }
  before = refused();
  const ResidentBytes more(Limits().receiving / 2);
  for (int i = 0; i < 2000 && refused() == before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GT(refused(), before);
  for (RefusableCall& call : calls) {
    if (admission_->Received(&call, 1000)) admission_->Leave(&call);
  }
}

// The thread that looks does not run, as on a machine with much other work: it is held in the
// refusal of a call.
class AdmissionWithoutLooksTest : public AdmissionWithoutMemoryTest {
 protected:
  void SetUp() override {
    AdmissionWithoutMemoryTest::SetUp();
    held_.Hold();
    for (RefusableCall& call : calls_) admission_->StillReceives(&call);
    admission_->StillReceives(&held_);
    WaitForLooks();
    for (int i = 0; i < kMostSteps && !held_.is_refused(); ++i) GrowMore();
    ASSERT_TRUE(held_.IsRefusedSoon());
    ASSERT_FALSE(calls_[0].is_refused());
  }
  void TearDown() override {
    held_.Release();
    for (RefusableCall& call : calls_) End(&call);
    for (RefusableCall& call : later_) End(&call);
  }
  void End(RefusableCall* call) {
    if (admission_->Received(call, 1000)) {
      admission_->Leave(call);
    } else {
      EXPECT_TRUE(call->IsRefusedSoon());
    }
  }
  // By half of what may be received, until the next look is late.
  void GrowMore() {
    more_.emplace_back(Limits().receiving / 2);
    std::this_thread::sleep_for(3 * MemoryAlarm::kPeriod);
  }

  // What the process gives back when it looks may be more than a step.
  static constexpr int kMostSteps = 20;
  std::array<RefusableCall, kMostSteps> calls_;  // of which the younger half is refused
  RefusableCall held_;
  std::list<RefusableCall> later_;
  std::list<ResidentBytes> more_;
};

TEST_F(AdmissionWithoutLooksTest, AThreadThatBeginsToReceiveLooks) {
  for (int i = 0; i < kMostSteps && (later_.empty() || !later_.back().is_refused()); ++i) {
    GrowMore();
    admission_->StillReceives(&later_.emplace_back());
  }
  EXPECT_TRUE(later_.back().is_refused());
  admission_->StillReceives(&later_.emplace_back());
  EXPECT_FALSE(later_.back().is_refused()) << "though the process has not grown further";
}

TEST_F(AdmissionWithoutLooksTest, AThreadThatHasReceivedLooks) {
  RefusableCall& youngest = calls_[kMostSteps / 2 - 1];
  for (int i = 0; i < kMostSteps / 2 - 1 && !youngest.is_refused(); ++i) {
    GrowMore();
    End(&calls_[static_cast<size_t>(i)]);
  }
  EXPECT_TRUE(youngest.is_refused());
}

TEST_F(AdmissionWithoutMemoryTest, CallsOfSmallRequestsAreRefusedToo) {
  std::array<RefusableCall, 4> calls;
  for (RefusableCall& call : calls) admission_->ReceivesSmall(&call);
  EXPECT_EQ(admission_->receiving(), 0U);
  WaitForLooks();
  const ResidentBytes grown(GrowthForOneAlarm());
  ASSERT_TRUE(calls[2].IsRefusedSoon());
  ASSERT_TRUE(calls[3].IsRefusedSoon());
  EXPECT_EQ(calls[3].status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(admission_->ReceivedSmall(&calls[3]));
  EXPECT_TRUE(admission_->ReceivedSmall(&calls[0]));
  EXPECT_TRUE(admission_->ReceivedSmall(&calls[1]));
}

TEST_F(AdmissionTest, ASmallRequestWaitsForNothingAndNotForLong) {
  BeginAll();
  RefusableCall quick;
  admission_.ReceivesSmall(&quick);
  EXPECT_TRUE(admission_.ReceivedSmall(&quick)) << "while there is no room for others";
  RefusableCall slow;
  const auto before = std::chrono::steady_clock::now();
  admission_.ReceivesSmall(&slow);
  while (!slow.is_refused()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  EXPECT_EQ(slow.status(), absl::UnavailableError("no request has arrived for 5 seconds"));
  EXPECT_FALSE(admission_.ReceivedSmall(&slow));
  EndAll();
}

TEST(RequestLimitsTest, TheAlarmLeavesWhatMayBeReceivedUntilSomebodyLooks) {
  constexpr uint64_t kMegabyte = 1 << 20;
  for (const uint64_t megabytes : {8, 64, 255}) {
    const RequestLimits limits(megabytes * kMegabyte, 2048);
    EXPECT_FALSE(limits.windows_grow) << megabytes;
    EXPECT_EQ(limits.resident, (2 * megabytes + 128) * kMegabyte);
    EXPECT_EQ(limits.alarm, (2 * megabytes + 64) * kMegabyte);
  }
  // Windows of connections take more then.
  for (const uint64_t megabytes : {256, 512, 4096}) {
    const RequestLimits limits(megabytes * kMegabyte, 2048);
    EXPECT_TRUE(limits.windows_grow) << megabytes;
    EXPECT_EQ(limits.resident, (2 * megabytes + 128) * kMegabyte);
    EXPECT_EQ(limits.alarm, (2 * megabytes + 128) * kMegabyte - megabytes * kMegabyte / 2);
  }
}

TEST_F(AdmissionTest, ARequestCountsAsMoreAsFarAsThereIsRoom) {
  RefusableCall call;
  ASSERT_TRUE(admission_.BeginExecution(&call, 1000, LongTime).ok());
  const uint64_t largest = SmallLimits().largest;
  {
    CountedMore more(&admission_, 1000);
    EXPECT_TRUE(more.CountAs(900).ok());
    EXPECT_EQ(admission_.executing(), 1000U);
    EXPECT_TRUE(more.CountAs(5000).ok());
    EXPECT_EQ(admission_.executing(), 5000U);
    EXPECT_TRUE(absl::IsResourceExhausted(more.CountAs(largest + 1)));
    EXPECT_EQ(admission_.executing(), 5000U);
    RefusableCall other;
    ASSERT_TRUE(admission_.BeginExecution(&other, largest - 6000, LongTime).ok());
    EXPECT_TRUE(absl::IsUnavailable(more.CountAs(largest)));
    EXPECT_EQ(admission_.executing(), largest - 1000);
    admission_.EndExecution(largest - 6000);
  }
  EXPECT_EQ(admission_.executing(), 1000U);
  admission_.EndExecution(1000);
  EXPECT_EQ(admission_.executing(), 0U);
}

}  // namespace
}  // namespace bigtable::server
