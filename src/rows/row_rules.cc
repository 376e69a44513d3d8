#include "rows/row_rules.h"

#include <algorithm>

#include "base/coding.h"
#include "base/published.h"
#include "base/ref_counted.h"
#include "base/status.h"
#include "base/strings.h"
#include "rows/row_storage.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// The memory of the cells of a Row.
class RowRules::OwnedCells final : public RefCounted {
 public:
  explicit OwnedCells(const Values& values) {
    size_t size = 0;
    for (const auto& [column, value] : values) size += value.column.size() + value.bytes.size();
    text_.reserve(size);  // views of it stay valid
  }
  std::string_view Keep(std::string_view text) {
    const size_t begin = text_.size();
    text_.append(text);
    return std::string_view(text_).substr(begin);
  }

 private:
  std::string text_;
};

absl::Status RowRules::Apply(int64_t now, Read read) {
  values_.clear();
  uint64_t size = 0;  // of all values
  for (const ReadModifyWrite::Rule& rule : rules_->rules_) {
    const std::string_view column = rule.column;
    const std::string_view family = column.substr(0, rule.family_size);
    const std::string_view qualifier = column.substr(rule.family_size + 1);
    const auto [at, is_new] = values_.try_emplace({family, qualifier});
    Value& value = at->second;
    bool is_missing = false;
    if (is_new) {
      BT_ASSIGN_OR_RETURN(const Row found, read(Filter::Chain(Filter::Column(family, qualifier),
                                                              Filter::Latest(1))));
      is_missing = found.empty();
      value.column = column;
      value.timestamp = now;
      if (!is_missing) {
        const Cell& cell = found.cells().front();
        value.bytes = cell.value;
        value.timestamp = std::max(now, cell.timestamp.micros());
      }
    }
    const size_t added =
        rule.is_increment ? (is_missing ? sizeof(uint64_t) : 0) : rule.bytes.size();
    size += (is_new ? value.bytes.size() : 0) + added;
    if (size > max_size_) {
      return absl::InvalidArgumentError(
          Cat("the values that a ReadModifyWrite changes must be at most ", max_size_,
              " bytes together, and those of row ", Quoted(rules_->row()), " would have more"));
    }
    if (!rule.is_increment) {
      if (value.bytes.size() + rule.bytes.size() > rules_->max_value_size()) {
        return absl::InvalidArgumentError(Cat("a value must be at most ", rules_->max_value_size(),
                                              " bytes, and ", Quoted(column), " would have ",
                                              value.bytes.size() + rule.bytes.size()));
      }
      value.bytes += rule.bytes;
      continue;
    }
    if (is_missing) value.bytes.assign(sizeof(uint64_t), '\0');
    if (value.bytes.size() != sizeof(uint64_t)) {
      return absl::FailedPreconditionError(
          Cat("only a value of 8 bytes can be incremented, and that of column ", Quoted(column),
              " in row ", Quoted(rules_->row()), " has ", value.bytes.size()));
    }
    // Unsigned, because overflow wraps around.
    StoreBigEndian64(value.bytes.data(),
                     LoadBigEndian64(value.bytes.data()) + static_cast<uint64_t>(rule.amount));
  }
  return absl::OkStatus();
}

RowMutation RowRules::Writes(const ReadModifyWrite& rules) {
  RowMutation mutation(rules.row());
  for (const ReadModifyWrite::Rule& rule : rules.rules_) mutation.Set(rule.column, "");
  return mutation;
}

RowMutation RowRules::Mutation() const {
  RowMutation mutation(rules_->row());
  for (const auto& [column, value] : values_) {
    mutation.Set(value.column, Timestamp(value.timestamp), value.bytes);
  }
  return mutation;
}

Row RowRules::TakeRow() {
  const auto owner = MakeRef<OwnedCells>(values_);
  Row row;
  RowBuilder builder(&row, rules_->row(), Pin<TabletVersion>());
  for (const auto& [column, value] : values_) {
    const std::string_view family = owner->Keep(column.first);
    const std::string_view qualifier = owner->Keep(column.second);
    builder.AddInPlace({family, qualifier, Timestamp(value.timestamp), owner->Keep(value.bytes)},
                       owner.get());
  }
  builder.Finish();
  return row;
}

}  // namespace bigtable
