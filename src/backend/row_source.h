// What a RowReader forwards to: the rows of an embedded table (routing/row_reader_impl.h), of a
// service (connected/connected_reader.h), or none (backend/failed_rows.h).
#ifndef BIGTABLE_BACKEND_ROW_SOURCE_H_
#define BIGTABLE_BACKEND_ROW_SOURCE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"

#include "bigtable/row.h"
#include "bigtable/table.h"

namespace bigtable {

// One thread at a time.
class RowSource {
 public:
  RowSource() = default;
  virtual ~RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;

  static RowReader ToReader(std::unique_ptr<RowSource> source) {
    return RowReader(std::move(source));
  }

  // RowReader::Next, for the row that the reader has.
  virtual bool Next(Row* row) = 0;
  // The program takes the row away.
  virtual void MarkTaken(const Row& row) = 0;
  // `row` is as Next() has left it, unless it was taken.
  virtual std::string ResumeToken(const Row& row) const = 0;
  // For the program: counts as a check (backend/stream_status.h).
  virtual const absl::Status& status() const = 0;
  // True in a child process whose parent owns the resources of the stream, which must not be
  // destroyed then.
  virtual bool is_forked() const { return false; }
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_ROW_SOURCE_H_
