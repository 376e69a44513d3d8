// The error that ended a stream of rows or cells early, if there was one. A loop over a stream ends
// in the same way at the end and at an error, so a program that never checks the status takes a
// part of the answer for all of it. So if a failed stream is destroyed and its status was never
// checked, the info log gets an error, and a library that was built with assertions stops the
// process.
#ifndef BIGTABLE_BACKEND_STREAM_STATUS_H_
#define BIGTABLE_BACKEND_STREAM_STATUS_H_

#include <string_view>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "backend/table_backend.h"

namespace bigtable {

// One thread at a time.
class StreamStatus {
 public:
  // `table`, which outlives this, reports an unchecked error of this `stream`. Null: nobody does.
  StreamStatus(const TableBackend* table, std::string_view stream)
      : table_(table), stream_(stream) {}
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
    if (table_ != nullptr) table_->ReportUnchecked(stream_, status_);
    ABSL_ASSERT(was_checked_ && "a stream of rows failed, and its status() was never checked");
  }

  const TableBackend* const table_;
  const std::string_view stream_;
  absl::Status status_;
  mutable bool was_checked_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_STREAM_STATUS_H_
