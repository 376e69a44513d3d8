#include "sstable/properties.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

enum Tag : uint64_t {
  kInfo = 1,
  kCompression = 2,
  kDataSize = 3,
  kBlocks = 4,
  kLargestBlock = 5,
  kFamily = 6,
  kFilter = 7,
  kIndexSize = 8,
  kDictionarySize = 9,
  kBytes = 10,
  kKindCounts = 11,
  kOwner = 13,
  kIndexParts = 14,
};

void AppendField(std::string* out, Tag tag, std::string_view bytes) {
  AppendVarint64(out, tag);
  AppendLengthPrefixed(out, bytes);
}

void AppendNumber(std::string* out, Tag tag, uint64_t number) {
  std::string bytes;
  AppendVarint64(&bytes, number);
  AppendField(out, tag, bytes);
}

// Reads one field. Returns false if its bytes are impossible.
bool DecodeField(uint64_t tag, Decoder* field, SSTableProperties* to) {
  switch (tag) {
    case kCompression:
      to->compression = static_cast<Compression>(field->Byte());
      return to->compression <= Compression::kZstdLongWindow;
    case kDataSize:
      to->data_size = field->Varint();
      return true;
    case kBlocks:
      to->blocks = field->Varint();
      return true;
    case kLargestBlock:
      to->largest_block = field->Varint();
      return to->largest_block <= UINT32_MAX;
    case kFamily: {
      const std::string_view name = field->LengthPrefixed();
      auto& family = to->families[std::string(name)];
      family.entries = field->Varint();
      family.bytes = field->Varint();
      return true;
    }
    case kFilter:
      to->filter = static_cast<FilterKind>(field->Byte());
      to->filter_probes = field->Varint();
      return to->filter <= FilterKind::kRowIndex;
    case kIndexSize:
      to->index_size = field->Varint();
      return to->index_size <= UINT32_MAX;
    case kIndexParts:
      to->index_parts = field->Varint();
      to->largest_index_part = field->Varint();
      return to->index_parts > 0 && to->largest_index_part <= to->index_size;
    case kDictionarySize:
      to->dictionary_size = field->Varint();
      return to->dictionary_size <= UINT32_MAX;
    case kBytes:
      to->key_bytes = field->Varint();
      to->value_bytes = field->Varint();
      return true;
    case kKindCounts:
      for (size_t kind = 1; kind < to->kinds.size() && !field->at_end(); ++kind) {
        to->kinds[kind] = field->Varint();
      }
      return true;
    case kOwner: {
      SSTableOwner& owner = to->owner.emplace();
      owner.table_id = field->Varint();
      owner.table = field->LengthPrefixed();
      const uint64_t group_id = field->Varint();
      owner.group_id = static_cast<uint32_t>(group_id);
      owner.group = field->LengthPrefixed();
      return group_id <= UINT32_MAX;
    }
    default:
      return true;
  }
}

}  // namespace

uint64_t SSTableProperties::Count(EntryCount as) const {
  uint64_t count = 0;
  for (size_t kind = 1; kind < kinds.size(); ++kind) {
    if (kEntryTraits[kind].counted_as == as) count += kinds[kind];
  }
  return count;
}

size_t SSTableProperties::memory() const {
  constexpr size_t kNode = 64;  // of a map, and the allocator's overhead
  size_t bytes = info.smallest_key.capacity() + info.largest_key.capacity();
  if (owner.has_value()) bytes += owner->table.capacity() + owner->group.capacity();
  for (const auto& [name, counts] : families) {
    bytes += kNode + sizeof counts + sizeof(std::string) + name.capacity();
  }
  return bytes;
}

