// Decides which calls may receive their request, and be executed, by the memory that requests take
// (request_limits.h).
//
// gRPC collects a whole request before it gives it to anybody, and its size is not known before. So
// calls are accepted without their requests (data/served_call.h), and pass two gates:
//
//   1. To receive the request. One that is there at once, as most are, costs nothing here. One that
//      is not counts, until it is executed, with the size that such requests have lately had.
//   2. To be executed, with the request's own size.
//
// At both gates a call waits in its thread, in order of arrival: at most five seconds, and half of
// what its deadline leaves, so that the client hears of it. Then it is refused: UNAVAILABLE, with a
// RetryInfo. While calls wait at the first gate, one that has been receiving for five seconds is
// refused too, or for one second if no request was received in that: so slow clients do not keep
// others out, and a server with much to receive does not take its clients for slow ones. And
// because sizes of requests on their way are guesses, the memory of the process is looked at while
// there are such requests (memory_alarm.h): if it is near its bound, the youngest half of them are
// refused, and of those that wait for the first gate. A thread looks, and those that receive
// requests do when it is late.
//
// So every refusal comes before the call is executed.
//
// Calls of health and reflection pass no gate, and count with nothing: their requests are small
// (grpc_services/small_call.h). What is larger is known when it is there, so the memory of the
// process is looked at for them too.
//
// Thread-safe.
#ifndef BIGTABLE_SERVER_CALLS_ADMISSION_H_
#define BIGTABLE_SERVER_CALLS_ADMISSION_H_

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"

#include "server/calls/byte_pool.h"
#include "server/calls/memory_alarm.h"
#include "server/calls/request_limits.h"

namespace bigtable::server {

// A call, to Admission.
class AdmittedCall {
 public:
  // Ends the call, which receives its request. Called by a thread that must not be blocked.
  virtual void Refuse(const absl::Status& status) = 0;

 protected:
  virtual ~AdmittedCall() = default;

  // How long it has waited at both gates, and received a request that was not there at once. To be
  // called after BeginExecution.
  std::chrono::nanoseconds admission_time() const { return admission_time_; }

 private:
  friend class Admission;
  enum class State { kNew, kReceiving, kReceived, kRefused };

  // Admission's, under its mutex while another thread may see the call.
  State state_ = State::kNew;
  uint64_t charged_ = 0;  // of the bytes for requests on their way
  std::chrono::steady_clock::time_point since_;
  std::chrono::nanoseconds admission_time_{0};
  std::list<AdmittedCall*>::iterator place_;
};

class Admission {
 public:
  enum class Reason {
    kReceive,   // no room to receive
    kExecute,   // no room to be executed
    kSlow,      // received for long while others waited
    kProcess,   // the process was too large
    kTooLarge,  // a request that is never admitted
  };
  static constexpr std::array<std::string_view, 5> kReasonNames = {
      "no_room_to_receive", "no_room_to_execute", "slow_client", "process_too_large",
      "request_too_large"};
  using Counts = std::array<uint64_t, kReasonNames.size()>;

  explicit Admission(const RequestLimits& limits);
  // No call is known here any more.
  ~Admission();
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // The server ends: calls that find no room do not wait.
  void Close();

