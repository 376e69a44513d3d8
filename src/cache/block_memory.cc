#include "cache/block_memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <utility>

#include "absl/base/config.h"
#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"

#include "base/mutex.h"
#include "base/try_allocate.h"
#include "cache/budget_access.h"

namespace bigtable {
namespace {

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
constexpr bool kUsesSlabs = false;  // so that it sees where each block ends, and when it is freed
#else
constexpr bool kUsesSlabs = true;
#endif

constexpr uint64_t kPage = 4096;
// Slabs are small beside the limit, but a large limit takes no more of them than the system can
// map.
constexpr uint64_t kSmallestSlab = 64 << 10;
constexpr uint64_t kLargestSlab = uint64_t{1} << 30;
constexpr uint64_t kSlabsOfLimit = 4096;
constexpr uint64_t kFewestSlots = 4;
// Each stripe has slabs for each size. So there are few.
constexpr uint64_t kBytesPerStripe = 64 << 20;
constexpr uint64_t kMostStripes = 4;
// All stripes together keep this fraction of the limit in empty slabs: a new one costs a page fault
// for each page.
constexpr uint64_t kPartForEmpty = 64;
// By so much the free slots of a stripe may differ from what is charged.
constexpr int64_t kStep = 16 << 10;

// Slots are multiples of 16 up to 256, and from there in sixteen steps to twice the size.
constexpr int kSmallestStep = 4;
constexpr uint64_t kStepsOfDouble = 16;
constexpr size_t kSizes =
    kStepsOfDouble * (std::bit_width(BlockMemory::kLargestSlot) - 1 - 2 * kSmallestStep + 1) + 1;

uint64_t StripesOf(const MemoryBudget& budget) {
  return std::clamp<uint64_t>(budget.limit() / kBytesPerStripe, 1, kMostStripes);
}

}  // namespace

struct BlockMemory::SlotSize {
  size_t index = 0;
  uint64_t bytes = 0;
};

BlockMemory::SlotSize BlockMemory::SlotFor(uint64_t size) {
  const int above = std::bit_width(std::max<uint64_t>(size, 1) - 1);  // a power of two
  const int step = std::max(kSmallestStep, above - 1 - kSmallestStep);
  const uint64_t steps = (std::max<uint64_t>(size, 1) + (uint64_t{1} << step) - 1) >> step;
  const uint64_t doubled = static_cast<uint64_t>(step - kSmallestStep);
  return {static_cast<size_t>(kStepsOfDouble * doubled + steps), steps << step};
}

// Guarded by the mutex of its stripe.
class BlockMemory::Slab {
 public:
  // Null: the system has no memory.
  static std::unique_ptr<Slab> Make(std::shared_ptr<Shared> shared, Stripe* stripe, SlotSize slot,
                                    uint64_t smallest) {
    const uint64_t slots = std::max(kFewestSlots, smallest / slot.bytes);
    const uint64_t bytes = (slots * slot.bytes + kPage - 1) / kPage * kPage;
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    auto* const slab = new (std::nothrow)
        Slab(std::move(shared), stripe, slot, static_cast<char*>(memory), slots, bytes);
    if (slab == nullptr) ::munmap(memory, bytes);
    return std::unique_ptr<Slab>(slab);
  }
  ~Slab() {
    // A process has a limit for its mappings, at which it cannot divide one.
    if (::munmap(memory_, bytes_) != 0) ::madvise(memory_, bytes_, MADV_DONTNEED);
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  size_t index() const { return slot_.index; }
  uint64_t slot_bytes() const { return slot_.bytes; }
  uint64_t bytes() const { return bytes_; }
  Stripe* stripe() const { return stripe_; }
  bool is_full() const { return used_ == slots_; }
  bool is_empty() const { return used_ == 0; }
  bool is_mostly_free() const { return used_ <= slots_ / 2; }
  bool is_fuller_than(const Slab& other) const { return used_ > other.used_; }

  char* Take() {
    ABSL_ASSERT(!is_full() && "there is a free slot");
    ++used_;
    if (free_ == nullptr) return memory_ + slot_.bytes * fresh_++;
    char* const slot = free_;
    std::memcpy(&free_, slot, sizeof free_);
    return slot;
  }
  void Put(char* slot) {
    ABSL_ASSERT(!is_empty() && slot >= memory_ && slot < memory_ + slots_ * slot_.bytes &&
                static_cast<uint64_t>(slot - memory_) % slot_.bytes == 0 && "it is a slot of this");
    --used_;
    std::memcpy(slot, &free_, sizeof free_);
    free_ = slot;
  }

  // Of the stripe's lists: of slabs with room for the size, and of empty ones.
  struct Hook {
    Slab* before = nullptr;
    Slab* after = nullptr;
  };
  Hook with_room;
  Hook empty;

 private:
  Slab(std::shared_ptr<Shared> shared, Stripe* stripe, SlotSize slot, char* memory, uint64_t slots,
       uint64_t bytes)
      : shared_(std::move(shared)),
        stripe_(stripe),
        slot_(slot),
        memory_(memory),
        slots_(slots),
        bytes_(bytes) {}

  const std::shared_ptr<Shared> shared_;  // with the stripe
  Stripe* const stripe_;
  const SlotSize slot_;
  char* const memory_;
  const uint64_t slots_;
  const uint64_t bytes_;
  uint64_t used_ = 0;
  uint64_t fresh_ = 0;    // slots that were taken once
  char* free_ = nullptr;  // the first of the others; each begins with the address of the next
};

// A list of slabs, linked by one of their hooks.
template <auto kHook>
class BlockMemory::SlabList {
 public:
  Slab* first() const { return first_; }
  void PushFront(Slab* slab) {
    slab->*kHook = {.after = first_};
    (first_ != nullptr ? (first_->*kHook).before : last_) = slab;
    first_ = slab;
  }
  void PushBack(Slab* slab) {
    slab->*kHook = {.before = last_};
    (last_ != nullptr ? (last_->*kHook).after : first_) = slab;
    last_ = slab;
  }
  void Remove(Slab* slab) {
    const Slab::Hook hook = slab->*kHook;
    (hook.before != nullptr ? (hook.before->*kHook).after : first_) = hook.after;
    (hook.after != nullptr ? (hook.after->*kHook).before : last_) = hook.before;
  }

