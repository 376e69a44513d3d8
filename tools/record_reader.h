// The rows of a file that is imported, as mutations: CSV in the form of cbt, and JSON lines in the
// form of tools/output.h. docs/command-line.md describes both.
#ifndef BIGTABLE_TOOLS_RECORD_READER_H_
#define BIGTABLE_TOOLS_RECORD_READER_H_

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/row_mutation.h"
#include "bigtable/timestamp.h"

namespace bigtable::tools {

// Plain value.
struct RecordReaderOptions {
  std::string format;          // "csv" or "json"
  Timestamp timestamp;         // of cells that have none
  std::string column_family;   // CSV: the family of all columns; empty: the first line has families
  bool value_encoded = false;  // CSV: a value may end with @timestamp
};

// One thread. The stream outlives it.
class RecordReader {
 public:
  virtual ~RecordReader() = default;

  static std::unique_ptr<RecordReader> New(const RecordReaderOptions& options, std::istream* in);

  // Reads what comes before the first row. Before all other calls.
  virtual absl::Status ReadHeader() { return absl::OkStatus(); }
  // The families that the header names.
  virtual std::vector<std::string> families() const { return {}; }
  // The stream continues at this position, where a row begins.
  virtual void Continue(uint64_t offset, uint64_t line) = 0;

  // Reads the next row that has cells; false at the end. InvalidArgument names the line.
  virtual absl::StatusOr<bool> Next(std::optional<RowMutation>* mutation) = 0;

  // Where the row that Next has read ends, the line on which it began, and the line behind it.
  virtual uint64_t offset() const = 0;
  virtual uint64_t line() const = 0;
  virtual uint64_t next_line() const = 0;
};

// The columns of a CSV file, from its two lines of headers; the first column is the row's key.
// Plain value.
struct CsvColumn {
  std::string family;
  std::string qualifier;
  friend auto operator<=>(const CsvColumn&, const CsvColumn&) = default;
};
class CsvReader;
absl::StatusOr<std::vector<CsvColumn>> ReadCsvHeader(CsvReader* csv,
                                                     const std::string& column_family);

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_RECORD_READER_H_
