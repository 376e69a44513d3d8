// How long a call may take, and how another thread ends it: what every call that may wait takes.
#ifndef BIGTABLE_CALL_OPTIONS_H_
#define BIGTABLE_CALL_OPTIONS_H_

#include <atomic>

#include "absl/time/time.h"

namespace bigtable {

// Lets one thread end the calls of another: they return Cancelled soon after Cancel(). Thread-safe;
// outlives the calls it is given to.
class Cancellation {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// The options of calls that neither read nor write cells. The options of other calls (ReadOptions,
// WriteOptions, CreateTableOptions) have members of the same names, types and meaning. They do not
// have a CallOptions as a base or a member, so that every call takes its deadline in the same
// words: table->Apply(m, {.deadline = t}). A designated initializer names direct members only.
struct CallOptions {
  // A call that has not ended by then returns DeadlineExceeded. By the machine's clock when the
  // call begins: setting that clock later moves no deadline.
  //   * A read looks at it between rows and blocks.
  //   * A write that is not in the log by then is not applied.
  //   * A change of tables or tablets that has begun is finished.
  absl::Time deadline = absl::InfiniteFuture();
  // Ends the call as the deadline does, with Cancelled. Null: no thread can.
  const Cancellation* cancellation = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_CALL_OPTIONS_H_
