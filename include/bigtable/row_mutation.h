// Changes to one row, applied as a whole or not at all (sections 2 and 3 of the paper, Figure 2).
#ifndef BIGTABLE_ROW_MUTATION_H_
#define BIGTABLE_ROW_MUTATION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/timestamp.h"

namespace bigtable {

class Table;
struct EncodedMutation;

// A list of operations on one row, which take effect in call order: a Set after a Delete of the
// same column stays. A column is written "family:qualifier", the qualifier being any bytes, also
// none. What is wrong with an operation is reported when the mutation is applied, and then none of
// it is. Copies what it is given. Not thread-safe; may be applied any number of times.
//
//   RowMutation m("com.cnn.www");
//   m.Set("anchor:www.c-span.org", "CNN").Delete("anchor:www.abc.com");
//   absl::Status s = table->Apply(m);
class RowMutation {
 public:
  // Limits: InvalidArgument beyond them.
  static constexpr size_t kMaxRowSize = 64 << 10;
  static constexpr size_t kMaxQualifierSize = 16 << 10;
  static constexpr size_t kMaxValueSize = 256 << 20;
  static constexpr uint32_t kMaxOperations = 1 << 20;
  // Of the row and all operations as they are encoded: byte_size(). A little less than 1 GiB.
  static constexpr uint64_t kMaxSize = (uint64_t{1} << 30) - (1 << 12);

  explicit RowMutation(std::string_view row);
  // As in the paper, for bigtable::Apply(Operation*, RowMutation*).
  RowMutation(Table* table, std::string_view row);

  // Writes a cell at the server's time, which is the same for the whole mutation and increases
  // strictly from one mutation of a tablet to the next.
  RowMutation& Set(std::string_view column, std::string_view value);
  // Writes a cell at `timestamp`, replacing one that is there.
  RowMutation& Set(std::string_view column, Timestamp timestamp, std::string_view value);

  // Deletes every version of the column that exists now.
  RowMutation& Delete(std::string_view column);
  // Deletes the version at exactly `timestamp`.
  RowMutation& DeleteCell(std::string_view column, Timestamp timestamp);
  // Deletes every column of the family, or the whole row, as they are now.
  RowMutation& DeleteFamily(std::string_view family);
  RowMutation& DeleteRow();

  std::string_view row() const { return row_; }
  Table* table() const { return table_; }
  // How many operations there are, and about how many bytes they take in the commit log.
  uint32_t operation_count() const { return operation_count_; }
  size_t byte_size() const { return row_.size() + operations_.size(); }

  // InvalidArgument: the first thing that is wrong with an operation, which Apply reports.
  const absl::Status& status() const { return status_; }

 private:
  friend struct EncodedMutation;
  void Add(uint8_t kind, std::string_view family, std::string_view qualifier,
           const Timestamp* timestamp, const std::string_view* value);
  void AddColumn(uint8_t kind, std::string_view column, const Timestamp* timestamp,
                 const std::string_view* value);
  void Refuse(std::string message);

  Table* table_ = nullptr;
  std::string row_;
  std::string operations_;  // encoded
  uint32_t operation_count_ = 0;
  bool takes_server_time_ = false;  // of a cell
  absl::Status status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROW_MUTATION_H_
