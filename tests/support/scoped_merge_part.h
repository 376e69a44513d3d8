// Compactions that are picked with several threads are cut into parts of so few bytes
// (background/merge_parts.h), while it lives.
#ifndef BIGTABLE_TESTS_SUPPORT_SCOPED_MERGE_PART_H_
#define BIGTABLE_TESTS_SUPPORT_SCOPED_MERGE_PART_H_

#include <cstdint>

#include "background/merge_parts.h"

namespace bigtable {

class ScopedMergePart {
 public:
  explicit ScopedMergePart(uint64_t bytes) { least_merge_part = bytes; }
  ~ScopedMergePart() { least_merge_part = kLeastMergePart; }
  ScopedMergePart(const ScopedMergePart&) = delete;
  ScopedMergePart& operator=(const ScopedMergePart&) = delete;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SCOPED_MERGE_PART_H_
