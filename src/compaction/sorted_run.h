// A row of SSTables whose key ranges do not overlap, in key order: it is read like one SSTable, and
// counts as one. Plain value; the cursor is for one thread at a time.
#ifndef BIGTABLE_COMPACTION_SORTED_RUN_H_
#define BIGTABLE_COMPACTION_SORTED_RUN_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/entry_cursor.h"
#include "base/key_fences.h"
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
  // Makes FindFile fast and SplitsRows exact, until `files` is changed: for runs that are searched
  // often.
  void MakeFences();
  // Without the files.
  size_t memory() const { return files.capacity() * sizeof(Ref<SSTable>) + fences_.memory(); }
  // Whether a row may go on from one file to the next.
  bool SplitsRows() const { return splits_rows_; }

 private:
  KeyFences fences_;  // the files' largest keys; as many as there are files, or not made
  bool splits_rows_ = true;
};

// Whether no row can be in a file of `a` and in one of `b`. (Keys alone do not tell: those of two
// versions of one cell are different.)
bool AreDisjoint(const SortedRun& a, const SortedRun& b);
// One run of the files of both, which must be disjoint.
SortedRun Joined(const SortedRun& a, const SortedRun& b);

class RunCursor final : public EntryCursor {
 public:
  // `run` outlives the cursor.
  RunCursor(const SortedRun* run, ReadSettings settings) : run_(run), settings_(settings) {}

  void Seek(std::string_view target) override;
  void SeekBefore(std::string_view target) override;
  void SeekToFirst() override;
  void SeekToLast() override;
  void Next() override;
  bool FailedBehind(std::string_view row_prefix) const override;

  // The file that the cursor stands in, or that it could not read; null: none yet.
  const SSTable* file() const {
    return index_ < run_->files.size() ? run_->files[index_].get() : nullptr;
  }

 private:
  // Puts the cursor into file `index`; false, and invalid, if there is no such file.
  bool Open(size_t index);
  // Shows what the file's cursor stands at.
  void Show();

  const SortedRun* const run_;
  const ReadSettings settings_;
  size_t index_ = SIZE_MAX;
  std::optional<SSTableCursor> cursor_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_SORTED_RUN_H_
