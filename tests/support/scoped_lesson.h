// Memtables that are created while it lives learn their numbers from so few entries
// (Memtable::SetFirstLesson) that small tests reach it.
#ifndef BIGTABLE_TESTS_SUPPORT_SCOPED_LESSON_H_
#define BIGTABLE_TESTS_SUPPORT_SCOPED_LESSON_H_

#include <cstdint>

#include "memtable/memtable.h"

namespace bigtable {

class ScopedLesson {
 public:
  explicit ScopedLesson(uint64_t entries) { Memtable::SetFirstLesson(entries); }
  ~ScopedLesson() { Memtable::SetFirstLesson(Memtable::kFirstLesson); }
  ScopedLesson(const ScopedLesson&) = delete;
  ScopedLesson& operator=(const ScopedLesson&) = delete;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SCOPED_LESSON_H_