  // Each call, in this order. `time_left()` is that of its deadline.
  //
  // May wait. UNAVAILABLE: nothing more is to be called.
  template <typename TimeLeft>
  absl::Status BeginToReceive(AdmittedCall* call, const TimeLeft& time_left) {
    if (receiving_.HasRoom()) [[likely]]
      return absl::OkStatus();
    return WaitToReceive(call, time_left());
  }
  // The request was not there at once. To be called by the thread that has begun to receive it,
  // perhaps while another thread receives it. The call may be refused from now on, also by this
  // thread.
  void StillReceives(AdmittedCall* call);
  // It is there, with this size; not at once. False: the call was refused.
  bool Received(AdmittedCall* call, size_t bytes);
  // The request is there, or there is none. May wait. After OK, EndExecution. UNAVAILABLE;
  // RESOURCE_EXHAUSTED: it is larger than any may be.
  template <typename TimeLeft>
  absl::Status BeginExecution(AdmittedCall* call, size_t bytes, const TimeLeft& time_left) {
    if (call->charged_ == 0 && bytes <= limits_.largest &&
        executing_.TryTake(bytes * RequestLimits::kCopies)) [[likely]] {
      return absl::OkStatus();
    }
    return WaitToExecute(call, bytes, time_left());
  }
  // A request that counts with so many bytes counts with more. Does not wait, because others may
  // wait for what it has. After an error, which is one of BeginExecution, it counts as before.
  absl::Status CountMore(size_t counted, size_t bytes);
  void EndExecution(size_t bytes) { executing_.Return(bytes * RequestLimits::kCopies); }
  // Instead of BeginExecution.
  void Leave(AdmittedCall* call);

  // Of a call whose requests are small, instead of all of the above: it receives a request. It may
  // be refused from now on, also because it has received for five seconds.
  void ReceivesSmall(AdmittedCall* call);
  // It receives no longer. False: it was refused.
  bool ReceivedSmall(AdmittedCall* call);

  const RequestLimits& limits() const { return limits_; }
  // Bytes.
  uint64_t receiving() const { return receiving_.used(); }
  uint64_t executing() const { return executing_.used() / RequestLimits::kCopies; }
  // Calls.
  size_t waiting() const { return receiving_.waiting() + executing_.waiting(); }
  Counts refused() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  class Stopwatch;

  absl::Status WaitToReceive(AdmittedCall* call, std::chrono::nanoseconds time_left);
  absl::Status WaitToExecute(AdmittedCall* call, size_t bytes, std::chrono::nanoseconds time_left);
  // Returns how many there were before.
  uint64_t CountRefusal(Reason reason);
  // These count it, and return its status.
  absl::Status Refusal(Reason reason, std::string_view why);
  absl::Status TooLarge(std::string_view bytes);
  // A request had so many bytes: the next is expected to have as many, or a sixteenth less than was
  // expected of this one.
  void ExpectAsLarge(size_t bytes);

  void Watch();
  void WakeWatch();
  void RefuseSlow();
  void RefuseSlowSmall();
  void LookIfLate(Time now);
  void RefuseIfTooLarge();
  void RefuseAll(const std::vector<AdmittedCall*>& calls,
                 const std::function<absl::Status()>& refusal);

  const RequestLimits limits_;
  BytePool receiving_;
  BytePool executing_;
  std::atomic<uint64_t> expected_;  // size of a request that is not there at once
  std::array<std::atomic<uint64_t>, kReasonNames.size()> refused_{};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<AdmittedCall*> calls_;        // that receive, from old to new
  std::list<AdmittedCall*> small_calls_;  // of those whose requests are small
  Time last_received_{};                  // a request that was not there at once
  bool is_asleep_ = false;                // the thread
  bool ends_ = false;
  MemoryAlarm alarm_;
  std::thread thread_;
};

// What a request counts with beyond what it was admitted with, while this object lives.
class CountedMore {
 public:
  CountedMore(Admission* admission, size_t admitted)
      : admission_(*admission), admitted_(admitted), counted_(admitted) {}
  ~CountedMore() { admission_.EndExecution(counted_ - admitted_); }
  CountedMore(const CountedMore&) = delete;
  CountedMore& operator=(const CountedMore&) = delete;

  // It counts with so many bytes from now on, if these are more. Errors are those of CountMore.
  absl::Status CountAs(size_t bytes) {
    if (bytes <= counted_) return absl::OkStatus();
    absl::Status status = admission_.CountMore(counted_, bytes);
    if (status.ok()) counted_ = bytes;
    return status;
  }

 private:
  Admission& admission_;
  const size_t admitted_;
  size_t counted_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_ADMISSION_H_
