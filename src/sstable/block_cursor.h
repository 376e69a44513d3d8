// A position in one block of the form that block_builder.h describes. One thread at a time.
//
// Nothing in the block is trusted: whatever the bytes are, nothing outside of them is read, every
// operation ends, and what cannot be right makes damaged() true. That keys ascend and are well
// formed is not checked here: a block gets here after its checksum, the writer refuses other keys,
// and so only a forger could bring them about.
#ifndef BIGTABLE_SSTABLE_BLOCK_CURSOR_H_
#define BIGTABLE_SSTABLE_BLOCK_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace bigtable {

class BlockCursor {
 public:
  BlockCursor() = default;
  BlockCursor(const BlockCursor&) = delete;
  BlockCursor& operator=(const BlockCursor&) = delete;

  // Turns to `block`, which stays in place; the cursor is not valid then. False, and damaged(),
  // when it cannot be a block.
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

  uint32_t entries() const { return entries_; }

 private:
  // An entry as it stands in the key area.
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

  const char* next_key_ = nullptr;    // the entry behind the last one that was parsed
  const char* next_value_ = nullptr;  // and its value

  std::string_view key_;  // in the block or in the buffer
  std::string_view value_;
  static constexpr size_t kInlineBuffer = 160;
  char inline_buffer_[kInlineBuffer];
  std::unique_ptr<char[]> heap_buffer_;
  char* buffer_ = inline_buffer_;
  size_t capacity_ = kInlineBuffer;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_BLOCK_CURSOR_H_
