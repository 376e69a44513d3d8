#include "convert/chunk_merger.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "bigtable/row_mutation.h"

#include "base/status.h"
#include "base/strings.h"
#include "rows/row_storage.h"

namespace bigtable::convert {
namespace {

// Bytes of a row, with some for each cell: four times what Cloud Bigtable has.
constexpr uint64_t kMaxRowSize = uint64_t{1} << 30;
constexpr uint64_t kCellOverhead = 128;

template <typename... Parts>
absl::Status BadStream(const Parts&... parts) {
  return absl::InternalError(Cat("the server's stream of rows breaks the protocol: ", parts...));
}

}  // namespace

absl::StatusOr<bool> ChunkMerger::Add(Chunk* chunk, Row* row) {
  if (chunk->reset_row()) {
    BT_RETURN_IF_ERROR(Reset(*chunk));
    return false;
  }
  if (is_in_value_) {
    const bool has_more = !chunk->row_key().empty() || chunk->has_family_name() ||
                          chunk->has_qualifier() || chunk->timestamp_micros() != 0 ||
                          chunk->labels_size() > 0;
    if (has_more) return BadStream("a chunk within a value of row ", Quoted(key_), " has a cell");
  } else {
    if (key_.empty()) BT_RETURN_IF_ERROR(Begin(*chunk));
    BT_RETURN_IF_ERROR(BeginCell(chunk));
  }
  BT_RETURN_IF_ERROR(AddValue(chunk));
  if (!chunk->commit_row()) return false;
  if (is_in_value_) return BadStream("row ", Quoted(key_), " is committed within a value");
  OwnedCells::MoveTo(std::move(cells_), key_, row);
  last_row_ = std::exchange(key_, std::string());
  return true;
}

absl::Status ChunkMerger::Begin(const Chunk& chunk) {
  if (chunk.row_key().empty()) return BadStream("a row begins without a key");
  if (chunk.row_key().size() > RowMutation::kMaxRowSize) {
    return BadStream("a row key has ", chunk.row_key().size(), " bytes");
  }
  BT_RETURN_IF_ERROR(CheckOrder(chunk.row_key()));
  if (!WasAsked(chunk.row_key())) {
    return BadStream("row ", Quoted(chunk.row_key()), " was not asked for");
  }
  if (!chunk.has_family_name()) {
    return BadStream("row ", Quoted(chunk.row_key()), " begins without a family");
  }
  key_ = chunk.row_key();
  row_size_ = 0;
  cells_ = MakeRef<OwnedCells>();
  return absl::OkStatus();
}

absl::Status ChunkMerger::BeginCell(Chunk* chunk) {
  if (!chunk->row_key().empty() && chunk->row_key() != key_) {
    return BadStream("row ", Quoted(chunk->row_key()), " begins within row ", Quoted(key_));
  }
  if (chunk->has_family_name() && !chunk->has_qualifier()) {
    return BadStream("a family of row ", Quoted(key_), " begins without a qualifier");
  }
  if (chunk->timestamp_micros() < 0) {
    return BadStream("a timestamp of row ", Quoted(key_), " is ", chunk->timestamp_micros());
  }
  if (chunk->labels_size() > 1) {
    return BadStream("a cell of row ", Quoted(key_), " has ", chunk->labels_size(), " labels");
  }
  row_size_ += kCellOverhead + chunk->qualifier().value().size();
  OwnedCells::Owned cell;
  cell.family = chunk->has_family_name() ? std::move(*chunk->mutable_family_name()->mutable_value())
                                         : cells_->cells.back().family;
  cell.qualifier = chunk->has_qualifier() ? std::move(*chunk->mutable_qualifier()->mutable_value())
                                          : cells_->cells.back().qualifier;
  cell.timestamp = chunk->timestamp_micros();
  if (chunk->labels_size() == 1) cell.label = std::move(*chunk->mutable_labels(0));
  cells_->cells.push_back(std::move(cell));
  return absl::OkStatus();
}

absl::Status ChunkMerger::AddValue(Chunk* chunk) {
  std::string& value = cells_->cells.back().value;
  const auto error = [&](uint64_t size, uint64_t whole) {
    return BadStream("a value of row ", Quoted(key_), " has ", size, " bytes, and should have ",
                     whole);
  };
  if (chunk->value_size() < 0) return error(chunk->value().size(), 0);
  const auto whole = static_cast<uint64_t>(chunk->value_size());
  if (is_in_value_ && whole != 0 && whole != value_size_) return error(whole, value_size_);
  const uint64_t size = value.size() + chunk->value().size();
  row_size_ += chunk->value().size();
  if (row_size_ > kMaxRowSize) {
    return BadStream("row ", Quoted(key_), " has more than ", kMaxRowSize, " bytes");
  }
  if (whole != 0) {
    // Grows with what has come: the size may be wrong, and then nothing should be reserved for it.
    value_size_ = whole;
    if (size > whole) return error(size, whole);
  } else if (is_in_value_ && size != value_size_) {
    return error(size, value_size_);
  }
  if (value.empty()) {
    value = std::move(*chunk->mutable_value());
  } else {
    value += chunk->value();
  }
  is_in_value_ = whole != 0;
  return absl::OkStatus();
}

absl::Status ChunkMerger::Reset(const Chunk& chunk) {
  if (key_.empty()) return BadStream("there is no row to reset");
  const bool has_more = (!chunk.row_key().empty() && chunk.row_key() != key_) ||
                        chunk.has_family_name() || chunk.has_qualifier() ||
                        chunk.timestamp_micros() != 0 || chunk.labels_size() > 0 ||
                        !chunk.value().empty() || chunk.value_size() != 0;
  if (has_more) return BadStream("a chunk that resets row ", Quoted(key_), " has a cell");
  key_.clear();
  cells_ = {};
  is_in_value_ = false;
  return absl::OkStatus();
}

absl::Status ChunkMerger::AddLastScanned(std::string_view row_key) {
  if (!key_.empty()) return BadStream("last_scanned_row_key comes within row ", Quoted(key_));
  const bool goes_back =
      !last_row_.empty() && (reverse_ ? row_key > last_row_ : row_key < last_row_);
  if (goes_back) {
    return BadStream("last_scanned_row_key ", Quoted(row_key), " comes after row ",
                     Quoted(last_row_));
  }
  last_row_ = row_key;
  return absl::OkStatus();
}

absl::Status ChunkMerger::End() const {
  if (key_.empty()) return absl::OkStatus();
  return BadStream("it ends within row ", Quoted(key_));
}

absl::Status ChunkMerger::CheckOrder(std::string_view row_key) const {
  if (last_row_.empty() || (reverse_ ? row_key < last_row_ : row_key > last_row_)) {
    return absl::OkStatus();
  }
  return BadStream("row ", Quoted(row_key), " comes after row ", Quoted(last_row_));
}

bool ChunkMerger::WasAsked(std::string_view row_key) const {
  // The last range that begins at the row or before it.
  const auto after = std::upper_bound(
      ranges_->begin(), ranges_->end(), row_key,
      [](std::string_view key, const RowRange& range) { return key < range.begin(); });
  return after != ranges_->begin() && std::prev(after)->Contains(row_key);
}

}  // namespace bigtable::convert
