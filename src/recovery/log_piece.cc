#include "recovery/log_piece.h"

#include <algorithm>
#include <memory>

#include "absl/base/macros.h"
#include "absl/container/flat_hash_map.h"

#include "base/checksum.h"
#include "base/compare.h"
#include "base/status.h"

namespace bigtable {

void LogPiece::Clear(uint64_t size) {
  payloads_.clear();
  entries_.clear();
  // Memory that a single large record needed is freed.
  if (payloads_.capacity() > size) payloads_.shrink_to_fit();
  payloads_.reserve(size);
}

void LogPiece::Add(const SortedRecord& record) {
  ABSL_ASSERT((entries_.empty() || entries_.back().sequence < record.sequence) &&
              "records are added in the order of the log");
  ABSL_ASSERT((record.batch == 0 || (record.batch >= record.sequence &&
                                     record.batch - record.sequence <= kMaxLeftOfBatch)) &&
              "a batch ends with its last record, and has room in its entry");
  const uint64_t batch = record.batch == 0 ? 0 : record.batch - record.sequence + 1;
  const auto row_offset = record.row.empty() ? 0 : record.row.data() - record.payload.data();
  entries_.push_back({.table_id = record.table_id,
                      .row_number = 0,
                      .sequence = record.sequence,
                      .payload_offset = payloads_.size(),
                      .payload_size = static_cast<uint32_t>(record.payload.size()),
                      .row_offset = static_cast<uint32_t>(row_offset),
                      .row_size = static_cast<uint32_t>(record.row.size()),
                      .batch = static_cast<uint32_t>(batch) & 0xffffff,
                      .type = record.type});
  payloads_.append(record.payload);
}

void LogPiece::NumberRows() {
  absl::flat_hash_map<uint64_t, std::string_view> prefixes;  // by table
  for (const Entry& entry : entries_) {
    const std::string_view row = RowOf(entry);
    const auto [prefix, is_first] = prefixes.try_emplace(entry.table_id, row);
    if (!is_first) prefix->second = row.substr(0, CommonPrefix(prefix->second, row));
  }
  for (Entry& entry : entries_) {
    entry.row_number = KeyNumber(RowOf(entry).substr(prefixes[entry.table_id].size()));
  }
}

void LogPiece::Sort() {
  NumberRows();
  std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
    if (a.table_id != b.table_id) return a.table_id < b.table_id;
    if (a.row_number != b.row_number) return a.row_number < b.row_number;
    const int order = RowOf(a).compare(RowOf(b));
    return order != 0 ? order < 0 : a.sequence < b.sequence;
  });
}

SortedRecord LogPiece::RecordOf(const Entry& entry) const {
  return {.type = entry.type,
          .sequence = entry.sequence,
          .table_id = entry.table_id,
          .row = RowOf(entry),
          .payload = {payloads_.data() + entry.payload_offset, entry.payload_size},
          .batch = entry.batch == 0 ? 0 : entry.sequence + entry.batch - 1};
}

absl::StatusOr<SortedPieceSummary> LogPiece::Write(FileSystem* file_system,
                                                   const std::string& path) {
  ABSL_ASSERT(!entries_.empty() && "a piece has a record");
  SortedPieceFooter footer{
      .records = entries_.size(),
      .smallest = entries_.front().sequence,  // records were added in this order
      .largest = entries_.back().sequence};
  Sort();
  BT_ASSIGN_OR_RETURN(const auto file, file_system->NewWritableFile(path));
  SortedPieceSummary summary{
      .records = footer.records, .smallest = footer.smallest, .largest = footer.largest};
  std::string block;
  std::string index;
  for (const Entry& entry : entries_) {
    AppendSortedRecord(&block, RecordOf(entry));
    if (block.size() < kSortedBlockSize && &entry != &entries_.back()) continue;
    AppendSortedIndexEntry(&index, {.table_id = entry.table_id,
                                    .row = RowOf(entry),
                                    .size = block.size(),
                                    .checksum = Checksum(block)});
    BT_RETURN_IF_ERROR(file->Append(block));
    summary.size += block.size();
    block.clear();
  }
  footer.index_size = index.size();
  footer.index_checksum = Checksum(index);
  summary.footer_checksum = AppendSortedPieceFooter(&index, footer);
  summary.size += index.size();
  BT_RETURN_IF_ERROR(file->Append(index));
  BT_RETURN_IF_ERROR(file->Close());
  return summary;
}

}  // namespace bigtable
