// Selects the SSTables of a locality group to compact next, and how: one interface, which the
// engine's policies and those of users implement. A program registers its policies under names
// before it opens a database, and a schema chooses one for each locality group
// (LocalityGroup::compaction_policy):
//
//   // Merges the two oldest runs.
//   class MergeOldest final : public bigtable::CompactionPolicy {
//    public:
//     std::optional<bigtable::CompactionPick> Pick(const bigtable::GroupSummary& group) override {
//       if (group.runs.size() < 8) return std::nullopt;
//       return bigtable::CompactionPick{.first = group.runs.size() - 2, .count = 2};
//     }
//   };
//
//   absl::Status s = bigtable::RegisterCompactionPolicy(
//       "merge_oldest",
//       [](const bigtable::LocalityGroup&) { return std::make_unique<MergeOldest>(); });
//   schema.locality_groups["pages"] = {.compaction_policy = "merge_oldest"};
//
// No policy changes what a read returns: a pick that could is refused (CompactionPick).
#ifndef BIGTABLE_COMPACTION_POLICY_H_
#define BIGTABLE_COMPACTION_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/export.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"

namespace bigtable {

// Of a file that tablets share, since a split or because they have written it together, `bytes`,
// `entries` and `deletions` are estimates of this tablet's part; the rest is of the whole file.
struct FileSummary {
  uint64_t number = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
  uint64_t deletions = 0;  // of these
  // The range of its keys. Opaque: compare them, as in `a.smallest_key <= b.largest_key`. Valid
  // during the call of Pick.
  std::string_view smallest_key = {};
  std::string_view largest_key = {};
  // When its entries were written: the sequence numbers of their mutations.
  uint64_t min_sequence = 0;
  uint64_t max_sequence = 0;
  // The largest timestamp of its entries; -1 if none has one.
  int64_t max_timestamp = -1;
  // It has deletions of columns, families or rows: they affect cells of any age, in older files.
  bool has_wide_deletions = false;
  // It ended because it had reached the size at which files end, or because its index and filter
  // took as much memory as those of a file that is being written may take. If it is written again
  // with the same options, it becomes no larger.
  bool is_full = false;
  // The bytes of the files of the next older run whose key ranges overlap its own.
  uint64_t overlap_bytes = 0;
  // When its oldest deletion was written, or a little earlier: a file that was merged has the
  // oldest one of its inputs, even if that deletion has taken effect. By the clock of the database
  // (DatabaseOptions::clock). After a crash, that of a deletion that was only in the log may be
  // much earlier. The infinite future: it has no deletion.
  absl::Time oldest_deletion = absl::InfiniteFuture();
  // Reads of a single row that have searched this file since it was opened, and how many of them
  // found nothing of their row there: its filter was wrong, or it has none. One call in 64 is
  // counted, 64 times.
  uint64_t row_reads = 0;
  uint64_t useless_row_reads = 0;
  // A compaction that runs reads it, or writes files next to it: a pick that needs the file has to
  // wait. Only with CompactionPolicy::MostCompactions.
  bool is_compacting = false;
};

// The row of a smallest or largest key of a file, for CompactionPick::rows; the key itself if it is
// none of this engine.
BIGTABLE_EXPORT std::string RowOfKey(std::string_view key);

// Files whose key ranges do not overlap.
struct RunSummary {
  uint64_t bytes = 0;
  // An estimate of the bytes that a merge of all runs would free because of this run: entries that
  // it overwrites and deletes in older runs, and its own expired entries.
  uint64_t garbage_bytes = 0;
  std::vector<FileSummary> files = {};  // in key order
};

// The runs of a locality group in one tablet. If a file cannot be read, its run is left out until
// Database::Resume, and the runs that are newer, and those that are older, are shown apart.
struct GroupSummary {
  std::vector<RunSummary> runs = {};  // from new to old
  std::string table = {};
  std::string locality_group = {};
  RowRange rows = {};  // of the tablet
  // The clock of the database, and the last mutation that is visible.
  absl::Time now = absl::UnixEpoch();
  uint64_t sequence = 0;
  // The oldest snapshot that is held, those of streams and transactions included; `sequence` if
  // there is none. A merge keeps what mutations after it have deleted or overwritten.
  uint64_t oldest_snapshot = std::numeric_limits<uint64_t>::max();
  // What the last pick that was carried out has left here (CompactionPick::state).
  std::string state = {};
  // A cell with a timestamp before this one is past the age limit of its family, whichever of the
  // group's families that is. The smallest number if a family has no such rule.
  int64_t expired_before = 0;
  // The usual size of a flush, and DatabaseOptions::target_file_size.
  uint64_t flush_size = 0;
  uint64_t target_file_size = 0;
  // The last of `runs` is the oldest of the group.
  bool reaches_oldest = true;
};

// What a flush or a compaction writes, where it is to differ from the options of the locality
// group. The bounds are those of LocalityGroup. What is not set is as the group has it. A file that
// moves to another run without being rewritten, as no other input has rows of its range, keeps its
// own.
struct CompactionOutput {
  std::optional<Compression> compression = {};
  std::optional<int> compression_level = {};
  std::optional<size_t> block_size = {};
  std::optional<FilterKind> filter = {};
  std::optional<int> filter_bits = {};
  // Bytes at which a file ends, instead of DatabaseOptions::target_file_size; 64 KiB to 1 TiB.
  std::optional<uint64_t> file_size = {};

