// The rows of a tablet that are known to be empty: a few ranges, which reads skip. Without this,
// each read of the head of a queue walks over all deletions of what was taken from it, until a
// compaction removes them.
//
// A read that has walked over many empty rows asks to have the first of them watched (Watch), and
// at the next live cell it reports the rows that it has walked over (Report); in reverse it does
// both at that cell. Later reads skip the rows (Skip, SkipBack). The tablet's writer notes the row
// of each mutation (RecordWrite), which ends a range before that row. Nothing here is needed to
// answer a read: all of it may be forgotten.
//
// Rows are row prefixes of encoded keys (base/entry_key.h), which compare as bytes. An end that is
// empty means no limit.
//
// What is known of a range: at each read sequence from `since` on, and each time from `now` on, no
// cell of its rows is visible, with the schema of the current epoch. Rows that are empty stay empty
// when time passes (a rule that collects a cell does not give it back) and when files are
// compacted. They change with a write to them, and may change with the schema or when a compaction
// filter was applied, for which the tablet begins a new epoch. A version of the tablet has the
// epoch in which it was published. A read of another epoch neither uses nor reports anything. So
// the writer always notes into the one object of its tablet, and no reader of an old version can
// disturb it.
//
// Why no read skips a row that it should see. Let R be the read's sequence number.
//
// * The read uses a range with `since` <= R. A write up to R was noted before it became visible,
//   and so before this read began: its row is not in the range any more. The read does not see
//   writes after R.
// * The walk that is reported sees every write up to R. A write after R is a danger if it is not
//   noted for the range that takes the report: it may have come after the walk had passed its row.
//   A range is watched from a point on, its `stamp`: the number of the last mutation that the
//   writer had begun, or that was in the tablet when it was opened or split from another. The
//   writer stores this number before it looks whether anything is watched, and Watch stores that
//   something is before it loads the number. All four are sequentially consistent. So a write that
//   finds nothing watched has a number up to the stamp. A report with R < stamp is not taken. If it
//   is taken, such a write is not after R.
// * All other writes are noted: before the report, and then the range gets no further than the
//   smallest row that was noted (`limit`), unless the walk has seen all of them (`newest` <= R); or
//   after the report, and then the range ends at the row of the write.
// * When noted writes are dropped, the stamp becomes the number of the newest of them. So a read
//   that has not seen them cannot report.
//
// Reads that are made with no limit of their sequence number (benchmarks) must not run at the same
// time as writes.
//
// Two ranges that touch may become one, from the beginning of the first to the end of the second,
// and known from the later of both on. Its stamp and notes are those of the first, which are of all
// writes to both since that stamp.
//
// Cost: a write pays a store with a fence and a load. While anything is watched, it also takes a
// lock, and compares its row with each range. So a range that is not used is forgotten, once its
// notes have cost about as much as the walk over its rows did. Of a long row only the first bytes
// are kept, as where something ends: a range may end earlier than it need.
//
// Thread-safe. Only the tablet's writer (tablet.h) calls RecordWrite.
#ifndef BIGTABLE_TABLET_EMPTY_ROWS_H_
#define BIGTABLE_TABLET_EMPTY_ROWS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

#include "base/key_buffer.h"
#include "base/mutex.h"
#include "base/ref_counted.h"
#include "base/sequence.h"

namespace bigtable {

class EmptyRows final : public RefCounted {
 public:
  static constexpr size_t kMostRanges = 16;
  // A range that was not used is forgotten after so many mutations, or as many as it has rows.
  static constexpr uint64_t kLeastNotes = 1000;
  // A range does not begin at a longer row, and ends at the first bytes of one.
  static constexpr size_t kMostBytes = 1024;

  // After how many empty rows a read that comes from a live one remembers where it is, looks
  // whether the rows are known, asks for a watch of the first, and reports rows after a range that
  // it has used. The first three are in ascending order. Tests lower them.
  struct Thresholds {
    uint32_t origin = 2;
    uint32_t skip = 4;
    uint32_t watch = 32;
    uint32_t extend = 16;
  };
  static Thresholds thresholds();
  static void SetThresholdsForTesting(Thresholds thresholds);

  // What a read sees.
  struct View {
    uint64_t epoch;  // of its version
    SequenceNumber sequence;
    absl::Time now;  // for MaxAge
  };

  // --- For the tablet ---

