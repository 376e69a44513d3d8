// A row that divides a table, as Table::SampleRowKeys returns it.
#ifndef BIGTABLE_ROW_KEY_SAMPLE_H_
#define BIGTABLE_ROW_KEY_SAMPLE_H_

#include <cstdint>
#include <string>

namespace bigtable {

// Plain value.
struct RowKeySample {
  std::string row;            // empty in the last sample, which stands for the end of the table
  uint64_t offset_bytes = 0;  // about how many bytes the rows before this one take

  friend bool operator==(const RowKeySample&, const RowKeySample&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROW_KEY_SAMPLE_H_