 private:
  Slab* first_ = nullptr;
  Slab* last_ = nullptr;
};

struct alignas(64) BlockMemory::Stripe {
  using Slabs = absl::InlinedVector<std::unique_ptr<Slab>, 1>;

  // A slot of this size, or null.
  char* Take(size_t index, Slab** of) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Slab* const slab = with_room[index].first();
    if (slab == nullptr) return nullptr;
    if (slab->is_empty()) NoLongerEmpty(slab);
    char* const slot = slab->Take();
    if (slab->is_full()) with_room[index].Remove(slab);
    free_bytes -= static_cast<int64_t>(slab->slot_bytes());
    *of = slab;
    return slot;
  }
  // Returns the slabs that it does not keep any more.
  Slabs Put(Slab* slab, char* slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (slab->is_full()) with_room[slab->index()].PushFront(slab);
    slab->Put(slot);
    free_bytes += static_cast<int64_t>(slab->slot_bytes());
    if (slab->is_mostly_free()) {
      // Slots are taken from others first, so that it becomes empty.
      with_room[slab->index()].Remove(slab);
      with_room[slab->index()].PushBack(slab);
    }
    if (!slab->is_empty()) return {};
    empty.PushBack(slab);
    empty_bytes += slab->bytes();
    return DropEmpty(most_empty);
  }
  // The oldest empty slabs, until the others have no more than so many bytes.
  Slabs DropEmpty(uint64_t most) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Slabs dropped;
    while (empty_bytes > most) {
      Slab* const slab = empty.first();
      NoLongerEmpty(slab);
      with_room[slab->index()].Remove(slab);
      Count(-static_cast<int64_t>(slab->bytes()));
      dropped.emplace_back(slab);
    }
    return dropped;
  }
  void NoLongerEmpty(Slab* slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    empty.Remove(slab);
    empty_bytes -= slab->bytes();
  }
  // A slab that was made.
  void Add(Slab* slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Count(static_cast<int64_t>(slab->bytes()));
    with_room[slab->index()].PushFront(slab);
    empty.PushBack(slab);
    empty_bytes += slab->bytes();
  }
  // A slab comes, or goes.
  void Count(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    slab_bytes += bytes;
    free_bytes += bytes;
  }
  void Charge() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  Mutex mutex;
  // Those that have room, by the size of their slots; the empty ones are also in `empty`, the
  // oldest first.
  std::array<SlabList<&Slab::with_room>, kSizes> with_room ABSL_GUARDED_BY(mutex);
  SlabList<&Slab::empty> empty ABSL_GUARDED_BY(mutex);
  uint64_t empty_bytes ABSL_GUARDED_BY(mutex) = 0;
  uint64_t most_empty ABSL_GUARDED_BY(mutex) = 0;
  int64_t free_bytes ABSL_GUARDED_BY(mutex) = 0;
  int64_t slab_bytes ABSL_GUARDED_BY(mutex) = 0;
  int64_t charged ABSL_GUARDED_BY(mutex) = 0;             // of free_bytes
  MemoryBudget* budget ABSL_GUARDED_BY(mutex) = nullptr;  // null: BlockMemory is destroyed
  std::atomic<int64_t>* all_charged = nullptr;
};

