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
constexpr uint64_t kSlabsOfLimit = 4096;
constexpr uint64_t kFewestSlots = 4;
// A small limit has room for few slabs that are partly free, as there may be one for each size.
constexpr uint64_t kSlotsOfLimit = 256;
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

  // In the list of its stripe.
  Slab* before = nullptr;
  Slab* after = nullptr;

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

class BlockMemory::SlabList {
 public:
  Slab* first() const { return first_; }
  // The first with slots of this size, or null.
  Slab* Find(size_t index) const {
    Slab* slab = first_;
    while (slab != nullptr && slab->index() != index) slab = slab->after;
    return slab;
  }
  void PushFront(Slab* slab) {
    slab->before = nullptr;
    slab->after = first_;
    (first_ != nullptr ? first_->before : last_) = slab;
    first_ = slab;
  }
  void PushBack(Slab* slab) {
    slab->before = last_;
    slab->after = nullptr;
    (last_ != nullptr ? last_->after : first_) = slab;
    last_ = slab;
  }
  void Remove(Slab* slab) {
    (slab->before != nullptr ? slab->before->after : first_) = slab->after;
    (slab->after != nullptr ? slab->after->before : last_) = slab->before;
  }

 private:
  Slab* first_ = nullptr;
  Slab* last_ = nullptr;
};

struct alignas(64) BlockMemory::Stripe {
  using Slabs = absl::InlinedVector<std::unique_ptr<Slab>, 1>;

  // A slot of this size, or null.
  char* Take(size_t index, Slab** of) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Slab* slab = with_room[index].first();
    if (slab == nullptr) {
      slab = empty.Find(index);
      if (slab == nullptr) return nullptr;
      RemoveEmpty(slab);
      with_room[index].PushFront(slab);
    }
    char* const slot = slab->Take();
    if (slab->is_full()) with_room[index].Remove(slab);
    free_bytes -= static_cast<int64_t>(slab->slot_bytes());
    *of = slab;
    return slot;
  }
  // Returns the slabs that it does not keep any more.
  Slabs Put(Slab* slab, char* slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    SlabList& same_size = with_room[slab->index()];
    if (!slab->is_full()) same_size.Remove(slab);
    slab->Put(slot);
    free_bytes += static_cast<int64_t>(slab->slot_bytes());
    if (slab->is_empty()) {
      AddEmpty(slab);
      return DropEmpty(most_empty);
    }
    // Slots are taken from others first if it is mostly free, so that it becomes empty.
    slab->is_mostly_free() ? same_size.PushBack(slab) : same_size.PushFront(slab);
    return {};
  }
  // The oldest empty slabs, until the others have no more than so many bytes.
  Slabs DropEmpty(uint64_t most) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Slabs dropped;
    while (empty_bytes > most) {
      Slab* const slab = empty.first();
      RemoveEmpty(slab);
      Count(-static_cast<int64_t>(slab->bytes()));
      dropped.emplace_back(slab);
    }
    return dropped;
  }
  void AddEmpty(Slab* slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    empty.PushBack(slab);
    empty_bytes += slab->bytes();
  }
  void RemoveEmpty(Slab* slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    empty.Remove(slab);
    empty_bytes -= slab->bytes();
  }
  // A slab comes, or goes.
  void Count(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    slab_bytes += bytes;
    free_bytes += bytes;
  }
  void Charge() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  Mutex mutex;
  // Those with buffers and room, by the size of their slots; and the empty ones, the oldest first.
  std::array<SlabList, kSizes> with_room ABSL_GUARDED_BY(mutex);
  SlabList empty ABSL_GUARDED_BY(mutex);
  uint64_t empty_bytes ABSL_GUARDED_BY(mutex) = 0;
  uint64_t most_empty ABSL_GUARDED_BY(mutex) = 0;
  int64_t free_bytes ABSL_GUARDED_BY(mutex) = 0;
  int64_t slab_bytes ABSL_GUARDED_BY(mutex) = 0;
  int64_t charged ABSL_GUARDED_BY(mutex) = 0;             // of free_bytes
  MemoryBudget* budget ABSL_GUARDED_BY(mutex) = nullptr;  // null: BlockMemory is destroyed
  std::atomic<int64_t>* all_charged = nullptr;
};

