// An encoded SSTableInfo, as stored in METADATA and in the properties of a file:
//
//   u8 version (5); u64 identity, fixed; then varints: file number, size, smallest and largest
//   sequence, smallest and largest timestamp (zigzag), entries, cell, column and row deletions, raw
//   bytes; then the smallest and the largest key, each with its length first; then the number of
//   families, and for each its name, length first, and its bytes; then the time of the oldest
//   deletion (zigzag); then u8 flags (1: it is full, 2: it was ingested), no others; if it was
//   ingested, then the number that it has in itself, and what is added to its sequence numbers
//   (zigzag).
//
// Earlier versions have no flags: version 4 is of files that were ingested, version 3 of others.
// Version 2 does not have the time of the deletion, version 1 no families either.
//
// The log record, SSTable block or properties block around it has the checksum. Worked example: a
// file 2 of 3 bytes without entries begins 05 | 8 bytes of identity | 02 03 00 00 ...
#include "sstable/sstable_info.h"

#include "absl/status/status.h"

#include "base/coding.h"
#include "base/strings.h"

namespace bigtable {
namespace {
constexpr uint8_t kVersion = 5;
constexpr uint8_t kVersionOfIngestedFiles = 4;
constexpr uint8_t kVersionWithoutDeletionTime = 2;
constexpr uint8_t kVersionWithoutFamilies = 1;

constexpr uint8_t kFull = 1;
constexpr uint8_t kIngested = 2;
}  // namespace

void SSTableInfo::EncodeTo(std::string* out) const {
  out->push_back(static_cast<char>(kVersion));
  AppendFixed64(out, identity);
  AppendVarint64(out, file_number);
  AppendVarint64(out, size);
  AppendVarint64(out, min_sequence);
  AppendVarint64(out, max_sequence);
  AppendVarint64(out, ZigZag(min_timestamp));
  AppendVarint64(out, ZigZag(max_timestamp));
  AppendVarint64(out, entries);
  AppendVarint64(out, cell_deletions);
  AppendVarint64(out, column_deletions);
  AppendVarint64(out, row_deletions);
  AppendVarint64(out, raw_bytes);
  AppendLengthPrefixed(out, smallest_key);
  AppendLengthPrefixed(out, largest_key);
  AppendVarint64(out, families.size());
  for (const FamilyBytes& family : families) {
    AppendLengthPrefixed(out, family.name);
    AppendVarint64(out, family.bytes);
  }
  AppendVarint64(out, ZigZag(oldest_deletion));
  out->push_back(static_cast<char>((is_full ? kFull : 0) | (ingested.has_value() ? kIngested : 0)));
  if (!ingested.has_value()) return;
  AppendVarint64(out, ingested->file_number);
  AppendVarint64(out, ZigZag(ingested->sequence_shift));
}

absl::StatusOr<SSTableInfo> SSTableInfo::Decode(std::string_view bytes) {
  Decoder decoder(bytes);
  const uint8_t version = decoder.Byte();
  if (version > kVersion) {
    return absl::FailedPreconditionError(Cat("the description of an SSTable has version ", version,
                                             "; this program knows version ", kVersion));
  }
  SSTableInfo info;
  info.identity = decoder.Fixed64();
  info.file_number = decoder.Varint();
  info.size = decoder.Varint();
  info.min_sequence = decoder.Varint();
  info.max_sequence = decoder.Varint();
  info.min_timestamp = UnZigZag(decoder.Varint());
  info.max_timestamp = UnZigZag(decoder.Varint());
  info.entries = decoder.Varint();
  info.cell_deletions = decoder.Varint();
  info.column_deletions = decoder.Varint();
  info.row_deletions = decoder.Varint();
  info.raw_bytes = decoder.Varint();
  info.smallest_key = decoder.LengthPrefixed();
  info.largest_key = decoder.LengthPrefixed();
  if (version > kVersionWithoutFamilies) {
    for (uint64_t n = decoder.Varint(); decoder.ok() && n > 0; --n) {
      FamilyBytes& family = info.families.emplace_back();
      family.name = decoder.LengthPrefixed();
      family.bytes = decoder.Varint();
    }
  }
  if (version > kVersionWithoutDeletionTime) info.oldest_deletion = UnZigZag(decoder.Varint());
  const uint8_t flags_of_version = version == kVersionOfIngestedFiles ? kIngested : 0;
  const uint8_t flags = version == kVersion ? decoder.Byte() : flags_of_version;
  info.is_full = (flags & kFull) != 0;
  if ((flags & kIngested) != 0) {
    const uint64_t number = decoder.Varint();
    info.ingested = {.file_number = number, .sequence_shift = UnZigZag(decoder.Varint())};
  }
  const bool has_known_flags = (flags & ~(kFull | kIngested)) == 0;
  if (version == 0 || !has_known_flags || !decoder.ok() || !decoder.at_end()) {
    return absl::DataLossError(
        Cat("the description of an SSTable does not decode: ", Quoted(bytes)));
  }
  return info;
}

}  // namespace bigtable