struct BlockMemory::Shared {
  explicit Shared(MemoryBudget* budget)
      : smallest_slab(std::clamp(budget->limit() / kSlabsOfLimit, kSmallestSlab, kLargestSlab)),
        stripe_count(StripesOf(*budget)),
        stripes(std::make_unique<Stripe[]>(stripe_count)) {
    for (uint64_t i = 0; i < stripe_count; ++i) {
      MutexLock lock(&stripes[i].mutex);
      stripes[i].most_empty = budget->limit() / kPartForEmpty / stripe_count;
      stripes[i].budget = budget;
      stripes[i].all_charged = &charged;
    }
  }

  const uint64_t smallest_slab;
  const uint64_t stripe_count;
  std::atomic<int64_t> charged{0};
  const std::unique_ptr<Stripe[]> stripes;
};

void BlockMemory::Stripe::Charge() {
  const int64_t more = free_bytes - charged;
  if (budget == nullptr || (free_bytes != 0 && more < kStep && more > -kStep)) return;
  BudgetAccess::Charge(*budget, MemoryBudget::Use::kBlockCache, more);
  all_charged->fetch_add(more, std::memory_order_relaxed);
  charged = free_bytes;
}

BlockMemory::BlockMemory(MemoryBudget* budget) : shared_(std::make_shared<Shared>(budget)) {}

BlockMemory::~BlockMemory() {
  for (uint64_t i = 0; i < shared_->stripe_count; ++i) {
    Stripe& stripe = shared_->stripes[i];
    Stripe::Slabs dropped;  // go back to the system after the lock is released
    MutexLock lock(&stripe.mutex);
    stripe.most_empty = 0;
    dropped = stripe.DropEmpty(0);
    BudgetAccess::Charge(*stripe.budget, MemoryBudget::Use::kBlockCache, -stripe.charged);
    stripe.charged = 0;
    stripe.budget = nullptr;
  }
}

void BlockMemory::Trim() {
  for (uint64_t i = 0; i < shared_->stripe_count; ++i) {
    Stripe& stripe = shared_->stripes[i];
    Stripe::Slabs dropped;  // as above
    MutexLock lock(&stripe.mutex);
    dropped = stripe.DropEmpty(0);
    stripe.Charge();
  }
}

BlockMemory::Buffer BlockMemory::Allocate(uint64_t size) {
  if (!kUsesSlabs || size > kLargestSlot) return Buffer(TryAllocate(size).release(), Return{});
  static thread_local uint64_t turn = 0;
  Stripe& stripe = shared_->stripes[turn++ % shared_->stripe_count];
  const SlotSize slot = SlotFor(size);
  Slab* of = nullptr;
  {
    MutexLock lock(&stripe.mutex);
    if (char* const bytes = stripe.Take(slot.index, &of)) {
      stripe.Charge();
      return Buffer(bytes, Return{of});
    }
  }
  std::unique_ptr<Slab> made = Slab::Make(shared_, &stripe, slot, shared_->smallest_slab);
  if (made == nullptr) return Buffer(TryAllocate(size).release(), Return{});
  MutexLock lock(&stripe.mutex);
  stripe.Add(made.release());
  char* const bytes = stripe.Take(slot.index, &of);
  stripe.Charge();
  return Buffer(bytes, Return{of});
}

void BlockMemory::Return::operator()(char* bytes) const {
  if (slab == nullptr) {
    delete[] bytes;
    return;
  }
  Stripe* const stripe = slab->stripe();
  Stripe::Slabs dropped;  // as above; the last one may have the last reference to the stripe
  MutexLock lock(&stripe->mutex);
  dropped = stripe->Put(slab, bytes);
  stripe->Charge();
}

BlockMemory::Buffer BlockMemory::Denser(const Buffer& buffer) {
  Slab* const slab = buffer.get_deleter().slab;
  if (slab == nullptr) return nullptr;
  Stripe& stripe = *slab->stripe();
  MutexLock lock(&stripe.mutex);
  if (!slab->is_mostly_free()) return nullptr;
  const Slab* const other = stripe.with_room[slab->index()].first();
  if (!other->is_fuller_than(*slab)) return nullptr;
  Slab* of = nullptr;
  char* const bytes = stripe.Take(slab->index(), &of);
  stripe.Charge();
  return Buffer(bytes, Return{of});
}

uint64_t BlockMemory::TakenFor(const Buffer& buffer, uint64_t size) {
  const Slab* const slab = buffer.get_deleter().slab;
  return slab != nullptr ? slab->slot_bytes() : size;
}

uint64_t BlockMemory::unused() const {
  return static_cast<uint64_t>(
      std::max<int64_t>(shared_->charged.load(std::memory_order_relaxed), 0));
}

uint64_t BlockMemory::slabs() const {
  int64_t sum = 0;
  for (uint64_t i = 0; i < shared_->stripe_count; ++i) {
    MutexLock lock(&shared_->stripes[i].mutex);
    sum += shared_->stripes[i].slab_bytes;
  }
  return static_cast<uint64_t>(sum);
}

}  // namespace bigtable
