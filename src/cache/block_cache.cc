#include "cache/block_cache.h"

#include <algorithm>
#include <bit>
#include <list>
#include <vector>

#include "absl/base/macros.h"
#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

#include "base/mutex.h"
#include "cache/budget_access.h"

namespace bigtable {
namespace {

// A shard has at least this much of the limit, so that large blocks fit; and there are at most this
// many shards.
constexpr uint64_t kSmallestShard = 16 << 20;
constexpr uint64_t kMostShards = 64;
// The cache may use this fraction of the limit, however much the other uses take.
constexpr uint64_t kFloorPart = 16;
// The cache leaves up to this fraction of the limit for the unused part of its memory.
constexpr uint64_t kPartForUnused = 8;
// The fraction of a shard for the small queue, whose blocks were not requested again yet.
constexpr uint64_t kSmallPart = 10;
// There is one ghost, a part of the hash of a key that has left the small queue, for this many
// bytes: about as many as entries.
constexpr uint64_t kBytesPerGhost = 1 << 10;
constexpr uint8_t kMostHits = 3;
// Memory of an entry besides its block: a node of the list, a slot of the hash table.
constexpr size_t kEntryOverhead = 112;

size_t ShardBits(uint64_t limit) {
  return static_cast<size_t>(
      std::bit_width(std::clamp<uint64_t>(limit / kSmallestShard, 1, kMostShards)) - 1);
}

}  // namespace

// Invariant: bytes_ is the charge of both lists and small_bytes_ that of the small one; index_ has
// all their entries; the budget is charged with bytes_. (Not with the ghosts, which take a
// 250th of the limit.)
class alignas(64) BlockCache::Shard {
 public:
  void Init(MemoryBudget* budget, size_t ghosts) {
    budget_ = budget;
    SetGhosts(ghosts);
  }
  // Forgets the ghosts that there are.
  void SetGhosts(size_t count) {
    MutexLock lock(&mutex_);
    ghosts_.assign(count, 0);
    ghosts_.shrink_to_fit();
  }

  Ref<Block> Lookup(const Key& key, size_t hash) {
    MutexLock lock(&mutex_);
    const auto found = index_.find(key, hash);
    if (found == index_.end()) {
      ++misses_;
      return {};
    }
    ++hits_;
    Entry& entry = *found->second;
    if (entry.hits < kMostHits) ++entry.hits;
    return entry.block;
  }

  bool Contains(const Key& key, size_t hash) {
    MutexLock lock(&mutex_);
    return index_.find(key, hash) != index_.end();
  }

  void Insert(const Key& key, size_t hash, Ref<Block> block, uint64_t capacity, bool replace) {
    const uint64_t charge = block->charge() + kEntryOverhead;
    List evicted;  // freed after the lock is released
    MutexLock lock(&mutex_);
    if (const auto found = index_.find(key, hash); found != index_.end()) {
      if (!replace) return;
      if (charge > capacity) {
        const List::iterator at = found->second;
        return Evict(at->is_small ? &small_ : &main_, at, &evicted);
      }
      // Replaces the block in its entry, which keeps its hits and its position.
      Entry& entry = *found->second;
      Charge(static_cast<int64_t>(charge) - static_cast<int64_t>(entry.charge), entry.is_small);
      entry.charge = charge;
      std::swap(entry.block, block);
      EvictTo(capacity, capacity, &evicted);
      return;
    }
    if (charge > capacity) return;
    EvictTo(capacity - charge, capacity, &evicted);
    const bool returns = TakeGhost(hash);
    List& list = returns ? main_ : small_;
    list.push_back({key, std::move(block), charge, hash, 0, !returns});
    index_.emplace(key, std::prev(list.end()));
    Charge(static_cast<int64_t>(charge), !returns);
    ABSL_ASSERT(bytes_ <= capacity && "what does not fit was evicted before");
    AssertConsistent();
  }

  void EvictDownTo(uint64_t capacity) {
    List evicted;
    MutexLock lock(&mutex_);
    EvictTo(capacity, capacity, &evicted);
    AssertConsistent();
  }

  void EraseFile(uint64_t file_id) {
    List evicted;
    MutexLock lock(&mutex_);
    for (List* list : {&small_, &main_}) {
      for (auto at = list->begin(); at != list->end();) {
        const auto next = std::next(at);
        if (at->key.file_id == file_id) Evict(list, at, &evicted);
        at = next;
      }
    }
    AssertConsistent();
  }

