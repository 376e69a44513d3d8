#include "blocks/file_dictionary.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/try_allocate.h"
#include "filesystem/file_pool.h"

namespace bigtable {

absl::Status FileDictionary::Find(const CallLimits* limits, const DecodingDictionary** dictionary) {
  *dictionary = shared_.load(std::memory_order_acquire);
  if (*dictionary != nullptr) return absl::OkStatus();
  const LimitedMutexLock lock(&mutex_, limits, "the read");
  BT_RETURN_IF_ERROR(lock.status());
  if (dictionary_ == nullptr) {
    BT_RETURN_IF_ERROR(Read(limits, &dictionary_));
    charge_.Set(dictionary_->memory());
    shared_.store(dictionary_.get(), std::memory_order_release);
  }
  *dictionary = dictionary_.get();
  return absl::OkStatus();
}

absl::Status FileDictionary::Read(const CallLimits* limits,
                                  std::unique_ptr<DecodingDictionary>* dictionary) const {
  const BlockHandle& handle = source_.dictionary;
  const auto damaged = [&](std::string_view what) {
    return absl::DataLossError(
        Cat(source_.path, ": the dictionary at offset ", handle.offset, " ", what));
  };
  if (handle.size == 0) return damaged("is missing");
  // Not the thread's buffer: a compressed block may be in it.
  const auto stored = TryAllocate(handle.size + kBlockTrailerSize);
  if (stored == nullptr) return NoMemoryFor(source_.path, "its dictionary", handle.size);
  BT_RETURN_IF_ERROR(FilePool::Read(*source_.file, handle.offset, handle.size + kBlockTrailerSize,
                                    stored.get(), limits));
  if (!BlockTrailerHolds(stored.get(), handle.size, source_.identity, handle.offset)) {
    return damaged("has a wrong checksum");
  }
  const std::string_view bytes(stored.get(), handle.size);
  const bool is_raw = EncodingOf(stored.get(), handle.size) == BlockEncoding::kRaw;
  const uint64_t size = is_raw ? handle.size : DecompressedSize(bytes);
  if (size != source_.dictionary_size) return damaged("does not have the size in the properties");
  auto content = TryAllocate(size);
  if (content == nullptr) return NoMemoryFor(source_.path, "its dictionary", size);
  if (is_raw) {
    std::memcpy(content.get(), bytes.data(), size);
  } else if (!Decompress(bytes, nullptr, content.get(), size)) {
    return damaged("does not decompress");
  }
  *dictionary = std::make_unique<DecodingDictionary>(std::move(content), size);
  return absl::OkStatus();
}

}  // namespace bigtable
