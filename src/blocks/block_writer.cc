#include "blocks/block_writer.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

#include "base/coding.h"
#include "base/entry_key.h"
#include "base/status.h"
#include "base/strings.h"
#include "blocks/dictionary.h"

namespace bigtable {
namespace {

// The file grows by whole pieces of this size, at multiples of it: then the kernel can use large
// pages. Pieces at other offsets took it 1.6 times as long (docs/internals/tried.md).
constexpr uint64_t kAppendSize = 256 << 10;
// The dictionary is small and written once, and its size matters.
constexpr int kDictionaryLevel = 19;
// A larger buffer, which a huge value needed, is freed.
constexpr size_t kKeepBuffer = 4 << 20;

}  // namespace

BlockWriter::BlockWriter(std::unique_ptr<WritableFile> file, const LocalityGroup& group,
                         uint64_t identity)
    : file_(std::move(file)),
      group_(group),
      identity_(identity),
      holds_back_(group.compression == Compression::kZstdLongWindow) {
  if (group.compression != Compression::kNone) compressor_.emplace(group.compression_level);
}

absl::Status BlockWriter::AddDataBlock(BlockBuilder* builder) {
  ABSL_ASSERT(!builder->empty() && "every block has an entry, whose key is in the index");
  largest_block_ = std::max<uint64_t>(largest_block_, builder->size());
  ++blocks_;
  Unlisted* const block = &unlisted_.emplace_back();
  block->last_key = builder->last_key();
  unlisted_keys_ += block->last_key.capacity();
  if (holds_back_) {
    builder->FinishTo(&held_);
    block->held_end = held_.size();
    return held_.size() >= kDictionarySample ? WriteHeld() : absl::OkStatus();
  }
  if (!compressor_) {
    const size_t begin = pending_.size();
    builder->FinishTo(&pending_);
    return FinishBlock(begin, BlockEncoding::kRaw, &block->size);
  }
  scratch_.clear();
  builder->FinishTo(&scratch_);
  return WriteBlock(scratch_, &block->size);
}

absl::Status BlockWriter::BeginNextBlock(std::string_view first_key, bool continues_row) {
  ABSL_ASSERT(!unlisted_.empty() && "the last block is not listed before this");
  Unlisted* const last = &unlisted_.back();
  last->row_continues = continues_row;
  ABSL_ASSERT((continues_row || BehindRow(last->last_key) < first_key) && "it has later rows");
  if (index_.IsShortened(last->last_key.size())) {
    last->next = first_key;
    unlisted_keys_ += last->next.capacity();
  }
  return holds_back_ ? absl::OkStatus() : List();
}

absl::Status BlockWriter::List() {
  for (const Unlisted& block : unlisted_) {
    BT_RETURN_IF_ERROR(index_.Add(block.last_key, block.size, block.next, block.row_continues));
  }
  unlisted_.clear();
  unlisted_keys_ = 0;
  return absl::OkStatus();
}

absl::Status BlockWriter::WriteBlock(std::string_view block, uint64_t* size) {
  const size_t begin = pending_.size();
  const BlockEncoding encoding = compressor_->AppendTo(&pending_, block);
  return FinishBlock(begin, encoding, size);
}

absl::Status BlockWriter::FinishBlock(size_t begin, BlockEncoding encoding, uint64_t* size) {
  *size = pending_.size() - begin;
  AppendBlockTrailer(&pending_, begin, encoding, identity_, offset_ + begin);
  return AppendPieces();
}

absl::Status BlockWriter::WriteHeld() {
  holds_back_ = false;
  std::vector<size_t> ends;
  for (const Unlisted& block : unlisted_) ends.push_back(block.held_end);
  dictionary_ = ChooseDictionary(held_, ends);
  if (!dictionary_.empty()) compressor_->UseDictionary(dictionary_);
  size_t begin = 0;
  for (Unlisted& block : unlisted_) {
    BT_RETURN_IF_ERROR(
        WriteBlock(std::string_view(held_).substr(begin, block.held_end - begin), &block.size));
    begin = block.held_end;
  }
  ABSL_ASSERT(begin == held_.size() && "every byte that was held back is of a block");
  std::string().swap(held_);
  return absl::OkStatus();
}

absl::Status BlockWriter::FinishData() {
  if (holds_back_) BT_RETURN_IF_ERROR(WriteHeld());
  return List();
}

absl::StatusOr<BlockHandle> BlockWriter::FinishSection(size_t begin, BlockEncoding encoding) {
  ABSL_ASSERT(!holds_back_ && "sections follow the last data block");
  const BlockHandle handle{offset_ + begin, pending_.size() - begin};
  AppendBlockTrailer(&pending_, begin, encoding, identity_, handle.offset);
  BT_RETURN_IF_ERROR(AppendPieces());
  return handle;
}

absl::StatusOr<BlockHandle> BlockWriter::AddIndex() {
  // The index may be large. There is only one copy of it at a time besides the file's buffer.
  std::string().swap(scratch_);
  std::optional<BlockCompressor> compressor;
  if (group_.compression != Compression::kNone) compressor.emplace(group_.compression_level);
  const auto append = [&](std::string_view block) {
    if (!compressor.has_value()) return AddSection(block);
    const size_t begin = pending_.size();
    const BlockEncoding encoding = compressor->AppendTo(&pending_, block);
    return FinishSection(begin, encoding);
  };
  BlockHandle root;
  BT_RETURN_IF_ERROR(
      index_.Finish(append, [&](std::string_view block, bool is_index) -> absl::Status {
        BT_ASSIGN_OR_RETURN(root, is_index ? append(block) : AddSection(block));
        return absl::OkStatus();
      }));
  return root;
}

absl::StatusOr<BlockHandle> BlockWriter::AddDictionary() {
  if (dictionary_.empty()) return BlockHandle{};
  const size_t begin = pending_.size();
  const BlockEncoding encoding = BlockCompressor(kDictionaryLevel).AppendTo(&pending_, dictionary_);
  return FinishSection(begin, encoding);
}

absl::StatusOr<BlockHandle> BlockWriter::AddSection(std::string_view bytes) {
  const size_t begin = pending_.size();
  pending_.append(bytes);
  return FinishSection(begin, BlockEncoding::kRaw);
}

absl::Status BlockWriter::Finish(std::string_view footer) {
  pending_.append(footer);
  BT_RETURN_IF_ERROR(Append(pending_.size()));
  BT_RETURN_IF_ERROR(file_->Sync());
  return file_->Close();
}

size_t BlockWriter::memory() const {
  return dictionary_.capacity() + (compressor_.has_value() ? compressor_->memory() : 0) +
         index_.memory() + pending_.capacity() + scratch_.capacity() + held_.capacity() +
         unlisted_.capacity() * sizeof(Unlisted) + unlisted_keys_;
}

absl::Status BlockWriter::AppendPieces() {
  ABSL_ASSERT(offset_ % kAppendSize == 0 && "only the last piece is not a whole one");
  const uint64_t pieces = offset() / kAppendSize * kAppendSize;
  return pieces > offset_ ? Append(pieces - offset_) : absl::OkStatus();
}

absl::Status BlockWriter::Append(size_t bytes) {
  BT_RETURN_IF_ERROR(file_->Append(std::string_view(pending_).substr(0, bytes)));
  offset_ += bytes;
  pending_.erase(0, bytes);
  if (pending_.capacity() > kKeepBuffer) pending_.shrink_to_fit();
  return absl::OkStatus();
}

}  // namespace bigtable
