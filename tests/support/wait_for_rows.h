// Table::GetRowsAsync for a test that waits for its results.
#ifndef BIGTABLE_TESTS_SUPPORT_WAIT_FOR_ROWS_H_
#define BIGTABLE_TESTS_SUPPORT_WAIT_FOR_ROWS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"

#include "bigtable/bigtable.h"

namespace bigtable {

inline std::vector<absl::StatusOr<Row>> WaitForRows(Table* table, std::vector<std::string> rows,
                                                    const Filter& filter,
                                                    const ReadOptions& options) {
  std::vector<absl::StatusOr<Row>> found;
  absl::Notification is_done;
  table->GetRowsAsync(std::move(rows), filter, options,
                      [&](std::vector<absl::StatusOr<Row>> results) {
                        found = std::move(results);
                        is_done.Notify();
                      });
  is_done.WaitForNotification();
  return found;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_WAIT_FOR_ROWS_H_
