#include "bigtable/row_mutation.h"

#include "bigtable/read_modify_write.h"

#include "base/strings.h"
#include "base/time_range.h"
#include "schema/mutation_format.h"

namespace bigtable {

RowMutation::RowMutation(std::string_view row) : RowMutation(nullptr, row) {}

RowMutation::RowMutation(Table* table, std::string_view row) : table_(table), row_(row) {
  CheckRow();
}

RowMutation& RowMutation::Reset(std::string_view row) {
  row_.assign(row);
  operations_.clear();
  operation_count_ = 0;
  takes_server_time_ = false;
  status_ = absl::OkStatus();
  CheckRow();
  return *this;
}

void RowMutation::CheckRow() {
  if (row_.empty()) {
    Refuse("a row key must not be empty");
  } else if (row_.size() > kMaxRowSize) {
    Refuse(Cat("a row key must be at most ", kMaxRowSize, " bytes, and ", Quoted(row_), " has ",
               row_.size()));
  }
}

RowMutation& RowMutation::Set(std::string_view column, std::string_view value) {
  AddColumn(static_cast<uint8_t>(EntryKind::kCell), column, nullptr, &value);
  return *this;
}

RowMutation& RowMutation::Set(std::string_view column, Timestamp timestamp,
                              std::string_view value) {
  AddColumn(static_cast<uint8_t>(EntryKind::kCell), column, &timestamp, &value);
  return *this;
}

RowMutation& RowMutation::AddToCell(std::string_view column, Timestamp timestamp,
                                    std::string_view input) {
  AddColumn(static_cast<uint8_t>(EntryKind::kAddToCell), column, &timestamp, &input);
  return *this;
}

RowMutation& RowMutation::AddToCell(std::string_view column, Timestamp timestamp, int64_t input) {
  return AddToCell(column, timestamp, std::string_view(EncodeBigEndian(input)));
}

RowMutation& RowMutation::AddDoubleToCell(std::string_view column, Timestamp timestamp,
                                          double input) {
  return AddToCell(column, timestamp, std::string_view(EncodeDouble(input)));
}

RowMutation& RowMutation::MergeToCell(std::string_view column, Timestamp timestamp,
                                      std::string_view state) {
  AddColumn(static_cast<uint8_t>(EntryKind::kMergeToCell), column, &timestamp, &state);
  return *this;
}

RowMutation& RowMutation::Delete(std::string_view column) {
  AddColumn(static_cast<uint8_t>(EntryKind::kDeleteColumn), column, nullptr, nullptr);
  return *this;
}

RowMutation& RowMutation::DeleteCell(std::string_view column, Timestamp timestamp) {
  AddColumn(static_cast<uint8_t>(EntryKind::kDeleteCell), column, &timestamp, nullptr);
  return *this;
}

RowMutation& RowMutation::DeleteTimeRange(std::string_view column, Timestamp begin, Timestamp end) {
  const TimeRange range{begin.micros(), end.micros()};
  if (begin < Timestamp() || range.empty()) {
    Refuse(Cat("a time range must not be empty and must not begin before 0, and is [",
               begin.micros(), ", ", end.micros(), ")"));
    return *this;
  }
  const std::string encoded = EncodeTimeRange(range);
  const std::string_view value = encoded;
  AddColumn(static_cast<uint8_t>(EntryKind::kDeleteTimeRange), column, nullptr, &value);
  return *this;
}

RowMutation& RowMutation::DeleteFamily(std::string_view family) {
  if (family.empty()) Refuse("a family's name must not be empty");
  Add(static_cast<uint8_t>(EntryKind::kDeleteFamily), family, "", nullptr, nullptr);
  return *this;
}

RowMutation& RowMutation::DeleteRow() {
  Add(static_cast<uint8_t>(EntryKind::kDeleteRow), "", "", nullptr, nullptr);
  return *this;
}

void RowMutation::AddColumn(uint8_t kind, std::string_view column, const Timestamp* timestamp,
                            const std::string_view* value) {
  const size_t colon = column.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return Refuse(Cat("a column is written \"family:qualifier\", and ", Quoted(column),
                      colon == 0 ? " has no family" : " has no colon"));
  }
  Add(kind, column.substr(0, colon), column.substr(colon + 1), timestamp, value);
}

void RowMutation::Add(uint8_t kind, std::string_view family, std::string_view qualifier,
                      const Timestamp* timestamp, const std::string_view* value) {
  if (timestamp != nullptr && timestamp->micros() < 0) {
    return Refuse(Cat("a timestamp must not be negative, and is ", timestamp->micros()));
  }
  if (qualifier.size() > kMaxQualifierSize) {
    return Refuse(Cat("a qualifier must be at most ", kMaxQualifierSize, " bytes, and ",
                      Quoted(qualifier), " has ", qualifier.size()));
  }
  if (value != nullptr && value->size() > kMaxValueSize) {
    return Refuse(
        Cat("a value must be at most ", kMaxValueSize, " bytes, and one has ", value->size()));
  }
  if (operation_count_ == kMaxOperations) {
    return Refuse(Cat("a mutation must have at most ", kMaxOperations, " operations"));
  }
  MutationOperation operation;
  operation.kind = static_cast<EntryKind>(kind);
  operation.has_timestamp = timestamp != nullptr;
  operation.timestamp = timestamp != nullptr ? timestamp->micros() : 0;
  operation.family = family;
  operation.qualifier = qualifier;
  if (value != nullptr) operation.value = *value;
  const size_t size = operations_.size();
  AppendOperation(&operations_, operation);
  if (byte_size() > kMaxSize) {
    operations_.resize(size);
    return Refuse(Cat("a mutation must be at most ", kMaxSize, " bytes"));
  }
  ++operation_count_;
  takes_server_time_ |= operation.takes_server_time();
}

void RowMutation::Refuse(const std::string& message) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(message);
}

}  // namespace bigtable
