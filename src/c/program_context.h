// What a function of the program is called with, and what destroys it. Functions of the
// program are called by any thread.
#ifndef BIGTABLE_C_PROGRAM_CONTEXT_H_
#define BIGTABLE_C_PROGRAM_CONTEXT_H_

#include <utility>

#include "bigtable/c.h"

namespace bigtable {

// Destroyed once, with the object. So a registration makes one first of all, and passes it on:
// wherever it fails, the program's context ends. Immutable.
class ProgramContext {
 public:
  ProgramContext(void* pointer, bigtable_destroy_function destroy)
      : pointer_(pointer), destroy_(destroy) {}
  ProgramContext(ProgramContext&& other) noexcept
      : pointer_(other.pointer_), destroy_(std::exchange(other.destroy_, nullptr)) {}
  ProgramContext& operator=(ProgramContext&&) = delete;
  ~ProgramContext() {
    if (destroy_ != nullptr) destroy_(pointer_);
  }

  void* get() const { return pointer_; }

 private:
  void* const pointer_;
  bigtable_destroy_function destroy_;
};

// For the check of a pointer to a function.
template <typename Function>
const void* AddressOf(Function* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace bigtable

#endif  // BIGTABLE_C_PROGRAM_CONTEXT_H_
