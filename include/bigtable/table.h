// A table: the sparse, sorted, multidimensional map of the paper's section 2.
#ifndef BIGTABLE_TABLE_H_
#define BIGTABLE_TABLE_H_

#include <concepts>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/bulk_load.h"
#include "bigtable/export.h"
#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row.h"
#include "bigtable/row_key_sample.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"

namespace bigtable {

class ChangeStream;
class RowSource;
class TableBackend;
struct ReadChangesOptions;

// A stream of rows, in key order: what Table::ReadRows returns. The whole stream reads one
// snapshot: that of its options, or one taken by the call of ReadRows. It pins the memory and files
// of that snapshot until Next() has returned false, or the last row that the limits allow, or until
// it is destroyed: do not leave it open longer than needed. Each row is built in memory as a whole;
// read larger rows with a Scanner. One thread at a time.
//
// The stream also ends at an error, so check status() after the loop:
//
//   RowReader reader = table->ReadRows(RowRange::Prefix("com.cnn"));
//   for (const Row& row : reader) { ... }
//   if (!reader.status().ok()) ...
//
// If a reader that failed is destroyed and its status() was never called, an error goes to the info
// log, and a library that was built with assertions aborts.
class BIGTABLE_EXPORT RowReader {
 public:
  RowReader(RowReader&&) noexcept;
  RowReader& operator=(RowReader&&) noexcept;
  ~RowReader();

  // Moves to the next row that has cells; the first call moves to the first. False at the end or
  // after an error: see status().
  bool Next();
  // The row; its views stay valid until the next call of Next().
  const Row& row() const { return row_; }
  // Moves the row to the caller.
  Row TakeRow();

  // OK, or why the stream ended early: DataLoss, DeadlineExceeded, Cancelled, InvalidArgument,
  // PermissionDenied (see OpenTableOptions), ResourceExhausted (a quota: bigtable/quota.h),
  // FailedPrecondition if the database was closed.
  const absl::Status& status() const;

  // Where the stream stands, for Table::ResumeRows: behind the last row that Next() has returned,
  // also after an error or a limit. Bytes without a meaning of their own, which may be stored: they
  // are valid as long as the table exists, in later openings and versions too. Cost: the rest of
  // the rows that the stream was asked for, as text.
  std::string ResumeToken() const;

  // An input iterator: one pass.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using pointer = const Row*;
    using reference = const Row&;

    iterator() = default;
    const Row& operator*() const { return reader_->row(); }
    const Row* operator->() const { return &reader_->row(); }
    iterator& operator++() {
      if (!reader_->Next()) reader_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    friend class RowReader;
    explicit iterator(RowReader* reader) : reader_(reader) {}
    RowReader* reader_ = nullptr;
  };
  iterator begin() { return Next() ? iterator(this) : iterator(); }
  iterator end() { return iterator(); }

 private:
  friend class RowSource;
  explicit RowReader(std::unique_ptr<RowSource> source);
  std::unique_ptr<RowSource> source_;
  Row row_;
};

// Lives as long as the Database that opened it. Thread-safe. Calls return FailedPrecondition after
// Database::Close, and NotFound after the table was deleted.
class BIGTABLE_EXPORT Table {
 public:
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const std::string& name() const;

  // --- Writes ---

  // Applies the mutation atomically: every reader sees all of it or nothing. After OK the write
  // survives what its durability promises.
  //
  // InvalidArgument: an empty or too long row, a column without a colon, a negative timestamp, a
  // mutation without operations or beyond the limits of RowMutation. NotFound: a family that the
  // table does not have. FailedPrecondition: a read-only database. ResourceExhausted: the log has
  // no room for this mutation, though perhaps for others, or memory is full and cannot be flushed
  // (DatabaseStatistics::failing_work), or a quota refuses it (bigtable/quota.h). Unavailable: no
  // server can serve the row at present (DatabaseStatistics::unserved_tablets). These errors or
  // others, until Database::Resume: the log cannot be written. PermissionDenied: see
  // OpenTableOptions. DeadlineExceeded, Cancelled: see WriteOptions. After an error no reader sees
  // any part of the mutation. Only if the log could not be written or synced may a crash bring it
  // back, as a whole.
  //
  // If the table has observers (bigtable/mutation_observer.h), they are called before and after
  // this and every other write, and their errors are returned too.
  //
  // Cost: one copy of the values into the log, and no system call at kBuffered. Waits for the
  // writes before it and their sync, if flushes or compactions cannot keep up
  // (DatabaseStatistics::stall_reason), and while the row's tablet moves or is recovered.
  [[nodiscard]] absl::Status Apply(const RowMutation& mutation, const WriteOptions& options = {});