struct BlockMemory::Shared {
  explicit Shared(MemoryBudget* budget) {
    for (Stripe& stripe : stripes) {
      MutexLock lock(&stripe.mutex);
      stripe.budget = budget;
      stripe.all_charged = &charged;
    }
    AdoptLimit(budget->limit());
  }
  void AdoptLimit(uint64_t limit) {
    const uint64_t count = std::clamp<uint64_t>(limit / kBytesPerStripe, 1, kMostStripes);
    stripes_in_use.store(count, std::memory_order_relaxed);
    smallest_slab.store(std::max(limit / kSlabsOfLimit, kSmallestSlab), std::memory_order_relaxed);
    largest_slot.store(std::min(limit / kSlotsOfLimit, kLargestSlot), std::memory_order_relaxed);
    for (Stripe& stripe : stripes) {
      MutexLock lock(&stripe.mutex);
      stripe.most_empty = limit / kPartForEmpty / count;
    }
  }

  // For new slabs, and new buffers.
  std::atomic<uint64_t> stripes_in_use{1};
  std::atomic<uint64_t> smallest_slab{0};
  std::atomic<uint64_t> largest_slot{0};
  std::atomic<int64_t> charged{0};
  std::array<Stripe, kMostStripes> stripes;
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
  for (Stripe& stripe : shared_->stripes) {
    Stripe::Slabs dropped;  // go back to the system after the lock is released
    MutexLock lock(&stripe.mutex);
    stripe.most_empty = 0;
    dropped = stripe.DropEmpty(0);
    BudgetAccess::Charge(*stripe.budget, MemoryBudget::Use::kBlockCache, -stripe.charged);
    stripe.charged = 0;
    stripe.budget = nullptr;
  }
}

void BlockMemory::AdoptLimit(uint64_t limit) { shared_->AdoptLimit(limit); }

void BlockMemory::Trim() {
  for (Stripe& stripe : shared_->stripes) {
    Stripe::Slabs dropped;  // as above
    MutexLock lock(&stripe.mutex);
    dropped = stripe.DropEmpty(0);
    stripe.Charge();
  }
}

BlockMemory::Buffer BlockMemory::Allocate(uint64_t size) {
  if (!kUsesSlabs || size > shared_->largest_slot.load(std::memory_order_relaxed)) {
    return AllocateAlone(size);
  }
  static thread_local uint64_t turn = 0;
  const uint64_t stripes = shared_->stripes_in_use.load(std::memory_order_relaxed);
  Stripe& stripe = shared_->stripes[turn++ % stripes];
  const SlotSize slot = SlotFor(size);
  Slab* of = nullptr;
  {
    MutexLock lock(&stripe.mutex);
    if (char* const bytes = stripe.Take(slot.index, &of)) {
      stripe.Charge();
      return Buffer(bytes, Return{of});
    }
  }
  std::unique_ptr<Slab> made =
      Slab::Make(shared_, &stripe, slot, shared_->smallest_slab.load(std::memory_order_relaxed));
  if (made == nullptr) return AllocateAlone(size);
  MutexLock lock(&stripe.mutex);
  stripe.Count(static_cast<int64_t>(made->bytes()));
  stripe.AddEmpty(made.release());
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

BlockMemory::Buffer BlockMemory::AllocateAlone(uint64_t size) {
  return Buffer(TryAllocate(size).release(), Return{});
}

BlockMemory::Buffer BlockMemory::Denser(Slab* slab) {
  Stripe& stripe = *slab->stripe();
  MutexLock lock(&stripe.mutex);
  if (!slab->is_mostly_free()) return nullptr;
  const Slab* const other = stripe.with_room[slab->index()].first();
  if (other == slab || slab->is_fuller_than(*other)) return nullptr;
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
  for (Stripe& stripe : shared_->stripes) {
    MutexLock lock(&stripe.mutex);
    sum += stripe.slab_bytes;
  }
  return static_cast<uint64_t>(sum);
}

}  // namespace bigtable
