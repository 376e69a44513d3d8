#include "cache/block_cache.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
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
// Memory for a block besides its own: its slot in the hash table.
constexpr size_t kEntryOverhead = 32;

size_t ShardBits(uint64_t limit) {
  return static_cast<size_t>(
      std::bit_width(std::clamp<uint64_t>(limit / kSmallestShard, 1, kMostShards)) - 1);
}

}  // namespace

// Invariants:
// * index_ has the blocks of both queues, and the references to them. A block leaves its queue,
// which
//   has plain pointers, before its reference is given away.
// * The budget is charged with the bytes of both. (Not with the ghosts, which take a 250th of the
//   limit.)
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
    const auto found = index_.find(Wanted{key, hash});
    if (found == index_.end()) {
      ++misses_;
      return {};
    }
    ++hits_;
    Block& block = *found->block;
    if (block.hits_ < kMostHits) ++block.hits_;
    return found->block;
  }

  bool Contains(const Key& key, size_t hash) {
    MutexLock lock(&mutex_);
    return index_.contains(Wanted{key, hash});
  }

  void Insert(const Key& key, size_t hash, Ref<Block> block, uint64_t capacity, bool replace) {
    const uint64_t charge = ChargeOf(*block);
    Blocks evicted;  // freed after the lock is released
    MutexLock lock(&mutex_);
    if (const auto found = index_.find(Wanted{key, hash}); found != index_.end()) {
      if (!replace) return;
      if (charge > capacity) {
        evicted.push_back(Remove(found));
        return;
      }
      evicted.push_back(Exchange(*found, std::move(block)));
      EvictTo(capacity, capacity, &evicted);
      return;
    }
    if (charge > capacity) return;
    EvictTo(capacity - charge, capacity, &evicted);
    ABSL_ASSERT(!block->is_cached_ && "a block is in the cache once");
    Block* const added = block.get();
    added->key_ = key;
    index_.insert(Indexed{hash, std::move(block)});
    added->hits_ = 0;
    added->is_cached_ = true;
    added->is_small_ = !TakeGhost(hash);
    QueueOf(*added).PushBack(added);
    Charge(static_cast<int64_t>(charge));
    ABSL_ASSERT(small_.bytes() + main_.bytes() <= capacity && "what does not fit was evicted");
    AssertConsistent();
  }

  void EvictDownTo(uint64_t capacity) {
    Blocks evicted;
    MutexLock lock(&mutex_);
    EvictTo(capacity, capacity, &evicted);
    AssertConsistent();
  }

  void EraseFile(uint64_t file_id) {
    Blocks evicted;
    MutexLock lock(&mutex_);
    for (const Queue* queue : {&small_, &main_}) {
      for (Block* block = queue->first(); block != nullptr;) {
        Block* const next = block->after_;
        if (block->key_.file_id == file_id) evicted.push_back(Remove(Find(*block)));
        block = next;
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
  using Blocks = absl::InlinedVector<Ref<Block>, 4>;

  // The hash beside the block, so that a table that grows need not look at the blocks.
  struct Indexed {
    size_t hash = 0;
    mutable Ref<Block> block;  // its key does not change
  };
  struct Wanted {
    const Key& key;
    size_t hash;
  };
  struct HashOf {
    using is_transparent = void;
    size_t operator()(const Indexed& of) const { return of.hash; }
    size_t operator()(const Wanted& of) const { return of.hash; }
  };
  struct AreEqual {
    using is_transparent = void;
    bool operator()(const Indexed& a, const Indexed& b) const {
      return a.hash == b.hash && a.block->key_ == b.block->key_;
    }
    bool operator()(const Indexed& a, const Wanted& b) const {
      return a.hash == b.hash && a.block->key_ == b.key;
    }
  };
  using Index = absl::flat_hash_set<Indexed, HashOf, AreEqual>;

  // Blocks, the oldest first, linked by their before_ and after_.
  class Queue {
   public:
    Block* first() const { return first_; }
    uint64_t bytes() const { return bytes_; }

    size_t size() const { return size_; }

    void PushBack(Block* block) {
      block->before_ = last_;
      block->after_ = nullptr;
      (last_ != nullptr ? last_->after_ : first_) = block;
      last_ = block;
      bytes_ += ChargeOf(*block);
      ++size_;
    }
    void Remove(const Block& block) {
      (block.before_ != nullptr ? block.before_->after_ : first_) = block.after_;
      (block.after_ != nullptr ? block.after_->before_ : last_) = block.before_;
      bytes_ -= ChargeOf(block);
      --size_;
    }
    void Exchange(const Block& old, Block* block) {
      block->before_ = old.before_;
      block->after_ = old.after_;
      (old.before_ != nullptr ? old.before_->after_ : first_) = block;
      (old.after_ != nullptr ? old.after_->before_ : last_) = block;
      bytes_ += ChargeOf(*block) - ChargeOf(old);
    }

   private:
    Block* first_ = nullptr;
    Block* last_ = nullptr;
    uint64_t bytes_ = 0;  // charges
    size_t size_ = 0;
  };

  static uint64_t ChargeOf(const Block& block) { return block.charge() + kEntryOverhead; }

  // The invariants above, without visiting all blocks.
  void AssertConsistent() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ABSL_ASSERT(index_.size() == small_.size() + main_.size() && "the index has all blocks");
    for ([[maybe_unused]] const Queue* queue : {&small_, &main_}) {
      ABSL_ASSERT((queue->size() == 0) == (queue->first() == nullptr) &&
                  (queue->size() == 0) == (queue->bytes() == 0) && "a queue counts its blocks");
    }
  }

  uint64_t bytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return small_.bytes() + main_.bytes();
  }
  Queue& QueueOf(const Block& block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return block.is_small_ ? small_ : main_;
  }
  Index::iterator Find(const Block& block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = index_.find(Wanted{block.key_, absl::HashOf(block.key_)});
    ABSL_ASSERT(found != index_.end() && found->block.get() == &block && "the index has all");
    return found;
  }

  void Charge(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
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

  Ref<Block> Remove(Index::iterator at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Ref<Block> block = std::move(at->block);
    index_.erase(at);
    QueueOf(*block).Remove(*block);
    block->is_cached_ = false;
    Charge(-static_cast<int64_t>(ChargeOf(*block)));
    return block;
  }
  // Another block of the same key takes over the place in the queue and the hits of `at`, which is
  // returned.
  Ref<Block> Exchange(const Indexed& at, Ref<Block> block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ABSL_ASSERT(!block->is_cached_ && "a block is in the cache once");
    Block& old = *at.block;
    block->key_ = old.key_;
    block->hits_ = old.hits_;
    block->is_cached_ = std::exchange(old.is_cached_, false);
    block->is_small_ = old.is_small_;
    QueueOf(old).Exchange(old, block.get());
    Charge(static_cast<int64_t>(block->charge()) - static_cast<int64_t>(old.charge()));
    return std::exchange(at.block, std::move(block));
  }

  // Evicts until at most `most` bytes are left in a shard of `capacity`.
  void EvictTo(uint64_t most, uint64_t capacity, Blocks* evicted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (bytes() > most) {
      if (main_.bytes() == 0 || small_.bytes() > capacity / kSmallPart) {
        TakeFromSmall(evicted);
      } else {
        TakeFromMain(most > 0, evicted);
      }
    }
  }

  // Moves the oldest block of the small queue to the main queue, or evicts it and keeps a ghost.
  void TakeFromSmall(Blocks* evicted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Block* const oldest = small_.first();
    ABSL_ASSERT(oldest != nullptr && "the queue whose bytes are too many has a block");
    if (oldest->hits_ > 1) {
      small_.Remove(*oldest);
      oldest->is_small_ = false;
      oldest->hits_ = 0;
      main_.PushBack(oldest);
      return;
    }
    const auto at = Find(*oldest);
    PlaceOfGhost(at->hash) = GhostOf(at->hash);
    evicted->push_back(Remove(at));
  }

  // Moves the oldest block of the main queue to its end, once for each hit, and then evicts it.
  void TakeFromMain(bool others_stay, Blocks* evicted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Block* const oldest = main_.first();
    ABSL_ASSERT(oldest != nullptr && "the queue whose bytes are too many has a block");
    if (oldest->hits_ == 0) {
      evicted->push_back(Remove(Find(*oldest)));
      return;
    }
    --oldest->hits_;
    main_.Remove(*oldest);
    main_.PushBack(oldest);
    // What stays for long must not keep slabs that have little else.
    if (Ref<Block> denser = others_stay ? oldest->Denser() : Ref<Block>()) {
      evicted->push_back(Exchange(*Find(*oldest), std::move(denser)));
    }
  }

  Mutex mutex_;
  MemoryBudget* budget_ = nullptr;
  Index index_ ABSL_GUARDED_BY(mutex_);
  Queue small_ ABSL_GUARDED_BY(mutex_);
  Queue main_ ABSL_GUARDED_BY(mutex_);
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
