// The rows of the benchmarks of this folder, and whether an engine has them.
#ifndef BIGTABLE_BENCH_TRANSFER_ROWS_H_
#define BIGTABLE_BENCH_TRANSFER_ROWS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"

#include "common/strings.h"
#include "common/workload.h"
#include "paper/engine.h"

namespace bench {

// The rows 0 to `rows` - 1 in random order, until nothing is left to do.
inline absl::Status WriteRows(Engine* engine, uint64_t rows, const Values& values) {
  for (const uint32_t row : Permutation(rows, 1)) {
    if (absl::Status s = engine->Write(Key(row).view(), values.Of(row)); !s.ok()) return s;
  }
  return engine->WaitUntilQuiet().status();
}

// DataLoss: it does not have exactly these rows, each with its value.
inline absl::Status CheckRows(Engine* engine, uint64_t rows, const Values& values) {
  const std::unique_ptr<Cursor> cursor = engine->NewCursor(Checking::kDefault);
  uint64_t found = 0;
  for (; cursor->Next(); ++found) {
    if (cursor->key() == Key(found).view() && cursor->value() == values.Of(found)) continue;
    return absl::DataLossError(Concat("row ", found, " is not there, or has another value"));
  }
  if (!cursor->status().ok()) return cursor->status();
  if (found == rows) return absl::OkStatus();
  return absl::DataLossError(Concat("there are ", found, " rows instead of ", rows));
}

}  // namespace bench

#endif  // BIGTABLE_BENCH_TRANSFER_ROWS_H_
