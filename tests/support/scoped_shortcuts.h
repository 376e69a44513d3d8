// Switches shortcuts of the engine (base/shortcuts.h) for the lifetime of an object. The switch
// applies to the whole process: use one object at a time, on the main thread.
#ifndef BIGTABLE_TESTS_SUPPORT_SCOPED_SHORTCUTS_H_
#define BIGTABLE_TESTS_SUPPORT_SCOPED_SHORTCUTS_H_

#include <cstdint>

#include "base/shortcuts.h"

namespace bigtable {

class ScopedShortcuts {
 public:
  static constexpr uint64_t kAll = (uint64_t{1} << static_cast<uint32_t>(Shortcut::kCount)) - 1;
  static constexpr uint64_t Bit(Shortcut shortcut) {
    return uint64_t{1} << static_cast<uint32_t>(shortcut);
  }

  // Switches exactly the shortcuts in `off` off, regardless of the environment.
  explicit ScopedShortcuts(uint64_t off) : before_(shortcuts_off.exchange(off)) {}
  ~ScopedShortcuts() { shortcuts_off.store(before_); }
  ScopedShortcuts(const ScopedShortcuts&) = delete;
  ScopedShortcuts& operator=(const ScopedShortcuts&) = delete;

 private:
  const uint64_t before_;
};

// Switches all shortcuts on, for tests of the work that a shortcut saves.
class ScopedShortcutsOn : public ScopedShortcuts {
 public:
  ScopedShortcutsOn() : ScopedShortcuts(0) {}
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SCOPED_SHORTCUTS_H_