  // Applies each mutation as Apply does, with one commit to the log; returns a status for each. If
  // the table has observers, one after the other.
  [[nodiscard]] std::vector<absl::Status> ApplyBatch(absl::Span<const RowMutation> mutations,
                                                     const WriteOptions& options = {});

  // --- Atomic operations on one row (section 3 of the paper) ---
  //
  // Each of the three reads a row and applies a mutation to it, with no other write to the row in
  // between: if there was one, nothing is applied, and the row is read again. The mutation is
  // applied as by Apply, with the same durability, limits and errors; a caller that acts on behalf
  // of a user needs permission to read and to write. After an error of the first try or of a later
  // one nothing was changed, except that after Unavailable it is not always known; the message says
  // so, and the operation is not tried again.
  //
  // The two operations without a function form a queue for each row, so that callers on one row do
  // not disturb each other; writes of Apply to the row make them read it again, and never wait for
  // them. Nothing but the deadline and the cancellation bounds the tries
  // (TableCallStatistics::row_retries).
  //
  // Cost: a read of the cells that the operation depends on, and a write. From the first of these
  // operations on, a tablet server notes its writes by row: half a megabyte, shared by all servers,
  // and some ten nanoseconds for each write.

  // Reads the row through the filter. If at least one cell passes, applies `if_matched`, otherwise
  // `if_not`. Returns whether a cell passed. A mutation without operations means: do nothing.
  // InvalidArgument: a mutation of another row; both mutations are empty; an invalid mutation,
  // applied or not. Whether the families exist, and may be written, is checked for the mutation
  // that is applied.
  //
  // Claims a job unless somebody has it:
  //   table->CheckAndMutateRow(job, Filter::Column("job", "owner"), RowMutation(job),
  //                            RowMutation(job).Set("job:owner", me));
  [[nodiscard]] absl::StatusOr<bool> CheckAndMutateRow(std::string_view row,
                                                       const Filter& predicate,
                                                       const RowMutation& if_matched,
                                                       const RowMutation& if_not,
                                                       const WriteOptions& options = {});

  // Applies the rules to the newest cells of their columns. Returns the new cells: one for each
  // column, in the order of a row. A new cell has the time of the database's clock, or the
  // timestamp of the old cell if that is larger, and then replaces it. InvalidArgument: an invalid
  // rule, no rules, a value that becomes too large, or values that are too large for one mutation
  // together. FailedPrecondition: the cell of an Increment does not have 8 bytes; the message names
  // the column.
  [[nodiscard]] absl::StatusOr<Row> ReadModifyWriteRow(const ReadModifyWrite& rules,
                                                       const WriteOptions& options = {});

  // A transaction on one row: calls `function` with the cells of the row that pass the filter, and
  // applies the mutation that it returns, which must be of this row. If a cell that passes the
  // filter has changed meanwhile, `function` is called again, with the new cells; so it must have
  // no other effects, or such that may happen several times. An error that it returns is returned,
  // and nothing is applied; neither is anything for a mutation without operations.
  //
  // No lock is held while `function` runs. It may take its time, and may use the database, this row
  // included. Callers that change the same cells at the same time let one of them succeed, and the
  // others try again after pauses of up to a millisecond.
  [[nodiscard]] absl::Status MutateRowAtomically(
      std::string_view row, const Filter& filter,
      absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
      const WriteOptions& options = {});

  // --- Reads ---

  // The cells of one row that pass the filter. A row without cells is an empty Row, not an error.
  // ResourceExhausted: a quota (bigtable/quota.h).
  [[nodiscard]] absl::StatusOr<Row> ReadRow(std::string_view row, const Filter& filter = {},
                                            const ReadOptions& options = {});

  // ReadRow of each of the rows, in this order: a row may be named twice, and the error of one is
  // not that of the others. What is not in memory is requested from the disk for up to 64 rows at
  // once, so the call waits for it about once and not once for each row. Without a snapshot the
  // rows may be of different moments.
  //
  // Of a connected database (bigtable/remote.h), up to 1,000 rows are one stream, and an error of
  // the stream is that of all rows that it has not returned; rows that are named twice, and all
  // rows if options.cell_limit is set, are read one after the other. So are those of a database
  // that is being recorded, and those of tablets in other processes.
  //
  // Cost: that of ReadRow for each, and up to a tenth more where everything is in memory.
  [[nodiscard]] std::vector<absl::StatusOr<Row>> GetRows(absl::Span<const std::string_view> rows,
                                                         const Filter& filter = {},
                                                         const ReadOptions& options = {});

