// A position in an SSTable. One thread at a time. It is cheap to create, needs no heap as long as
// keys are short, and may be used for any number of seeks.
//
// * A Seek reads one data block; two if the target is behind the last entry of the first, but not
//   behind its key in the index (index_writer.h). A SeekBefore may read two as well. SeekRow and
//   the calls of Next after it read only the blocks of the row.
// * value_owner() is the block if the value is in a block of the block cache or of the cursor; it
//   is null if the value is in the mapped file or in an in-memory table, which live as long as the
//   SSTable.
#ifndef BIGTABLE_SSTABLE_SSTABLE_CURSOR_H_
#define BIGTABLE_SSTABLE_SSTABLE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/entry_cursor.h"
#include "base/ref_counted.h"
#include "blocks/block_cursor.h"
#include "blocks/read_settings.h"
#include "cache/block.h"
#include "sstable/file_parts.h"
#include "sstable/sstable.h"

namespace bigtable {

class SSTableCursor final : public EntryCursor {
 public:
  // `table` outlives the cursor, and the values that it returns without an owner.
  explicit SSTableCursor(const SSTable* table, ReadSettings settings = {})
      : table_(table), settings_(settings), shift_(table->sequence_shift()) {}

  const SSTable* table() const { return table_; }

  // `target` must not be a view into this cursor's own key.
  void Request(std::string_view target) override;
  void Seek(std::string_view target) override;
  // For a row that, according to SSTable::LookUpRow, begins in this block or is not in the table:
  // prefetches the block for SeekRow.
  void PlanRow(RowIndex::Location location) {
    planned_ = location;
    has_plan_ = true;
    table_->opened_->blocks.Prefetch(location.block);
  }
  // Like Seek, for the prefix of a row, in the planned block if there is one. Afterwards the cursor
  // is limited to that row: after its end, or if the row is not in the table, the cursor may be
  // invalid although there are other entries.
  void SeekRow(std::string_view row_prefix);
  // Request, for SeekRow.
  void RequestRow(std::string_view row_prefix);
  // Ends that limit, which other seeks keep. Call it before a seek.
  void EndRowLimit() {
    row_prefix_size_ = 0;
    DropSlice();
  }
  void SeekBefore(std::string_view target) override;
  void SeekToFirst() override;
  void SeekToLast() override;
  void Next() override;
  bool FailedBehind(std::string_view row_prefix) const override;

 private:
  static constexpr size_t kNoBlock = SIZE_MAX;

  // Whether the table is open, or could be opened. If it cannot be opened, the error counts as one
  // of its first block, so a row before the table is not affected.
  bool IsOpen() { return table_->is_open() || Open(); }
  [[gnu::cold, gnu::noinline]] bool Open();
  // `ahead`: that of a cursor that comes from the block before, or null. `row`: see BlockReader.
  bool Load(size_t block, BlockReader::ReadAhead* ahead = nullptr, RowInBlock* row = nullptr);
  // The same, for the row to which the cursor is going to be limited.
  bool LoadForRow(size_t block, std::string_view row_prefix);
  // The block in which a seek finds the target; table_->blocks() if there is none, or after an
  // error.
  size_t Find(std::string_view target) {
    if (table_->parts_ == nullptr) [[likely]]
      return table_->opened_->index.Find(target);
    return FindInParts(target);
  }
  [[gnu::cold, gnu::noinline]] size_t FindInParts(std::string_view target);
  // Of a table whose index is in parts: makes part_ that of the block, and reads the block.
  bool LoadPart(size_t part);
  absl::Status ReadInParts(size_t block, std::string_view* bytes);
  // The index that has a block, and the number of the block in it. Requires HasIndexOf.
  struct InIndex {
    const BlockIndex& index;
    size_t block;
  };
  bool HasIndexOf(size_t block) const {
    return table_->parts_ == nullptr || (part_ && part_->Has(block));
  }
  InIndex IndexOf(size_t block) const {
    if (table_->parts_ == nullptr) [[likely]]
      return {table_->opened_->index, block};
    ABSL_ASSERT(HasIndexOf(block) && "the part was loaded");
    return {part_->index(), block - part_->first_block()};
  }
  // BlockIndex::RowContinues. True also where it is not known: in the middle of another part.
  bool RowContinues(size_t block) const {
    if (!HasIndexOf(block)) return RowContinuesInParts(block);
    const InIndex in = IndexOf(block);
    return in.index.RowContinues(in.block);
  }
  [[gnu::cold, gnu::noinline]] bool RowContinuesInParts(size_t block) const;
  // Before a move to an entry that may be of another row.
  void DropSlice() {
    if (is_slice_) [[unlikely]]
      index_ = kNoBlock;
    is_slice_ = false;
  }
  // `row_prefix`: that of the only row that is read, or empty.
  void Request(std::string_view target, std::string_view row_prefix);
  // ReadSettings::first_request, without what is behind the end of the range.
  uint64_t FirstRequest(size_t block) const;
  // Seek in a block that the index has named, or in none.
  void SeekIn(size_t block, std::string_view target);
  // In block_, which has an entry at or after the target, or is followed by it, unless it is a
  // slice.
  void SeekHere(std::string_view target);
  // For a target behind the last entry of the block that the index has named.
  [[gnu::cold, gnu::noinline]] void SeekBehind(std::string_view target);
  // Returns the position of block_, or fails if that met a damaged block.
  void Show();
  void ReadAhead() const;
  bool IsBehindRow(size_t block) const;
  bool SliceEndsRow() const;
  void FailDamaged();
  void Reset();
  // Of an ingested file. From here on key_ is the key of the current entry as the database has it;
  // and the first key that, in the file, is not before `target`.
  [[gnu::cold, gnu::noinline]] void ShiftKey();
  [[gnu::cold, gnu::noinline]] std::string_view InFile(std::string_view target);

  const SSTable* const table_;
  const ReadSettings settings_;
  const int64_t shift_;       // SSTable::sequence_shift
  size_t index_ = kNoBlock;   // of the block in block_
  bool is_slice_ = false;     // which has only the entries of the row to which it is limited
  size_t failed_ = kNoBlock;  // the block that could not be read; none: another error, or no error
  BlockReader::ReadAhead ahead_;
  RowIndex::Location planned_;
  bool has_plan_ = false;
  size_t requested_ = kNoBlock;  // the block that the next Seek reads; none: it was not looked up
  size_t requested_end_ = 0;     // BlockReader::Request
  bool has_requested_ = false;   // ReadSettings::first_request
  size_t row_prefix_size_ = 0;   // of the row to which the cursor is limited; 0: not limited
  size_t row_block_ = 0;         // the block in which this row begins
  Ref<IndexPart> part_;          // of an index in parts: that of the block, or null
  Ref<Block> owner_;             // of the block's bytes; null if they live as long as the table
  BlockCursor block_;
  std::string shifted_;  // see ShiftKey and InFile
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_SSTABLE_CURSOR_H_
