// Iteration over a subset of a table, cell by cell (section 3 of the paper, Figure 3).
#ifndef BIGTABLE_SCANNER_H_
#define BIGTABLE_SCANNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/export.h"
#include "bigtable/options.h"
#include "bigtable/row_range.h"
#include "bigtable/table.h"
#include "bigtable/timestamp.h"

namespace bigtable {

class CellSource;
class ScannerBackend;
struct ScanColumns;

// The cells of one column family in the rows of its Scanner's range, ordered by row, then
// qualifier, then timestamp from new to old. By default the newest version of each column.
// Configure it before the first call of Done(). Views stay valid until Next().
class BIGTABLE_EXPORT ScanStream {
 public:
  ~ScanStream();
  ScanStream(const ScanStream&) = delete;
  ScanStream& operator=(const ScanStream&) = delete;

  // How many versions of each column: all, or the `n` newest; n is at least 1.
  void SetReturnAllVersions();
  void SetMaxVersions(int64_t n);
  // Only columns whose whole qualifier matches the RE2 expression; whose qualifier begins with
  // `prefix`; whose qualifier is in [begin, end), where an empty end means no end.
  void SetColumnRegex(std::string_view qualifier_regex);
  void SetColumnPrefix(std::string_view qualifier_prefix);
  void SetColumnRange(std::string_view begin, std::string_view end);
  // Only cells with a timestamp in [begin, end): Filter::TimestampRange.
  void SetTimestampRange(Timestamp begin, Timestamp end);
  // Only cells that pass the filter, which is applied after all of the above.
  void SetFilter(Filter filter);

  // True at the end or after an error (Scanner::status()). The methods below require that Done() is
  // false.
  bool Done();
  void Next();
  // Skips the rest of the current row.
  void NextRow();

  // The cell's row.
  std::string_view RowName();
  // "family:qualifier", and the qualifier alone.
  std::string_view ColumnName();
  std::string_view Qualifier();
  int64_t MicroTimestamp();
  std::string_view Value();

 private:
  friend class Scanner;
  explicit ScanStream(CellSource* source);
  ScanColumns* columns();
  CellSource* const source_;  // of the scanner's backend
};

// All streams of a scanner read one snapshot: the one in its options, or one that is taken at the
// first call of Done(). The default range is the whole table. Setting a range again, also after the
// end of a stream, restarts all streams at the same snapshot. So, unlike a RowReader, a scanner
// keeps its snapshot at the end of its streams, until it is destroyed or has failed: do not keep it
// longer than needed. Uses memory for one block of each SSTable that is read, never for a whole
// row. One thread at a time. A scanner may outlive its database; after Close its
// status() is FailedPrecondition. As with a RowReader, check status() after the loop.
class BIGTABLE_EXPORT Scanner {
 public:
  explicit Scanner(Table* table, ReadOptions options = {});
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // Scans these rows.
  void SetRange(const RowRange& range);
  // SetRange to one row.
  void Lookup(std::string_view row);

  // A stream over one family, owned by the scanner. If the table has no such family, status() is
  // NotFound and the stream is Done().
  ScanStream* FetchColumnFamily(std::string_view family);

  // The row of the stream that moved last; empty before any stream has moved.
  std::string_view RowName() const;

  // OK, or the first error of a stream: InvalidArgument, NotFound, PermissionDenied (see
  // OpenTableOptions), DataLoss, DeadlineExceeded, Cancelled, FailedPrecondition.
  absl::Status status() const;

 private:
  std::unique_ptr<ScannerBackend> backend_;
  std::vector<std::unique_ptr<ScanStream>> streams_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SCANNER_H_
