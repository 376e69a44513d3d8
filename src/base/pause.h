// What a thread does between two looks at something that another one is about to change.
#ifndef BIGTABLE_BASE_PAUSE_H_
#define BIGTABLE_BASE_PAUSE_H_

namespace bigtable {

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_PAUSE_H_
