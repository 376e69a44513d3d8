#include "blocks/index_writer.h"

#include <algorithm>

#include "absl/base/macros.h"

#include "base/coding.h"
#include "base/compare.h"
#include "base/entry_key.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

absl::Status TooLarge() {
  return absl::InternalError("the index of an SSTable grew beyond 4 GiB: the file is too large");
}

}  // namespace

IndexSizes index_sizes;

std::string ShortestFrom(std::string_view last, std::string_view next) {
  ABSL_ASSERT((next.empty() || last < next) && "blocks ascend");
  const size_t common = CommonPrefix(last, next);
  if (common == last.size()) return std::string(last);
  if (next.size() > common + 1) return std::string(next.substr(0, common + 1));
  // The next key ends with the byte that differs, or there is none: the last key is raised.
  for (size_t i = common; i < last.size(); ++i) {
    const auto byte = static_cast<unsigned char>(last[i]);
    if (byte == 0xff) continue;
    std::string raised(last.substr(0, i + 1));
    raised.back() = static_cast<char>(byte + 1);
    if (next.empty() || raised < next) return raised;
  }
  return std::string(last);
}

absl::Status IndexWriter::Add(std::string_view last_key, uint64_t stored, std::string_view next,
                              bool row_continues) {
  // The key of each part is in the root, so it should be short, or one of several.
  const bool may_end = !IsShortened(part_.last_key().size()) || blocks_ >= kRestartInterval;
  if (blocks_ > 0 && part_.size() >= part_size_ && may_end) FinishPart();
  std::string shorter;
  if (IsShortened(last_key.size())) {
    shorter = ShortestFrom(last_key, next);
  } else if (!row_continues && !has_last_keys_) {
    shorter = BehindRow(last_key);
  }
  const bool is_shortened =
      !shorter.empty() && shorter.size() < last_key.size() && shorter > last_key;
  const std::string_view key = is_shortened ? shorter : last_key;
  std::string value;
  const uint64_t flags = (is_shortened ? 2 : 0) + (row_continues ? 1 : 0);
  AppendVarint64(&value, stored * 4 + flags);
  constexpr size_t kAround = 64;  // of an entry, and of a part
  if (size() + key.size() + value.size() + kAround > kMaxBlockSize) return TooLarge();
  size_t shared;
  if (!part_.Add(key, value, &shared)) {
    return absl::InternalError(Cat("keys of the index do not ascend at ", Quoted(last_key)));
  }
  flags_ = flags;
  ++blocks_;
  data_ += stored + kBlockTrailerSize;
  return absl::OkStatus();
}

void IndexWriter::FinishPart() {
  largest_part_ = std::max<uint64_t>(largest_part_, part_.size());
  part_.FinishTo(&finished_);
  parts_.push_back({finished_.size(), part_.last_key(), flags_, blocks_, data_});
  key_bytes_ += part_.last_key().capacity();
  blocks_ = 0;
  data_ = 0;
}

absl::Status IndexWriter::AddToRoot(const Part& part, const BlockHandle& handle,
                                    BlockBuilder* root) {
  std::string value;
  AppendVarint64(&value, handle.size * 4 + part.flags);
  AppendVarint64(&value, part.blocks);
  AppendVarint64(&value, part.data);
  if (!root->Fits(part.last_key, value)) return TooLarge();
  size_t shared;
  [[maybe_unused]] const bool ascends = root->Add(part.last_key, value, &shared);
  ABSL_ASSERT(ascends && "the keys of parts ascend, as those of blocks do");
  return absl::OkStatus();
}

}  // namespace bigtable
