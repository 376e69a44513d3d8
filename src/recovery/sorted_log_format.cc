#include "recovery/sorted_log_format.h"

#include <algorithm>
#include <charconv>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/checksum.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kPieceMagic = "BTsorted";
constexpr std::string_view kManifestMagic = "BTsortlg";

constexpr size_t kFooterBeforeChecksum = SortedPieceFooter::kSize - 16;

constexpr size_t kManifestVersionAt = 8;
constexpr size_t kManifestChecksumAt = 16;
constexpr size_t kManifestBodyAt = 24;
constexpr size_t kManifestHeaderSize = 56;
constexpr size_t kManifestPieceSize = 40;

absl::Status LossAt(std::string_view path, uint64_t offset, std::string_view what) {
  return absl::DataLossError(Cat(path, " at offset ", offset, ": ", what));
}

absl::Status NewerFormat(std::string_view path, uint32_t version) {
  return absl::FailedPreconditionError(Cat(path, ": this part of a sorted log has format version ",
                                           version, "; this program knows version ",
                                           kSortedLogFormatVersion));
}

absl::Status OlderFormat(std::string_view path, uint64_t offset, uint32_t version) {
  return LossAt(path, offset,
                Cat("this part of a sorted log has format version ", version,
                    ", of an earlier program; the log must be sorted again"));
}

uint64_t ManifestChecksum(std::string_view bytes) {
  // The bytes before the checksum seed the checksum of the bytes after it.
  return Checksum(bytes.substr(kManifestBodyAt), LoadFixed64(bytes.data() + kManifestVersionAt));
}

// False if a piece, or the order of two pieces, is impossible.
bool PiecesAreSound(const std::vector<SortedPieceSummary>& pieces) {
  SequenceNumber last = 0;
  for (const SortedPieceSummary& piece : pieces) {
    if (piece.size < SortedPieceFooter::kSize || piece.records == 0) return false;
    if (piece.smallest <= last || piece.largest < piece.smallest) return false;
    last = piece.largest;
  }
  return true;
}

}  // namespace

void AppendSortedRecord(std::string* out, const SortedRecord& record) {
  out->push_back(static_cast<char>(record.type));
  AppendVarint64(out, record.sequence);
  ABSL_ASSERT((record.batch == 0 || record.batch >= record.sequence) &&
              "a batch ends with its last record");
  AppendVarint64(out, record.batch == 0 ? 0 : record.batch - record.sequence + 1);
  AppendVarint64(out, record.table_id);
  const bool has_row = !record.row.empty();
  ABSL_ASSERT((!has_row || (record.row.data() >= record.payload.data() &&
                            record.row.data() + record.row.size() <=
                                record.payload.data() + record.payload.size())) &&
              "the row is a part of the payload");
  AppendVarint64(out, has_row ? static_cast<uint64_t>(record.row.data() - record.payload.data())
                              : uint64_t{0});
  AppendVarint64(out, record.row.size());
  AppendLengthPrefixed(out, record.payload);
}

bool ParseSortedRecord(Decoder* block, SortedRecord* record) {
  record->type = static_cast<RecordType>(block->Byte());
  record->sequence = block->Varint();
  const uint64_t batch = block->Varint();
  record->table_id = block->Varint();
  const uint64_t row_offset = block->Varint();
  const uint64_t row_size = block->Varint();
  record->payload = block->LengthPrefixed();
  if (!block->ok() || row_offset > record->payload.size() ||
      row_size > record->payload.size() - row_offset ||
      (batch != 0 && batch - 1 > UINT64_MAX - record->sequence)) {
    return false;
  }
  record->batch = batch == 0 ? 0 : record->sequence + (batch - 1);
  record->row = record->payload.substr(row_offset, row_size);
  return true;
}

void AppendSortedIndexEntry(std::string* out, const SortedBlock& block) {
  AppendVarint64(out, block.table_id);
  AppendLengthPrefixed(out, block.row);
  AppendVarint64(out, block.size);
  AppendFixed64(out, block.checksum);
}

std::optional<std::vector<SortedBlock>> ParseSortedIndex(std::string_view index,
                                                         uint64_t blocks_size) {
  std::vector<SortedBlock> blocks;
  Decoder decoder(index);
  uint64_t offset = 0;
  while (!decoder.at_end()) {
    SortedBlock block;
    block.table_id = decoder.Varint();
    block.row = decoder.LengthPrefixed();
    block.offset = offset;
    block.size = decoder.Varint();
    block.checksum = decoder.Fixed64();
    if (!decoder.ok() || block.size == 0 || block.size > blocks_size - offset) return {};
    offset += block.size;
    blocks.push_back(block);
  }
  if (blocks.empty() || offset != blocks_size) return {};
  return blocks;
}

