#include "base/checksum.h"

#include <memory>
#include <xxhash.h>

// The library's dispatching functions detect the processor's features, once, and use the widest
// vectors. Not every build of the library has them, and static ones rarely do: hence weak.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#define XXH_DISPATCH_DISABLE_REPLACE
#include <xxh_x86dispatch.h>
#pragma weak XXH3_64bits_withSeed_dispatch
#define BIGTABLE_MAY_DISPATCH
#endif

namespace bigtable {

uint64_t Checksum(std::string_view bytes, uint64_t seed) {
#ifdef BIGTABLE_MAY_DISPATCH
  if (XXH3_64bits_withSeed_dispatch != nullptr) [[likely]] {
    return XXH3_64bits_withSeed_dispatch(bytes.data(), bytes.size(), seed);
  }
#endif
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

struct RunningChecksum::State {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> xxh{XXH3_createState()};
};

RunningChecksum::RunningChecksum(uint64_t seed) : state_(std::make_unique<State>()) {
  XXH3_64bits_reset_withSeed(state_->xxh.get(), seed);
}

RunningChecksum::~RunningChecksum() = default;

void RunningChecksum::Add(std::string_view bytes) {
  XXH3_64bits_update(state_->xxh.get(), bytes.data(), bytes.size());
}

uint64_t RunningChecksum::value() const { return XXH3_64bits_digest(state_->xxh.get()); }

}  // namespace bigtable
