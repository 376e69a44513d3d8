// Table::GetRowsAsync for a test that waits for its results.
#ifndef BIGTABLE_TESTS_SUPPORT_WAIT_FOR_ROWS_H_
#define BIGTABLE_TESTS_SUPPORT_WAIT_FOR_ROWS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "base/mutex.h"

namespace bigtable {

inline std::vector<absl::StatusOr<Row>> WaitForRows(Table* table, std::vector<std::string> rows,
                                                    const Filter& filter,
                                                    const ReadOptions& options) {
  std::vector<absl::StatusOr<Row>> found;
  // Not an absl::Notification, which ThreadSanitizer does not see.
  Mutex mutex;
  CondVar changed;
  bool is_done = false;
  table->GetRowsAsync(std::move(rows), filter, options,
                      [&](std::vector<absl::StatusOr<Row>> results) {
                        MutexLock lock(&mutex);
                        found = std::move(results);
                        is_done = true;
                        changed.Signal();
                      });
  MutexLock lock(&mutex);
  while (!is_done) changed.Wait(&mutex);
  return found;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_WAIT_FOR_ROWS_H_
