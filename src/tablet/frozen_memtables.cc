#include "tablet/frozen_memtables.h"

#include "tablet/tablet.h"

namespace bigtable {

std::vector<FrozenMemtables> FrozenOf(const std::shared_ptr<Tablet>& tablet) {
  std::vector<FrozenMemtables> frozen;
  const Pin<TabletVersion> version = tablet->Version();
  for (size_t group = 0; group < version->groups().size(); ++group) {
    const std::vector<Ref<Memtable>>& memtables = version->groups()[group].frozen;
    if (!memtables.empty()) frozen.push_back({tablet, group, memtables});
  }
  return frozen;
}

}  // namespace bigtable