  friend bool operator==(const CompactionOutput&, const CompactionOutput&) = default;
};

// A policy's pick. Only adjacent runs may be merged: a run whose age is between two others may hide
// entries of the older one.
//
// A pick that breaks a rule is refused without effect. It counts as a failed compaction: the info
// log and DatabaseStatistics::failing_work describe it, WaitUntilQuiet returns it, writers do not
// wait for it, and the policy is asked again after a pause of 50 ms that grows to ten seconds.
// Everything else goes on.
struct CompactionPick {
  enum class Kind : uint8_t {
    // Merges the runs [first, first + count) into one: two or more. With `files`, only these files
    // of the runs, at least one of them not in the oldest run, and those that share a row with one
    // of them, directly or through another such file; the others stay in their runs.
    //
    // With count 1: joins two or more `files` of one run that are next to each other, and of which
    // none is full. They are written again, with files that share a row with one of them, and at
    // most one file of the output is not full. Without `rows`, and by one thread.
    kMerge,
    // Takes `files`, one or more, of run `first`, and merges them into run first + 1. Files of both
    // that share a row with them are merged with them.
    kPush,
    // Removes `files` without reading them: only files in which every cell has expired, and whose
    // deletions hide nothing that has not.
    kDrop,
    // Does nothing, but calls Pick again once `delay` has passed, even if nothing changes. Every
    // policy is asked every ten seconds, so a longer delay has no effect.
    kWait,
  };
  // The most bytes of `state` and of `reason`.
  static constexpr size_t kMostState = 4 << 10;
  static constexpr size_t kMostReason = 256;
  static constexpr int kMostThreads = 64;
  // A shorter delay counts as this one.
  static constexpr absl::Duration kLeastDelay = absl::Milliseconds(10);

  Kind kind = Kind::kMerge;
  size_t first = 0;
  size_t count = 0;
  std::vector<uint64_t> files = {};  // numbers; for kMerge none are all of the runs
  // For kMerge and kPush: only these rows of the files. A file that reaches across an end is cut
  // there: what it has outside is written again, into a file of its own run.
  RowRange rows = {};
  absl::Duration delay = {};     // for kWait: more than zero
  CompactionOutput output = {};  // for kMerge and kPush
  // Why: shown in the info log and in CompactionEvent::policy_reason.
  std::string reason = {};
  // Replaces GroupSummary::state, with the compaction: both take effect, or neither. The halves of
  // a split tablet have the state of the whole, a merged tablet that of its right part. Of several
  // compactions at a time, the last to end decides. Not for kWait.
  std::optional<std::string> state = {};
  // For kMerge and kPush: how many threads write the output, 1 to kMostThreads, each of them a
  // range of the rows. They are chosen so that all read about the same, and are fewer if there
  // would be less than a mebibyte for each. They are besides DatabaseOptions::compaction_threads;
  // what they write takes effect together. RocksDB calls them subcompactions.
  int threads = 1;