  // ReadRow that does not wait for the disk: `done` is called once, with the result. If the row is
  // in memory, this thread calls it before this returns (within another `done` perhaps later,
  // before that call returns). Otherwise a thread of the database does, which has up to 64 such
  // reads under way at the same time, while others wait for it. bigtable/awaitable.h has the same
  // for coroutines.
  //
  // `done` should be quick, wait for nothing, and throw nothing: its thread is one of few, and
  // other reads may wait for it for some milliseconds. It may make calls of the table, these too,
  // but not close the database. Database::Close returns after each was called, for a read that was
  // not begun with FailedPrecondition. What the options point to outlives the read.
  // ResourceExhausted: those that wait take more than a sixteenth of the memory budget. If the
  // system has no thread, this one waits for the disk.
  //
  // Some reads do not overlap in this way: with callers, quotas or a scan cache, and of files that
  // are not open yet or in parts. Up to 64 threads make them, one each. Of a connected database,
  // and of one that is followed or recorded, the call reads the row before it returns.
  //
  // Cost: that of ReadRow, and a look into the filters of the files; if it is not in memory, the
  // way to another thread and back.
  void ReadRowAsync(std::string row, Filter filter, ReadOptions options,
                    absl::AnyInvocable<void(absl::StatusOr<Row>)> done);
  // ReadRowAsync of each of the rows, up to 512 at a time, with one call of `done` for all, when
  // the last was read. The results are in the order of the rows.
  void GetRowsAsync(std::vector<std::string> rows, Filter filter, ReadOptions options,
                    absl::AnyInvocable<void(std::vector<absl::StatusOr<Row>>)> done);

  // The newest value of a column, "family:qualifier". NotFound: the row has no cell in it.
  // InvalidArgument: no colon. Other errors are those of ReadRow. Cost: that of ReadRow for one
  // column, and a copy of the value.
  [[nodiscard]] absl::StatusOr<std::string> Get(std::string_view row, std::string_view column,
                                                const ReadOptions& options = {});

  // The rows of the set that have cells, as a stream.
  [[nodiscard]] RowReader ReadRows(const RowSet& rows, const ReadOptions& options = {});
  // A template, so that ReadRows(rows, {}) calls the overload above.
  template <std::same_as<Filter> F>
  [[nodiscard]] RowReader ReadRows(const RowSet& rows, const F& filter,
                                   const ReadOptions& options = {}) {
    return ReadFilteredRows(rows, filter, options);
  }

  // Continues a stream of this table: the rows that were left when the token was taken, without the
  // row that was returned last, even if a limit has cut it. Filter and options are those of a new
  // stream and are not in the token: the filter should be the same, the order must be, and a limit
  // counts from here on. Without a snapshot the rows are read as they are now. InvalidArgument in
  // RowReader::status(): the text is not a token, is of another table, or of the other order.
  [[nodiscard]] RowReader ResumeRows(std::string_view token, const Filter& filter = {},
                                     const ReadOptions& options = {});

  // --- Deleting many rows ---

  // Drops the rows of the range with everything in them, without reading or writing them: tablets
  // are split where the range begins and ends, and those inside forget their SSTables and
  // memtables. Files that no tablet names any more are removed at once; one that a tablet beside
  // the range still names keeps its bytes until that is compacted. Some seconds later, the tablets
  // that were split for the range are merged again in the background, which compacts those that
  // still have its rows in their files; WaitUntilQuiet waits for it. In a tablet the rows are
  // dropped at one moment, durably, and writes to it wait for that; the tablets follow one another.
  // Snapshots lose the rows too. What is written while the call runs may be dropped or not, and
  // streams that have begun may return such rows or not.
  //
  // After an error, the rows of some tablets may be gone and those of others not; repeat the call.
  // NotFound: the table was deleted. PermissionDenied: a user needs permission to write to all
  // families. Cost: two splits, and a synced mutation of METADATA for each tablet; for a few rows,
  // RowMutation::DeleteRow costs less.
  [[nodiscard]] absl::Status DropRowRange(const RowRange& rows, const CallOptions& options = {});

  // --- Bulk load ---

