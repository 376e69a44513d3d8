// A stream of rows that has failed before it began.
#ifndef BIGTABLE_BACKEND_FAILED_ROWS_H_
#define BIGTABLE_BACKEND_FAILED_ROWS_H_

#include <string>

#include "absl/status/status.h"

#include "bigtable/row.h"

#include "backend/row_source.h"
#include "backend/stream_status.h"
#include "rows/resume_token.h"

namespace bigtable {

// One thread at a time.
class FailedRows final : public RowSource {
 public:
  explicit FailedRows(const absl::Status& error) { status_.Fail(error); }

  bool Next(Row* /*row*/) override { return false; }
  void MarkTaken(const Row& /*row*/) override {}
  // Of no table.
  std::string ResumeToken(const Row& /*row*/) const override {
    return bigtable::ResumeToken().Encode();
  }
  const absl::Status& status() const override { return status_.Check(); }

 private:
  StreamStatus status_{nullptr, "RowReader"};
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_FAILED_ROWS_H_
