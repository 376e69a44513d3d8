// Additions to the newest cells of one row: counters and growing texts. See
// Table::ReadModifyWriteRow.
#ifndef BIGTABLE_READ_MODIFY_WRITE_H_
#define BIGTABLE_READ_MODIFY_WRITE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/export.h"

namespace bigtable {

// A list of rules for one row. They are applied in call order, and a rule sees the results of those
// before it. Each works on the newest cell of its column. A column is written "family:qualifier",
// as in a RowMutation. An invalid rule is reported when the rules are applied, and then nothing is
// changed. Copies its arguments. Not thread-safe; may be applied any number of times.
//
//   ReadModifyWrite visit("com.cnn.www");
//   visit.Increment("stats:visits", 1).Append("stats:log", "10.0.0.7;");
//   absl::StatusOr<Row> written = table->ReadModifyWriteRow(visit);
class BIGTABLE_EXPORT ReadModifyWrite {
 public:
  // InvalidArgument beyond it.
  static constexpr size_t kMaxRules = 100'000;

  explicit ReadModifyWrite(std::string_view row);

  // Adds bytes at the end of the value. A missing cell is empty.
  ReadModifyWrite& Append(std::string_view column, std::string_view bytes);
  // Adds `amount` to the value, a signed 64-bit integer in 8 bytes, the most significant one first
  // (EncodeBigEndian). A missing cell is zero. A sum out of range wraps around, without an error:
  // the largest number plus one is the smallest.
  ReadModifyWrite& Increment(std::string_view column, int64_t amount);

  // The most bytes that a value may have in the end, RowMutation::kMaxValueSize by default, which
  // is also the most that can be set. A rule that would make it larger is InvalidArgument.
  ReadModifyWrite& SetMaxValueSize(size_t bytes);

  std::string_view row() const { return row_; }
  size_t max_value_size() const { return max_value_size_; }
  size_t rule_count() const { return rules_.size(); }
  // InvalidArgument: the first invalid rule, or the row.
  const absl::Status& status() const { return status_; }

 private:
  friend class RowRules;
  struct Rule {
    std::string column;
    size_t family_size;
    bool is_increment;
    int64_t amount;
    std::string bytes;
  };

  void Add(Rule rule);

  std::string row_;
  std::vector<Rule> rules_;
  size_t bytes_ = 0;  // of all rules
  size_t max_value_size_;
  absl::Status status_;
};

// The value of a counter, as ReadModifyWrite::Increment writes it.
BIGTABLE_EXPORT std::string EncodeBigEndian(int64_t number);
// InvalidArgument: the value does not have 8 bytes.
BIGTABLE_EXPORT absl::StatusOr<int64_t> DecodeBigEndian(std::string_view value);

// A double of IEEE 754 in 8 bytes, the most significant one first: what aggregates of doubles take
// (ValueType::kDoubleSum). Every NaN has the same bytes.
BIGTABLE_EXPORT std::string EncodeDouble(double number);
// InvalidArgument: the value does not have 8 bytes.
BIGTABLE_EXPORT absl::StatusOr<double> DecodeDouble(std::string_view value);

}  // namespace bigtable

#endif  // BIGTABLE_READ_MODIFY_WRITE_H_