  uint64_t hits() {
    MutexLock lock(&mutex_);
    return hits_;
  }
  uint64_t misses() {
    MutexLock lock(&mutex_);
    return misses_;
  }

 private:
  struct Entry {
    Key key;
    Ref<Block> block;
    uint64_t charge;
    size_t hash;
    uint8_t hits;  // since it entered its queue or was moved to the end, up to kMostHits
    bool is_small;
  };
  using List = std::list<Entry>;  // the oldest first

  // The invariant above, without adding up the charges.
  void AssertConsistent() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ABSL_ASSERT(index_.size() == small_.size() + main_.size() && "the index has all entries");
    ABSL_ASSERT((small_bytes_ == 0) == small_.empty() && (bytes_ == 0) == index_.empty() &&
                small_bytes_ <= bytes_ && "every entry is charged, to its queue");
  }

  void Charge(int64_t bytes, bool is_small) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    bytes_ += static_cast<uint64_t>(bytes);
    if (is_small) small_bytes_ += static_cast<uint64_t>(bytes);
    BudgetAccess::Charge(*budget_, MemoryBudget::Use::kBlockCache, bytes);
  }

  // Its place depends on the lower bits of the hash, and it is the upper ones; 0 is none.
  static uint32_t GhostOf(size_t hash) { return static_cast<uint32_t>(uint64_t{hash} >> 32) | 1; }
  uint32_t& PlaceOfGhost(size_t hash) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ghosts_[hash % ghosts_.size()];
  }
  // Whether the key has left the small queue a short while ago; only once.
  bool TakeGhost(size_t hash) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    uint32_t& ghost = PlaceOfGhost(hash);
    if (ghost != GhostOf(hash)) return false;
    ghost = 0;
    return true;
  }

  void Evict(List* list, List::iterator at, List* evicted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    index_.erase(at->key);
    Charge(-static_cast<int64_t>(at->charge), at->is_small);
    evicted->splice(evicted->end(), *list, at);
  }

  // Evicts until at most `bytes` are left in a shard of `capacity`.
  void EvictTo(uint64_t bytes, uint64_t capacity, List* evicted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (bytes_ > bytes && bytes_ > 0) {
      if (main_.empty() || (!small_.empty() && small_bytes_ > capacity / kSmallPart)) {
        TakeFromSmall(evicted);
      } else {
        TakeFromMain(bytes > 0, evicted);
      }
    }
  }

  // Moves the oldest entry of the small queue to the main queue, or evicts it and keeps a ghost.
  void TakeFromSmall(List* evicted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ABSL_ASSERT(!small_.empty() && "the queue whose bytes are too many has an entry");
    const auto oldest = small_.begin();
    if (oldest->hits > 1) {
      small_bytes_ -= oldest->charge;
      oldest->is_small = false;
      oldest->hits = 0;
      main_.splice(main_.end(), small_, oldest);
      return;
    }
    PlaceOfGhost(oldest->hash) = GhostOf(oldest->hash);
    Evict(&small_, oldest, evicted);
  }

  // Moves the oldest entry of the main queue to its end, once for each hit, and then evicts it.
  void TakeFromMain(bool others_stay, List* evicted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ABSL_ASSERT(!main_.empty() && "the queue whose bytes are too many has an entry");
    const auto oldest = main_.begin();
    if (oldest->hits > 0) {
      --oldest->hits;
      main_.splice(main_.end(), main_, oldest);
      // What stays for long must not keep slabs that have little else.
      if (Ref<Block> denser = others_stay ? oldest->block->Denser() : Ref<Block>()) {
        std::swap(oldest->block, denser);
        evicted->push_back({.block = std::move(denser)});
      }
      return;
    }
    Evict(&main_, oldest, evicted);
  }

  Mutex mutex_;
  MemoryBudget* budget_ = nullptr;
  absl::flat_hash_map<Key, List::iterator> index_ ABSL_GUARDED_BY(mutex_);
  List small_ ABSL_GUARDED_BY(mutex_);
  List main_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t small_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // By hash; a newer one replaces an older one.
  std::vector<uint32_t> ghosts_ ABSL_GUARDED_BY(mutex_);
  uint64_t hits_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t misses_ ABSL_GUARDED_BY(mutex_) = 0;
};

