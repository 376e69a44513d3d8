// The shortcuts of the engine: each a second, faster way to an answer that a slower way gives too.
// Every one can be switched off at run time, so that a test can ask for the same thing both ways
// (tests/client/shortcuts_test.cc); BIGTABLE_SHORTCUTS=off in the environment switches all of them
// off for a whole process. They are always compiled in: what is tested is what runs.
//
// A new shortcut is added here, and is looked up when a read, a scan, a merge, a flush or a
// compaction is set up, or a memtable or a file is made or opened; never for an entry. It may
// change how long an answer takes, and what statistics and traces say of the work, but no answer.
//
// What is fast and not here, because there is no slower way beside it, or the callers choose:
// * Mapped and positional reads, the scan cache, filters' kinds, in-memory groups, compaction
//   styles: options. That a block is verified once: ReadOptions::verify_checksums.
// * The location cache: the only way to a tablet. A tablet says itself that it is superseded.
// * The order of slots in a memtable's node; group commit of one; hazard-free pins of versions:
//   structures with one way through.
// * RowStorage::Keep, SameBytes, Less, short copies, prefetching: they compare or copy the very
//   bytes that they are asked about, and have tests of their own (tests/base).
// * Flushing several tablets together, starting to write files early: the same files come out.
//
// Thread-safe.
#ifndef BIGTABLE_BASE_SHORTCUTS_H_
#define BIGTABLE_BASE_SHORTCUTS_H_

#include <atomic>
#include <cstdint>

namespace bigtable {

enum class Shortcut : uint32_t {
  // --- client: looked up by each call ---
  kOneMutation,  // Apply of one mutation; else it is grouped by tablets as a batch is
  kOneTablet,    // a stream over one tablet reads its version; else it takes a snapshot
  kSingleRow,    // one row is looked for by ReadSources::AddRow; else as a range
  kScanCache,    // rows come from the scan cache, if there is one
  kRowStorage,   // a Row has the storage of the one before it; else new memory
  // --- tablet: looked up by each read ---
  kEnterFirst,       // CellCursor::EnterFirst
  kEnterSameColumn,  // CellCursor::EnterSameColumn
  kPlainKeys,        // keys in which nothing is escaped are views of the encoded ones
  kCountVersions,    // MaxVersions counts as long as it meets nothing deleted; else plays histories
  kSeekForward,      // what is left out is passed by a seek; else entry by entry
  kPassNewer,        // cells newer than the filter lets through are passed by a seek; else judged
  kLocalityGroups,   // groups that cannot pass the filter are not read
  kKeyRanges,        // runs that have no key of the range are not read
  kTimeRanges,       // files that have no timestamp that passes the filter are not read
  kFileFilters,      // files that cannot have the row or column are not read
  kRowLocations,  // a row index says where in a file the row is; else the block index is searched
  kReadAhead,     // what comes next is asked for ahead of time
  // --- tablet: looked up by each write ---
  kPinnedValues,  // values stay in the log's segment; else the memtable copies them
  // --- compaction: looked up by each compaction, or seek ---
  kMovedFiles,    // files that overlap no other become part of the output as they are
  kUnclipped,     // inputs that lie within the tablet are not clipped
  kMergeOne,      // the last of a merge's children is moved on without looking at others
  kMergeInOrder,  // a child that has moved on is sorted in; else all are sorted
  kMergeForward,  // a seek ahead leaves children where they are that are there already
  kFences,        // a run's files are searched by numbers of their keys; when the run is made
  // --- memtable: looked up when it is made ---
  kMemtableNumbers,  // keys are compared as numbers first
  kMemtablePrefix,   // the numbers begin behind what keys are expected to begin with
  kMemtableSplice,   // an insertion begins at the place of the last one
  // --- sstable: looked up when a row is sought, ---
  kRowBlocks,  // blocks behind the row that is read are not; else the next entry ends it
  // --- when a file is opened, or a block read that is not at hand ---
  kIndexNumbers,    // the block index is searched by numbers of its keys
  kBlockCache,      // blocks are looked up in the block cache, and left there
  kPastMapping,     // of a mapped file what is not in memory is read by position, past the mapping
  kResidencyTrust,  // of a mapped file that was in memory so far the kernel is not asked
  kCount,
};

// A bit for each that is off.
[[gnu::visibility("hidden")]] extern std::atomic<uint64_t> shortcuts_off;

// Those that may be taken.
class ShortcutSet {
 public:
  explicit ShortcutSet(uint64_t off) : off_(off) {}
  bool Has(Shortcut shortcut) const { return (off_ >> static_cast<uint32_t>(shortcut) & 1) == 0; }

 private:
  uint64_t off_;
};

// At present: one relaxed load.
inline ShortcutSet Shortcuts() {
  return ShortcutSet(shortcuts_off.load(std::memory_order_relaxed));
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_SHORTCUTS_H_
