// An object that lives as long as it is referenced. The count is inside the object, so that a
// reference is one pointer and taking one is one atomic addition.
#ifndef BIGTABLE_BASE_REF_COUNTED_H_
#define BIGTABLE_BASE_REF_COUNTED_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/base/macros.h"

namespace bigtable {

// Thread-safe. A new object has no references; the first Ref to it makes one.
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void AddRef() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  // For code that knows the object without a reference of its own. False if the last reference is
  // gone and the object is about to be deleted.
  [[nodiscard]] bool TryAddRef() const {
    uint32_t refs = refs_.load(std::memory_order_relaxed);
    while (refs != 0) {
      if (refs_.compare_exchange_weak(refs, refs + 1, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void Release() const {
    const uint32_t before = refs_.fetch_sub(1, std::memory_order_acq_rel);
    ABSL_ASSERT(before > 0 && "as many references are dropped as were made");
    if (before == 1) Delete();
  }

 protected:
  RefCounted() = default;
  virtual ~RefCounted() {
    ABSL_ASSERT(refs_.load(std::memory_order_relaxed) == 0 && "it lives as long as a reference");
  }

 private:
  // The last reference is gone. For an object that was not allocated by `new`.
  virtual void Delete() const { delete this; }

  mutable std::atomic<uint32_t> refs_{0};
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->AddRef();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <typename U>
  Ref(const Ref<U>& other) : Ref(other.get()) {}  // NOLINT: as a pointer converts
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->Release();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_REF_COUNTED_H_
