#include "sstable/block_reader.h"

#include <bit>
#include <utility>

#include "base/shortcuts.h"
#include "base/status.h"
#include "cache/block_cache.h"
#include "cache/budget_access.h"
#include "monitoring/thread_calls.h"
#include "monitoring/tracer.h"

namespace bigtable {
namespace {

std::unique_ptr<std::atomic<uint64_t>[]> MakeBits(size_t n) {
  return std::make_unique<std::atomic<uint64_t>[]>((n + 63) / 64);
}

}  // namespace

BlockReader::BlockReader(BlockSource source, const BlockIndex* index, MemoryBudget* budget,
                         Options options)
    : file_(std::move(source), index, budget),
      index_(index),
      budget_(budget),
      cache_id_(BudgetAccess::Cache(*budget).NewFileId()),
      mapping_(options.in_memory ? nullptr : file_.file().mapping()),
      residency_(options.residency),
      known_(mapping_ == nullptr ? nullptr : MakeBits(index->size())),
      verified_(mapping_ == nullptr ? nullptr : MakeBits(index->size())),
      raw_(mapping_ == nullptr ? nullptr : MakeBits(index->size())),
      present_(mapping_ == nullptr ? nullptr : MakeBits(index->size())),
      in_place_(mapping_ == nullptr ? nullptr : MakeBits(index->size())),
      epoch_(residency_->epoch()),
      charged_(mapping_ == nullptr ? 0 : static_cast<int64_t>(5 * sizeof(uint64_t) * words())) {
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, charged_);
  if (options.in_memory) loaded_.emplace(&file_, budget);
}

BlockReader::~BlockReader() {
  const bool uses_cache = !loaded_.has_value() && (mapping_ == nullptr || file_.is_compressed());
  if (uses_cache) BudgetAccess::Cache(*budget_).EraseFile(cache_id_);
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, -charged_);
  if (mapping_ == nullptr) return;
  int64_t known = 0;
  for (size_t word = 0; word < words(); ++word) known += std::popcount(known_[word].load());
  residency_->CountKnown(-known);
}

absl::Status BlockReader::ReadUntraced(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                       std::string_view* block, Ref<Block>* owner,
                                       BlockOrigin* origin) {
  if (loaded_.has_value()) return loaded_->Read(i, settings, block, owner, origin);
  *origin = BlockOrigin::kInPlace;
  // Of a mapped file, only compressed blocks are cached.
  const bool uses_cache = Shortcuts().Has(Shortcut::kBlockCache);
  const bool in_cache = mapping_ == nullptr || (file_.is_compressed() && !Test(raw_, i));
  if (in_cache) {
    *owner = uses_cache
                 ? BudgetAccess::Cache(*budget_).Lookup({cache_id_, index_->handle(i).offset})
                 : Ref<Block>();
    if (*owner) {
      *origin = BlockOrigin::kCacheHit;
      *block = (*owner)->data();
      return absl::OkStatus();
    }
    *origin = BlockOrigin::kCacheMiss;
  } else if (!Test(verified_, i)) {
    *origin = BlockOrigin::kFirstTouch;
  }
  BT_RETURN_IF_ERROR(mapping_ != nullptr ? ReadMapped(i, settings, ahead, block, owner, origin)
                                         : ReadByPosition(i, settings.limits, block, owner));
  if (in_cache && settings.fill_cache && uses_cache && *owner) {
    BudgetAccess::Cache(*budget_).Insert({cache_id_, index_->handle(i).offset}, *owner);
  }
  return absl::OkStatus();
}

absl::Status BlockReader::ReadSlowly(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                     std::string_view* block, Ref<Block>* owner) {
  BlockOrigin origin;
  if (!settings.is_traced) return ReadUntraced(i, settings, ahead, block, owner, &origin);
  const int64_t begin = NowNanos();
  const absl::Status status = ReadUntraced(i, settings, ahead, block, owner, &origin);
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
    file->bytes_read += index_->handle(i).size;
  return status;
}

// --- Of a mapped file ---

// Two threads may do this at once, or one thread while another marks a block. A mark that is lost
// is set again after the next check. A mark that is left from an earlier epoch may be wrong, as
// every mark may.
void BlockReader::FollowEpoch() {
  const uint32_t now = residency_->epoch();
  if (epoch_.load(std::memory_order_relaxed) == now) return;
  trust_.CountMissing();
  for (size_t word = 0; word < words(); ++word) {
    present_[word].store(0, std::memory_order_relaxed);
    in_place_[word].store(0, std::memory_order_relaxed);
  }
  epoch_.store(now, std::memory_order_release);
}

// Two threads may do this at once for the same block; both get the same result.
absl::Status BlockReader::VerifyMapped(size_t i, const ReadSettings& settings) {
  if (Test(verified_, i) && !settings.verify_checksums) return absl::OkStatus();
  const char* const stored = mapping_ + index_->handle(i).offset;
  BT_RETURN_IF_ERROR(file_.Verify(i, stored));
  if (file_.IsRaw(i, stored)) Set(raw_, i);
  Set(verified_, i);
  return absl::OkStatus();
}

absl::Status BlockReader::ReadMapped(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                     std::string_view* block, Ref<Block>* owner,
                                     BlockOrigin* origin) {
  FollowEpoch();
  bool by_position = false;
  BT_RETURN_IF_ERROR(BringIn(i, ahead, &by_position));
  if (by_position) {
    if (*origin == BlockOrigin::kInPlace) *origin = BlockOrigin::kFirstTouch;
    return ReadByPosition(i, settings.limits, block, owner);
  }
  BT_RETURN_IF_ERROR(VerifyMapped(i, settings));
  const BlockHandle handle = index_->handle(i);
  const char* const stored = mapping_ + handle.offset;
  if (Test(raw_, i)) {
    Set(in_place_, i);
    *block = {stored, handle.size};
    *owner = {};
    return absl::OkStatus();
  }
  BT_RETURN_IF_ERROR(file_.Decode(i, stored, settings.limits, owner));
  *block = (*owner)->data();
  return absl::OkStatus();
}

absl::Status BlockReader::ReadByPosition(size_t i, const CallLimits* limits,
                                         std::string_view* block, Ref<Block>* owner) {
  BT_RETURN_IF_ERROR(file_.Read(i, limits, owner));
  *block = (*owner)->data();
  return absl::OkStatus();
}

}  // namespace bigtable
