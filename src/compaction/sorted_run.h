// SSTables whose key ranges do not overlap, in key order. They are read like one SSTable, and count
// as one. Plain value; the cursor is for one thread at a time.
#ifndef BIGTABLE_COMPACTION_SORTED_RUN_H_
#define BIGTABLE_COMPACTION_SORTED_RUN_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"

#include "base/entry_cursor.h"
#include "base/ref_counted.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"

namespace bigtable {

struct SortedRun {
  SortedRun() = default;
  explicit SortedRun(std::vector<Ref<SSTable>> f) : files(std::move(f)) {}

  std::vector<Ref<SSTable>> files;  // not empty

  std::string_view smallest_key() const { return files.front()->info().smallest_key; }
  std::string_view largest_key() const { return files.back()->info().largest_key; }
  uint64_t bytes() const;
  uint64_t entries() const;
  uint64_t deletions() const;

  // The index of the first file whose largest key is at or after `key`; files.size() if none is.
  size_t FindFile(std::string_view key) const;
  // Not counting the files.
  size_t memory() const { return files.capacity() * sizeof(Ref<SSTable>); }
  // Makes SplitsRows exact, for runs that are read often. Valid until `files` changes.
  void FindSplitRows();
  // Whether a row may continue from one file to the next.
  bool SplitsRows() const { return splits_rows_; }

 private:
  bool splits_rows_ = true;
};

// Puts runs together that share no row: they are read as one.
class JoinedRuns {
 public:
  bool empty() const { return files_.empty(); }
  // False, and nothing is added, if a row can be both in a file of `run` and in one that was added
  // before. (Comparing keys is not enough: those of two versions of one cell differ.) Costs a
  // search for each file of `run`.
  bool Add(const SortedRun& run);
  // All that were added, as one run; then none are left.
  SortedRun Take();

 private:
  bool SharesRow(const SSTableInfo& info) const;

  absl::btree_map<std::string_view, Ref<SSTable>> files_;  // by their smallest keys
};

class RunCursor final : public EntryCursor {
 public:
  // `run` outlives the cursor.
  RunCursor(const SortedRun* run, ReadSettings settings) : run_(run), settings_(settings) {}
  RunCursor(std::unique_ptr<const SortedRun> run, ReadSettings settings)
      : own_run_(std::move(run)), run_(own_run_.get()), settings_(settings) {}

  void Request(std::string_view target) override;
  void Seek(std::string_view target) override;
  void SeekBefore(std::string_view target) override;
  void SeekToFirst() override;
  void SeekToLast() override;
  void Next() override;
  bool FailedBehind(std::string_view row_prefix) const override;

  // The file of the cursor's position, or the file that it could not read; null before the first
  // seek.
  const SSTable* file() const {
    return index_ < run_->files.size() ? run_->files[index_].get() : nullptr;
  }

 private:
  size_t FileFor(std::string_view target) const {
    return run_->files.size() == 1 ? 0 : run_->FindFile(target);
  }
  // Moves the cursor to file `index`. False, and invalid, if there is no such file.
  bool Open(size_t index);
  // Takes the entry of the file's cursor.
  void Show();

  const std::unique_ptr<const SortedRun> own_run_;
  const SortedRun* const run_;
  const ReadSettings settings_;
  size_t index_ = SIZE_MAX;
  std::optional<SSTableCursor> cursor_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_SORTED_RUN_H_
