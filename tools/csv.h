// CSV (RFC 4180), of any bytes: fields between commas; a field with a comma, a quotation mark or a
// line end is in quotation marks, and a quotation mark in it is doubled. Lines end with \n or \r\n.
#ifndef BIGTABLE_TOOLS_CSV_H_
#define BIGTABLE_TOOLS_CSV_H_

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace bigtable::tools {

// Plain value.
struct CsvField {
  std::string bytes;
  // An empty field in quotation marks is an empty value; one without is no value.
  bool quoted = false;

  bool missing() const { return bytes.empty() && !quoted; }
  friend bool operator==(const CsvField&, const CsvField&) = default;
};

// Reads records from a stream, which outlives it. One thread.
class CsvReader {
 public:
  explicit CsvReader(std::istream* in) : in_(in) {}

  // Reads the next record; false at the end. InvalidArgument names the line: quotation marks that
  // do not fit. Empty lines are skipped.
  absl::StatusOr<bool> Read(std::vector<CsvField>* record);

  // The stream continues at this position, where a record begins.
  void Continue(uint64_t offset, uint64_t line) {
    offset_ = offset;
    line_ = line;
  }

  // Bytes that were read, which end behind a record; and the line on which the last one began.
  uint64_t offset() const { return offset_; }
  uint64_t line() const { return record_line_; }
  uint64_t next_line() const { return line_; }

 private:
  int Get();
  absl::Status ReadQuoted(CsvField* field);
  // Reads one field. `end` is what ends it: ',' or '\n', or EOF.
  absl::Status ReadField(CsvField* field, int* end);

  std::istream* const in_;
  uint64_t offset_ = 0;
  uint64_t line_ = 1;
  uint64_t record_line_ = 0;
};

// The field, in quotation marks if it needs them. An empty value is "".
std::string CsvText(std::string_view bytes);

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_CSV_H_
