#include "tablet/immutable_memtables.h"

#include "tablet/tablet.h"

namespace bigtable {

std::vector<ImmutableMemtables> ImmutableMemtablesOf(const std::shared_ptr<Tablet>& tablet) {
  std::vector<ImmutableMemtables> immutable;
  const Pin<TabletVersion> version = tablet->Version();
  for (size_t group = 0; group < version->groups().size(); ++group) {
    const std::vector<Ref<Memtable>>& memtables = version->groups()[group].immutable;
    if (!memtables.empty()) immutable.push_back({tablet, group, memtables});
  }
  return immutable;
}

}  // namespace bigtable