  // Adds SSTables that were written elsewhere (bigtable/bulk_load.h): all of their entries become
  // visible at one moment, in all tablets, or none; and durable. The table may have other data in
  // the same rows, and the files may overlap each other: see IngestOptions::wins. What other
  // programs wrote, and files of other databases, can be added too, as long as the table has their
  // families.
  //
  // A file that has rows of several tablets is shared by them until it is compacted. One that has
  // families of several locality groups is written again, and with kOldest also one with several
  // sequence numbers. (SSTableSorter writes a file for each group.)
  //
  // Writes to the tablets that get rows wait for a moment: for a flush of what was written during
  // the call, a commit to METADATA, and a turn among the writes of their servers. Compactions of
  // these tablets that are under way end first. Other writes are not affected. The call waits for
  // up to ten seconds for compactions if the tablets have many sorted runs. Observers are not
  // called. Transactions that have read rows of these tablets are in conflict with it.
  //
  // The error of a file names it, and then nothing has changed. NotFound: a file, or a family that
  // the table does not have. DataLoss: a file is damaged. InvalidArgument: it has an entry that is
  // against a rule. FailedPrecondition: see kOldest; or the table has a change stream.
  // PermissionDenied: a user needs permission to write to all families. ResourceExhausted: a quota
  // of storage is exceeded already. DeadlineExceeded, Cancelled; errors of the file system. After
  // an error of METADATA it may not be known whether the files were added; the next opening shows.
  //
  // Cost: the files are read once, and copied unless they can be moved.
  [[nodiscard]] absl::StatusOr<IngestSummary> Ingest(absl::Span<const std::string> files,
                                                     const IngestOptions& options = {});

  // --- Changes ---

  // The changes of the table as a stream, in the order of their commits: see
  // bigtable/change_stream.h. The table has a change stream (TableSchema::changes); otherwise the
  // stream's status is FailedPrecondition. A user needs permission to read all families. Errors are
  // those of ChangeStream::status().
  //
  // Cost: one look at the tablets of the rows if the stream begins at the present; otherwise none,
  // before the first ChangeStream::Next().
  [[nodiscard]] ChangeStream ReadChanges(const ReadChangesOptions& options);
  [[nodiscard]] ChangeStream ReadChanges();

  // The position after the last change that the table has, even if the database has taken numbers
  // since. So of a table in a checkpoint, or in a restored backup, it is a position in the
  // original: a stream there goes on with the first change that the copy does not have.
  // FailedPrecondition: the table has no change stream.
  absl::StatusOr<std::string> PositionOfCopy(const CallOptions& options = {});
  // Registers a reader of the table's changes, or moves it on: changes after `position`
  // (ChangeStream::Position()) are kept until the reader has moved on behind them, beyond the
  // retention, as far as ChangeStreamRule::max_bytes allows. A reader that comes back after that
  // gets OutOfRange. Call it after what was read is safe, now and then rather than for each change.
  // A reader that is not needed any more has to be removed. The name has 1 to 64 printable ASCII
  // characters without space and colon. InvalidArgument: the name, or the position. A user needs
  // permission to read all families.
  //
  // Cost: a small file, synced.
  [[nodiscard]] absl::Status SetChangeReader(std::string_view reader, std::string_view position,
                                             const CallOptions& options = {});
  // NotFound: there is no such reader.
  [[nodiscard]] absl::Status RemoveChangeReader(std::string_view reader,
                                                const CallOptions& options = {});

  // --- Sizes ---
  //
  // Both are estimates from the indexes of SSTables and from memtables; no row is read. They count
  // bytes as they are stored: compressed on disk, and with old versions and deleted cells until a
  // compaction removes them. A user needs permission to read all families of the table
  // (PermissionDenied). Unavailable, DeadlineExceeded, Cancelled, or an error of opening a file.
  // Cost: the files of the rows are opened if they are not open yet, and some searches in the index
  // of each.

  // Rows that divide the table into parts of about equal size, for work that is to be divided; in
  // key order. There are at most a few hundred parts, unless the table has more tablets: each
  // tablet begins with a new part. The last sample has no row, and the size of the whole table. The
  // rows are keys of cells, or of where tablets begin; they need not exist.
  [[nodiscard]] absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(
      const CallOptions& options = {});

  // About how many bytes the rows of each range take, in the order of the ranges. In each file it
  // is exact to a block at either end, so the rows of less than a block may count as nothing; in a
  // memtable of more than a thousand entries, to a few hundredths of it.
  [[nodiscard]] absl::StatusOr<std::vector<uint64_t>> ApproximateSizes(
      absl::Span<const RowRange> ranges, const CallOptions& options = {});

 private:
  friend class TableBackend;
  RowReader ReadFilteredRows(const RowSet& rows, const Filter& filter, const ReadOptions& options);
  explicit Table(std::shared_ptr<TableBackend> backend);
  // The table of a database that this process has opened, or has connected to.
  const std::shared_ptr<TableBackend> backend_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLE_H_
