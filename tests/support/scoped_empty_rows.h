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
  explicit ScopedEmptyRows(uint32_t rows = 1)
      : ScopedEmptyRows({.origin = rows, .skip = rows, .watch = rows, .extend = rows}) {}
  explicit ScopedEmptyRows(EmptyRows::Thresholds thresholds) : before_(EmptyRows::thresholds()) {
    EmptyRows::SetThresholdsForTesting(thresholds);
  }
  // After one to four, for a random test.
  static EmptyRows::Thresholds OfSeed(uint64_t seed) {
    const auto bit = [seed](int i) { return static_cast<uint32_t>(seed >> i & 1); };
    const uint32_t origin = 1 + bit(0);
    const uint32_t skip = origin + bit(1);
    return {.origin = origin, .skip = skip, .watch = skip + bit(2), .extend = 1 + bit(3)};
  }
  ~ScopedEmptyRows() { EmptyRows::SetThresholdsForTesting(before_); }
  ScopedEmptyRows(const ScopedEmptyRows&) = delete;
  ScopedEmptyRows& operator=(const ScopedEmptyRows&) = delete;

 private:
  const EmptyRows::Thresholds before_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SCOPED_EMPTY_ROWS_H_
