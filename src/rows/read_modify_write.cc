#include "bigtable/read_modify_write.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "bigtable/row_mutation.h"

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "retention/number_form.h"

namespace bigtable {

// The limits are those of RowMutation, which checks them.
ReadModifyWrite::ReadModifyWrite(std::string_view row)
    : row_(row), max_value_size_(RowMutation::kMaxValueSize), status_(RowMutation(row).status()) {}

ReadModifyWrite& ReadModifyWrite::Append(std::string_view column, std::string_view bytes) {
  if (bytes.size() > RowMutation::kMaxValueSize) {
    if (status_.ok()) {
      status_ =
          absl::InvalidArgumentError(Cat("a value must be at most ", RowMutation::kMaxValueSize,
                                         " bytes, and an addition has ", bytes.size()));
    }
    return *this;
  }
  Add({std::string(column), 0, false, 0, std::string(bytes)});
  return *this;
}

ReadModifyWrite& ReadModifyWrite::Increment(std::string_view column, int64_t amount) {
  Add({std::string(column), 0, true, amount, {}});
  return *this;
}

ReadModifyWrite& ReadModifyWrite::SetMaxValueSize(size_t bytes) {
  max_value_size_ = std::min(bytes, RowMutation::kMaxValueSize);
  return *this;
}

void ReadModifyWrite::Add(Rule rule) {
  if (!status_.ok()) return;
  status_ = RowMutation(row_).Delete(rule.column).status();
  if (!status_.ok()) return;
  bytes_ += rule.column.size() + rule.bytes.size();
  if (rules_.size() == kMaxRules) {
    status_ = absl::InvalidArgumentError(Cat("there must be at most ", kMaxRules, " rules"));
  } else if (bytes_ > RowMutation::kMaxSize) {
    status_ = absl::InvalidArgumentError(
        Cat("rules must be at most ", RowMutation::kMaxSize, " bytes together"));
  } else {
    rule.family_size = rule.column.find(':');
    rules_.push_back(std::move(rule));
  }
}

std::string EncodeBigEndian(int64_t number) {
  std::string value(sizeof number, '\0');
  StoreBigEndian64(value.data(), static_cast<uint64_t>(number));
  return value;
}

absl::StatusOr<int64_t> DecodeBigEndian(std::string_view value) {
  if (value.size() != sizeof(int64_t)) {
    return absl::InvalidArgumentError(
        Cat("a number has 8 bytes, and ", Quoted(value), " has ", value.size()));
  }
  return static_cast<int64_t>(LoadBigEndian64(value.data()));
}

std::string EncodeDouble(double number) {
  return EncodeBigEndian(static_cast<int64_t>(BitsOf(number)));
}

absl::StatusOr<double> DecodeDouble(std::string_view value) {
  BT_ASSIGN_OR_RETURN(const int64_t bits, DecodeBigEndian(value));
  return std::bit_cast<double>(bits);
}

}  // namespace bigtable
