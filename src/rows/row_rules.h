// How the rules of a ReadModifyWrite are applied: from the newest cells of a row to its new cells.
#ifndef BIGTABLE_ROWS_ROW_RULES_H_
#define BIGTABLE_ROWS_ROW_RULES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/filter.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row.h"
#include "bigtable/row_mutation.h"

namespace bigtable {

// One thread at a time.
class RowRules {
 public:
  using Read = absl::FunctionRef<absl::StatusOr<Row>(const Filter&)>;

  // `rules`, which are valid, outlive this. `max_size`: how many bytes the new values may have
  // together.
  explicit RowRules(const ReadModifyWrite* rules, uint64_t max_size = RowMutation::kMaxSize)
      : rules_(rules), max_size_(max_size) {}
  RowRules(const RowRules&) = delete;
  RowRules& operator=(const RowRules&) = delete;

  // Computes the new cells, each at `now` or later. Reads each column once, and no more columns
  // once their values are too large for one mutation. Errors of `read`, and those of
  // Table::ReadModifyWriteRow.
  absl::Status Apply(int64_t now, Read read);
  // Writes the columns of `rules`, for a check against the schema.
  static RowMutation Writes(const ReadModifyWrite& rules);
  // The rules one by one, for a component that passes them on.
  static const auto& RulesOf(const ReadModifyWrite& rules) { return rules.rules_; }
  // Writes the new cells.
  RowMutation Mutation() const;
  // The new cells, which the Row owns. At most once; the last use of this.
  Row TakeRow();

 private:
  struct Value {
    std::string_view column;
    std::string bytes;
    int64_t timestamp = 0;
  };
  // The columns in the order of a row: family, qualifier. Views of the rules.
  using Values = std::map<std::pair<std::string_view, std::string_view>, Value>;
  class OwnedCells;

  const ReadModifyWrite* const rules_;
  const uint64_t max_size_;
  Values values_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROWS_ROW_RULES_H_
