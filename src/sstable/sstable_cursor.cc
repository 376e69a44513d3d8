#include "sstable/sstable_cursor.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

#include "base/entry_key.h"
#include "base/prefetch.h"
#include "base/sequence.h"
#include "base/shortcuts.h"
#include "base/status.h"

namespace bigtable {

void SSTableCursor::Reset() {
  valid_ = false;
  if (!ahead_.is_new()) ahead_ = {};
  if (!status_.ok()) [[unlikely]] {
    status_ = absl::OkStatus();
    index_ = kNoBlock;
    failed_ = kNoBlock;
  }
}

// The current block is not read again, unless checksums are to be verified each time.
bool SSTableCursor::Load(size_t block, BlockReader::ReadAhead* ahead, RowInBlock* row) {
  if (block == index_ && !settings_.verify_checksums && HasIndexOf(block)) return true;
  std::string_view bytes;
  index_ = kNoBlock;
  is_slice_ = false;
  absl::Status status =
      table_->parts_ == nullptr
          ? table_->opened_->blocks.Read(block, settings_, ahead, &bytes, &owner_, row)
          : ReadInParts(block, &bytes);
  if (!status.ok()) [[unlikely]] {
    failed_ = block;
    Fail(std::move(status));
    return false;
  }
  index_ = block;
  if (!block_.Open(bytes)) [[unlikely]] {
    failed_ = block;
    FailDamaged();
    return false;
  }
  return true;
}

bool SSTableCursor::LoadPart(size_t part) {
  if (part_ && part_->first_block() == table_->parts_->root()[part].first_block) return true;
  absl::Status status = table_->parts_->ReadIndex(part, settings_, &part_);
  if (status.ok()) return true;
  part_ = {};
  failed_ = table_->parts_->root()[part].first_block;
  Fail(std::move(status));
  return false;
}

size_t SSTableCursor::FindInParts(std::string_view target) {
  const IndexRoot& root = table_->parts_->root();
  const size_t part = root.Find(target);
  if (part == root.size() || !LoadPart(part)) return table_->blocks();
  // If it ends before the target, the next one begins behind it.
  return part_->first_block() + part_->index().Find(target);
}

bool SSTableCursor::RowContinuesInParts(size_t block) const {
  const IndexRoot& root = table_->parts_->root();
  const IndexRoot::Part part = root[root.PartOf(block)];
  return part.first_block + part.blocks != block + 1 || part.row_continues;
}

absl::Status SSTableCursor::ReadInParts(size_t block, std::string_view* bytes) {
  if (!HasIndexOf(block)) {
    BT_RETURN_IF_ERROR(
        table_->parts_->ReadIndex(table_->parts_->root().PartOf(block), settings_, &part_));
  }
  const InIndex in = IndexOf(block);
  return table_->opened_->blocks.ReadAt(in.index.handle(in.block), settings_, bytes, &owner_);
}

bool SSTableCursor::LoadForRow(size_t block, std::string_view row_prefix) {
  RowInBlock row{row_prefix};
  const bool may_limit = Shortcuts().Has(Shortcut::kRowBlocks);
  if (!Load(block, nullptr, may_limit ? &row : nullptr)) return false;
  is_slice_ = row.is_slice;
  return true;
}

bool SSTableCursor::Open() {
  absl::Status status = table_->EnsureOpen(settings_.limits);
  if (status.ok()) return true;
  failed_ = 0;
  Fail(std::move(status));
  return false;
}

inline void SSTableCursor::Show() {
  if (block_.valid()) [[likely]] {
    key_ = block_.key();
    if (shift_ != 0) [[unlikely]]
      ShiftKey();
    value_ = block_.value();
    value_owner_ = owner_.get();
    valid_ = true;
  } else if (block_.damaged()) {
    FailDamaged();
  } else {
    valid_ = false;
  }
}

// Entries of a file keep their order when the same is added to all of their sequence numbers.
void SSTableCursor::ShiftKey() {
  const SequenceNumber sequence = VersionOf(key_).sequence;
  shifted_.assign(key_);
  SetSequence(shifted_.data(), shifted_.size(),
              (sequence + static_cast<uint64_t>(shift_)) & kMaxSequence);
  key_ = shifted_;
}

std::string_view SSTableCursor::InFile(std::string_view target) {
  if (!IsWellFormed(target)) return target;  // the beginning of a key, without a sequence number
  const auto sequence = static_cast<int64_t>(VersionOf(target).sequence);
  const int64_t in_file =
      std::clamp(sequence - shift_, int64_t{0}, static_cast<int64_t>(kMaxSequence));
  shifted_.assign(target);
  SetSequence(shifted_.data(), shifted_.size(), static_cast<SequenceNumber>(in_file));
  if (in_file == sequence - shift_) return shifted_;
  // All entries of the file with this timestamp are newer than the target, or all are older.
  char* const rest = shifted_.data() + shifted_.size() - 4;  // the ordinal, and the kind
  std::fill_n(rest, 4, in_file == 0 ? '\xff' : '\0');
  return shifted_;
}

void SSTableCursor::FailDamaged() {
  const InIndex in = IndexOf(index_);
  Fail(table_->opened_->blocks.file()->Damaged(in.index.handle(in.block), "does not decode"));
}

// Whether all entries of this block are after the row to which the cursor is limited.
inline bool SSTableCursor::IsBehindRow(size_t block) const {
  return row_prefix_size_ > 0 && block > row_block_ && !RowContinues(block - 1);
}

// Whether this is a slice of a row that ends before the block does.
inline bool SSTableCursor::SliceEndsRow() const {
  return is_slice_ &&
         !table_->opened_->index.KeyBeginsWith(index_, block_.key().substr(0, row_prefix_size_));
}

void SSTableCursor::Request(std::string_view target) { Request(target, {}); }

void SSTableCursor::Request(std::string_view target, std::string_view row_prefix) {
  const bool is_first = !std::exchange(has_requested_, true);
  // Seek opens it, and reports errors. Parts of the index are read one after another.
  if (!table_->is_whole()) return;
  if (shift_ != 0) [[unlikely]]
    target = InFile(target);
  requested_ = table_->opened_->index.Find(target);
  if (requested_ == table_->opened_->index.size() || requested_ == index_ ||
      IsBehindRow(requested_))
    return;
  const uint64_t bytes = is_first ? FirstRequest(requested_) : 0;
  requested_end_ =
      table_->opened_->blocks.Request(requested_, bytes, row_prefix, settings_.overlapped);
}

uint64_t SSTableCursor::FirstRequest(size_t block) const {
  if (settings_.first_request == 0) return 0;
  const BlockIndex& index = table_->opened_->index;
  // The first row may be the last one of the block.
  const uint64_t bytes = settings_.first_request + index.handle(block).size;
  if (settings_.request_end.empty()) return bytes;
  const size_t last = std::min(index.Find(settings_.request_end), index.size() - 1);
  if (last < block) return 0;
  return std::min(bytes, index.handle(last).offset - index.handle(block).offset + 1);
}

void SSTableCursor::RequestRow(std::string_view row_prefix) {
  row_prefix_size_ = 0;
  DropSlice();
  if (has_plan_) {
    if (!table_->is_whole()) return;
    table_->opened_->blocks.Request(planned_.block, 0, row_prefix, settings_.overlapped);
  } else {
    Request(row_prefix, row_prefix);
  }
}

void SSTableCursor::Seek(std::string_view target) {
  bool reads_window = false;
  if (settings_.first_request > 0 && !has_requested_) {
    // No other source has its first blocks to read at the same time.
    reads_window = table_->is_open() && table_->opened_->blocks.ReadsWindows();
    if (!reads_window) Request(target);
    has_requested_ = true;
  }
  const size_t requested = std::exchange(requested_, kNoBlock);
  Reset();
  if (!IsOpen()) return;
  if (shift_ != 0) [[unlikely]]
    target = InFile(target);
  ahead_.requested_end = std::exchange(requested_end_, 0);
  const size_t block = requested != kNoBlock ? requested : Find(target);
  if (reads_window && block < table_->blocks()) ahead_.expected = FirstRequest(block);
  SeekIn(block, target);
}

void SSTableCursor::SeekIn(size_t block, std::string_view target) {
  if (block == table_->blocks() || IsBehindRow(block)) return;
  table_->opened_->blocks.Prefetch(block);
  if (!Load(block, ahead_.expected > 0 ? &ahead_ : nullptr)) return;
  SeekHere(target);
}

inline void SSTableCursor::SeekHere(std::string_view target) {
  block_.Seek(target);
  Show();
  Prefetch(value_);
  if (!valid_ && status_.ok()) [[unlikely]]
    SeekBehind(target);
}

// According to the index, the last key of the block is not before the target, or was shortened.
void SSTableCursor::SeekBehind(std::string_view target) {
  const InIndex in = IndexOf(index_);
  if (!in.index.IsShortened(in.block)) {
    if (!is_slice_) FailDamaged();
    return;
  }
  if (index_ + 1 == table_->blocks() || IsBehindRow(index_ + 1)) return;
  // The slice may be of another row than that in which the block ends.
  if (is_slice_ && !in.index.KeyBeginsWith(in.block, target.substr(0, row_prefix_size_))) return;
  if (!Load(index_ + 1)) return;
  block_.SeekToFirst();
  Show();
}

void SSTableCursor::SeekRow(std::string_view row_prefix) {
  row_prefix_size_ = 0;
  DropSlice();
  if (std::exchange(has_plan_, false)) {
    Reset();
    if (!LoadForRow(planned_.block, row_prefix)) return;
    block_.Seek(row_prefix);
    Show();
    Prefetch(value_);
  } else {
    const size_t requested = std::exchange(requested_, kNoBlock);
    requested_end_ = 0;
    Reset();
    if (!IsOpen()) return;
    const size_t block = requested != kNoBlock ? requested : Find(row_prefix);
    if (block == table_->blocks()) return;
    table_->opened_->blocks.Prefetch(block);
    if (!LoadForRow(block, row_prefix)) return;
    SeekHere(row_prefix);
  }
  if (Shortcuts().Has(Shortcut::kRowBlocks)) row_prefix_size_ = row_prefix.size();
  row_block_ = index_;
}

void SSTableCursor::SeekBefore(std::string_view target) {
  DropSlice();
  requested_ = kNoBlock;
  Reset();
  if (!IsOpen()) return;
  if (shift_ != 0) [[unlikely]]
    target = InFile(target);
  const size_t block = Find(target);
  if (block == table_->blocks()) {
    if (status_.ok()) SeekToLast();
    return;
  }
  if (!Load(block)) return;
  block_.SeekBefore(target);
  Show();
  if (valid_ || !status_.ok() || block == 0) return;
  if (!Load(block - 1)) return;
  block_.SeekToLast();
  Show();
}

void SSTableCursor::SeekToFirst() {
  DropSlice();
  requested_ = kNoBlock;
  Reset();
  if (!IsOpen() || table_->blocks() == 0 || !Load(0)) return;
  block_.SeekToFirst();
  Show();
}

void SSTableCursor::SeekToLast() {
  DropSlice();
  requested_ = kNoBlock;
  Reset();
  if (!IsOpen()) return;
  const size_t blocks = table_->blocks();
  if (blocks == 0 || !Load(blocks - 1)) return;
  block_.SeekToLast();
  Show();
}

bool SSTableCursor::FailedBehind(std::string_view row_prefix) const {
  if (failed_ == kNoBlock) return false;
  if (failed_ == 0) {
    const std::string_view first = table_->info().smallest_key;
    return row_prefix < first && !first.starts_with(row_prefix);
  }
  if (RowContinues(failed_ - 1)) return false;
  // The failed block begins with a later row than that in which the one before it ends. The index
  // has a key for that one which is before the prefix of this later row, also if it was shortened.
  // So a row that is not behind the key is before the failed block.
  if (HasIndexOf(failed_ - 1)) {
    const InIndex in = IndexOf(failed_ - 1);
    return in.index.KeyOf(in.block) >= row_prefix;
  }
  const IndexRoot& root = table_->parts_->root();  // it is the last block of another part
  return root.KeyOf(root.PartOf(failed_ - 1)) >= row_prefix;
}

// When sources are merged, others are often read before this value: the prefetch ends meanwhile. If
// blocks are adjacent in memory, this also prefetches the bytes after the value.
BIGTABLE_ONLY_PREFETCHES inline void SSTableCursor::ReadAhead() const {
  constexpr size_t kAhead = 1024;
  Prefetch(value_);
  if (owner_.get() != nullptr) return;  // a block by itself
  PrefetchFar({value_.data() + value_.size() + kAhead, std::min(value_.size(), kAhead)});
}

void SSTableCursor::Next() {
  ABSL_ASSERT(valid_ && "only a valid cursor moves on");
  if (row_prefix_size_ > 0 && !block_.MayShare(row_prefix_size_) &&
      (!block_.is_last() || IsBehindRow(index_ + 1) || SliceEndsRow())) {
    valid_ = false;  // the row has ended
    return;
  }
  block_.Next();
  if (block_.valid()) [[likely]] {
    key_ = block_.key();
    if (shift_ != 0) [[unlikely]]
      ShiftKey();
    value_ = block_.value();
    if (settings_.read_ahead) ReadAhead();
    return;
  }
  if (block_.damaged()) [[unlikely]] {
    FailDamaged();
    return;
  }
  valid_ = false;
  if (index_ + 1 == table_->blocks()) return;
  if (!Load(index_ + 1, settings_.read_ahead ? &ahead_ : nullptr)) return;
  block_.SeekToFirst();
  Show();
  if (!settings_.read_ahead) return;
  ReadAhead();
  if (index_ + 1 < table_->blocks()) table_->opened_->blocks.Prefetch(index_ + 1);
}

}  // namespace bigtable
