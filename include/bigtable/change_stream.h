// Change streams: every change of a table, once, in the order in which the changes were committed,
// from a position on that a program keeps. For a copy in another database, a search index, a cache
// that forgets what was written.
//
//   schema.changes = {.retention = absl::Hours(24)};
//   ...
//   ChangeStream stream = table->ReadChanges({.positions = {saved}});
//   while (stream.status().ok()) {
//     while (stream.Next(absl::Seconds(1))) Use(stream.change());
//     Save(stream.Position());
//   }
//
// What is in it. Each mutation that was committed after the stream was opened, whole, whoever wrote
// it and however: single, in a batch, by a transaction, an atomic operation or an observer. Each
// Table::DropRowRange, for each of its tablets, and each change of families. Garbage collections: a
// compaction that has removed cells by the rules of families is one change for all of them. Not in
// it: which cells these were, and what compaction filters remove. Garbage collection depends on
// nothing but the rule, the cells and the time, and the rule is in the changes of families; so a
// copy with the same families that has the same mutations reads as the table does. Files cannot be
// ingested into a table with a change stream.
//
// The order. Sequence numbers ascend, and are those of snapshots: a snapshot sees exactly the
// changes with numbers up to Snapshot::sequence().
//
// In a database that is read-only, or follows another one (DatabaseOptions::follow), this holds
// within a tablet. A change of one tablet may come after one of another that has a larger number,
// if it was being written when the state was taken. A garbage collection may come after a change of
// its own tablet that has a larger number.
//
// What is kept. Changes are kept for ChangeStreamRule::retention, within
// ChangeStreamRule::max_bytes on disk. A position that is older gets OutOfRange, never a gap.
//
// Durability. A change is returned as soon as reads see it. At Durability::kSync it is durable by
// then. At kBuffered, a machine that loses power may lose changes that a stream has returned; the
// stream goes on with those that are made afterwards, none of which it misses.
//
// Partitions. A stream may read a range of rows, so that several programs read a table together; a
// position is of its range. Ranges need not be tablets. Tablets that are split, merged or moved do
// not disturb a stream, unless it asks for it (ReadChangesOptions::ends_with_tablets).
#ifndef BIGTABLE_CHANGE_STREAM_H_
#define BIGTABLE_CHANGE_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/call_options.h"
#include "bigtable/export.h"
#include "bigtable/mutation_observer.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"

namespace bigtable {

class ChangeReader;

// A change of a table. Plain value.
struct BIGTABLE_EXPORT TableChange {
  enum class Kind : uint8_t {
    kMutation = 0,  // of a row
    kDropRows = 1,  // Table::DropRowRange
    kFamilies = 2,  // Database::ModifyFamilies, and the other calls that change families
    // A compaction of a tablet has removed cells for good that the rules of families (GcRule) have
    // for garbage. Reads did not return them before, either. What a flush leaves out, because it
    // was garbage before it was in a file, is not in the stream.
    kGarbageCollection = 3,
  };

  Kind kind = Kind::kMutation;
  // The number of its commit, which no other change of the database has; but kDropRows and
  // kGarbageCollection come as several changes of one number if the ranges are not adjacent.
  uint64_t sequence = 0;
  // When it was committed, by the clock of the database. Ascends within a tablet, except that a
  // garbage collection takes its time beside the writes, and may be a little earlier or later.
  absl::Time time = {};
  // Of a mutation: the last sequence number of the batch that it belongs to, which is the same for
  // all mutations of the batch, also those of other tables; 0: it was applied alone. Nothing else
  // comes between the mutations of a batch, unless the stream has a part of the rows only.
  uint64_t batch = 0;

