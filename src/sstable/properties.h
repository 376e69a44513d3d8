// The properties of a file: a list of (varint tag, varint length, bytes), in any order, in a block
// with a block trailer. Readers skip unknown tags. A change that must not be skipped raises the
// format version (footer.h).
//
//   tag | bytes
//     1 | SSTableInfo (sstable_info.h), with size 0 and without families, which tag 6 has
//     2 | Compression, u8
//     3 | varint: bytes of all data blocks with their block trailers
//     4 | varint: number of data blocks
//     5 | varint: size of the largest data block before compression
//     6 | once for each family: its name, length first, varint entries, varint bytes of keys and
//       | values
//     7 | FilterKind, u8; varint probes (bloom_filter.h), or bits of a block (row_index.h)
//     8 | varint: size of the index before compression
//     9 | varint: size of the dictionary before compression
//    10 | varint: bytes of all keys; varint: bytes of all values
//    11 | for each EntryKind from 1 on, a varint: the number of its entries
//    12 | reserved: offset of the block of range deletions
//    13 | whose file it is: varint table id; the table's name, length first; varint group id; the
//       | group's name, length first. The names are those of the time when the file was written.
//       | Files that no table has written, and those of older programs, are without it
//    14 | varint: parts of the index; varint: size of the largest of them before compression. An
//    index
//       | that is one block is without it
//
// Worked example, tag 2 for kZstd: 02 01 01.
#ifndef BIGTABLE_SSTABLE_PROPERTIES_H_
#define BIGTABLE_SSTABLE_PROPERTIES_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "bigtable/schema.h"

#include "base/entry_key.h"
#include "sstable/sstable_info.h"

namespace bigtable {

// The table and the locality group for which a file was written. Only a repair needs it (repair/):
// whoever opens a database finds that in METADATA. Plain value.
struct SSTableOwner {
  uint64_t table_id = 0;
  std::string table;
  uint32_t group_id = 0;
  std::string group;

  friend bool operator==(const SSTableOwner&, const SSTableOwner&) = default;
};

// Plain value.
struct SSTableProperties {
  struct FamilyCounts {
    uint64_t entries = 0;
    uint64_t bytes = 0;  // of keys and values

    friend bool operator==(const FamilyCounts&, const FamilyCounts&) = default;
  };
  static constexpr size_t kKinds = size_t{kLastKind} + 1;

  SSTableInfo info;  // without the size; its families are encoded with tag 6
  Compression compression = Compression::kNone;
  FilterKind filter = FilterKind::kNone;
  uint64_t filter_probes = 0;  // of kRowIndex: block_bits
  uint64_t data_size = 0;
  uint64_t blocks = 0;
  uint64_t largest_block = 0;
  uint64_t index_size = 0;
  uint64_t index_parts = 0;  // 0: the index is one block
  uint64_t largest_index_part = 0;
  uint64_t dictionary_size = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  std::array<uint64_t, kKinds> kinds{};  // by EntryKind
  std::map<std::string, FamilyCounts, std::less<>> families;
  std::optional<SSTableOwner> owner = std::nullopt;

  // The number of entries whose kind is counted as `as`.
  uint64_t Count(EntryCount as) const;
  // SSTableInfo::families.
  std::vector<SSTableInfo::FamilyBytes> FamilyBytes() const;
  // On the heap.
  size_t memory() const;
  void EncodeTo(std::string* out) const;
  // DataLoss, without the name of the file, if `bytes` are not properties.
  static absl::StatusOr<SSTableProperties> Decode(std::string_view bytes);
};

// Counts entries as they are written. One thread at a time.
class PropertiesCollector {
 public:
  // `key` is well formed and its row prefix has `row_prefix_size` bytes.
  void Add(std::string_view key, size_t value_size, size_t row_prefix_size);
  // All properties except those that follow from the file's layout.
  SSTableProperties Finish(std::string_view last_key);

 private:
  SSTableProperties properties_;
  // The family of the last entry, and its counts.
  std::string_view family_;
  SSTableProperties::FamilyCounts* family_counts_ = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_PROPERTIES_H_
