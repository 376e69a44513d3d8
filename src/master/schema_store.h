// The schemas of all tables: a small file of the lock service for each, "schema/NAME", with the
// encoding of its TableLayout (tablet/table_layout.h). Writing the file is what makes a table, or a
// change of its schema, happen; removing it is what deletes the table.
#ifndef BIGTABLE_MASTER_SCHEMA_STORE_H_
#define BIGTABLE_MASTER_SCHEMA_STORE_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "lockservice/small_files.h"
#include "tablet/table_layout.h"

namespace bigtable {

// Thread-safe as SmallFiles is.
class SchemaStore {
 public:
  // `files` outlives this.
  explicit SchemaStore(SmallFiles* files) : files_(files) {}

  absl::StatusOr<std::vector<TableLayout>> ReadAll() const;
  absl::Status Write(const TableLayout& layout);
  absl::Status Remove(std::string_view table);

 private:
  SmallFiles* const files_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_SCHEMA_STORE_H_
