// The cursors of one read, which are of several types. The first ones are inside the pool, so that
// a read of a few sources allocates no heap memory. They live until Clear().
#ifndef BIGTABLE_COMPACTION_CURSOR_POOL_H_
#define BIGTABLE_COMPACTION_CURSOR_POOL_H_

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "base/entry_cursor.h"

namespace bigtable {

class CursorPool {
 public:
  CursorPool() = default;
  ~CursorPool() { Clear(); }
  CursorPool(const CursorPool&) = delete;
  CursorPool& operator=(const CursorPool&) = delete;

  template <typename Cursor, typename... Args>
  Cursor* Make(Args&&... args) {
    const size_t begin = (used_ + alignof(Cursor) - 1) & ~(alignof(Cursor) - 1);
    if (begin + sizeof(Cursor) > sizeof(inside_)) {
      outside_.push_back(std::make_unique<Cursor>(std::forward<Args>(args)...));
      return static_cast<Cursor*>(outside_.back().get());
    }
    Cursor* const cursor = new (inside_ + begin) Cursor(std::forward<Args>(args)...);
    used_ = begin + sizeof(Cursor);
    made_inside_.push_back(cursor);
    return cursor;
  }

  void Clear() {
    for (EntryCursor* cursor : made_inside_) cursor->~EntryCursor();
    made_inside_.clear();
    outside_.clear();
    used_ = 0;
  }

 private:
  alignas(std::max_align_t) char inside_[1536];
  size_t used_ = 0;
  absl::InlinedVector<EntryCursor*, 8> made_inside_;
  std::vector<std::unique_ptr<EntryCursor>> outside_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_CURSOR_POOL_H_
