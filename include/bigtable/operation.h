// The paper's own API (Figure 2), for programs that read like the paper.
#ifndef BIGTABLE_OPERATION_H_
#define BIGTABLE_OPERATION_H_

#include <string_view>

#include "absl/status/status.h"

#include "bigtable/export.h"
#include "bigtable/row_mutation.h"
#include "bigtable/table.h"

namespace bigtable {

// `path` is a database directory followed by a table name. Opens the database with default options,
// and the table in it. Databases opened this way are shared by the whole process and closed when it
// exits. Ends the process with a message if there is no such table. Thread-safe.
//
//   Table* T = OpenOrDie("/bigtable/web/webtable");
BIGTABLE_EXPORT Table* OpenOrDie(std::string_view path);

// The outcome of an Apply.
class BIGTABLE_EXPORT Operation {
 public:
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  friend void Apply(Operation* operation, const RowMutation* mutation);
  absl::Status status_;
};

// Applies a mutation that was made for a table with RowMutation(table, row). Otherwise the
// operation gets InvalidArgument.
BIGTABLE_EXPORT void Apply(Operation* operation, const RowMutation* mutation);

}  // namespace bigtable

#endif  // BIGTABLE_OPERATION_H_
