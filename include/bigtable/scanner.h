// Iteration over a subset of a table, cell by cell (section 3 of the paper, Figure 3).
#ifndef BIGTABLE_SCANNER_H_
#define BIGTABLE_SCANNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/options.h"
#include "bigtable/row_range.h"
#include "bigtable/table.h"
#include "bigtable/timestamp.h"

namespace bigtable {

class ScannerImpl;
class ScanStreamImpl;

// The cells of one column family through the rows of its Scanner's range, in order: by row, then
// qualifier, then timestamp from new to old. By default the newest version of each column.
// Configure before the first call of Done(); views stay valid until Next().
class ScanStream {
 public:
  ~ScanStream();
  ScanStream(const ScanStream&) = delete;
  ScanStream& operator=(const ScanStream&) = delete;

  // Versions of each column: all, or the `n` newest, n at least 1.
  void SetReturnAllVersions();
  void SetMaxVersions(int64_t n);
  // Columns whose whole qualifier matches the RE2 expression; whose qualifier begins with `prefix`;
  // whose qualifier is in [begin, end), an empty end being no end.
  void SetColumnRegex(std::string_view qualifier_regex);
  void SetColumnPrefix(std::string_view qualifier_prefix);
  void SetColumnRange(std::string_view begin, std::string_view end);
  // Cells with a timestamp in [begin, end).
  void SetTimestampRange(Timestamp begin, Timestamp end);
  // Cells that the filter lets through, after all of the above.
  void SetFilter(Filter filter);

  // Whether there is no cell here, at the end or after an error (Scanner::status()). The others
  // require that there is one.
  bool Done();
  void Next();
  // Passes over what is left of the current row.
  void NextRow();

  std::string_view RowName();
  // "family:qualifier", and its second part.
  std::string_view ColumnName();
  std::string_view Qualifier();
  int64_t MicroTimestamp();
  std::string_view Value();

 private:
  friend class ScannerImpl;
  explicit ScanStream(std::unique_ptr<ScanStreamImpl> impl);
  std::unique_ptr<ScanStreamImpl> impl_;
};

// All streams of a scanner see the same moment: that of the first call of Done(), or that of the
// snapshot in its options. Memory is needed for a block of each SSTable that is read, never for a
// whole row. The default range is the whole table. Setting a range again starts all streams anew.
// One thread at a time. It stays valid memory after its database was closed or destroyed, with
// status() FailedPrecondition. As with a RowReader, ask for status() after the loop.
class Scanner {
 public:
  explicit Scanner(Table* table, ReadOptions options = {});
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  void SetRange(const RowRange& range);
  // SetRange to one row.
  void Lookup(std::string_view row);

  // A stream over one family; the scanner owns it. A family that the table does not have is
  // NotFound in status(), and the stream is Done().
  ScanStream* FetchColumnFamily(std::string_view family);

  // The row of the stream that moved last; empty before any has.
  std::string_view RowName() const;

  // OK, or the first error of a stream: InvalidArgument, NotFound, PermissionDenied (see
  // OpenTableOptions), DataLoss, DeadlineExceeded, Cancelled, FailedPrecondition.
  absl::Status status() const;

 private:
  std::unique_ptr<ScannerImpl> impl_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SCANNER_H_
