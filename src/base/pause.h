// A short pause in a spin loop, between two reads of what another thread is about to change.
#ifndef BIGTABLE_BASE_PAUSE_H_
#define BIGTABLE_BASE_PAUSE_H_

namespace bigtable {

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // `yield` does nothing on most processors, so loops that count their pauses would end too early.
  asm volatile("isb");
#endif
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_PAUSE_H_
