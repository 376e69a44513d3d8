// Builds a block of sorted entries. Keys are stored apart from values, so a search touches only a
// few cache lines of keys, and a value is found without stepping over others. Data blocks and the
// index have this form. One thread at a time.
//
//   +---------+----------+------------+---------------------------+-----------+---------------+
//   | entries | restarts | keys' size | restart array             | key area  | value area    |
//   | u32     | u32      | u32        | (u32 key, u32 value) each | one entry | the values,   |
//   |         |          |            |                           | after     | one after     |
//   |         |          |            |                           | the other | another       |
//   +---------+----------+------------+---------------------------+-----------+---------------+
//
// * An entry of the key area: varint shared, varint unshared, varint size of the value, then the
//   last `unshared` bytes of the key. The first `shared` bytes are the same as in the key before
//   it.
// * Every kRestartInterval-th entry, beginning with the first, is a restart: its `shared` is 0,
//   and the restart array holds its offset in the key area and the offset of its value in the value
//   area. A search bisects the restarts and then walks along one run, adding up sizes of values.
// * At other entries `shared` is as large as possible. Searches rely on it.
// * Offsets and counts are fixed-width, little-endian. A block has at most 2^32 - 1 bytes.
//
// Worked example: "ab" -> "1", "ac" -> "23", with a restart interval of 8:
//
//   02 00 00 00  01 00 00 00  09 00 00 00   2 entries, 1 restart, 9 bytes of keys
//   00 00 00 00  00 00 00 00                restart 0: key at 0, value at 0
//   00 02 01 61 62                          shares 0, then 2 bytes, value of 1: "ab"
//   01 01 02 63                             shares 1, then 1 byte, value of 2: "ac"
//   31 32 33                                the values
#ifndef BIGTABLE_BLOCKS_BLOCK_BUILDER_H_
#define BIGTABLE_BLOCKS_BLOCK_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bigtable {

inline constexpr size_t kBlockHeaderSize = 12;
inline constexpr size_t kRestartSize = 8;
inline constexpr uint64_t kMaxBlockSize = UINT32_MAX;
inline constexpr uint32_t kRestartInterval = 8;

class BlockBuilder {
 public:
  // Adds an entry. Returns false and adds nothing if `key` is not above the last key, which may be
  // in the block before. `*shared` is the length of their common prefix.
  bool Add(std::string_view key, std::string_view value, size_t* shared);

  // Whether a block with this entry would be no larger than kMaxBlockSize.
  bool Fits(std::string_view key, std::string_view value) const;
  bool empty() const { return entries_ == 0; }
  // How many bytes FinishTo writes.
  size_t size() const {
    return kBlockHeaderSize + restarts_.size() + keys_.size() + values_.size();
  }
  // The key of the last entry added, in this block or one before.
  const std::string& last_key() const { return last_key_; }

  size_t memory() const {
    return restarts_.capacity() + keys_.capacity() + values_.capacity() + last_key_.capacity();
  }

  // Memory that is needed temporarily, beyond memory(), while an entry with a key of this size and
  // a small value is added: a buffer that grows is copied.
  size_t growth(size_t key_size) const {
    constexpr size_t kLengths = 32;
    if (keys_.size() + key_size + kLengths <= keys_.capacity()) return 0;
    return 2 * keys_.capacity() + key_size;
  }

  // Appends the block to `out` and begins a new one.
  void FinishTo(std::string* out);
  // The same to size() bytes at `to`.
  void FinishTo(char* to);

 private:
  // Calls `append` with each piece of the block, and begins a new one.
  template <typename Append>
  void Finish(Append append);

  uint32_t entries_ = 0;
  std::string restarts_;
  std::string keys_;
  std::string values_;
  std::string last_key_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_BUILDER_H_
