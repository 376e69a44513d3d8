// The last requests of each client, so that a request that comes twice is carried out once and gets
// the same response both times (rpc/data_service.h). For each slot of each client the window has
// the last request, with its response once it has ended.
//
// What always holds:
//   * At most one copy of a request is carried out, and all responses to its copies are equal.
//   * A request is carried out only if its slot has had no request with this or a larger number.
#ifndef BIGTABLE_SERVING_OUTCOME_WINDOW_H_
#define BIGTABLE_SERVING_OUTCOME_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "base/steady_time.h"
#include "rpc/data_service.h"

namespace bigtable {

// Thread-safe. Takes some hundred bytes, and the last response, for each slot that was ever used.
class OutcomeWindow {
 public:
  // Concurrent calls of a client.
  static constexpr uint32_t kMostSlots = 1 << 16;
  // A client that has sent nothing for so long is forgotten. A copy of its request that comes later
  // would be carried out again, so no message may take that long.
  static constexpr absl::Duration kForgetAfter = absl::Hours(1);

  explicit OutcomeWindow(absl::Duration forget_after = kForgetAfter)
      : forget_after_(forget_after) {}

  // Calls `apply`, unless the request has come before: then returns its response, and waits for it
  // if it is under way. FailedPrecondition: a later request of the slot has come. InvalidArgument:
  // the slot or number is out of range. Errors of the limits, while it waits.
  absl::StatusOr<MutateResponse> Run(const RequestId& id, const CallLimits& limits,
                                     absl::FunctionRef<MutateResponse()> apply);

  // The slots of all clients, for tests and statistics.
  size_t slots() const;

 private:
  struct Outcome {
    uint64_t number = 0;
    bool is_done = false;
    MutateResponse response;
  };
  struct Client {
    std::unordered_map<uint32_t, std::shared_ptr<Outcome>> slots;
    SteadyTime heard;
    int under_way = 0;
  };

  absl::StatusOr<MutateResponse> Await(const Outcome& outcome, const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Client* FindOrAdd(uint64_t client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const absl::Duration forget_after_;
  mutable Mutex mutex_;
  CondVar done_;
  std::unordered_map<uint64_t, Client> clients_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_SERVING_OUTCOME_WINDOW_H_
