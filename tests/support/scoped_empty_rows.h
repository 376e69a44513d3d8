// Makes reads remember empty rows (tablet/empty_rows.h) after a few of them, for the lifetime of an
// object. It applies to the whole process: use one object at a time.
#ifndef BIGTABLE_TESTS_SUPPORT_SCOPED_EMPTY_ROWS_H_
#define BIGTABLE_TESTS_SUPPORT_SCOPED_EMPTY_ROWS_H_

#include <cstdint>

#include "tablet/empty_rows.h"

namespace bigtable {

class ScopedEmptyRows {
 public:
  // After a single row if nothing else is said: even rows that have never been written, before the
  // first one of a read, are remembered.
  explicit ScopedEmptyRows(uint32_t rows = 1) : before_(EmptyRows::thresholds()) {
    EmptyRows::SetThresholdsForTesting(
        {.origin = rows, .skip = rows, .watch = rows, .extend = rows});
  }
  ~ScopedEmptyRows() { EmptyRows::SetThresholdsForTesting(before_); }
  ScopedEmptyRows(const ScopedEmptyRows&) = delete;
  ScopedEmptyRows& operator=(const ScopedEmptyRows&) = delete;

 private:
  const EmptyRows::Thresholds before_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SCOPED_EMPTY_ROWS_H_
