// Writes finished blocks to the file. It compresses them, appends block trailers, gathers the index
// (index_writer.h), and gathers output into large appends. With kZstdLongWindow it holds the first
// blocks back until it has enough content to choose a dictionary. One thread at a time.
#ifndef BIGTABLE_BLOCKS_BLOCK_WRITER_H_
#define BIGTABLE_BLOCKS_BLOCK_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/schema.h"

#include "blocks/block_builder.h"
#include "blocks/compression.h"
#include "blocks/index_writer.h"
#include "blocks/stored_block.h"

namespace bigtable {

class BlockWriter {
 public:
  BlockWriter(std::unique_ptr<WritableFile> file, const LocalityGroup& group, uint64_t identity);

  // Writes the block of `builder` and empties it.
  absl::Status AddDataBlock(BlockBuilder* builder);
  // Before the next call of AddDataBlock, if there is one: the first key of that block, and whether
  // it is of the row in which the last block ends.
  absl::Status BeginNextBlock(std::string_view first_key, bool continues_row);
  // After the last data block: writes the blocks that were held back.
  absl::Status FinishData();

  // These write sections after the data. The handle of an index is that of its root.
  absl::StatusOr<BlockHandle> AddIndex();
  absl::StatusOr<BlockHandle> AddDictionary();
  absl::StatusOr<BlockHandle> AddSection(std::string_view bytes);
  // Writes the footer, syncs and closes the file.
  absl::Status Finish(std::string_view footer);

  uint64_t offset() const { return offset_ + pending_.size(); }  // of the next byte
  uint64_t held_bytes() const { return held_.size(); }
  const IndexWriter& index() const { return index_; }
  uint64_t dictionary_size() const { return dictionary_.size(); }
  uint64_t blocks() const { return blocks_; }
  uint64_t largest_block() const { return largest_block_; }
  size_t memory() const;
  // Memory that may be needed beyond memory() while a block with a last key of this size is added.
  size_t growth(size_t last_key) const {
    return (holds_back_ ? 2 * held_.capacity() : 0) + index_.growth(last_key);
  }

 private:
  // A block that is not in the index yet: it was not written, or what follows it is not known.
  struct Unlisted {
    size_t held_end = 0;  // in held_, before it is written
    uint64_t size = 0;    // in the file, once it is written
    std::string last_key;
    std::string next;  // the first key after it, if last_key is long
    bool row_continues = false;
  };

  // Sets `size` to that in the file.
  absl::Status WriteBlock(std::string_view block, uint64_t* size);
  absl::Status FinishBlock(size_t begin, BlockEncoding encoding, uint64_t* size);
  absl::Status WriteHeld();
  absl::Status List();
  absl::StatusOr<BlockHandle> FinishSection(size_t begin, BlockEncoding encoding);
  // Appends the whole pieces of pending_ to the file.
  absl::Status AppendPieces();
  absl::Status Append(size_t bytes);

  const std::unique_ptr<WritableFile> file_;
  const LocalityGroup group_;
  const uint64_t identity_;
  std::string dictionary_;                     // before the compressor, which refers to it
  std::optional<BlockCompressor> compressor_;  // none: kNone
  IndexWriter index_;
  std::string pending_;  // not yet appended to the file
  uint64_t offset_ = 0;  // of pending_ in the file
  uint64_t blocks_ = 0;
  uint64_t largest_block_ = 0;
  std::string scratch_;  // a block before compression

  bool holds_back_;  // kZstdLongWindow, and the dictionary is not chosen yet
  std::string held_;
  std::vector<Unlisted> unlisted_;  // one, unless blocks are held back
  size_t unlisted_keys_ = 0;        // bytes of their keys
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_WRITER_H_
