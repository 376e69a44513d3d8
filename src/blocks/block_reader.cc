#include "blocks/block_reader.h"

#include <utility>

#include "absl/base/macros.h"
#include "absl/time/time.h"

#include "monitoring/thread_calls.h"
#include "monitoring/tracer.h"

namespace bigtable {

BlockReader::BlockReader(BlockSource source, const BlockIndex* index, MemoryBudget* budget,
                         Options options)
    : file_(std::move(source), budget), index_(index) {
  ABSL_ASSERT((index != nullptr || !options.in_memory) && "all blocks are found by the index");
  if (options.in_memory) {
    loaded_.emplace(&file_, index, budget);
    return;
  }
  const bool is_mapped = index != nullptr && file_.file().mapping() != nullptr;
  if (!is_mapped || file_.is_compressed()) cached_.emplace(&file_, budget);
  if (!is_mapped) return;
  mapped_.emplace(&file_, index, cached_.has_value() ? &*cached_ : nullptr, budget,
                  options.residency);
}

void BlockReader::RequestByPosition(size_t i, uint64_t bytes) const {
  size_t end = index_->EndOfStretch(i, bytes);
  while (i < end && cached_->Has(index_->handle(i))) ++i;
  while (i < end && cached_->Has(index_->handle(end - 1))) --end;
  if (i == end) return;
  const BlockHandle last = index_->handle(end - 1);
  const uint64_t begin = index_->handle(i).offset;
  file_.file().WillNeed(begin, static_cast<size_t>(last.offset + StoredSize(last) - begin));
}

absl::Status BlockReader::ReadUntraced(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                       RowInBlock* row, std::string_view* block, Ref<Block>* owner,
                                       BlockOrigin* origin) {
  if (mapped_.has_value()) return mapped_->Read(i, settings, ahead, row, block, owner, origin);
  if (loaded_.has_value()) return loaded_->Read(i, settings, block, owner, origin);
  return cached_->Read(index_->handle(i), settings, block, owner, origin);
}

template <typename ReadBlock>
absl::Status BlockReader::Trace(uint64_t size, ReadBlock read) {
  BlockOrigin origin;
  const int64_t begin = NowNanos();
  const absl::Status status = read(&origin);
  // Null if a traced stream continues before the next row is requested.
  RequestTrace* const trace = CurrentTrace();
  if (trace == nullptr) return status;
  FileTrace* const file = FileIn(trace, file_.number());
  file->block_time += absl::Nanoseconds(NowNanos() - begin);
  file->blocks_in_place += origin == BlockOrigin::kInPlace ? 1 : 0;
  file->blocks_first_touched += origin == BlockOrigin::kFirstTouch ? 1 : 0;
  file->cache_hits += origin == BlockOrigin::kCacheHit ? 1 : 0;
  file->cache_misses += origin == BlockOrigin::kCacheMiss ? 1 : 0;
  if (origin == BlockOrigin::kFirstTouch || origin == BlockOrigin::kCacheMiss)
    file->bytes_read += size;
  return status;
}

absl::Status BlockReader::ReadSlowly(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                     RowInBlock* row, std::string_view* block, Ref<Block>* owner) {
  const auto read = [&](BlockOrigin* origin) {
    return ReadUntraced(i, settings, ahead, row, block, owner, origin);
  };
  BlockOrigin origin;
  return settings.is_traced ? Trace(index_->handle(i).size, read) : read(&origin);
}

absl::Status BlockReader::ReadAt(const BlockHandle& block, const ReadSettings& settings,
                                 std::string_view* bytes, Ref<Block>* owner) {
  const auto read = [&](BlockOrigin* origin) {
    return cached_->Read(block, settings, bytes, owner, origin);
  };
  BlockOrigin origin;
  return settings.is_traced ? Trace(block.size, read) : read(&origin);
}

}  // namespace bigtable
