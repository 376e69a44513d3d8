#include "sstable/block_reader.h"

#include <bit>
#include <utility>

#include "base/status.h"
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
  if (options.in_memory) {
    loaded_.emplace(&file_, budget);
  } else if (mapping_ == nullptr || file_.is_compressed()) {
    cached_.emplace(&file_, budget);
  }
}

BlockReader::~BlockReader() {
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
  if (mapping_ != nullptr) return ReadMapped(i, settings, ahead, block, owner, origin);
  return cached_->Read(i, settings, block, owner, origin);
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
  // Only compressed blocks are cached. Whether a block is one is known once it was verified.
  const bool is_cached = cached_.has_value() && !Test(raw_, i);
  if (!is_cached) {
    *origin = Test(verified_, i) ? BlockOrigin::kInPlace : BlockOrigin::kFirstTouch;
    return ReadPastCache(i, settings, ahead, block, owner, origin);
  }
  *owner = cached_->Find(i);
  if (*owner) {
    *origin = BlockOrigin::kCacheHit;
    *block = (*owner)->data();
    return absl::OkStatus();
  }
  *origin = BlockOrigin::kCacheMiss;
  BT_RETURN_IF_ERROR(ReadPastCache(i, settings, ahead, block, owner, origin));
  if (*owner) cached_->Add(i, settings, *owner);
  return absl::OkStatus();
}

absl::Status BlockReader::ReadPastCache(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                        std::string_view* block, Ref<Block>* owner,
                                        BlockOrigin* origin) {
  FollowEpoch();
  bool by_position = false;
  BT_RETURN_IF_ERROR(BringIn(i, ahead, &by_position));
  if (by_position) {
    if (*origin == BlockOrigin::kInPlace) *origin = BlockOrigin::kFirstTouch;
    BT_RETURN_IF_ERROR(file_.Read(i, settings.limits, owner));
    *block = (*owner)->data();
    return absl::OkStatus();
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

}  // namespace bigtable
