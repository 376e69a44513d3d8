// Memory whose size was read from a file: a size that no machine has room for is an error of the
// file's reader, and must not end the process. Compare the size with what the file can hold first;
// these functions are for what remains, such as a sparse file of a terabyte. Thread-safe.
#ifndef BIGTABLE_BASE_TRY_ALLOCATE_H_
#define BIGTABLE_BASE_TRY_ALLOCATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "base/strings.h"

namespace bigtable {

// Uninitialised bytes; null if there is no memory for them.
inline std::unique_ptr<char[]> TryAllocate(uint64_t size) {
  return std::unique_ptr<char[]>(new (std::nothrow) char[size]);
}

// False, and `text` is unchanged, if there is no memory.
inline bool TryReserve(std::string* text, uint64_t capacity) {
  try {
    text->reserve(capacity);
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
  return true;
}
inline bool TryResize(std::string* text, uint64_t size) {
  if (!TryReserve(text, size)) return false;
  text->resize(size);
  return true;
}

inline absl::Status NoMemoryFor(std::string_view path, std::string_view what, uint64_t size) {
  return absl::ResourceExhaustedError(Cat(path, ": no memory for the ", size, " bytes of ", what));
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_TRY_ALLOCATE_H_
