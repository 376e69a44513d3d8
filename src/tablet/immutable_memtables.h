// The memtables of a tablet that are to be flushed.
#ifndef BIGTABLE_TABLET_IMMUTABLE_MEMTABLES_H_
#define BIGTABLE_TABLET_IMMUTABLE_MEMTABLES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "base/ref_counted.h"
#include "memtable/memtable.h"

namespace bigtable {

class Tablet;

// Immutable memtables of a locality group, from new to old, down to the oldest.
struct ImmutableMemtables {
  std::shared_ptr<Tablet> tablet;
  size_t group = 0;
  std::vector<Ref<Memtable>> memtables;
};

// All immutable memtables that the tablet has now.
std::vector<ImmutableMemtables> ImmutableMemtablesOf(const std::shared_ptr<Tablet>& tablet);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_IMMUTABLE_MEMTABLES_H_