uint64_t AppendSortedPieceFooter(std::string* out, const SortedPieceFooter& footer) {
  const size_t begin = out->size();
  AppendFixed64(out, footer.index_size);
  AppendFixed64(out, footer.index_checksum);
  AppendFixed64(out, footer.records);
  AppendFixed64(out, footer.smallest);
  AppendFixed64(out, footer.largest);
  AppendFixed32(out, kSortedLogFormatVersion);
  AppendFixed32(out, SortedPieceFooter::kSize);
  const uint64_t checksum = Checksum(std::string_view(*out).substr(begin));
  AppendFixed64(out, checksum);
  out->append(kPieceMagic);
  return checksum;
}

absl::StatusOr<SortedPieceFooter> DecodeSortedPieceFooter(std::string_view bytes,
                                                          std::string_view path, uint64_t file_size,
                                                          uint64_t expected_checksum) {
  const uint64_t at = file_size - std::min<uint64_t>(file_size, SortedPieceFooter::kSize);
  if (bytes.size() != SortedPieceFooter::kSize || file_size < bytes.size()) {
    return LossAt(path, at, "the footer is truncated");
  }
  if (!bytes.ends_with(kPieceMagic)) {
    return LossAt(path, at, "this is not the footer of a piece of a sorted log");
  }
  Decoder decoder(bytes);
  SortedPieceFooter footer;
  footer.index_size = decoder.Fixed64();
  footer.index_checksum = decoder.Fixed64();
  footer.records = decoder.Fixed64();
  footer.smallest = decoder.Fixed64();
  footer.largest = decoder.Fixed64();
  const uint32_t version = decoder.Fixed32();
  const uint32_t size = decoder.Fixed32();
  const uint64_t checksum = Checksum(bytes.substr(0, kFooterBeforeChecksum));
  if (decoder.Fixed64() != checksum) return LossAt(path, at, "the footer has a wrong checksum");
  if (checksum != expected_checksum) {
    return LossAt(path, at, "this is not the piece that the manifest names");
  }
  if (version > kSortedLogFormatVersion) return NewerFormat(path, version);
  if (version < kSortedLogFormatVersion) return OlderFormat(path, at, version);
  if (size != SortedPieceFooter::kSize || footer.index_size > at) {
    return LossAt(path, at, "the footer has impossible values");
  }
  return footer;
}

std::string EncodeSortedManifest(const SortedManifest& manifest) {
  std::string out(kManifestMagic);
  AppendFixed32(&out, kSortedLogFormatVersion);
  AppendFixed32(&out, static_cast<uint32_t>(manifest.pieces.size()));
  AppendFixed64(&out, 0);  // the checksum
  AppendFixed64(&out, manifest.last_sequence);
  AppendFixed64(&out, manifest.log_records);
  AppendFixed64(&out, manifest.log_segments);
  AppendFixed64(&out, manifest.clean ? 1 : 0);
  for (const SortedPieceSummary& piece : manifest.pieces) {
    AppendFixed64(&out, piece.size);
    AppendFixed64(&out, piece.footer_checksum);
    AppendFixed64(&out, piece.records);
    AppendFixed64(&out, piece.smallest);
    AppendFixed64(&out, piece.largest);
  }
  StoreFixed64(out.data() + kManifestChecksumAt, ManifestChecksum(out));
  return out;
}

absl::StatusOr<SortedManifest> DecodeSortedManifest(std::string_view bytes, std::string_view path) {
  if (!bytes.starts_with(kManifestMagic)) {
    return LossAt(path, 0, "this is not the manifest of a sorted log");
  }
  if (bytes.size() < kManifestBodyAt)
    return LossAt(path, bytes.size(), "the manifest is truncated");
  if (LoadFixed64(bytes.data() + kManifestChecksumAt) != ManifestChecksum(bytes)) {
    return LossAt(path, kManifestChecksumAt, "the manifest has a wrong checksum");
  }
  Decoder decoder(bytes.substr(kManifestVersionAt));
  const uint32_t version = decoder.Fixed32();
  if (version > kSortedLogFormatVersion) return NewerFormat(path, version);
  if (version < kSortedLogFormatVersion) return OlderFormat(path, kManifestVersionAt, version);
  const uint32_t pieces = decoder.Fixed32();
  if (bytes.size() != kManifestHeaderSize + uint64_t{pieces} * kManifestPieceSize) {
    return LossAt(path, kManifestVersionAt, "the manifest has an impossible size");
  }
  decoder.Fixed64();  // the checksum
  SortedManifest manifest;
  manifest.last_sequence = decoder.Fixed64();
  manifest.log_records = decoder.Fixed64();
  manifest.log_segments = decoder.Fixed64();
  manifest.clean = decoder.Fixed64() != 0;
  manifest.pieces.resize(pieces);
  for (SortedPieceSummary& piece : manifest.pieces) {
    piece.size = decoder.Fixed64();
    piece.footer_checksum = decoder.Fixed64();
    piece.records = decoder.Fixed64();
    piece.smallest = decoder.Fixed64();
    piece.largest = decoder.Fixed64();
  }
  if (!PiecesAreSound(manifest.pieces)) {
    return LossAt(path, kManifestHeaderSize, "the manifest describes impossible pieces");
  }
  return manifest;
}

}  // namespace bigtable
