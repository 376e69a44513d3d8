// What a tablet server remembers of the mutations that it was sent, so that a request which comes
// again is answered as it was the first time and not carried out again (rpc/data_service.h): for
// each slot of each client the last request, and its response, or that it is under way.
//
// What always holds:
//   * Of the copies of a request one at most is carried out, and all that are answered have the
//     same response.
//   * A request is carried out only if its slot has had none with its number or a larger one.
#ifndef BIGTABLE_TABLETSERVER_OUTCOME_WINDOW_H_
#define BIGTABLE_TABLETSERVER_OUTCOME_WINDOW_H_

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

// Thread-safe. Takes some hundred bytes for each slot that was ever used, and the last response's.
class OutcomeWindow {
 public:
  // Calls of a client at a time.
  static constexpr uint32_t kMostSlots = 1 << 16;
  // A client that was not heard of for so long is forgotten, and a copy of a request of its that
  // comes then would be carried out: no message may take that long.
  static constexpr absl::Duration kForgetAfter = absl::Hours(1);

  // Calls `apply`, unless the request has come before: then its response, for which it waits if it
  // is under way. FailedPrecondition: a later request of the slot has come. InvalidArgument: there
  // is no such slot or number. Errors of the limits, while it waits.
  absl::StatusOr<MutateResponse> Run(const RequestId& id, const CallLimits& limits,
                                     absl::FunctionRef<MutateResponse()> apply);

  // For tests and statistics: of all clients.
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

  mutable Mutex mutex_;
  CondVar done_;
  std::unordered_map<uint64_t, Client> clients_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_OUTCOME_WINDOW_H_
