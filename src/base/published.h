// A pointer to an immutable object that is replaced now and then and read all the time, such as a
// tablet's version or schema. A reader pins the current object, which lives until the last pin is
// dropped.
//
// Pinning writes only to cache lines of the reader's own stripe. The object has a count for each
// stripe. The pointer has a copy for each stripe, under a spin lock that only threads of that
// stripe take, and the publishing thread.
//
// Correctness: while a stripe's pointer refers to an object, that pointer holds one of the stripe's
// counts. So the count cannot fall to zero while a reader adds to it under the stripe's lock. When
// a stripe's count falls to zero, no thread can pin the object through this stripe any more, and
// the stripe decrements the object's count of live stripes. The last one deletes the object.
#ifndef BIGTABLE_BASE_PUBLISHED_H_
#define BIGTABLE_BASE_PUBLISHED_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/base/macros.h"

#include "base/pause.h"
#include "base/stripe.h"

namespace bigtable {

// Base class of objects that can be published. Created with new; publishing takes ownership.
class Publishable {
 public:
  Publishable() = default;
  Publishable(const Publishable&) = delete;
  Publishable& operator=(const Publishable&) = delete;

 protected:
  virtual ~Publishable() = default;

 private:
  template <typename T>
  friend class Published;
  friend class PinBase;

  struct alignas(kCacheLine) Count {
    std::atomic<int64_t> pins{0};
  };

  void Unpin(int stripe) {
    const int64_t before = counts_[stripe].pins.fetch_sub(1, std::memory_order_acq_rel);
    ABSL_ASSERT(before > 0 && "as many pins are dropped as were made");
    if (before == 1 && live_stripes_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
    }
  }

  std::array<Count, kStripes> counts_;
  std::atomic<int> live_stripes_{kStripes};
};

// Keeps an object alive. Movable; may be destroyed on another thread than the one that created it.
class PinBase {
 public:
  PinBase() = default;
  PinBase(PinBase&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), stripe_(other.stripe_) {}
  PinBase& operator=(PinBase&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(stripe_, other.stripe_);
    return *this;
  }
  ~PinBase() {
    if (object_ != nullptr) object_->Unpin(stripe_);
  }

 protected:
  PinBase(Publishable* object, int stripe) : object_(object), stripe_(stripe) {}
  // Adds a pin to an object that is already pinned.
  static void Add(Publishable* object, int stripe) {
    [[maybe_unused]] const int64_t before =
        object->counts_[stripe].pins.fetch_add(1, std::memory_order_relaxed);
    ABSL_ASSERT(before > 0 && "the object is already pinned");
  }

  Publishable* object_ = nullptr;
  int stripe_ = 0;
};

template <typename T>
class Pin : public PinBase {
 public:
  Pin() = default;
  T* get() const { return static_cast<T*>(object_); }
  T* operator->() const { return get(); }
  T& operator*() const { return *get(); }
  explicit operator bool() const { return object_ != nullptr; }

  // A second pin on the same object.
  Pin Clone() const {
    if (object_ != nullptr) Add(object_, stripe_);
    return Pin(object_, stripe_);
  }

 private:
  template <typename U>
  friend class Published;
  Pin(Publishable* object, int stripe) : PinBase(object, stripe) {}
};

// Get() may be called from any thread at any time; Publish() by one thread at a time.
template <typename T>
class Published {
 public:
  explicit Published(T* object) { Publish(object); }
  ~Published() { Publish(nullptr); }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  Pin<T> Get() const {
    const int stripe = ThreadStripe();
    Slot& slot = slots_[stripe];
    slot.Lock();
    T* const object = slot.object;
    ABSL_ASSERT(object != nullptr && "only the destructor publishes null");
    static_cast<Publishable*>(object)->counts_[stripe].pins.fetch_add(1, std::memory_order_relaxed);
    slot.Unlock();
    return Pin<T>(object, stripe);
  }

  // Makes Get() return `object`, and takes ownership of it. Only the destructor publishes null.
  void Publish(T* object) {
    for (int stripe = 0; stripe < kStripes; ++stripe) {
      if (object != nullptr) {
        static_cast<Publishable*>(object)->counts_[stripe].pins.fetch_add(
            1, std::memory_order_relaxed);
      }
    }
    for (int stripe = 0; stripe < kStripes; ++stripe) {
      Slot& slot = slots_[stripe];
      slot.Lock();
      T* const old = std::exchange(slot.object, object);
      slot.Unlock();
      if (old != nullptr) static_cast<Publishable*>(old)->Unpin(stripe);
    }
  }

 private:
  struct alignas(kCacheLine) Slot {
    // Held for a few instructions; spins, because its owner never waits for anything.
    void Lock() {
      while (locked.exchange(true, std::memory_order_acquire)) Pause();
    }
    void Unlock() { locked.store(false, std::memory_order_release); }

    std::atomic<bool> locked{false};
    T* object = nullptr;
  };

  mutable std::array<Slot, kStripes> slots_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_PUBLISHED_H_