  // Before the first read and write: mutations up to this number are in the tablet.
  void StartAfter(SequenceNumber last) { last_written_.store(last, std::memory_order_seq_cst); }
  SequenceNumber last_written() const { return last_written_.load(std::memory_order_seq_cst); }
  // Forgets everything. Versions that are published from here on may have other rows than those
  // before.
  void BeginEpoch();
  uint64_t epoch() const;

  // --- For the tablet's writer ---

  // Called for each mutation before its entries are inserted. Numbers ascend, except when a log is
  // replayed, before the first read.
  void RecordWrite(std::string_view row, SequenceNumber sequence) {
    if (sequence > last_written_.load(std::memory_order_relaxed)) {
      last_written_.store(sequence, std::memory_order_seq_cst);
    }
    if (is_watching_.load(std::memory_order_seq_cst)) [[unlikely]] {
      Record(row, sequence);
    }
  }

  // --- For reads ---

  // False: Skip would do nothing.
  bool is_watching() const { return is_watching_.load(std::memory_order_acquire); }
  // Moves `*begin` past the rows at it that are known to be empty. kAll: all rows from there on
  // are.
  enum class Skipped { kNone, kSome, kAll };
  [[nodiscard]] Skipped Skip(const View& view, KeyBuffer* begin);
  // In reverse: moves `*end`, which ends a range, before the rows that end there and are known to
  // be empty. kAll: all rows before it are.
  [[nodiscard]] Skipped SkipBack(const View& view, KeyBuffer* end);
  // From here on, writes are noted for a range that begins at `begin`, or for one that has or
  // touches it already. If there is no room, only for a range of which more rows are known to be
  // empty, `rows`, than of the one that has to go.
  void Watch(uint64_t epoch, std::string_view begin, uint64_t rows);
  // The read has found no visible cell in [begin, end): it has walked over `rows` rows, and has
  // skipped the others.
  // False: there was no room for them.
  bool Report(const View& view, std::string_view begin, std::string_view end, uint64_t rows);
  // For a read that found no room: the range that is worth least is worth half as much from here
  // on, until it is used. So one that nobody uses any more gives way in the end.
  void MakeWay();

  // For tests.
  uint64_t skips() const { return skips_.load(std::memory_order_relaxed); }
  size_t ranges() const;

 private:
  // A row before which something ends; nullopt: no limit.
  using End = std::optional<std::string>;

  struct Range {
    std::string begin;
    End end;  // of what is known to be empty; at first equal to `begin`
    SequenceNumber since = 0;
    absl::Time now = absl::InfinitePast();

    SequenceNumber stamp = 0;
    End limit;                  // the smallest row that was noted
    SequenceNumber newest = 0;  // the last write that was

    uint64_t rows = 0;  // that a read which uses it does not walk over, about
    // The same, or as many as the walk has passed that it is watched for; half after each
    // MakeWay, until it is used.
    uint64_t worth = 0;
    uint64_t notes = 0;  // since it was used
    uint64_t used = 0;   // the number of its last use

    bool IsUsable(const View& view) const { return since <= view.sequence && now <= view.now; }
  };

  [[gnu::noinline]] void Record(std::string_view row, SequenceNumber sequence);
  // The write is to a row of the range or after it.
  void RecordFor(Range* range, std::string_view row, SequenceNumber sequence)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The range that has or touches the row; null if there is none.
  Range* Touching(std::string_view row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MarkUsed(Range* range) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The range that has the row and that the read may use; null if there is none.
  Range* Usable(const View& view, std::string_view row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The range that has the rows before `end`, empty for all, and that the read may use; null if
  // there is none.
  Range* UsableBefore(const View& view, std::string_view end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // There is a range.
  Range* LeastWorth() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds to the range those that the read may use and that begin in it or at its end, and removes
  // the others inside of it. It may move.
  void Absorb(const View& view, Range* range) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The last that the writer has begun, or that was in the tablet before. On a cache line of its
  // own: it changes with every write.
  alignas(64) std::atomic<SequenceNumber> last_written_{0};
  alignas(64) std::atomic<bool> is_watching_{false};  // there is a range
  std::atomic<uint64_t> skips_{0};

  mutable Mutex mutex_;
  std::vector<Range> ranges_ ABSL_GUARDED_BY(mutex_);
  uint64_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_EMPTY_ROWS_H_
