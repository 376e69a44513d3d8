#include "server/calls/admission.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"

#include "convert/status.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr nanoseconds kMostWait = std::chrono::seconds(5);
// How long a call may receive while others wait; and while no request is received at all.
constexpr nanoseconds kMostReceiving = std::chrono::seconds(5);
constexpr nanoseconds kMostStuck = std::chrono::seconds(1);
// How long a call may receive a small request in any case, and a client of reflection take for the
// next one: a tool asks for all that it needs at once.
constexpr std::chrono::seconds kMostReceivingSmall(5);
// After so many looks without any, the thread sleeps until there is one: a call now and then that
// receives for a moment does not wake it each time.
constexpr int kIdleLooks = 20;
// As many requests are on their way at once at first, and at most when they are small.
constexpr uint64_t kFirstRequests = 16;
constexpr uint64_t kMostRequests = 256;

nanoseconds MostWait(nanoseconds time_left) {
  return std::clamp(time_left / 2, nanoseconds(0), kMostWait);
}

// Clients that were refused together do not come back together.
absl::Duration RetryDelay(uint64_t refusals) {
  return absl::Milliseconds(200 + static_cast<int64_t>(refusals % 16) * 50);
}

}  // namespace

Admission::Admission(const RequestLimits& limits)
    : limits_(limits),
      receiving_(limits.receiving),
      executing_(limits.executing),
      expected_(limits.largest / kFirstRequests),
      alarm_(limits),
      thread_([this] { Watch(); }) {}

Admission::~Admission() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Admission::Close() {
  receiving_.Close();
  executing_.Close();
}

// Adds its lifetime to a time.
class Admission::Stopwatch {
 public:
  explicit Stopwatch(nanoseconds* time) : time_(time) {}
  ~Stopwatch() { *time_ += steady_clock::now() - began_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  nanoseconds* const time_;
  const Time began_ = steady_clock::now();
};

absl::Status Admission::WaitToReceive(AdmittedCall* call, nanoseconds time_left) {
  const Stopwatch stopwatch(&call->admission_time_);
  const uint64_t bytes = expected_.load();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    WakeWatch();
  }
  const bool may_wait = waiting() < limits_.most_waiting;
  if (may_wait && receiving_.Take(bytes, MostWait(time_left))) {
    call->charged_ = bytes;
    return absl::OkStatus();
  }
  return Refusal(Reason::kReceive, "for the requests that it receives");
}

void Admission::StillReceives(AdmittedCall* call) {
  Time now;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (call->state_ == AdmittedCall::State::kReceived) return;
    now = steady_clock::now();
    if (call->charged_ == 0) {
      call->charged_ = expected_.load();
      receiving_.TakeAnyway(call->charged_);
    }
    call->state_ = AdmittedCall::State::kReceiving;
    call->since_ = now;
    call->place_ = calls_.insert(calls_.end(), call);
    WakeWatch();
  }
  LookIfLate(now);
}

bool Admission::Received(AdmittedCall* call, size_t bytes) {
  Time now;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (call->state_ == AdmittedCall::State::kRefused) return false;
    now = last_received_ = steady_clock::now();
    if (call->state_ == AdmittedCall::State::kReceiving) {
      calls_.erase(call->place_);
      call->admission_time_ += now - call->since_;
    }
    call->state_ = AdmittedCall::State::kReceived;
    ExpectAsLarge(bytes);
    // Until it is executed it counts with its own size.
    receiving_.TakeAnyway(bytes);
    receiving_.Return(std::exchange(call->charged_, bytes));
  }
  LookIfLate(now);
  return true;
}

void Admission::ExpectAsLarge(size_t bytes) {
  const uint64_t expected = expected_.load();
  expected_.store(std::clamp<uint64_t>(std::max<uint64_t>(bytes, expected - expected / 16),
                                       limits_.largest / kMostRequests, limits_.largest));
}

absl::Status Admission::WaitToExecute(AdmittedCall* call, size_t bytes, nanoseconds time_left) {
  if (bytes > limits_.largest) {
    Leave(call);
    return TooLarge(Cat(bytes));
  }
  const Stopwatch stopwatch(&call->admission_time_);
  const uint64_t taken = bytes * RequestLimits::kCopies;
  const bool is_admitted =
      executing_.TryTake(taken) ||
      (waiting() < limits_.most_waiting && executing_.Take(taken, MostWait(time_left)));
  Leave(call);
  if (is_admitted) return absl::OkStatus();
  return Refusal(Reason::kExecute, "for the requests that it executes");
}

absl::Status Admission::CountMore(size_t counted, size_t bytes) {
  if (bytes > limits_.largest) return TooLarge(Cat(bytes));
  if (bytes == counted || executing_.TryTake((bytes - counted) * RequestLimits::kCopies)) {
    return absl::OkStatus();
  }
  return Refusal(Reason::kExecute, "for the requests that it executes");
}

void Admission::Leave(AdmittedCall* call) {
  if (call->charged_ > 0) receiving_.Return(std::exchange(call->charged_, 0));
}

