// A position in one block of the form that block_builder.h describes. One thread at a time.
//
// The block is not trusted. Whatever its bytes are, nothing outside of them is read, every
// operation ends, and an impossible value makes damaged() true. The order and the form of keys are
// not checked here: the checksum of a block was verified before, and the writer refuses other keys,
// so only a forged block could have them.
#ifndef BIGTABLE_BLOCKS_BLOCK_CURSOR_H_
#define BIGTABLE_BLOCKS_BLOCK_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/base/macros.h"

#include "base/coding.h"
#include "base/entry_key.h"
#include "base/key_buffer.h"

namespace bigtable {

class BlockCursor {
 public:
  BlockCursor() = default;
  BlockCursor(const BlockCursor&) = delete;
  BlockCursor& operator=(const BlockCursor&) = delete;

  // Moves to `block`, whose bytes must stay in place. The cursor is not valid afterwards. Returns
  // false, and damaged() is true, if it cannot be a block.
  bool Open(std::string_view block);

  void Seek(std::string_view target);        // to the first entry at or after `target`
  void SeekBefore(std::string_view target);  // to the last entry before `target`
  void SeekToFirst();
  void SeekToLast();
  void Next();  // requires valid()

  bool valid() const { return valid_; }
  bool damaged() const { return damaged_; }
  std::string_view key() const { return key_; }  // until the cursor moves
  std::string_view value() const { return value_; }

  // Whether this is the last entry. Requires valid().
  bool is_last() const {
    ABSL_ASSERT(valid_ && "only an entry can be the last");
    return next_key_ == keys_end_;
  }
  // False if the following entry has fewer than `bytes` bytes in common with this one, or there is
  // none. Requires valid().
  bool MayShare(size_t bytes) const {
    if (is_last()) return false;
    // Unknown for a restart without reading its key, and for long prefixes.
    const auto shared = static_cast<unsigned char>(*next_key_);
    return shared == 0 || shared >= bytes || shared >= 0x80;
  }

  uint32_t entries() const { return entries_; }

 private:
  // An entry as stored in the key area.
  struct Entry {
    uint32_t shared;
    std::string_view suffix;
  };

  bool Parse(Entry* entry);
  bool ParseAt(size_t restart, Entry* entry);
  void GoTo(size_t restart);
  size_t FindRestart(std::string_view target);
  void SetKey(std::string_view previous, const Entry& entry);
  char* GrowBuffer(size_t size, size_t keep);
  void Damage();

  const char* restarts_ = nullptr;
  const char* keys_ = nullptr;
  const char* keys_end_ = nullptr;
  const char* values_end_ = nullptr;
  uint32_t entries_ = 0;
  uint32_t restart_count_ = 0;
  bool valid_ = false;
  bool damaged_ = false;

  const char* next_key_ = nullptr;    // the entry after the last one that was parsed
  const char* next_value_ = nullptr;  // and its value

  std::string_view key_;  // in the block or in the buffer
  std::string_view value_;
  static constexpr size_t kInlineBuffer = 160;
  char inline_buffer_[kInlineBuffer];
  std::unique_ptr<char[]> heap_buffer_;
  char* buffer_ = inline_buffer_;
  size_t capacity_ = kInlineBuffer;
};

// --- What a scan does for each entry ---

// Takes the entry at next_key_ and steps past it. False at the end, or at damage.
inline bool BlockCursor::Parse(Entry* entry) {
  const char* p = next_key_;
  if (p == keys_end_) return false;
  uint32_t unshared;
  uint32_t value_size;
  if (keys_end_ - p >= 4 && ((p[0] | p[1]) & 0x80) == 0 && (p[2] & p[3] & 0x80) == 0) [[likely]] {
    // The usual lengths, without a loop: values of up to 16 KiB.
    entry->shared = static_cast<unsigned char>(p[0]);
    unshared = static_cast<unsigned char>(p[1]);
    value_size = static_cast<unsigned char>(p[2]);
    const bool two = value_size >= 0x80;
    if (two)
      value_size = (value_size & 0x7f) | static_cast<uint32_t>(static_cast<unsigned char>(p[3]))
                                             << 7;
    p += two ? 4 : 3;
  } else {
    p = ParseVarint32(p, keys_end_, &entry->shared);
    if (p != nullptr) p = ParseVarint32(p, keys_end_, &unshared);
    if (p != nullptr) p = ParseVarint32(p, keys_end_, &value_size);
  }
  if (p == nullptr || unshared > static_cast<uint64_t>(keys_end_ - p) ||
      uint64_t{entry->shared} + unshared > kMaxEntryKeySize ||
      value_size > static_cast<uint64_t>(values_end_ - next_value_)) [[unlikely]] {
    Damage();
    return false;
  }
  entry->suffix = {p, unshared};
  next_key_ = p + unshared;
  value_ = {next_value_, value_size};
  next_value_ += value_size;
  return true;
}

// key_ = the first entry.shared bytes of `previous`, then the suffix.
inline void BlockCursor::SetKey(std::string_view previous, const Entry& entry) {
  if (entry.shared == 0) {
    key_ = entry.suffix;
    return;
  }
  const size_t size = entry.shared + entry.suffix.size();
  const bool in_place = previous.data() == buffer_;
  if (size > capacity_) [[unlikely]] {
    GrowBuffer(size, in_place ? entry.shared : 0);
  }
  if (!in_place) CopyShort(buffer_, previous.data(), entry.shared);
  CopyShort(buffer_ + entry.shared, entry.suffix.data(), entry.suffix.size());
  key_ = {buffer_, size};
}

inline void BlockCursor::Next() {
  ABSL_ASSERT(valid_ && "only a valid cursor moves on");
  Entry entry;
  if (!Parse(&entry)) {
    valid_ = false;
    return;
  }
  if (entry.shared > key_.size()) [[unlikely]] {
    Damage();
    return;
  }
  SetKey(key_, entry);
}

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_CURSOR_H_
