// A number that one thread may change while others read it, when nothing depends on the order. Can
// be copied, unlike std::atomic: a copy has the value that it was read with.
#ifndef BIGTABLE_BASE_RELAXED_H_
#define BIGTABLE_BASE_RELAXED_H_

#include <atomic>

namespace bigtable {

template <typename T>
class Relaxed {
 public:
  Relaxed(T value) : value_(value) {}  // NOLINT(google-explicit-constructor): stands for a T
  Relaxed(const Relaxed& other) : value_(other) {}
  Relaxed& operator=(const Relaxed& other) {
    *this = static_cast<T>(other);
    return *this;
  }
  Relaxed& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  operator T() const {  // NOLINT(google-explicit-constructor)
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<T> value_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_RELAXED_H_
