// A position in an SSTable. One thread uses it at a time; it is cheap to make, needs no heap as
// long as keys are short, and may be used for any number of seeks.
//
// * A Seek reads at most one data block: the index knows the last key of each. A SeekBefore may
//   read two. SeekRow, and Next behind it, read the blocks that the row is in, and no others.
// * value_owner() is the block when the value is in one of the block cache or of the cursor's own;
//   null when it is in the mapped file or in a table in memory, which live as long as the SSTable.
#ifndef BIGTABLE_SSTABLE_SSTABLE_CURSOR_H_
#define BIGTABLE_SSTABLE_SSTABLE_CURSOR_H_

#include <cstddef>
#include <string_view>

#include "base/entry_cursor.h"
#include "base/ref_counted.h"
#include "cache/block.h"
#include "sstable/block_cursor.h"
#include "sstable/read_settings.h"
#include "sstable/sstable.h"

namespace bigtable {

class SSTableCursor final : public EntryCursor {
 public:
  // `table` outlives the cursor, and the values that it shows without an owner.
  explicit SSTableCursor(const SSTable* table, ReadSettings settings = {})
      : table_(table), settings_(settings) {}

  // `target` must not be a view into this cursor's own key.
  void Seek(std::string_view target) override;
  // For a row of which SSTable::LookUpRow says that it begins in this place, or is not in the
  // table: begins to bring its block from memory, for SeekRow.
  void PlanRow(RowIndex::Location location) {
    planned_ = location;
    has_plan_ = true;
    table_->blocks_->Prefetch(location.block);
  }
  // As Seek, for the prefix of a row, in the place that was planned, if any. From then on the
  // cursor is of that row alone: behind it, or if the row is not in the table, it may not be valid
  // although there are other entries.
  void SeekRow(std::string_view row_prefix);
  void SeekBefore(std::string_view target) override;
  void SeekToFirst() override;
  void SeekToLast() override;
  void Next() override;
  bool FailedBehind(std::string_view row_prefix) const override;

 private:
  static constexpr size_t kNoBlock = SIZE_MAX;

  // Whether the table is open, or could be opened. A row that begins before the table does not need
  // it: as if its first block could not be read.
  bool IsOpen() { return table_->is_open() || Open(); }
  [[gnu::cold, gnu::noinline]] bool Open();
  // `ahead`: of who comes from the block before.
  bool Load(size_t block, BlockReader::ReadAhead* ahead = nullptr);
  // Shows what block_ stands at, or fails if it met a damaged block.
  void Show();
  void ReadAhead() const;
  bool IsBehindRow(size_t block) const;
  void FailDamaged();
  void Reset();

  const SSTable* const table_;
  const ReadSettings settings_;
  size_t index_ = kNoBlock;   // of the block in block_
  size_t failed_ = kNoBlock;  // the block that could not be read; none: another error, or no error
  BlockReader::ReadAhead ahead_;
  RowIndex::Location planned_;
  bool has_plan_ = false;
  size_t row_prefix_size_ = 0;  // of the row that the cursor is of alone; 0: of all rows
  size_t row_block_ = 0;        // the block that this row begins in
  Ref<Block> owner_;            // of its bytes; null when they live as long as the table
  BlockCursor block_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_SSTABLE_CURSOR_H_
