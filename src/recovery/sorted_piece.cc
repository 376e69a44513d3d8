#include "recovery/sorted_piece.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/try_allocate.h"

namespace bigtable {
namespace {

// Whether (table, row) is before all rows of the range.
bool IsBefore(uint64_t table_id, std::string_view row, const SortedRange& range) {
  if (table_id != range.table_id) return table_id < range.table_id;
  return row < range.first_row;
}

bool IsBehind(uint64_t table_id, std::string_view row, const SortedRange& range) {
  if (table_id != range.table_id) return table_id > range.table_id;
  return range.end_row.has_value() && row >= *range.end_row;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SortedPiece>> SortedPiece::Open(FileSystem* file_system,
                                                               std::string path,
                                                               const SortedPieceSummary& summary,
                                                               FileSystem::ReadMode mode) {
  auto file = file_system->NewRandomAccessFile(path, mode);
  if (absl::IsNotFound(file.status())) {
    return absl::DataLossError(Cat(path, " at offset 0: this piece of a sorted log is missing"));
  }
  BT_RETURN_IF_ERROR(file.status());
  std::unique_ptr<SortedPiece> piece(new SortedPiece(std::move(path), summary, *std::move(file)));
  BT_RETURN_IF_ERROR(piece->LoadIndex());
  return piece;
}

absl::Status SortedPiece::LossAt(uint64_t offset, std::string_view what) const {
  return absl::DataLossError(Cat(path_, " at offset ", offset, ": ", what));
}

absl::Status SortedPiece::LoadIndex() {
  const uint64_t size = file_->size();
  if (size != summary_.size) {
    return LossAt(std::min(size, summary_.size), Cat("the file has ", size, " bytes, but ",
                                                     summary_.size, " according to the manifest"));
  }
  const uint64_t footer_at =
      size - SortedPieceFooter::kSize;  // the manifest allows no shorter piece
  std::string buffer;
  std::string_view bytes;
  BT_RETURN_IF_ERROR(Load(footer_at, SortedPieceFooter::kSize, &buffer, &bytes));
  BT_ASSIGN_OR_RETURN(const SortedPieceFooter footer,
                      DecodeSortedPieceFooter(bytes, path_, size, summary_.footer_checksum));
  const uint64_t index_at = footer_at - footer.index_size;
  BT_RETURN_IF_ERROR(Load(index_at, footer.index_size, &index_, &bytes));
  if (Checksum(bytes) != footer.index_checksum) {
    return LossAt(index_at, "the index has a wrong checksum");
  }
  auto blocks = ParseSortedIndex(bytes, index_at);
  if (!blocks.has_value()) return LossAt(index_at, "the index is not valid");
  blocks_ = *std::move(blocks);
  return absl::OkStatus();
}

absl::Status SortedPiece::Load(uint64_t offset, uint64_t n, std::string* buffer,
                               std::string_view* bytes) const {
  if (const char* mapping = file_->mapping(); mapping != nullptr) {
    file_->WillNeed(offset, n);
    BT_RETURN_IF_ERROR(file_->Populate(offset, n));
    *bytes = {mapping + offset, n};
    return absl::OkStatus();
  }
  if (!TryResize(buffer, n)) return NoMemoryFor(path_, Cat("a block at offset ", offset), n);
  BT_RETURN_IF_ERROR(file_->Read(offset, n, buffer->data()));
  *bytes = *buffer;
  return absl::OkStatus();
}

absl::Status SortedPiece::LoadBlock(const SortedBlock& block, std::string* buffer,
                                    std::string_view* bytes) const {
  BT_RETURN_IF_ERROR(Load(block.offset, block.size, buffer, bytes));
  if (Checksum(*bytes) != block.checksum) {
    return LossAt(block.offset, "the block has a wrong checksum");
  }
  return absl::OkStatus();
}

absl::Status SortedPiece::Read(const SortedRange& range, SortedRecordCallback callback,
                               uint64_t* bytes_read) const {
  if (summary_.largest <= range.after) return absl::OkStatus();
  // The index has the last record of each block, so the first block that may have a record of the
  // range is the first that does not end before it.
  auto block = std::partition_point(blocks_.begin(), blocks_.end(), [&](const SortedBlock& b) {
    return IsBefore(b.table_id, b.row, range);
  });
  std::string buffer;
  std::string_view bytes;
  SortedRecord record;
  for (; block != blocks_.end(); ++block) {
    BT_RETURN_IF_ERROR(LoadBlock(*block, &buffer, &bytes));
    *bytes_read += block->size;
    for (Decoder records(bytes); !records.at_end();) {
      if (!ParseSortedRecord(&records, &record)) {
        return LossAt(block->offset, "the block does not end with a record");
      }
      if (IsBefore(record.table_id, record.row, range)) continue;
      if (IsBehind(record.table_id, record.row, range)) return absl::OkStatus();
      if (record.sequence > range.after) BT_RETURN_IF_ERROR(callback(record));
    }
  }
  return absl::OkStatus();
}

absl::Status SortedPiece::Verify(uint64_t* bytes_read) const {
  std::string buffer;
  std::string_view bytes;
  for (const SortedBlock& block : blocks_) {
    BT_RETURN_IF_ERROR(LoadBlock(block, &buffer, &bytes));
    *bytes_read += block.size;
  }
  return absl::OkStatus();
}

}  // namespace bigtable