  friend bool operator==(const CompactionPick&, const CompactionPick&) = default;
};

// There is an object for each locality group of each tablet, for as long as a server has the tablet
// and the group's options do not change. It may remember what it has computed. What is to survive a
// restart, or a move of the tablet to another server, belongs into CompactionPick::state.
//
// Pick and MostCompactions run on a background thread, one call at a time in each database, while
// the engine holds the lock of its background work; the other functions run on any thread, of
// another object too. So all of them only compute: they return within about a millisecond, and do
// not call the database or wait for another thread. They may read what the program owns, under a
// lock that is held briefly. What one of them throws counts as a bad pick: nothing is compacted,
// and a new object is asked later.
class BIGTABLE_EXPORT CompactionPolicy {
 public:
  static constexpr int kMostCompactions = 64;

  virtual ~CompactionPolicy() = default;
  // The next compaction; nullopt if none is needed. Called when runs, files or the schema have
  // changed, and every ten seconds, but not while MostCompactions() compactions of the group run.
  // `group` has at least one run. When it returns a pick, it is called again after that compaction:
  // so it must return nullopt, or kWait, at some time.
  virtual std::optional<CompactionPick> Pick(const GroupSummary& group) = 0;
  // What the next flush writes. Asked of an object that was made for this flush, on the thread that
  // flushes, with the runs that there are, perhaps none. If it throws, or the options are out of
  // their bounds, the flush has those of the locality group, and the info log says so.
  virtual CompactionOutput FlushOutput(const GroupSummary& /*group*/) { return {}; }
  // Whether files in which every cell has expired are dropped unread, before Pick is called.
  virtual bool DropsExpired() const { return true; }
  // How many compactions of the group may run at a time, 1 to kMostCompactions, as far as there are
  // DatabaseOptions::compaction_threads. With more than one, Pick is called while others run, with
  // the runs as they are before these take effect. Two can run together if they have no run in
  // common, or if all rows of the one (from the first to the last of its files) are before those of
  // the other. A pick that has to wait for one that runs is no error: it is forgotten, and the
  // policy is asked again when one has ended. FileSummary::is_compacting tells which files to leave
  // alone. After a compaction of the group has failed, they run one at a time until one succeeds.
  virtual int MostCompactions() const { return 1; }
  // Whether the policy keeps the number of runs low, so that writers should wait while it is high.
  // A policy that returns true must come to rest with fewer than 24 runs, or writers are slowed for
  // ever.
  virtual bool BoundsRuns() const { return true; }
};

// Makes the policy of a locality group, whose options (as compaction_factor) it may use. Not null.
// The rules for a policy's functions hold.
using CompactionPolicyFactory =
    std::function<std::unique_ptr<CompactionPolicy>(const LocalityGroup& group)>;

// Registers a policy for all databases of the process, until it ends. InvalidArgument unless the
// name has 1 to 64 printable ASCII characters without space and colon; AlreadyExists if it is
// taken. The policies of CompactionStyle are registered as "size_tiered", "leveled", "fifo" and
// "none". Thread-safe.
BIGTABLE_EXPORT absl::Status RegisterCompactionPolicy(std::string_view name,
                                                      CompactionPolicyFactory factory);

// The names of all registered policies, sorted. Thread-safe.
BIGTABLE_EXPORT std::vector<std::string> CompactionPolicyNames();

// A policy by its name, for one that extends another. `group` has its options. InvalidArgument
// lists the known names if there is none with this name. Thread-safe.
BIGTABLE_EXPORT absl::StatusOr<std::unique_ptr<CompactionPolicy>> MakeCompactionPolicy(
    std::string_view name, const LocalityGroup& group = {});

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_POLICY_H_
