// Deadline and cancellation of a call: options of every call that may wait.
#ifndef BIGTABLE_CALL_OPTIONS_H_
#define BIGTABLE_CALL_OPTIONS_H_

#include <atomic>

#include "absl/time/time.h"

#include "bigtable/export.h"

namespace bigtable {

// Lets one thread cancel the calls of another: they return Cancelled soon after Cancel().
// Thread-safe. Must outlive the calls it is passed to.
class BIGTABLE_EXPORT Cancellation {
 public:
  // Cancels the calls that were given this object. They end soon. Cannot be undone.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// The options of calls that neither read nor write cells. The options of other calls (ReadOptions,
// WriteOptions, CreateTableOptions, OpenTableOptions) have members of the same names, types and
// meaning. They do not have a CallOptions as a base or a member, so that every call sets its
// deadline in the same way: table->Apply(m, {.deadline = t}). A designated initializer names direct
// members only.
struct CallOptions {
  // A call that has not ended by then returns DeadlineExceeded. The machine's clock is read when
  // the call begins: setting the clock later moves no deadline.
  //   * A read checks it between rows and blocks, and after each 64 KiB within a row.
  //   * A write that is not in the log by then is not applied.
  //   * A change of tables or tablets that has begun is finished.
  absl::Time deadline = absl::InfiniteFuture();
  // Ends the call as the deadline does, with Cancelled. Null: the call cannot be cancelled.
  const Cancellation* cancellation = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_CALL_OPTIONS_H_