void Admission::ReceivesSmall(AdmittedCall* call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  call->state_ = AdmittedCall::State::kReceiving;
  call->since_ = steady_clock::now();
  call->place_ = small_calls_.insert(small_calls_.end(), call);
  WakeWatch();
}

bool Admission::ReceivedSmall(AdmittedCall* call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (call->state_ == AdmittedCall::State::kRefused) return false;
  small_calls_.erase(call->place_);
  call->state_ = AdmittedCall::State::kReceived;
  return true;
}

uint64_t Admission::CountRefusal(Reason reason) {
  return refused_[static_cast<size_t>(reason)].fetch_add(1);
}

absl::Status Admission::Refusal(Reason reason, std::string_view why) {
  return convert::UnavailableFor(
      RetryDelay(CountRefusal(reason)),
      Cat("the server has no memory ", why, " (--memory); nothing was executed"));
}

// No RetryInfo: it will never be taken.
absl::Status Admission::TooLarge(std::string_view bytes) {
  CountRefusal(Reason::kTooLarge);
  return absl::ResourceExhaustedError(
      Cat("the server takes requests of at most ", limits_.largest,
          " bytes, which follows from its --memory; this one has, or counts as, ", bytes));
}

Admission::Counts Admission::refused() const {
  Counts counts;
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = refused_[i].load();
  return counts;
}

// --- The thread that looks at calls which receive ---

void Admission::Watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  int idle_looks = 0;
  while (!ends_) {
    if (idle_looks >= kIdleLooks && calls_.empty() && small_calls_.empty() &&
        receiving_.waiting() == 0) {
      is_asleep_ = true;
      wake_.wait(lock, [this] { return !is_asleep_ || ends_; });
      idle_looks = 0;
    }
    wake_.wait_for(lock, MemoryAlarm::kPeriod);
    const bool has_calls = !calls_.empty() || !small_calls_.empty() || receiving_.waiting() > 0;
    idle_looks = has_calls ? 0 : idle_looks + 1;
    lock.unlock();
    if (has_calls) {
      RefuseSlow();
      RefuseSlowSmall();
      RefuseIfTooLarge();
    } else {
      alarm_.Reset();
    }
    lock.lock();
  }
}

// Under the mutex. Mostly the thread is awake, and looks at the calls when it is time.
void Admission::WakeWatch() {
  if (!std::exchange(is_asleep_, false)) return;
  alarm_.Reset();
  wake_.notify_one();
}

void Admission::RefuseSlow() {
  const size_t waiting = receiving_.waiting();
  if (waiting == 0) return;
  std::vector<AdmittedCall*> slow;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Time now = steady_clock::now();
    const Time limit = now - (now - last_received_ > kMostStuck ? kMostStuck : kMostReceiving);
    while (!calls_.empty() && calls_.front()->since_ < limit && slow.size() < waiting) {
      slow.push_back(calls_.front());
      slow.back()->state_ = AdmittedCall::State::kRefused;
      calls_.pop_front();
    }
  }
  RefuseAll(slow, [this] {
    return Refusal(Reason::kSlow, "to wait longer for the rest of this request, as others wait");
  });
}

void Admission::RefuseSlowSmall() {
  std::vector<AdmittedCall*> slow;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Time limit = steady_clock::now() - kMostReceivingSmall;
    while (!small_calls_.empty() && small_calls_.front()->since_ < limit) {
      slow.push_back(small_calls_.front());
      slow.back()->state_ = AdmittedCall::State::kRefused;
      small_calls_.pop_front();
    }
  }
  RefuseAll(slow, [] {
    return absl::UnavailableError(
        Cat("no request has arrived for ", kMostReceivingSmall.count(), " seconds"));
  });
}

void Admission::LookIfLate(Time now) {
  if (alarm_.IsLate(now)) RefuseIfTooLarge();
}

void Admission::RefuseIfTooLarge() {
  if (!alarm_.Rings()) return;
  const bool did_others_wait = receiving_.waiting() > 0;
  receiving_.RefuseYoungest();
  std::vector<AdmittedCall*> youngest;
  bool is_only_one = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_only_one = calls_.size() + small_calls_.size() == 1 && !did_others_wait;
    for (std::list<AdmittedCall*>* const calls : {&calls_, &small_calls_}) {
      for (size_t half = (calls->size() + 1) / 2; half > 0; --half) {
        youngest.push_back(calls->back());
        youngest.back()->state_ = AdmittedCall::State::kRefused;
        calls->pop_back();
      }
    }
  }
  if (is_only_one) return RefuseAll(youngest, [this] { return TooLarge("more than that"); });
  RefuseAll(youngest,
            [this] { return Refusal(Reason::kProcess, "to receive the rest of this request"); });
}

void Admission::RefuseAll(const std::vector<AdmittedCall*>& calls,
                          const std::function<absl::Status()>& refusal) {
  for (AdmittedCall* const call : calls) {
    const absl::Status status = refusal();
    Leave(call);
    call->Refuse(status);  // after which it may be gone
  }
}

}  // namespace bigtable::server
