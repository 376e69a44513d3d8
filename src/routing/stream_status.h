// The error that ended a stream of rows or cells early, if there was one. A loop over a stream ends
// in the same way at the end and at an error, so a program that never checks the status takes a
// part of the answer for all of it. So if a failed stream is destroyed and its status was never
// checked, the info log gets an error, and a library that was built with assertions stops the
// process.
#ifndef BIGTABLE_ROUTING_STREAM_STATUS_H_
#define BIGTABLE_ROUTING_STREAM_STATUS_H_

#include <string_view>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/call_gate.h"
#include "base/strings.h"
#include "routing/database_impl.h"

namespace bigtable {

// One thread at a time.
class StreamStatus {
 public:
  // `table`, which outlives this, and `stream` are for the message. Null: the database has no info
  // log.
  StreamStatus(const TableImpl* table, std::string_view stream) : table_(table), stream_(stream) {}
  ~StreamStatus() {
    if (!status_.ok() && !was_checked_) Report();
  }
  StreamStatus(const StreamStatus&) = delete;
  StreamStatus& operator=(const StreamStatus&) = delete;

  // The first error is kept.
  void Fail(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }
  bool ok() const { return status_.ok(); }
  // For the program: the status counts as checked.
  const absl::Status& Check() const {
    was_checked_ |= !status_.ok();
    return status_;
  }

 private:
  void Report() const {
    if (table_ != nullptr) {
      const CallGate::Pass pass(&table_->database->gate);
      if (pass) {
        table_->database->environment()->info_log.Error(
            "a ", stream_, " of table ", table_->name,
            " ended early, and the program did not check its status: ", ToStd(status_.ToString()));
      }
    }
    ABSL_ASSERT(was_checked_ && "a stream of rows failed, and its status() was never checked");
  }

  const TableImpl* const table_;
  const std::string_view stream_;
  absl::Status status_;
  mutable bool was_checked_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_STREAM_STATUS_H_
