// The entry of a libFuzzer program, for the one target that is linked into it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bigtable::FuzzTarget target = bigtable::FindFuzzTarget(BIGTABLE_FUZZ_TARGET);
  target({reinterpret_cast<const char*>(data), size});
  return 0;
}