BlockCache::BlockCache(MemoryBudget* budget)
    : budget_(budget),
      memory_(budget),
      shard_bits_(ShardBits(budget->limit())),
      shards_(std::make_unique<Shard[]>(size_t{1} << shard_bits_)) {
  for (size_t i = 0; i < size_t{1} << shard_bits_; ++i) shards_[i].Init(budget, GhostsOfShard());
}

BlockCache::~BlockCache() {
  for (size_t i = 0; i < size_t{1} << shard_bits_; ++i) shards_[i].EvictDownTo(0);
}

// The hash table uses a hash's lower bits; the choice of the shard uses its upper ones.
BlockCache::Shard& BlockCache::ShardOf(size_t hash) const {
  return shards_[shard_bits_ == 0 ? 0 : hash >> (64 - shard_bits_)];
}

size_t BlockCache::GhostsOfShard() const {
  return std::max<size_t>((budget_->limit() >> shard_bits_) / kBytesPerGhost, 1);
}

void BlockCache::AdoptLimit(bool is_lower) {
  for (size_t i = 0; i < size_t{1} << shard_bits_; ++i) shards_[i].SetGhosts(GhostsOfShard());
  memory_.AdoptLimit(budget_->limit());
  Shrink();
  if (!is_lower) return;
  // The blocks that are left may be in slabs that are mostly free.
  for (size_t i = 0; i < size_t{1} << shard_bits_ && !MemoryFits(); ++i) {
    shards_[i].EvictDownTo(0);
    memory_.Trim();
  }
}

bool BlockCache::MemoryFits() const {
  const uint64_t limit = budget_->limit();
  return memory_.unused() <= limit / kPartForUnused || budget_->used() <= limit;
}

uint64_t BlockCache::capacity() const {
  const uint64_t limit = budget_->limit();
  // What was evicted may have left free slots in slabs that are not empty. To evict more for them
  // would leave more of them.
  uint64_t others = std::min(memory_.unused(), limit / kPartForUnused);
  // Not used() minus the cache's part, which may grow between the two reads.
  for (const auto use :
       {MemoryBudget::Use::kMemtables, MemoryBudget::Use::kLog, MemoryBudget::Use::kSpareLog,
        MemoryBudget::Use::kIndexes, MemoryBudget::Use::kInMemoryGroups,
        MemoryBudget::Use::kWriters, MemoryBudget::Use::kReads}) {
    others += budget_->used(use);
  }
  return std::max(limit / kFloorPart, limit - std::min(limit, others));
}

Ref<Block> BlockCache::Lookup(const Key& key) {
  const size_t hash = absl::HashOf(key);
  return ShardOf(hash).Lookup(key, hash);
}

bool BlockCache::Contains(const Key& key) const {
  const size_t hash = absl::HashOf(key);
  return ShardOf(hash).Contains(key, hash);
}

void BlockCache::Insert(const Key& key, Ref<Block> block) {
  const size_t hash = absl::HashOf(key);
  ShardOf(hash).Insert(key, hash, std::move(block), capacity() >> shard_bits_, false);
}

void BlockCache::Replace(const Key& key, Ref<Block> block) {
  const size_t hash = absl::HashOf(key);
  ShardOf(hash).Insert(key, hash, std::move(block), capacity() >> shard_bits_, true);
}

void BlockCache::Shrink() {
  const uint64_t capacity_of_shard = capacity() >> shard_bits_;
  for (size_t i = 0; i < size_t{1} << shard_bits_; ++i) {
    shards_[i].EvictDownTo(capacity_of_shard);
  }
  memory_.Trim();
}

void BlockCache::EraseFile(uint64_t file_id) {
  for (size_t i = 0; i < size_t{1} << shard_bits_; ++i) shards_[i].EraseFile(file_id);
  memory_.Trim();
}

uint64_t BlockCache::hits() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < size_t{1} << shard_bits_; ++i) sum += shards_[i].hits();
  return sum;
}

uint64_t BlockCache::misses() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < size_t{1} << shard_bits_; ++i) sum += shards_[i].misses();
  return sum;
}

}  // namespace bigtable
