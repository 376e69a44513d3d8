// The places of groups of insertions are searched together in memtables of so few entries
// (Memtable::SetGroupSearch), of those that are created while it lives.
#ifndef BIGTABLE_TESTS_SUPPORT_SCOPED_GROUP_SEARCH_H_
#define BIGTABLE_TESTS_SUPPORT_SCOPED_GROUP_SEARCH_H_

#include <cstdint>

#include "memtable/memtable.h"

namespace bigtable {

class ScopedGroupSearch {
 public:
  explicit ScopedGroupSearch(uint64_t entries) { Memtable::SetGroupSearch(entries); }
  ~ScopedGroupSearch() { Memtable::SetGroupSearch(Memtable::kGroupSearch); }
  ScopedGroupSearch(const ScopedGroupSearch&) = delete;
  ScopedGroupSearch& operator=(const ScopedGroupSearch&) = delete;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SCOPED_GROUP_SEARCH_H_
