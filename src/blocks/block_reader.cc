#include "blocks/block_reader.h"

#include <utility>

#include "absl/time/time.h"

#include "monitoring/thread_calls.h"
#include "monitoring/tracer.h"

namespace bigtable {

BlockReader::BlockReader(BlockSource source, const BlockIndex* index, MemoryBudget* budget,
                         Options options)
    : file_(std::move(source), index, budget) {
  if (options.in_memory) {
    loaded_.emplace(&file_, budget);
    return;
  }
  const bool is_mapped = file_.file().mapping() != nullptr;
  if (!is_mapped || file_.is_compressed()) cached_.emplace(&file_, budget);
  if (!is_mapped) return;
  mapped_.emplace(&file_, cached_.has_value() ? &*cached_ : nullptr, budget, options.residency);
}

absl::Status BlockReader::ReadUntraced(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                       RowInBlock* row, std::string_view* block, Ref<Block>* owner,
                                       BlockOrigin* origin) {
  if (mapped_.has_value()) return mapped_->Read(i, settings, ahead, row, block, owner, origin);
  if (loaded_.has_value()) return loaded_->Read(i, settings, block, owner, origin);
  return cached_->Read(i, settings, block, owner, origin);
}

absl::Status BlockReader::ReadSlowly(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                     RowInBlock* row, std::string_view* block, Ref<Block>* owner) {
  BlockOrigin origin;
  if (!settings.is_traced) return ReadUntraced(i, settings, ahead, row, block, owner, &origin);
  const int64_t begin = NowNanos();
  const absl::Status status = ReadUntraced(i, settings, ahead, row, block, owner, &origin);
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
    file->bytes_read += file_.index().handle(i).size;
  return status;
}

}  // namespace bigtable
