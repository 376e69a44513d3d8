#include "blocks/block_builder.h"

#include "absl/base/macros.h"

#include "base/coding.h"
#include "base/compare.h"

namespace bigtable {
namespace {

// Clears the buffer. Frees its memory if one huge value has made it large.
void Empty(std::string* buffer) {
  constexpr size_t kKeep = 1 << 20;
  if (buffer->capacity() > kKeep && buffer->size() < buffer->capacity() / 4) {
    std::string().swap(*buffer);
  }
  buffer->clear();
}

}  // namespace

bool BlockBuilder::Add(std::string_view key, std::string_view value, size_t* shared) {
  const size_t common = CommonPrefix(last_key_, key);
  *shared = common;
  if (!LessBehind(last_key_, key, common)) return false;

  size_t stored = common;
  if (entries_ % kRestartInterval == 0) {
    stored = 0;
    AppendFixed32(&restarts_, static_cast<uint32_t>(keys_.size()));
    AppendFixed32(&restarts_, static_cast<uint32_t>(values_.size()));
  }
  AppendVarint64(&keys_, stored);
  AppendVarint64(&keys_, key.size() - stored);
  AppendVarint64(&keys_, value.size());
  keys_.append(key.substr(stored));
  values_.append(value);
  last_key_.resize(common);
  last_key_.append(key.substr(common));
  ++entries_;
  return true;
}

bool BlockBuilder::Fits(std::string_view key, std::string_view value) const {
  constexpr size_t kMostLengths = 3 * 5;
  return size() + kRestartSize + kMostLengths + key.size() + value.size() <= kMaxBlockSize;
}

template <typename Append>
void BlockBuilder::Finish(Append append) {
  ABSL_ASSERT(restarts_.size() / kRestartSize ==
                  (entries_ + kRestartInterval - 1) / kRestartInterval &&
              "every so many entries have a restart");
  ABSL_ASSERT(size() <= kMaxBlockSize && "the caller asks whether an entry fits");
  char header[kBlockHeaderSize];
  StoreFixed32(header, entries_);
  StoreFixed32(header + 4, static_cast<uint32_t>(restarts_.size() / kRestartSize));
  StoreFixed32(header + 8, static_cast<uint32_t>(keys_.size()));
  append(std::string_view(header, sizeof header));
  append(restarts_);
  append(keys_);
  append(values_);
  entries_ = 0;
  Empty(&restarts_);
  Empty(&keys_);
  Empty(&values_);
}

void BlockBuilder::FinishTo(std::string* out) {
  Finish([out](std::string_view piece) { out->append(piece); });
}

void BlockBuilder::FinishTo(char* to) {
  Finish([&to](std::string_view piece) { to += piece.copy(to, piece.size()); });
}

}  // namespace bigtable
