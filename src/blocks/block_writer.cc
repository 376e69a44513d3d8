#include "blocks/block_writer.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

#include "base/coding.h"
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

absl::Status BlockWriter::AddDataBlock(BlockBuilder* builder, bool continues_row) {
  ABSL_ASSERT(!builder->empty() && "every block has an entry, whose key is in the index");
  largest_block_ = std::max<uint64_t>(largest_block_, builder->size());
  ++blocks_;
  if (holds_back_) {
    builder->FinishTo(&held_);
    held_blocks_.push_back({held_.size(), builder->last_key(), continues_row});
    held_keys_ += builder->last_key().size();
    return held_.size() >= kDictionarySample ? WriteHeld() : absl::OkStatus();
  }
  if (!compressor_) {
    const size_t begin = pending_.size();
    builder->FinishTo(&pending_);
    return FinishBlock(begin, BlockEncoding::kRaw, builder->last_key(), continues_row);
  }
  scratch_.clear();
  builder->FinishTo(&scratch_);
  return WriteBlock(scratch_, builder->last_key(), continues_row);
}

absl::Status BlockWriter::WriteBlock(std::string_view block, std::string_view last_key,
                                     bool continues_row) {
  const size_t begin = pending_.size();
  const BlockEncoding encoding = compressor_->AppendTo(&pending_, block);
  return FinishBlock(begin, encoding, last_key, continues_row);
}

absl::Status BlockWriter::FinishBlock(size_t begin, BlockEncoding encoding,
                                      std::string_view last_key, bool continues_row) {
  const uint64_t size = pending_.size() - begin;
  AppendBlockTrailer(&pending_, begin, encoding, identity_, offset_ + begin);
  std::string value;
  AppendVarint64(&value, size * 2 + (continues_row ? 1 : 0));
  size_t shared;
  if (!index_.Fits(last_key, value)) {
    return absl::InternalError("the index of an SSTable grew beyond 4 GiB: the file is too large");
  }
  if (!index_.Add(last_key, value, &shared)) {
    return absl::InternalError(Cat("last keys do not ascend at ", Quoted(last_key)));
  }
  return AppendPieces();
}

absl::Status BlockWriter::WriteHeld() {
  holds_back_ = false;
  std::vector<size_t> ends;
  for (const Held& block : held_blocks_) ends.push_back(block.end);
  dictionary_ = ChooseDictionary(held_, ends);
  if (!dictionary_.empty()) compressor_->UseDictionary(dictionary_);
  size_t begin = 0;
  for (const Held& block : held_blocks_) {
    BT_RETURN_IF_ERROR(WriteBlock(std::string_view(held_).substr(begin, block.end - begin),
                                  block.last_key, block.continues_row));
    begin = block.end;
  }
  ABSL_ASSERT(begin == held_.size() && "every byte that was held back is of a block");
  std::string().swap(held_);
  std::vector<Held>().swap(held_blocks_);
  held_keys_ = 0;
  return absl::OkStatus();
}

absl::Status BlockWriter::FinishData() { return holds_back_ ? WriteHeld() : absl::OkStatus(); }

absl::StatusOr<BlockHandle> BlockWriter::FinishSection(size_t begin, BlockEncoding encoding) {
  ABSL_ASSERT(!holds_back_ && "sections follow the last data block");
  const BlockHandle handle{offset_ + begin, pending_.size() - begin};
  AppendBlockTrailer(&pending_, begin, encoding, identity_, handle.offset);
  BT_RETURN_IF_ERROR(AppendPieces());
  return handle;
}

absl::StatusOr<BlockHandle> BlockWriter::AddIndex() {
  // The index may be large. There is only one copy of it at a time besides the file's buffer.
  const size_t begin = pending_.size();
  if (group_.compression == Compression::kNone) {
    std::string().swap(scratch_);
    pending_.reserve(begin + index_.size() + kBlockTrailerSize);
    index_.FinishTo(&pending_);
    index_ = BlockBuilder();
    return FinishSection(begin, BlockEncoding::kRaw);
  }
  scratch_.clear();
  scratch_.reserve(index_.size());
  index_.FinishTo(&scratch_);
  index_ = BlockBuilder();
  const BlockEncoding encoding =
      BlockCompressor(group_.compression_level).AppendTo(&pending_, scratch_);
  std::string().swap(scratch_);
  return FinishSection(begin, encoding);
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
         held_blocks_.capacity() * sizeof(Held) + held_keys_;
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
