// The shortcuts of the engine: each is a faster way to an answer that a slower way also gives.
// Every shortcut can be switched off at run time, so that a test can compare both ways
// (tests/model/shortcuts_test.cc). BIGTABLE_SHORTCUTS=off in the environment switches all of them
// off for a whole process. They are always compiled in, so the tests run the released code.
//
// A new shortcut is added here. It is looked up when a read, a scan, a merge, a flush or a
// compaction is set up, or when a memtable or a file is created or opened; never for each entry. It
// may change how long an answer takes, and what statistics and traces report, but not the answer.
//
// Optimizations that are not listed here, because there is no slower way, or the caller chooses:
// * Mapped and positional reads, the scan cache, kinds of filters, in-memory groups, compaction
//   styles: options. Verifying a block only once: ReadOptions::verify_checksums.
// * The location cache: the only way to find a tablet. A tablet itself reports that it is
//   superseded.
// * The order of slots in a memtable's node; group commit of one; hazard-free pins of versions:
//   structures with only one way.
// * RowStorage::Keep, SameBytes, Less, short copies, prefetching: they compare or copy exactly the
//   bytes they are given, and have tests of their own (tests/base).
// * Flushing several tablets together, starting to write files early: the resulting files are the
//   same.
//
// Thread-safe.
#ifndef BIGTABLE_BASE_SHORTCUTS_H_
#define BIGTABLE_BASE_SHORTCUTS_H_

#include <atomic>
#include <cstdint>

namespace bigtable {

enum class Shortcut : uint32_t {
  // --- client: looked up by each call ---
  kOneMutation,  // Apply of one mutation; else it is grouped by tablet like a batch
  kOneTablet,    // a stream over one tablet reads its version; else it takes a snapshot
  kSingleRow,    // one row is read by ReadSources::AddRow; else as a range
  kScanCache,    // rows come from the scan cache, if there is one
  kRowStorage,   // a Row reuses the storage of the one before it; else new memory
  kFilterRows,   // rows that a filter's row regex cannot match are not read
  // --- tablet: looked up by each read ---
  kEnterFirst,       // CellCursor::EnterFirst
  kEnterSameColumn,  // CellCursor::EnterSameColumn
  kPlainKeys,        // keys without escaped bytes are views of the encoded ones
  kCountVersions,    // MaxVersions counts until it meets a deletion; else replays histories
  kSeekForward,      // entries that are not returned are skipped by a seek; else one by one
  kPassNewer,        // cells newer than the filter passes are skipped by a seek; else one by one
  kLocalityGroups,   // groups that cannot pass the filter are not read
  kKeyRanges,        // runs without a key in the range are not read
  kTimeRanges,       // files without a timestamp that passes the filter are not read
  kFileFilters,      // files that cannot contain the row or column are not read
  kRowLocations,     // a row index returns the block of a row; else the block index is searched
  kReadAhead,        // the next blocks are requested ahead of time
  kRequests,         // blocks of several rows or files are requested together; else one by one
  kEmptyRows,        // rows that an earlier read found empty are skipped (tablet/empty_rows.h)
  kKeptMerges,       // contributions that an earlier read has merged; else all are merged again
  // --- tablet: looked up by each write ---
  kPinnedValues,  // values stay in the log's segment; else the memtable copies them
  // --- compaction: looked up by each flush, compaction, or seek ---
  kSharedFiles,   // small flushes and merges of several tablets write common files
  kMovedFiles,    // files that overlap no other input are moved to the output
  kMergeOne,      // the last child of a merge moves without comparing others
  kMergeInOrder,  // a child that has moved is inserted in order; else all are sorted
  kMergeForward,  // a forward seek does not move children that are already there
  // --- memtable: looked up when it is created ---
  kMemtableNumbers,   // keys are compared as numbers first
  kMemtablePrefix,    // the numbers begin after the expected prefix of keys
  kMemtableLearning,  // numbers of groups of keys are learned
  kMemtableSplice,    // an insertion begins at the position of the last one
  kMemtableTogether,  // places of a group of insertions are searched together; else each for itself
  // --- sstable: looked up when a cursor seeks a row ---
  kRowBlocks,  // blocks after the row are not read; else the next entry ends it
  // --- sstable: looked up when a file is opened, or a block is read ---
  kWholeIndex,      // index and filter are in memory if the budget has room; else read in parts
  kIndexNumbers,    // the block index is searched by key numbers
  kBlockCache,      // blocks are looked up in the block cache, and inserted
  kPastMapping,     // missing blocks of a mapped file are read past it, for a row or a long scan
  kResidencyTrust,  // the kernel is not queried for mapped files that were in memory so far
  kCount,
};

// A bit for each shortcut that is off.
[[gnu::visibility("hidden")]] extern std::atomic<uint64_t> shortcuts_off;

// The shortcuts that may be used.
class ShortcutSet {
 public:
  explicit ShortcutSet(uint64_t off) : off_(off) {}
  bool Has(Shortcut shortcut) const { return (off_ >> static_cast<uint32_t>(shortcut) & 1) == 0; }

 private:
  uint64_t off_;
};

// The current set: one relaxed load.
inline ShortcutSet Shortcuts() {
  return ShortcutSet(shortcuts_off.load(std::memory_order_relaxed));
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_SHORTCUTS_H_
