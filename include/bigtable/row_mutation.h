// Changes to one row, applied as a whole or not at all (sections 2 and 3 of the paper, Figure 2).
#ifndef BIGTABLE_ROW_MUTATION_H_
#define BIGTABLE_ROW_MUTATION_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/export.h"
#include "bigtable/timestamp.h"

namespace bigtable {

class Table;
struct EncodedMutation;

// A list of operations on one row. They take effect in call order: a Set after a Delete of the same
// column stays. A column is written "family:qualifier"; the qualifier is any bytes, and may be
// empty. An invalid operation is reported when the mutation is applied, and then no operation is
// applied. Copies its arguments. Not thread-safe; may be applied any number of times.
//
//   RowMutation m("com.cnn.www");
//   m.Set("anchor:www.c-span.org", "CNN").Delete("anchor:www.abc.com");
//   absl::Status s = table->Apply(m);
class BIGTABLE_EXPORT RowMutation {
 public:
  // Limits: InvalidArgument beyond them.
  static constexpr size_t kMaxRowSize = 64 << 10;
  static constexpr size_t kMaxQualifierSize = 16 << 10;
  static constexpr size_t kMaxValueSize = 256 << 20;
  static constexpr uint32_t kMaxOperations = 1 << 20;
  // Of the row and all operations in encoded form: byte_size(). A little less than 1 GiB.
  static constexpr uint64_t kMaxSize = (uint64_t{1} << 30) - (1 << 12);

  explicit RowMutation(std::string_view row);
  // As in the paper, for bigtable::Apply(Operation*, RowMutation*).
  RowMutation(Table* table, std::string_view row);

  // Begins again, as a new RowMutation(row) of the same table would, but keeps the memory: for
  // programs that apply many mutations one after the other.
  RowMutation& Reset(std::string_view row);

  // Writes a cell at the server's time. (Not in an aggregate family: see AddToCell.) All such cells
  // of a mutation get the same timestamp, and timestamps increase strictly from one mutation of a
  // tablet to the next.
  RowMutation& Set(std::string_view column, std::string_view value);
  // Writes a cell at `timestamp`, replacing an existing one.
  RowMutation& Set(std::string_view column, Timestamp timestamp, std::string_view value);

  // Adds `input` to the cell at `timestamp`, which is in an aggregate family (Family::value_type);
  // the cell need not exist. Costs as much as a Set: nothing is read. Many calls usually share a
  // timestamp, such as the beginning of the hour. The input is a big-endian number of 8 bytes
  // (EncodeBigEndian, EncodeDouble), or any bytes to be counted with kHyperLogLog. InvalidArgument,
  // from Apply, if the family holds bytes, or does not take the input. An integer and a double both
  // have 8 bytes, so nothing finds one that is added to a family of the other: give a family of
  // doubles 1.0, not 1.
  //
  //   mutation.AddToCell("views:total", hour, 1).AddToCell("seconds:total", hour, 0.25);
  RowMutation& AddToCell(std::string_view column, Timestamp timestamp, std::string_view input);
  RowMutation& AddToCell(std::string_view column, Timestamp timestamp, int64_t input);
  // A template, so that an int is not as near to a double as to an int64_t.
  template <std::floating_point Number>
  RowMutation& AddToCell(std::string_view column, Timestamp timestamp, Number input) {
    return AddDoubleToCell(column, timestamp, static_cast<double>(input));
  }
  // The same with the state of another such cell, which a read has returned: of an integer sum, and
  // of minima and maxima, it is a number too, of a HyperLogLog what it has counted, of a sum of
  // doubles the exact sum.
  RowMutation& MergeToCell(std::string_view column, Timestamp timestamp, std::string_view state);

  // Deletes every version of the column that exists when the mutation is applied.
  RowMutation& Delete(std::string_view column);
  // Deletes the version at exactly `timestamp`.
  RowMutation& DeleteCell(std::string_view column, Timestamp timestamp);
  // Deletes the existing versions with timestamps in [begin, end): none of them is read or listed,
  // however many there are. An end of Timestamp::Max() is no end, so that version goes too.
  // InvalidArgument if the range is empty or begins before 0. A later Set of such a timestamp
  // stays. A read of the column looks at all its deletions of time ranges until
  // a major compaction has removed them.
  RowMutation& DeleteTimeRange(std::string_view column, Timestamp begin, Timestamp end);
  // Deletes all existing columns of the family, or the whole row.
  RowMutation& DeleteFamily(std::string_view family);
  RowMutation& DeleteRow();

  std::string_view row() const { return row_; }
  Table* table() const { return table_; }
  // The number of operations, and about how many bytes they take in the commit log.
  uint32_t operation_count() const { return operation_count_; }
  size_t byte_size() const { return row_.size() + operations_.size(); }

  // InvalidArgument: the first invalid operation, which Apply reports.
  const absl::Status& status() const { return status_; }

 private:
  friend struct EncodedMutation;
  void Add(uint8_t kind, std::string_view family, std::string_view qualifier,
           const Timestamp* timestamp, const std::string_view* value);
  void AddColumn(uint8_t kind, std::string_view column, const Timestamp* timestamp,
                 const std::string_view* value);
  RowMutation& AddDoubleToCell(std::string_view column, Timestamp timestamp, double input);
  void CheckRow();
  void Refuse(const std::string& message);

  Table* table_ = nullptr;
  std::string row_;
  std::string operations_;  // encoded
  uint32_t operation_count_ = 0;
  bool takes_server_time_ = false;  // some cell is written at the server's time
  absl::Status status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROW_MUTATION_H_