  // Of kMutation: the mutation, with the timestamps that its cells have got. It can be applied to
  // another table.
  RowMutation mutation = RowMutation("");
  // Of kDropRows: those that were dropped, as far as they are in the stream. Of kGarbageCollection:
  // those that it may have removed cells of, as far as they are in the stream.
  RowRange rows = RowRange::All();
  // Of kFamilies: the schema after the change. What families had that it does not have is gone.
  std::shared_ptr<const TableSchema> schema = nullptr;
  // Of kFamilies: those that the change has added. They are empty, also if there was one of the
  // name before.
  std::vector<std::string> new_families = {};
  // Of kGarbageCollection: the families with a rule that were collected, and the time as of which
  // ages were judged. What was written before this change and was garbage by its age then, or by
  // the number of later versions, may be gone. If there were several collections of a family since
  // the stream's last change, only the last may be in the stream: it covers the others.
  std::vector<std::string> families = {};
  absl::Time collected_at = {};

  // The operations of the mutation, in call order: views of `mutation`. Cost: that of decoding.
  std::vector<ObservedOperation> Operations() const;
};

// Plain value.
struct ReadChangesOptions {
  // The rows whose mutations are read.
  RowRange rows = RowRange::All();
  // Where to go on: positions of earlier streams of the table, which together have `rows`. Empty:
  // see `since`.
  std::vector<std::string> positions = {};
  // Without positions: from the first change on that was committed at this time or later. Before
  // the stream was opened there are none; InfinitePast() means the oldest that is kept. Not set:
  // from the call of ReadChanges on.
  std::optional<absl::Time> since = std::nullopt;
  // The stream ends when `rows` are not, or are no longer, those of one tablet: see
  // ChangeStream::successors().
  bool ends_with_tablets = false;
  // Of all calls of Next together.
  absl::Time deadline = absl::InfiniteFuture();
  // Null: it cannot be cancelled.
  const Cancellation* cancellation = nullptr;
};

// A range of rows whose changes may be read as a stream of their own. Plain value.
struct ChangePartition {
  RowRange rows = RowRange::All();
  // Where a stream of it begins, as far as it is known: for those rows that the ended stream had.
  std::string position;
};

// A stream of changes: what Table::ReadChanges returns. Holds no snapshot and pins no file between
// calls, so it may be left open for ever. One thread at a time.
class BIGTABLE_EXPORT ChangeStream {
 public:
  ChangeStream(ChangeStream&&) noexcept;
  ChangeStream& operator=(ChangeStream&&) noexcept;
  ~ChangeStream();

  // Moves to the next change. If there is none yet, waits up to `wait` for one. False if there is
  // none, and then it may be called again; or if the stream has ended, or failed: see status().
  // Cost: some hundred changes are read at a time, and while it waits, the table is looked at every
  // few milliseconds.
  bool Next(absl::Duration wait = absl::ZeroDuration());
  // Requires that the last call of Next() returned true. Valid until the next one.
  const TableChange& change() const;

  // Where a stream goes on that has returned everything up to the present change: bytes to keep for
  // ReadChangesOptions::positions. Also after the end and after an error; empty if that was the
  // first thing to happen.
  std::string Position();
  // Every change that was committed before this time has been returned; InfinitePast() while that
  // is not known of any time. Moves on also when nothing is written; but not in a database that is
  // read-only or follows another, where it is the time of the last change of a tablet, of that
  // where it is the oldest.
  absl::Time CompleteThrough() const;
  // With ReadChangesOptions::ends_with_tablets, after the end: the tablets that have the rows now,
  // each with the position from which to read the rows that this stream had. A tablet that was
  // merged has rows of several streams: read it with the positions of all of them.
  const std::vector<ChangePartition>& successors() const;
  // Whether it has ended: only with ReadChangesOptions::ends_with_tablets.
  bool ended() const;

  // OK, or why Next() has returned false: OutOfRange: changes after the position were dropped.
  // FailedPrecondition: the table has no change stream. InvalidArgument: a position. NotFound: the
  // table was deleted. DataLoss, DeadlineExceeded, Cancelled, PermissionDenied.
  const absl::Status& status() const;

 private:
  friend class Table;
  explicit ChangeStream(std::unique_ptr<ChangeReader> reader);
  std::unique_ptr<ChangeReader> reader_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CHANGE_STREAM_H_