void SSTableProperties::EncodeTo(std::string* out) const {
  std::string bytes;
  info.EncodeTo(&bytes);
  AppendField(out, kInfo, bytes);
  AppendField(out, kCompression, std::string(1, static_cast<char>(compression)));
  AppendNumber(out, kDataSize, data_size);
  AppendNumber(out, kBlocks, blocks);
  AppendNumber(out, kLargestBlock, largest_block);
  for (const auto& [name, counts] : families) {
    bytes.clear();
    AppendLengthPrefixed(&bytes, name);
    AppendVarint64(&bytes, counts.entries);
    AppendVarint64(&bytes, counts.bytes);
    AppendField(out, kFamily, bytes);
  }
  bytes.assign(1, static_cast<char>(filter));
  AppendVarint64(&bytes, filter_probes);
  AppendField(out, kFilter, bytes);
  AppendNumber(out, kIndexSize, index_size);
  AppendNumber(out, kDictionarySize, dictionary_size);
  bytes.clear();
  AppendVarint64(&bytes, key_bytes);
  AppendVarint64(&bytes, value_bytes);
  AppendField(out, kBytes, bytes);
  bytes.clear();
  for (size_t kind = 1; kind < kinds.size(); ++kind) AppendVarint64(&bytes, kinds[kind]);
  AppendField(out, kKindCounts, bytes);
  if (index_parts > 0) {
    bytes.clear();
    AppendVarint64(&bytes, index_parts);
    AppendVarint64(&bytes, largest_index_part);
    AppendField(out, kIndexParts, bytes);
  }
  if (!owner.has_value()) return;
  bytes.clear();
  AppendVarint64(&bytes, owner->table_id);
  AppendLengthPrefixed(&bytes, owner->table);
  AppendVarint64(&bytes, owner->group_id);
  AppendLengthPrefixed(&bytes, owner->group);
  AppendField(out, kOwner, bytes);
}

absl::StatusOr<SSTableProperties> SSTableProperties::Decode(std::string_view bytes) {
  SSTableProperties properties;
  bool has_info = false;
  Decoder decoder(bytes);
  while (decoder.ok() && !decoder.at_end()) {
    const uint64_t tag = decoder.Varint();
    const std::string_view value = decoder.LengthPrefixed();
    if (!decoder.ok()) break;
    if (tag == kInfo) {
      BT_ASSIGN_OR_RETURN(properties.info, SSTableInfo::Decode(value));
      has_info = true;
      continue;
    }
    Decoder field(value);
    if (!DecodeField(tag, &field, &properties) || !field.ok()) {
      return absl::DataLossError(Cat("the properties are damaged at tag ", tag));
    }
  }
  if (!decoder.ok() || !has_info) return absl::DataLossError("the properties are damaged");
  properties.info.families = properties.FamilyBytes();
  return properties;
}

std::vector<SSTableInfo::FamilyBytes> SSTableProperties::FamilyBytes() const {
  std::vector<SSTableInfo::FamilyBytes> bytes;
  bytes.reserve(families.size());
  for (const auto& [name, counts] : families) bytes.push_back({name, counts.bytes});
  return bytes;
}

void PropertiesCollector::Add(std::string_view key, size_t value_size, size_t row_prefix_size) {
  SSTableInfo& info = properties_.info;
  ABSL_ASSERT(row_prefix_size + kTrailerSize <= key.size() && "the row is before the trailer");
  const SequenceNumber sequence = VersionOf(key).sequence;
  if (info.entries == 0) {
    info.smallest_key = key;
    info.min_sequence = info.max_sequence = sequence;
  }
  ++info.entries;
  info.min_sequence = std::min(info.min_sequence, sequence);
  info.max_sequence = std::max(info.max_sequence, sequence);
  const EntryKind kind = KindOf(key);
  if (HasTimestamp(kind)) {
    const int64_t timestamp = TimestampOf(key);
    info.min_timestamp = std::min(info.min_timestamp, timestamp);
    info.max_timestamp = std::max(info.max_timestamp, timestamp);
  }
  ++properties_.kinds[static_cast<size_t>(kind)];
  properties_.key_bytes += key.size();
  properties_.value_bytes += value_size;

  const std::string_view family = FamilyOf(key, row_prefix_size);
  if (family_counts_ == nullptr || family != family_) {
    if (family.empty()) return;  // a deletion of the row belongs to none
    const auto at = properties_.families.try_emplace(std::string(family)).first;
    family_ = at->first;
    family_counts_ = &at->second;
  }
  ++family_counts_->entries;
  family_counts_->bytes += key.size() + value_size;
}

SSTableProperties PropertiesCollector::Finish(std::string_view last_key) {
  SSTableInfo& info = properties_.info;
  ABSL_ASSERT(info.smallest_key <= last_key && "keys were added in order");
  ABSL_ASSERT(std::accumulate(properties_.kinds.begin(), properties_.kinds.end(), uint64_t{0}) ==
                  info.entries &&
              "every entry has one kind");
  info.largest_key = last_key;
  info.cell_deletions = properties_.Count(EntryCount::kCellDeletion);
  info.column_deletions = properties_.Count(EntryCount::kColumnDeletion);
  info.row_deletions = properties_.Count(EntryCount::kRowDeletion);
  info.raw_bytes = properties_.key_bytes + properties_.value_bytes;
  family_counts_ = nullptr;
  return std::move(properties_);
}

}  // namespace bigtable
